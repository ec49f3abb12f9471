/* Long waits in a row, per provider, as all workers see them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/shm/layout.h"
#include "common/shm/streak.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

START_TEST(rows_of_waits)
{
	static const struct {
		int64_t wait_ms;
		uint32_t count;
	} rows[] = {
		{55000, 1}, {1500, 0},  {55000, 1}, {60000, 2}, {-1, 0}, {55000, 1},
		{55000, 2}, {55000, 3}, {1500, 3},  {55000, 3}, {-1, 0}, {-1, 0},
	};
	tp_streak_id p = tp_streak_open(region, TP_STR("p")), q = tp_streak_open(region, TP_STR("q"));
	ck_assert_uint_ne(p, q);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		tp_streak_next(region, p, rows[i].wait_ms);
		ck_assert_uint_eq(tp_streak_get(region, p), rows[i].count);
		ck_assert_uint_eq(tp_streak_get(region, q), 0);
	}
	/* Who opens it again, after a reload, goes on with it. */
	tp_streak_next(region, p, 55000);
	ck_assert_uint_eq(tp_streak_open(region, TP_STR("p")), p);
	ck_assert_uint_eq(tp_streak_get(region, p), 1);
}
END_TEST

START_TEST(a_full_table)
{
	tp_streak_id first = tp_streak_open(region, TP_STR("first"));
	tp_streak_next(region, first, 55000);
	for (unsigned i = 1; i < TP_STREAKS; i++) {
		char name[16];
		int n = snprintf(name, sizeof name, "p%u", i);
		ck_assert_uint_ne(tp_streak_open(region, (struct tp_str){name, (size_t)n}), TP_STREAK_NONE);
	}
	tp_streak_id none = tp_streak_open(region, TP_STR("one more"));
	ck_assert_uint_eq(none, TP_STREAK_NONE);
	tp_streak_next(region, none, 55000);
	ck_assert_uint_eq(tp_streak_get(region, none), 0);
	ck_assert_uint_eq(tp_streak_open(region, TP_STR("first")), first);
	ck_assert_uint_eq(tp_streak_get(region, first), 1);
}
END_TEST

static void *open_one(void *arg)
{
	tp_streak_id *id = arg;
	*id = tp_streak_open(region, TP_STR("same"));
	tp_streak_next(region, *id, 55000);
	return NULL;
}

/* All workers start at once: they meet in one word, and each of their waits counts. */
START_TEST(workers_meet)
{
	enum { WORKERS = 2 };
	pthread_t threads[WORKERS];
	tp_streak_id ids[WORKERS];
	for (int i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, open_one, &ids[i]), 0);
	for (int i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_uint_eq(ids[0], ids[1]);
	ck_assert_uint_eq(tp_streak_get(region, ids[0]), WORKERS);
}
END_TEST

TP_TESTS(streak)
{
	tcase_add_checked_fixture(t, open_region, close_region);
	tcase_add_test(t, rows_of_waits);
	tcase_add_test(t, a_full_table);
	tcase_add_test(t, workers_meet);
}
