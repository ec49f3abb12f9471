/*
 * What cools of a combo's targets (design section 8): which of them are passed over, and what the end of a
 * turn there says about whom.  Part of the turn, beside targets.c; what cools lies in the shared table.
 */
#ifndef TP_WORKERS_COOLING_H
#define TP_WORKERS_COOLING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/siphash.h"
#include "common/retry/decide.h"

struct tp_turn;

/* A target that is passed over. */
struct tp_target_cooling {
	struct tp_hash128 key; /* of the entry that ends last */
	uint64_t until_ms;     /* of CLOCK_BOOTTIME */
	bool told;             /* one of its entries */
};
/* Does target `i` of the turn's combo cool, by itself, for this client's credential, or with its key? */
bool tp_target_cools(const struct tp_turn *t, unsigned i, uint64_t now_ms, struct tp_target_cooling *ret);

/* Everything cools. */
struct tp_all_cooling {
	bool untold; /* some of it on a guess of ours only: `first` is the one of these that ends first */
	unsigned first;
	struct tp_target_cooling of_first;
	uint64_t soonest_ms; /* when the first of all ends */
};
/* Of the targets that may serve this turn. */
struct tp_all_cooling tp_targets_cooling(const struct tp_turn *t, uint64_t now_ms);

/* The turn leaves its target, or ends, after this outcome: what it speaks about cools. */
void tp_targets_failed(struct tp_turn *t, const struct tp_outcome *o);
/* The present target gave a good answer: an untold cooldown ends. Before the request is released. */
void tp_targets_good(struct tp_turn *t);

#endif
