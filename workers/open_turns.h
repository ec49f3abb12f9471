/*
 * Which turns are open, in the order in which they began; those that are open for longest are shown to
 * people through the shared table (common/shm/open_turns.h).  A turn that is over within a second is never
 * written there.
 */
#ifndef TP_WORKERS_OPEN_TURNS_H
#define TP_WORKERS_OPEN_TURNS_H

#include "common/shm/open_turns.h"
#include "workers/core.h"

struct tp_turn;

/* Part of the turn; zeroed to begin. */
struct tp_turn_open {
	TAILQ_ENTRY(tp_turn) link; /* worker->turns */
	uint8_t place;             /* in the shared table, from 1; 0 = none */
	uint8_t wait;              /* enum tp_open_wait, in TP_TURN_WAIT ... */
	uint64_t until_ms;         /* ... until then at the latest */
};

/* A turn begins, is over. */
void tp_open_turns_begin(struct tp_turn *t);
void tp_open_turns_end(struct tp_turn *t);
/* Each second: writes the longest open ones. */
void tp_open_turns_publish(struct tp_worker *w);

#endif
