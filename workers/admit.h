/*
 * From a request's head: who asks, which route serves, what the turn may spend; and from its body: which
 * logical request it is.  Part of the turn.
 */
#ifndef TP_WORKERS_ADMIT_H
#define TP_WORKERS_ADMIT_H

#include "workers/turn.h"

/* Fills route, provider, limits and deadline. False: the turn was answered and is over. */
bool tp_turn_admit(struct tp_turn *t);
/* The request is complete, or streams through: joins its logical request, and dispatches, waits or answers.
 */
void tp_turn_identify(struct tp_turn *t);
/* Looks (again) whether an earlier turn of the same logical request is in flight. Same. */
void tp_turn_join(struct tp_turn *t);

/* From now on this provider (its index) is asked: what hangs on it follows. */
void tp_turn_use_provider(struct tp_turn *t, size_t provider);

#endif
