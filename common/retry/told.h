/*
 * What a provider told us to wait (design section 5).  Pure functions; milliseconds.
 */
#ifndef TP_RETRY_TOLD_H
#define TP_RETRY_TOLD_H

#include <stdint.h>

#include "common/base/str.h"

/* Values of one answer's headers; empty = absent. Of a repeated header the caller passes each to
 * tp_told_retry_after and keeps the larger. */

/* Retry-After: seconds, fraction, HTTP date (relative to `date_header_s` if >= 0, else now_s).
 * -1 = absent or unreadable; the floor is not applied. Saturates instead of overflowing. */
int64_t tp_told_retry_after(struct tp_str value, int64_t now_s, int64_t date_header_s);
/* retry-after-ms: integer or float milliseconds; -1 = unreadable. */
int64_t tp_told_retry_after_ms(struct tp_str value);
/* max(told, floor), -1 stays -1. */
int64_t tp_told_floor(int64_t told_ms, uint32_t floor_ms);
/* What a client may be told: whole seconds, rounded up, at least 1. told_ms >= 0. */
uint32_t tp_told_header_seconds(int64_t told_ms);

#endif
