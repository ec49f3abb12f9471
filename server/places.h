/*
 * Which slots of the shared table this master's workers live in, and who else is still there: a worker of a
 * master that was killed finishes its turns under its old stamp (design section 3), and during a binary
 * upgrade two masters have workers.
 */
#ifndef TP_SERVER_PLACES_H
#define TP_SERVER_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/shm/region.h"

struct tp_places {
	uint8_t slots[TP_SHM_SLOTS]; /* ours */
	unsigned n;
	uint8_t orphans[TP_SHM_SLOTS];
	unsigned n_orphans;
	uint64_t looked_ms;
	bool foreign[TP_SHM_SLOTS]; /* another living master's: not to be touched */
};

/* Takes a slot for each of `workers`, or as many as there are.  A slot whose owner is gone is released, so
 * that all its claims are void; an orphan's is left to it.  `foreign`: see above; NULL = none. Logs what is
 * out of the ordinary. False: none is free. */
bool tp_places_take(struct tp_places *p, struct tp_region *r, unsigned workers,
		    const bool foreign[TP_SHM_SLOTS]);
/* The same for another number of workers: those that stay keep their slots, the last ones go first. Fewer
 * than wanted when there is no room. */
void tp_places_resize(struct tp_places *p, struct tp_region *r, unsigned workers);
/* Releases the slots of orphans that have left since. Looks once a second, however often it is called. */
void tp_places_watch(struct tp_places *p, struct tp_region *r);
/* The other master is gone, and nobody else looks after its workers: they are orphans, their slots are
 * released when they leave. */
void tp_places_adopt(struct tp_places *p, struct tp_region *r);
/* The slots that another master must not touch, now and until this one is gone. */
void tp_places_occupied(const struct tp_places *p, const struct tp_region *r, bool ret_taken[TP_SHM_SLOTS]);
/* The table was replaced: no orphan is in the new one. */
void tp_places_forget_orphans(struct tp_places *p);

#endif
