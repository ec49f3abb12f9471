/*
 * Threads in the place of workers on the breaker, cooldowns, shared waits and series: what must hold whoever
 * is faster. Also run with SANITIZE=thread.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "common/shm/layout.h"

#include "tests/unit/suite.h"
#include "tests/unit/threads.h"

enum { THREADS = 4, NOW_MS = 1000000, ROUNDS = 1500 };

static struct tp_region *region;
static struct tp_stamp workers[THREADS];
static pthread_barrier_t barrier;
static atomic_uint counted[8];

static void setup(void)
{
	const struct tp_region_sizes sizes = {.logical_requests = 128, .urls = 256};
	ck_assert_int_eq(tp_region_open_anonymous(sizes, &region), 0);
	for (unsigned i = 0; i < THREADS; i++)
		workers[i] = tp_slot_assign(region, i);
	ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, THREADS), 0);
	for (unsigned i = 0; i < 8; i++)
		atomic_store(&counted[i], 0);
}

static void teardown(void)
{
	(void)pthread_barrier_destroy(&barrier);
	tp_region_close(region);
}

static struct tp_breaker_url url_number(unsigned n)
{
	static _Thread_local char path[32];
	(void)snprintf(path, sizeof path, "/%u", n);
	return tp_breaker_url(region, TP_STR("codex"), TP_STR("http://h"), tp_str_from(path));
}

/* ---- each failure counts, and one process lists */

enum { EACH = 1000 };
static const struct tp_breaker_policy last_lists = {THREADS * EACH - 1, 300000, 600000, false};

static void *fail_often(void *arg)
{
	const struct tp_breaker_url u = url_number(1);
	for (unsigned n = 0; n < EACH; n++) {
		struct tp_breaker_pass pass;
		uint64_t wait;
		if (tp_breaker_ask(region, workers[(uintptr_t)arg], &u, &last_lists, NOW_MS, &pass, &wait) !=
		    TP_BREAKER_PASS)
			atomic_fetch_add(&counted[0], 1);
		else if (tp_breaker_report(&pass, TP_BREAKER_FAILURE_STATUS, NOW_MS) ==
			 TP_BREAKER_NEWLY_LISTED)
			atomic_fetch_add(&counted[1], 1);
	}
	return NULL;
}

START_TEST(each_failure_counts)
{
	in_threads(THREADS, fail_often);
	ck_assert_uint_eq(atomic_load(&counted[0]), 0);
	ck_assert_uint_eq(atomic_load(&counted[1]), 1);
	ck_assert_uint_eq(tp_breaker_clear_status(region, url_number(1).base), 1);
}
END_TEST

/* ---- all ask at expiry: one probe */

static const struct tp_breaker_policy at_once = {0, 300000, 1000, false};
static atomic_uint probes[ROUNDS];

static void *probe_each_round(void *arg)
{
	struct tp_stamp owner = workers[(uintptr_t)arg];
	const struct tp_breaker_url u = url_number(2);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t now = NOW_MS + 10000 * (uint64_t)round, wait;
		struct tp_breaker_pass pass = {0};
		if (arg == NULL) {
			(void)tp_breaker_ask(region, owner, &u, &at_once, now, &pass, &wait);
			(void)tp_breaker_report(&pass, TP_BREAKER_FAILURE_STATUS, now);
		}
		(void)pthread_barrier_wait(&barrier);
		enum tp_breaker_answer a =
			tp_breaker_ask(region, owner, &u, &at_once, now + 1000, &pass, &wait);
		if (a == TP_BREAKER_PASS)
			atomic_fetch_add(&counted[0], 1);
		if (a == TP_BREAKER_PASS_AS_PROBE)
			atomic_fetch_add(&probes[round], 1);
		(void)pthread_barrier_wait(&barrier);
		if (a == TP_BREAKER_PASS_AS_PROBE)
			(void)tp_breaker_report(&pass, TP_BREAKER_SUCCESS, now + 1000);
		(void)pthread_barrier_wait(&barrier);
	}
	return NULL;
}

START_TEST(one_probe)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		atomic_store(&probes[round], 0);
	in_threads(THREADS, probe_each_round);
	ck_assert_uint_eq(atomic_load(&counted[0]), 0);
	for (unsigned round = 0; round < ROUNDS; round++)
		ck_assert_uint_eq(atomic_load(&probes[round]), 1);
}
END_TEST

