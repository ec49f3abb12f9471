/*
 * turnpike_overhead_seconds: what Turnpike itself adds to a turn, from the request's last byte to the first
 * byte of the answer that the client gets (docs/monitoring.md).  A watch that runs while it is up to us:
 *
 *   the request is complete     runs
 *   a wait begins, or ends      stands, runs
 *   connecting                  stands: the time is taken off when the attempt is heard of again
 *   the request is written      stands: it is the provider's turn
 *   the provider is heard       runs while that is looked at
 *   the answer is committed     it has done its work
 *
 * Four looks at the clock for a plain turn.
 */
#ifndef TP_WORKERS_OVERHEAD_H
#define TP_WORKERS_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct tp_attempt;

/* Inside a turn; begins zeroed. Times of tp_clock_mono_us(). */
struct tp_overhead {
	uint64_t since_us; /* it runs since then; 0: it stands */
	uint64_t sum_us;
	uint64_t heard_us; /* when the attempt was last heard of */
};

/* Both may be called in any state. */
void tp_overhead_run(struct tp_overhead *o);
void tp_overhead_stand(struct tp_overhead *o);
/* The attempt is heard of: what ran since before its start counts until its request was first written, less
 * the time to connect; from the first byte of the answer, else from now on, it runs. */
void tp_overhead_heard(struct tp_overhead *o, const struct tp_attempt *a);
/* All of it so far. */
uint64_t tp_overhead_total(const struct tp_overhead *o);

#endif
