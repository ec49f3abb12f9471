/* The shared count of a combo's turns: each number is given once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/shm/layout.h"
#include "common/shm/rounds.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { THREADS = 4, TURNS = 20000 };

START_TEST(combos_count_apart)
{
	uint64_t number = 99;
	for (uint64_t i = 0; i < 3; i++) {
		ck_assert(tp_round_next(region, TP_STR("a"), &number));
		ck_assert_uint_eq(number, i);
	}
	ck_assert(tp_round_next(region, TP_STR("b"), &number));
	ck_assert_uint_eq(number, 0);
	ck_assert(tp_round_next(region, TP_STR("a"), &number));
	ck_assert_uint_eq(number, 3);
}
END_TEST

START_TEST(a_full_table)
{
	uint64_t number = 99;
	for (unsigned i = 0; i < TP_ROUNDS; i++) {
		char name[16];
		int n = snprintf(name, sizeof name, "c%u", i);
		ck_assert(tp_round_next(region, (struct tp_str){name, (size_t)n}, &number));
		ck_assert_uint_eq(number, 0);
	}
	ck_assert(!tp_round_next(region, TP_STR("one more"), &number));
	ck_assert(tp_round_next(region, TP_STR("c7"), &number));
	ck_assert_uint_eq(number, 1);
}
END_TEST

static unsigned char given[THREADS * TURNS];

static void *turns(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < TURNS; i++) {
		uint64_t number;
		if (tp_round_next(region, TP_STR("shared"), &number) && number < sizeof given)
			given[number]++; /* nobody else has this number */
	}
	return NULL;
}

START_TEST(each_number_is_given_once)
{
	pthread_t threads[THREADS];
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, turns, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	for (size_t i = 0; i < sizeof given; i++)
		ck_assert_uint_eq(given[i], 1);
}
END_TEST

TP_TESTS(rounds)
{
	tcase_add_checked_fixture(t, open_region, close_region);
	tcase_add_test(t, combos_count_apart);
	tcase_add_test(t, a_full_table);
	tcase_add_test(t, each_number_is_given_once);
}
