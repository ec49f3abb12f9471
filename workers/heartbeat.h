/*
 * Heartbeats (design section 5): a streaming client that waits gets a head and comments (Messages: pings)
 * before anything is committed; from then on a failure is told inside the stream.  Part of the turn.
 */
#ifndef TP_WORKERS_HEARTBEAT_H
#define TP_WORKERS_HEARTBEAT_H

#include "workers/turn.h"

/* The request is known: begins when retry.heartbeat is on and the client asked for a stream. */
void tp_heartbeat_begin(struct tp_turn *t);
/* The answer is open and the turn failed: tells it as the family's error event, without a clean end; the turn
 * is over. */
void tp_heartbeat_fail(struct tp_turn *t, const struct tp_refusal *r, enum tp_turn_outcome outcome,
		       const struct tp_ledger_ending *ending);

#endif
