/* A timer that the loop has no room for is late, and not for ever. */
#include <check.h>
#include <event2/event.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "tests/unit/suite.h"
#include "workers/timer.c"

enum { TIMERS = 200 }; /* the loop's heap grows a few times */

static bool broken;

static void *grow(void *p, size_t n)
{
	return broken ? NULL : realloc(p, n);
}

static unsigned fired;

static void on_time(void *arg)
{
	(void)arg;
	fired++;
}

static void turn_until(struct event_base *base, uint64_t end_ms)
{
	while (tp_clock_boot_ms() < end_ms)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_NONBLOCK), 0);
}

START_TEST(what_could_not_be_armed_fires_later)
{
	static struct tp_timer t[TIMERS];
	event_set_mem_functions(malloc, grow, free);
	struct event_base *base = event_base_new();
	ck_assert_ptr_nonnull(base);
	broken = true;
	uint64_t now = tp_clock_boot_ms();
	for (unsigned i = 0; i < TIMERS; i++) {
		tp_timer_init(&t[i], base, on_time, NULL);
		tp_timer_set(&t[i], 1);
	}
	tp_timer_clear(&t[0]);
	tp_timer_close(&t[TIMERS - 1]);
	turn_until(base, now + 20);
	ck_assert_uint_lt(fired, TIMERS / 2);
	/* still no memory */
	tp_timer_retry();
	broken = false;
	tp_timer_retry();
	turn_until(base, tp_clock_boot_ms() + 20);
	ck_assert_uint_eq(fired, TIMERS - 2);
	for (unsigned i = 0; i < TIMERS; i++)
		tp_timer_close(&t[i]);
	tp_timer_retry();
	event_base_free(base);
}
END_TEST

TP_TESTS(timer)
{
	tcase_add_test(t, what_could_not_be_armed_fires_later);
}
