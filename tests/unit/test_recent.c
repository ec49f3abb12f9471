/* The last failures and the last hour in the shared table: rings that any process may write, torn records are
 * none. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/shm/layout.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

static struct tp_failure list[TP_FAILURES_SHOWN];

/* Every word of it says the same. */
static void note(uint32_t n)
{
	struct tp_failure f = {.wall_ms = n, .status = n, .sends = n, .waited_ms = n};
	(void)snprintf(f.id, sizeof f.id, "%u", n);
	(void)snprintf(f.reason, sizeof f.reason, "%u", n);
	tp_failure_note(region, &f);
}

static void check_whole(const struct tp_failure *f)
{
	char text[16];
	(void)snprintf(text, sizeof text, "%u", f->status);
	ck_assert(f->wall_ms == f->status && f->sends == f->status && f->waited_ms == f->status);
	ck_assert_str_eq(f->id, text);
	ck_assert_str_eq(f->reason, text);
}

START_TEST(newest_first)
{
	ck_assert_uint_eq(tp_failures_read(region, list), 0);
	for (uint32_t n = 1; n <= 3; n++)
		note(n);
	ck_assert_uint_eq(tp_failures_read(region, list), 3);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(list[i].status, 3 - i);
	for (uint32_t n = 4; n <= 500; n++)
		note(n);
	ck_assert_uint_eq(tp_failures_read(region, list), TP_FAILURES_SHOWN);
	for (uint32_t i = 0; i < TP_FAILURES_SHOWN; i++)
		ck_assert_uint_eq(list[i].status, 500 - i);
}
END_TEST

/* Killed between two words, or two writers in one cell: that record is missing, the others are there. */
START_TEST(a_torn_record_is_none)
{
	for (uint32_t n = 1; n <= 5; n++)
		note(n);
	atomic_fetch_add(&region->failures->cells[3].words[TP_SEALED_HEAD + 2], 1);
	(void)atomic_fetch_add(&region->failures->noted, 1); /* counted, and killed before it wrote */
	ck_assert_uint_eq(tp_failures_read(region, list), 4);
	const uint32_t left[] = {5, 4, 2, 1};
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(list[i].status, left[i]);
}
END_TEST

static void *note_many(void *arg)
{
	const uint32_t *from = arg;
	for (uint32_t n = 0; n < 20000; n++)
		note(*from + n);
	return NULL;
}

START_TEST(many_writers_and_a_reader)
{
	pthread_t threads[3];
	uint32_t from[] = {0, 100000, 200000};
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, note_many, &from[i]), 0);
	for (int round = 0; round < 2000; round++) {
		unsigned n = tp_failures_read(region, list);
		for (unsigned i = 0; i < n; i++)
			check_whole(&list[i]);
	}
	for (int i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	ck_assert_uint_ge(tp_failures_read(region, list), TP_FAILURES_SHOWN - 3);
}
END_TEST

enum { MINUTE = 60 * 1000 };

static uint64_t turns_of(uint64_t now, unsigned minutes)
{
	struct tp_history_sample s;
	return tp_history_read(region, now, minutes, &s) ? s.values[TP_HISTORY_TURNS] : UINT64_MAX;
}

START_TEST(a_sample_each_minute)
{
	uint64_t now = 5 * MINUTE + 100;
	tp_count(region, 0, TP_COUNT_TURNS, 7);
	tp_history_tick(region, now);
	tp_count(region, 0, TP_COUNT_TURNS, 1);
	tp_history_tick(region, now + 1000); /* the minute has one */
	ck_assert_uint_eq(turns_of(now + 1000, 0), 7);
	ck_assert_uint_eq(turns_of(now + 1000, 1), UINT64_MAX);
	now += MINUTE;
	ck_assert_uint_eq(turns_of(now, 0), UINT64_MAX);
	tp_history_tick(region, now);
	ck_assert_uint_eq(turns_of(now, 0), 8);
	ck_assert_uint_eq(turns_of(now, 1), 7);
	ck_assert_uint_eq(turns_of(now, 6), UINT64_MAX);
	ck_assert_uint_eq(turns_of(now, 7), UINT64_MAX); /* before the machine began */
}
END_TEST

START_TEST(an_hour_of_them)
{
	uint64_t now = 0;
	for (unsigned m = 0; m < 200; m++, now += MINUTE) {
		tp_history_tick(region, now);
		tp_count(region, 3, TP_COUNT_TURNS, 1);
	}
	now -= MINUTE;
	for (unsigned ago = 0; ago <= TP_HISTORY_MINUTES; ago++)
		ck_assert_uint_eq(turns_of(now, ago), 199 - ago);
	ck_assert_uint_eq(turns_of(now, TP_HISTORY_MINUTES + 1), UINT64_MAX);
	/* hours in which nobody took any: what is left in the cells is of another time */
	for (unsigned ago = 0; ago <= TP_HISTORY_MINUTES; ago++)
		ck_assert_uint_eq(turns_of(now + 640 * MINUTE, ago), UINT64_MAX);
}
END_TEST

START_TEST(each_value_has_its_name)
{
	for (unsigned v = 0; v < TP_HISTORY_VALUES; v++)
		for (unsigned w = 0; w < v; w++)
			ck_assert_str_ne(tp_history_name(v), tp_history_name(w));
}
END_TEST

TP_TESTS(recent)
{
	tcase_add_checked_fixture(t, open_region, close_region);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, newest_first);
	tcase_add_test(t, a_torn_record_is_none);
	tcase_add_test(t, many_writers_and_a_reader);
	tcase_add_test(t, a_sample_each_minute);
	tcase_add_test(t, an_hour_of_them);
	tcase_add_test(t, each_value_has_its_name);
}
