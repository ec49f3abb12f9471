/*
 * A turn whose request is complete, or streams through, becomes one of its logical request (design section
 * 3.1): a new one, one that ended badly and goes on, one that is answered from memory, or one whose earlier
 * turn is still in flight and is waited for.  Part of the turn.
 */
#ifndef TP_WORKERS_JOIN_H
#define TP_WORKERS_JOIN_H

#include "workers/turn.h"

/* All that the body says is known: looks by its model where the request goes (admit.h), gives the turn its
 * identity and joins. May end the turn: to be the caller's last step. */
void tp_turn_identify(struct tp_turn *t);
/* Looks (again) whether an earlier turn of the same logical request is in flight: then state JOIN, until the
 * timer or the deadline. Else goes on to tp_targets_start(), or answers from memory. Same. */
void tp_turn_join(struct tp_turn *t);

#endif
