/*
 * What a provider told us to wait (design section 5).  Pure functions; milliseconds.
 * Hints in bodies are in hints.h: they count only where no header says anything.
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
/*
 * Both headers of one answer: the larger, unless the milliseconds are only the finer form of the same
 * wait (7200 beside 8): then those.  -1 = absent, in and out.
 */
int64_t tp_told_combine(int64_t retry_after_ms, int64_t ms_header_ms);

/* One header field of an answer, borrowed. */
struct tp_told_field {
	struct tp_str name, value;
};

/*
 * The latest reset among the rate limits that are used up, -1 = none: x-ratelimit-reset[-*],
 * ratelimit-reset, ratelimitbysize-reset, anthropic-ratelimit-*-reset, each beside its own "remaining" of 0
 * (or less than the "query-cost", or a "status" of rejected); x-codex-*-reset-at and -reset-after-seconds
 * beside their own "used-percent" of 100, unless credits pay for more.  Values: 1s, 6m0s, 20ms, 2m59.56s; RFC
 * 3339; a bare number: seconds below 10^9, else a time since 1970 in seconds, from 10^11 on in milliseconds.
 * Times as in tp_told_retry_after().
 */
int64_t tp_told_limits(const struct tp_told_field *fields, size_t n, int64_t now_s, int64_t date_header_s);
/*
 * All that the headers of one answer tell, in the order of design section 5: Retry-After and
 * retry-after-ms (of a repeated one the larger), else tp_told_limits(); -1 = nothing.  Reads the
 * answer's own Date.  The floor is not applied.
 */
int64_t tp_told_headers(const struct tp_told_field *fields, size_t n, int64_t now_s);
/* max(told, floor), -1 stays -1. */
int64_t tp_told_floor(int64_t told_ms, uint32_t floor_ms);
/* What a client may be told: whole seconds, rounded up, at least 1. told_ms >= 0. */
uint32_t tp_told_header_seconds(int64_t told_ms);

#endif
