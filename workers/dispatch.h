/*
 * The one dispatch point: every send of a turn passes here, and only here the ledger is charged (design
 * section 2).
 */
#ifndef TP_WORKERS_DISPATCH_H
#define TP_WORKERS_DISPATCH_H

#include "workers/turn.h"

/*
 * Charges one send of this class and starts its attempt.  Without budget: the answer in hand goes out with
 * stop, or the refusal request_send_budget_exhausted.  While its target cools or a shared wait runs the turn
 * is answered or held (waits.h), and comes here again.  May end the turn: to be the caller's last step.
 */
void tp_dispatch(struct tp_turn *t, enum tp_class klass);
/* The kept connection was dead before a byte went out: the same send, charged already, on a new one. */
void tp_dispatch_reconnect(struct tp_turn *t);

#endif
