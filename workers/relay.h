/*
 * Delivers a provider's answer: holds what may still be replaced, commits, streams (design section 6).
 * Part of the turn: works on turn->relay and turn->saved.
 */
#ifndef TP_WORKERS_RELAY_H
#define TP_WORKERS_RELAY_H

#include "workers/turn.h"

/* A piece of the present attempt's answer. May end the turn or start its next attempt. */
void tp_relay_piece(struct tp_turn *t, const struct tp_answer_piece *p);
/* The attempt broke off while its answer was under way (relay.mode is not NONE). Same. */
void tp_relay_broken(struct tp_turn *t, enum tp_cause cause, const char *why);
/* hold.time is over (or the 5 s for an error's body): go on with what there is. */
void tp_relay_time_over(struct tp_turn *t);
/* Shows turn->saved and ends the turn; `stop` adds x-should-retry: false. */
void tp_relay_saved(struct tp_turn *t, bool stop, enum tp_evidence evidence);
/* Committed: ends the answer so that the client sees that it is cut, and ends the turn. */
void tp_relay_cut(struct tp_turn *t, const char *why);
/* A piece, decoded, of an answer that has begun: for unpack.c, which stands between the attempt and this. */
void tp_relay_take(struct tp_turn *t, const struct tp_answer_piece *p);
/* timeouts.token is over without an output: ends the answer as cut. */
void tp_relay_output_gap(struct tp_turn *t);
/* Forgets the present answer: the next attempt begins anew. */
void tp_relay_reset(struct tp_turn *t);
void tp_saved_answer_free(struct tp_saved_answer *s);

#endif