/* ---- the probe passes from hand to hand: never two at a time, and what the last one said is known */

static atomic_uint inside;

static void *probe_in_turn(void *arg)
{
	struct tp_stamp owner = workers[(uintptr_t)arg];
	const struct tp_breaker_policy instant = {0, 300000, 0, false};
	const struct tp_breaker_url u = url_number(3);
	for (unsigned n = 0; n < 20 * ROUNDS; n++) {
		struct tp_breaker_pass pass;
		uint64_t wait;
		enum tp_breaker_answer a = tp_breaker_ask(region, owner, &u, &instant, NOW_MS, &pass, &wait);
		if (a == TP_BREAKER_LISTED)
			continue;
		if (a == TP_BREAKER_PASS_AS_PROBE) {
			atomic_fetch_add(&counted[0], 1);
			if (atomic_fetch_add(&inside, 1) != 0)
				atomic_fetch_add(&counted[1], 1);
			atomic_fetch_sub(&inside, 1);
		}
		(void)tp_breaker_report(&pass, n % 7 == 0 ? TP_BREAKER_SUCCESS : TP_BREAKER_FAILURE_STATUS,
					NOW_MS);
	}
	return NULL;
}

START_TEST(probes_in_turn)
{
	in_threads(THREADS, probe_in_turn);
	ck_assert_uint_gt(atomic_load(&counted[0]), ROUNDS);
	ck_assert_uint_eq(atomic_load(&counted[1]), 0);
}
END_TEST

/* ---- entries come and go while others read them */

static void *come_and_go(void *arg)
{
	const struct tp_breaker_policy two = {1, 300000, 600000, false};
	for (unsigned n = 0; n < 6 * ROUNDS; n++) {
		const struct tp_breaker_url u = url_number(100 + (n * 7 + (unsigned)(uintptr_t)arg) % 2000);
		struct tp_breaker_pass pass;
		struct tp_breaker_row row;
		uint64_t wait;
		uint32_t cursor = n % 256;
		if (tp_breaker_ask(region, workers[(uintptr_t)arg], &u, &two, NOW_MS + n, &pass, &wait) !=
		    TP_BREAKER_LISTED)
			(void)tp_breaker_report(&pass, TP_BREAKER_FAILURE_STATUS, NOW_MS + n);
		/* A row is of one URL: text and key belong together. */
		if (tp_breaker_next(region, &two, &cursor, &row)) {
			const struct tp_breaker_url there =
				tp_breaker_url(region, TP_STR("codex"), TP_STR("http://h"),
					       tp_str_from(row.url + strlen("http://h")));
			if (there.url.lo != row.key.lo || there.base.lo != row.base.lo)
				atomic_fetch_add(&counted[0], 1);
		}
	}
	return NULL;
}

START_TEST(rows_are_whole)
{
	in_threads(THREADS, come_and_go);
	ck_assert_uint_eq(atomic_load(&counted[0]), 0);
}
END_TEST

/* ---- two refusals of one key cool it once; a mark is one process's */

static atomic_uint begun[ROUNDS], due[ROUNDS];

static void *cool_each_round(void *arg)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t now = NOW_MS + 1000 * (uint64_t)round;
		const struct tp_cooldown_name name =
			tp_cooldown_key(region, TP_STR("codex"), TP_STR("secret"), TP_STR("codex key 1"));
		(void)pthread_barrier_wait(&barrier);
		const struct tp_cooldown c = {now + 500 + (uintptr_t)arg, (round & 1) != 0, 1};
		if (tp_cooldown_set(region, workers[(uintptr_t)arg], &name, c, now))
			atomic_fetch_add(&begun[round], 1);
		if (tp_mark_due(region, TP_MARK_LEDGER_FULL, 1000, now))
			atomic_fetch_add(&due[round], 1);
		(void)pthread_barrier_wait(&barrier);
		struct tp_cooldown stands;
		if (!tp_cooldown_get(region, name.key, now, &stands) ||
		    stands.until_ms != now + 500 + THREADS - 1)
			atomic_fetch_add(&counted[0], 1);
	}
	return NULL;
}

START_TEST(one_begins_a_cooldown)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		atomic_store(&begun[round], 0);
		atomic_store(&due[round], 0);
	}
	in_threads(THREADS, cool_each_round);
	for (unsigned round = 0; round < ROUNDS; round++) {
		ck_assert_uint_eq(atomic_load(&begun[round]), 1);
		ck_assert_uint_eq(atomic_load(&due[round]), 1);
	}
	ck_assert_uint_eq(atomic_load(&counted[0]), 0);
}
END_TEST

