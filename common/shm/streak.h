/*
 * Long waits in a row, per provider over all workers (design section 5): one word each, found by the
 * provider's name, so that a reload keeps it.
 *
 * Fail direction: where there is no room nothing is counted, and no model is taken for dead.
 */
#ifndef TP_SHM_STREAK_H
#define TP_SHM_STREAK_H

#include <stdint.h>

#include "common/base/str.h"
#include "common/shm/region.h"

enum { TP_STREAK_NONE = UINT16_MAX };
typedef uint16_t tp_streak_id;

/* The word of a provider, entered if it is new; TP_STREAK_NONE: no room. To be kept: it never moves. */
tp_streak_id tp_streak_open(struct tp_region *r, struct tp_str provider);
/* Long waits in a row so far, see tp_long_waits_next(). */
uint32_t tp_streak_get(const struct tp_region *r, tp_streak_id id);
/* A wait of class overload was begun, or -1: a success. */
void tp_streak_next(struct tp_region *r, tp_streak_id id, int64_t wait_ms);

#endif
