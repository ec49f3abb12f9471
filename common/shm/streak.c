/*
 * The word of a provider:
 *
 *  63        16 15    0
 * [ name's hash | count ]   0: free
 *
 * A hash once stored stays, so a search may stop at the first free word.
 */
#include "common/shm/streak.h"

#include "common/base/siphash.h"
#include "common/retry/alert.h"
#include "common/shm/layout.h"

#define COUNT_MASK UINT64_C(0xffff)

tp_streak_id tp_streak_open(struct tp_region *r, struct tp_str provider)
{
	uint64_t hash = tp_siphash128(tp_region_seed(r), provider.p, provider.n).lo;
	uint64_t fresh = (hash & ~COUNT_MASK) | UINT64_C(1) << 63; /* never 0 */
	for (uint32_t i = 0; i < TP_STREAKS; i++) {
		uint32_t at = (uint32_t)(hash + i) % TP_STREAKS;
		uint64_t seen = 0;
		/* Relaxed here and below: each word stands for itself. */
		if (atomic_compare_exchange_strong_explicit(&r->streaks[at], &seen, fresh,
							    memory_order_relaxed, memory_order_relaxed) ||
		    (seen & ~COUNT_MASK) == fresh)
			return (tp_streak_id)at;
	}
	return TP_STREAK_NONE;
}

uint32_t tp_streak_get(const struct tp_region *r, tp_streak_id id)
{
	return id < TP_STREAKS
		       ? (uint32_t)(atomic_load_explicit(&r->streaks[id], memory_order_relaxed) & COUNT_MASK)
		       : 0;
}

void tp_streak_next(struct tp_region *r, tp_streak_id id, int64_t wait_ms)
{
	if (id >= TP_STREAKS)
		return;
	uint64_t seen = atomic_load_explicit(&r->streaks[id], memory_order_relaxed), next;
	do {
		next = (seen & ~COUNT_MASK) |
		       (tp_long_waits_next((uint32_t)(seen & COUNT_MASK), wait_ms) & COUNT_MASK);
		/* A success nearly always changes nothing, and then writes nothing. */
	} while (next != seen &&
		 !atomic_compare_exchange_weak_explicit(&r->streaks[id], &seen, next, memory_order_relaxed,
							memory_order_relaxed));
}