/* ---- of a shared wait never more go than good answers allow */

static void *wait_and_go(void *arg)
{
	struct tp_stamp owner = workers[(uintptr_t)arg];
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct tp_hash128 key = tp_shared_wait_key(region, TP_STR("codex"), TP_STR("m"), round);
		struct tp_shared_wait_pass p[8];
		uint64_t hold, left;
		unsigned went = 0;
		if (arg == NULL) {
			atomic_store(&counted[1], 0);
			tp_shared_wait_begin(region, owner, key, TP_STR("codex/gpt-5"), NOW_MS + 100, NOW_MS);
		}
		(void)pthread_barrier_wait(&barrier);
		while (went < 8 &&
		       tp_shared_wait_ask(region, owner, key, NOW_MS + 100, &p[went], &hold, &left))
			went++;
		atomic_fetch_add(&counted[1], went);
		(void)pthread_barrier_wait(&barrier);
		/* One led; its answer lets two go, whoever takes them. */
		if (atomic_load(&counted[1]) != 1)
			atomic_fetch_add(&counted[0], 1);
		for (unsigned i = 0; i < went; i++)
			tp_shared_wait_report(&p[i], true);
		(void)pthread_barrier_wait(&barrier);
		for (went = 0; went < 8 &&
			       tp_shared_wait_ask(region, owner, key, NOW_MS + 100, &p[went], &hold, &left);)
			went++;
		atomic_fetch_add(&counted[1], went);
		(void)pthread_barrier_wait(&barrier);
		if (atomic_load(&counted[1]) != 3)
			atomic_fetch_add(&counted[0], 1);
		for (unsigned i = 0; i < went; i++)
			tp_shared_wait_report(&p[i], false);
		(void)pthread_barrier_wait(&barrier);
	}
	return NULL;
}

START_TEST(a_crowd_is_let_go_in_steps)
{
	in_threads(THREADS, wait_and_go);
	ck_assert_uint_eq(atomic_load(&counted[0]), 0);
}
END_TEST

/* ---- one series for one meaning, and nothing is lost */

enum { MEANINGS = 200 };
static atomic_bool done;

static tp_series_id series_number(struct tp_stamp owner, unsigned n)
{
	char provider[32];
	(void)snprintf(provider, sizeof provider, "p%u", n);
	const struct tp_str v[] = {tp_str_from(provider), TP_STR("initial")};
	return tp_series_open(region, owner, TP_METRIC_SENDS, v);
}

static void *count_all(void *arg)
{
	(void)pthread_barrier_wait(&barrier);
	if (arg == NULL) { /* reads meanwhile: sums never run backwards */
		int64_t last = 0;
		while (!atomic_load(&done)) {
			int64_t sum = tp_metric_sum(region, TP_METRIC_SENDS, -1, TP_STR(""));
			if (sum < last)
				atomic_fetch_add(&counted[0], 1);
			last = sum;
		}
		return NULL;
	}
	for (unsigned n = 0; n < 20 * MEANINGS; n++)
		tp_series_add(region, workers[(uintptr_t)arg].slot,
			      series_number(workers[(uintptr_t)arg], n % MEANINGS), 1);
	if (atomic_fetch_add(&counted[1], 1) == THREADS - 2)
		atomic_store(&done, true);
	return NULL;
}

START_TEST(one_series_for_one_meaning)
{
	atomic_store(&done, false);
	in_threads(THREADS, count_all);
	ck_assert_uint_eq(atomic_load(&counted[0]), 0);
	struct tp_series_row row;
	unsigned rows = 0;
	for (uint32_t cursor = 0; tp_series_next(region, TP_METRIC_SENDS, &cursor, &row); rows++)
		ck_assert_int_eq(row.sum, 20 * (THREADS - 1));
	ck_assert_uint_eq(rows, MEANINGS);
}
END_TEST

TP_TESTS(shm_race)
{
	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, each_failure_counts);
	tcase_add_test(t, one_probe);
	tcase_add_test(t, probes_in_turn);
	tcase_add_test(t, rows_are_whole);
	tcase_add_test(t, one_begins_a_cooldown);
	tcase_add_test(t, a_crowd_is_let_go_in_steps);
	tcase_add_test(t, one_series_for_one_meaning);
}
