/*
 * The one dispatch point: every send of a turn passes here, and only here the ledger is charged (design
 * section 2), and what becomes of a turn whose next send is not to be had is decided here.
 */
#ifndef TP_WORKERS_DISPATCH_H
#define TP_WORKERS_DISPATCH_H

#include "workers/obstacle.h"
#include "workers/turn.h"

/*
 * Charges one send of this class and starts its attempt.  If something stands in its way (obstacle.h), the
 * turn is held and comes here again, asks another target, is decided upon, or is answered: tp_dispatch_end().
 * May end the turn: to be the caller's last step.
 */
void tp_dispatch(struct tp_turn *t, enum tp_class klass);
/* The same once what held the turn is over; a target that cools by now is left for another one. */
void tp_dispatch_again(struct tp_turn *t);
/* Its time in the queue of the gate is over: another target, or the end. Same. */
void tp_dispatch_queue_over(struct tp_turn *t);
/*
 * Ends the turn without another send, since none is to be had (`o`: ENDS): with the refusal of a send that
 * may have run, else with what the provider said to this turn, else with words of our own.
 */
void tp_dispatch_end(struct tp_turn *t, const struct tp_obstacle *o);
/* The kept connection was dead before a byte went out: the same send, charged already, on a new one. */
void tp_dispatch_reconnect(struct tp_turn *t);

#endif
