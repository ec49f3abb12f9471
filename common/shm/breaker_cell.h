/*
 * Inside of the breaker: the state word of a URL or a base, and what of a cell is read together.
 *
 *  63   48   47     46      45     44    43 40 39          0
 * [ epoch | listed | base | gentle | conn | level |  value  ]
 *
 * value: listed, since when (ms); else the failures of the run.  Who changes it swaps from what was seen; the
 * epoch is that of the directory entry, so that a swap meant for a forgotten URL fails.
 */
#ifndef TP_SHM_BREAKER_CELL_H
#define TP_SHM_BREAKER_CELL_H

#include "common/shm/layout.h"

enum { TP_BREAKER_MAX_LEVEL = 15 };
#define TP_BREAKER_VALUE_MASK ((UINT64_C(1) << 40) - 1) /* 34 years of milliseconds */

struct tp_breaker_state {
	uint16_t epoch;
	bool listed;
	bool whole_base; /* of the cell, does not change */
	bool gentle;     /* listed by a turn that had no other target */
	bool connection; /* listed for want of an answer */
	uint8_t level;   /* failed probes */
	uint64_t value;
};

/* Level and value larger than their bits are cut. */
static inline uint64_t tp_breaker_pack(struct tp_breaker_state s)
{
	return (uint64_t)s.epoch << 48 | (uint64_t)s.listed << 47 | (uint64_t)s.whole_base << 46 |
	       (uint64_t)s.gentle << 45 | (uint64_t)s.connection << 44 | (uint64_t)(s.level & 15) << 40 |
	       (s.value & TP_BREAKER_VALUE_MASK);
}

static inline struct tp_breaker_state tp_breaker_unpack(uint64_t w)
{
	return (struct tp_breaker_state){
		.epoch = (uint16_t)(w >> 48),
		.listed = w >> 47 & 1,
		.whole_base = w >> 46 & 1,
		.gentle = w >> 45 & 1,
		.connection = w >> 44 & 1,
		.level = w >> 40 & 15,
		.value = w & TP_BREAKER_VALUE_MASK,
	};
}

/* How long a listing of this level keeps everybody out. */
uint64_t tp_breaker_interval_ms(const struct tp_breaker_policy *p, bool gentle, unsigned level);

/* Loads the state of an entry; false when it belongs to another URL by now. */
bool tp_breaker_load(const struct tp_region *r, struct tp_dir_ref ref, uint64_t *ret_raw,
		     struct tp_breaker_state *ret_state);
/* Acq_rel: the times of a run are published with it, and those of others are seen. */
static inline bool tp_breaker_swap(struct tp_breaker_cell *cell, uint64_t from, struct tp_breaker_state to)
{
	return atomic_compare_exchange_strong_explicit(&cell->state, &from, tp_breaker_pack(to),
						       memory_order_acq_rel, memory_order_relaxed);
}

/* Ends a listing or a run. True when it was a listing that ended. */
bool tp_breaker_forget(struct tp_region *r, struct tp_dir_ref ref);

#endif
