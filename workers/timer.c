#include "workers/timer.h"

#include "common/base/clock.h"

/* One loop per process. */
static LIST_HEAD(, tp_timer) unarmed = LIST_HEAD_INITIALIZER(unarmed);

static void on_fire(evutil_socket_t fd, short what, void *arg);

static void note_unarmed(struct tp_timer *t, bool is)
{
	if (is == t->unarmed)
		return;
	t->unarmed = is;
	if (is)
		LIST_INSERT_HEAD(&unarmed, t, link);
	else
		LIST_REMOVE(t, link);
}

static void arm(struct tp_timer *t, uint64_t now)
{
	uint64_t ms = t->deadline > now ? t->deadline - now : 0;
	if (!t->assigned)
		(void)evtimer_assign(&t->event, t->base, on_fire, t);
	t->assigned = true;
	struct timeval tv = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
	bool failed = event_add(&t->event, &tv) != 0;
	/* One that was armed for later stays so. */
	if (!failed)
		t->armed = now + ms;
	note_unarmed(t, failed);
}

void tp_timer_retry(void)
{
	struct tp_timer *t, *next;
	uint64_t now = tp_clock_boot_ms();
	for (t = LIST_FIRST(&unarmed); t != NULL; t = next) {
		next = LIST_NEXT(t, link);
		if (t->deadline != 0)
			arm(t, now);
		else
			note_unarmed(t, false);
	}
}

static void on_fire(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	struct tp_timer *t = arg;
	t->armed = 0;
	if (t->deadline == 0)
		return;
	uint64_t now = tp_clock_boot_ms();
	if (t->deadline > now) {
		arm(t, now);
		return;
	}
	t->deadline = 0;
	t->fn(t->arg);
}

void tp_timer_init(struct tp_timer *t, struct event_base *base, tp_timer_fn *fn, void *arg)
{
	t->base = base;
	t->fn = fn;
	t->arg = arg;
	t->deadline = t->armed = 0;
	t->assigned = t->unarmed = false;
}

void tp_timer_set(struct tp_timer *t, uint64_t ms)
{
	uint64_t now = tp_clock_boot_ms();
	t->deadline = now + ms + 1; /* the present millisecond has begun already: never early */
	if (t->armed == 0 || t->armed > t->deadline)
		arm(t, now);
}

void tp_timer_close(struct tp_timer *t)
{
	if (t->armed != 0)
		(void)event_del(&t->event);
	note_unarmed(t, false);
	t->armed = t->deadline = 0;
}
