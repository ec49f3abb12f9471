/*
 * From a request's head: who asks, which route serves, what the turn may spend; and again from the model that
 * its body names.  Part of the turn.
 */
#ifndef TP_WORKERS_ADMIT_H
#define TP_WORKERS_ADMIT_H

#include "workers/turn.h"

/* Fills route, provider, limits and deadline. False: the turn was answered and is over. */
bool tp_turn_admit(struct tp_turn *t);
/* The same by the model in the body: a combo, or the route that takes it. NULL: none is named, or none is
 * known, as the body streams through. */
bool tp_turn_admit_model(struct tp_turn *t, const struct tp_request_facts *facts);
/* From now on this provider (its index) is asked: what hangs on it follows. */
void tp_turn_use_provider(struct tp_turn *t, size_t provider);

#endif
