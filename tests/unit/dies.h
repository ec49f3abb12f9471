/* A worker of a test dies: what the master does then for whoever lives in that slot. */
#ifndef TP_TESTS_DIES_H
#define TP_TESTS_DIES_H

#include <stdatomic.h>

#include "common/shm/layout.h"
#include "common/shm/slots.h"

static inline void worker_dies(struct tp_region *r, unsigned slot)
{
	struct tp_stamp s = {.generation = (uint16_t)atomic_load(&r->slots[slot].owner),
			     .slot = (uint8_t)slot};
	tp_slot_release_stamp(r, s);
}

#endif
