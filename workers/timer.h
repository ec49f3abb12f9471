/*
 * A deadline that moves often and fires rarely.  Setting it only stores a time while the
 * event that is armed already fires early enough; the event looks at the time when it
 * fires and arms itself again for the rest.  So a busy connection arms nothing per request.
 *
 * One that cannot be armed, for want of memory, is armed as soon as there is some: what waits for it must not
 * wait for ever.
 */
#ifndef TP_WORKERS_TIMER_H
#define TP_WORKERS_TIMER_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

typedef void tp_timer_fn(void *arg);

struct tp_timer {
	struct event event; /* made when it is armed first: most timers of a turn never are */
	struct event_base *base;
	tp_timer_fn *fn;
	void *arg;
	uint64_t deadline;         /* milliseconds since boot; 0 = off */
	uint64_t armed;            /* when the event fires; 0 = not pending */
	LIST_ENTRY(tp_timer) link; /* of those that could not be armed */
	bool assigned, unarmed;
};

/* Off; nothing is registered until it is set first. Borrows all; end with tp_timer_close(). */
void tp_timer_init(struct tp_timer *t, struct event_base *base, tp_timer_fn *fn, void *arg);
/* Fires once, `ms` from now; replaces what was set before. fn runs from the loop, never from here. */
void tp_timer_set(struct tp_timer *t, uint64_t ms);
/* Does not fire any more. */
static inline void tp_timer_clear(struct tp_timer *t)
{
	t->deadline = 0;
}
/* Arms what could not be armed before; to be called every second or so. */
void tp_timer_retry(void);
/* Before the memory is freed. Nothing happens to a zeroed one. */
void tp_timer_close(struct tp_timer *t);

#endif
