/*
 * The capacity gate (design 3.3): a turn takes a permit of its provider before a send, or waits for one in
 * the order of arrival over all workers.  The permit is held from the dispatch to the end of the attempt;
 * between the sends of a turn it is not, but the ticket keeps its number, so that a refused turn is not put
 * at the end.
 *
 * Whoever frees a permit wakes the worker with the lowest ticket through an eventfd; a sweep every 100ms,
 * armed only while somebody waits, is the backstop (a worker that died freed its permits without a word).
 */
#ifndef TP_WORKERS_GATE_H
#define TP_WORKERS_GATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/retry/decide.h"
#include "common/shm/gate.h"
#include "workers/core.h"

struct tp_turn;
struct tp_obstacle;

/* All zero: holds no permit and does not wait. */
struct tp_turn_gate {
	struct tp_provider_rt *provider; /* whose permit and ticket these are */
	struct tp_gate_permit permit;
	struct tp_gate_ticket ticket;
	TAILQ_ENTRY(tp_turn) link; /* of those that wait in this worker */
	bool queued;
	uint8_t passed_over; /* sweeps in a row that saw a permit lying there for others */
	uint64_t since_ms;   /* in the queue */
};

/* `wake_fds`: see worker.h; borrowed. NULL: out of memory. */
struct tp_gates *tp_gates_new(struct tp_worker *w, const int *wake_fds);
/* This generation serves from now on: its limits hold for turns of the ones before it, too. */
void tp_gates_enter(struct tp_gates *g, const struct tp_runtime *r);
/* NULL is ignored. No turn waits any more. */
void tp_gates_free(struct tp_gates *g);

/*
 * Before a send of this class: may it go? True with a permit, or without one where there is no limit.  False:
 * it is in the queue, is to wait and is dispatched again when its turn comes; or the queue is full.
 */
bool tp_turn_gate_may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret);
/* The one way back: gives up the permit, or the place in the queue, and wakes who may go now. Nothing happens
 * with neither. */
void tp_turn_gate_leave(struct tp_turn *t);
/* A send ended so: `auto` may learn from it. Before or behind tp_turn_gate_leave(). */
void tp_turn_gate_learn(struct tp_turn *t, const struct tp_outcome *o);
/* The time in the queue is over: what that means for the send. It is still in the queue. */
void tp_turn_gate_expired(const struct tp_turn *t, struct tp_obstacle *ret);

#endif
