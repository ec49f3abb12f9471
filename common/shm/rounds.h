/*
 * The turns of each round robin combo, counted over all workers (design section 8): found by the combo's
 * name, so that a reload goes on where it was.
 *
 * A process that is killed has counted its turn or has not: nothing hangs on the rest of it.  Fail direction:
 * where there is no room the caller chooses by chance.
 */
#ifndef TP_SHM_ROUNDS_H
#define TP_SHM_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/shm/region.h"

/* Counts one more turn of the combo, and tells how many came before it. False: no room for its name. */
bool tp_round_next(struct tp_region *r, struct tp_str combo, uint64_t *ret_number);

#endif
