#include "common/shm/rounds.h"

#include "common/base/siphash.h"
#include "common/shm/layout.h"

/* A name once stored stays, so a search may stop at the first free cell. */
static struct tp_round_cell *find(struct tp_region *r, struct tp_str combo)
{
	uint64_t hash = tp_siphash128(tp_region_seed(r), combo.p, combo.n).lo | 1; /* never 0 */
	for (uint32_t i = 0; i < TP_ROUNDS; i++) {
		struct tp_round_cell *c = &r->rounds[(hash + i) % TP_ROUNDS];
		uint64_t seen = 0;
		/* Relaxed: the count of a fresh cell is zero from the start, nothing is published with the
		 * name. */
		if (atomic_compare_exchange_strong_explicit(&c->name, &seen, hash, memory_order_relaxed,
							    memory_order_relaxed) ||
		    seen == hash)
			return c;
	}
	return NULL;
}

bool tp_round_next(struct tp_region *r, struct tp_str combo, uint64_t *ret_number)
{
	struct tp_round_cell *c = find(r, combo);
	if (c == NULL)
		return false;
	/* Relaxed: each number goes to one turn, whatever else its worker has seen. */
	*ret_number = atomic_fetch_add_explicit(&c->turns, 1, memory_order_relaxed);
	return true;
}
