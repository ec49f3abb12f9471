/*
 * Threads in the place of workers at the capacity gate: what must hold whoever is faster.  At the named
 * points one lets the others run now and then, which opens the windows between two steps.  Also run with
 * SANITIZE=thread.
 */
#define TP_SHM_INJECT
#include "common/shm/gate.c"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"
#include "tests/unit/threads.h"

enum { THREADS = 4, NOW_MS = 1000000, ROUNDS = 2000, QUEUE = 16 };
static uint32_t most;

static struct tp_stamp workers[THREADS];
static tp_gate_id id;
static atomic_uint inside, over, went, full, asleep;

static void dawdle(void)
{
	static _Thread_local unsigned seed;
	if (seed == 0)
		seed = (unsigned)(uintptr_t)&seed >> 4;
	unsigned n = (unsigned)rand_r(&seed) >> 3;
	if (n % 8 == 0)
		(void)usleep(n % 50);
	else if (n % 3 == 0)
		(void)sched_yield();
}

void tp_shm_inject(const char *point)
{
	(void)point;
	dawdle();
}

static void setup(void)
{
	most = 2;
	open_region();
	for (unsigned i = 0; i < THREADS; i++)
		workers[i] = tp_slot_assign(region, i);
	id = tp_gate_open(region, TP_STR("p"));
	atomic_store(&inside, 0);
	atomic_store(&over, 0);
	atomic_store(&went, 0);
	atomic_store(&full, 0);
	atomic_store(&asleep, 0);
}

static void enter_and_leave(struct tp_gate_permit *p)
{
	if (atomic_fetch_add(&inside, 1) >= most)
		atomic_fetch_add(&over, 1);
	dawdle();
	atomic_fetch_sub(&inside, 1);
	atomic_fetch_add(&went, 1);
	tp_gate_give_back(region, id, p, NOW_MS);
}

/* ---- never more than the limit, nobody is lost */

static void *through_the_gate(void *arg)
{
	struct tp_stamp owner = workers[(uintptr_t)arg];
	for (unsigned n = 0; n < ROUNDS; n++) {
		struct tp_gate_ticket t = {0};
		struct tp_gate_permit p;
		enum tp_gate_answer a;
		while ((a = tp_gate_ask(region, owner, id, most, QUEUE, false, NOW_MS, &t, &p)) ==
		       TP_GATE_QUEUED)
			(void)sched_yield();
		if (a == TP_GATE_FULL)
			atomic_fetch_add(&full, 1);
		else
			enter_and_leave(&p);
	}
	return NULL;
}

START_TEST(never_more_than_the_limit)
{
	in_threads(THREADS, through_the_gate);
	ck_assert_uint_eq(atomic_load(&over), 0);
	ck_assert_uint_eq(atomic_load(&went) + atomic_load(&full), THREADS * ROUNDS);
	ck_assert_uint_eq(atomic_load(&full), 0);
	ck_assert_uint_eq(tp_gate_in_progress(region, id), 0);
	ck_assert_uint_eq(tp_gate_waiting(region, id), 0);
}
END_TEST

/* ---- no wake-up is lost: a worker asks again only when it was woken */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static bool woken[THREADS];

static void wake_next(void)
{
	uint8_t slot;
	if (!tp_gate_next(region, id, most, &slot))
		return;
	(void)pthread_mutex_lock(&lock);
	woken[slot] = true;
	(void)pthread_cond_broadcast(&called);
	(void)pthread_mutex_unlock(&lock);
}

static void sleep_until_woken(unsigned number)
{
	struct timespec end;
	(void)clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 20;
	(void)pthread_mutex_lock(&lock);
	while (!woken[number])
		if (pthread_cond_timedwait(&called, &lock, &end) != 0) {
			atomic_fetch_add(&asleep, 1);
			break;
		}
	woken[number] = false;
	(void)pthread_mutex_unlock(&lock);
}

static void *wait_to_be_woken(void *arg)
{
	unsigned number = (unsigned)(uintptr_t)arg;
	for (unsigned n = 0; n < ROUNDS && atomic_load(&asleep) == 0; n++) {
		struct tp_gate_ticket t = {0};
		struct tp_gate_permit p;
		while (tp_gate_ask(region, workers[number], id, most, QUEUE, false, NOW_MS, &t, &p) ==
		       TP_GATE_QUEUED) {
			if (most > 1 && n % 7 == 0) { /* its client leaves */
				tp_gate_leave(region, id, &t);
				break;
			}
			sleep_until_woken(number);
		}
		if (p.word != 0)
			enter_and_leave(&p);
		wake_next();
	}
	return NULL;
}

START_TEST(no_wakeup_is_lost)
{
	/* Two at one place: a lost wake-up lets both sleep. */
	most = _i == 0 ? 1 : (uint32_t)_i;
	in_threads(_i == 0 ? 2 : THREADS, wait_to_be_woken);
	ck_assert_uint_eq(atomic_load(&asleep), 0);
	ck_assert_uint_eq(atomic_load(&over), 0);
}
END_TEST

/* ---- a limit that moves: soft while it falls, and all is free in the end */

static void *learn_and_go(void *arg)
{
	struct tp_stamp owner = workers[(uintptr_t)arg];
	for (unsigned n = 0; n < ROUNDS; n++) {
		struct tp_gate_ticket t = {0};
		struct tp_gate_permit p;
		uint64_t now = NOW_MS + 15000 * (uint64_t)n;
		uint32_t limit = tp_gate_learned(region, id);
		if (limit < 1 || limit > TP_GATE_PERMITS)
			atomic_fetch_add(&over, 1);
		if (tp_gate_ask(region, owner, id, limit, QUEUE, false, now, &t, &p) == TP_GATE_GO)
			tp_gate_give_back(region, id, &p, now);
		tp_gate_leave(region, id, &t);
		if (n % 3 == 0)
			(void)tp_gate_refused(region, id, n % 11, n % 2 * 5, now);
		else
			(void)tp_gate_grow(region, id, now);
	}
	return NULL;
}

START_TEST(a_limit_that_moves)
{
	in_threads(THREADS, learn_and_go);
	ck_assert_uint_eq(atomic_load(&over), 0);
	ck_assert_uint_eq(tp_gate_in_progress(region, id), 0);
	ck_assert_uint_eq(tp_gate_waiting(region, id), 0);
}
END_TEST

TP_TESTS(gate_race)
{
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, close_region);
	tcase_add_test(t, never_more_than_the_limit);
	tcase_add_loop_test(t, no_wakeup_is_lost, 0, 4);
	tcase_add_test(t, a_limit_that_moves);
}
