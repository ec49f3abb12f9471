/* Statistics: sums over slots, names, what restarts and what goes on. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/shm/counters.h"
#include "common/shm/slots.h"

#include "tests/unit/dies.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

/* An enumerator that was added without its name shows here. */
START_TEST(each_has_a_name_of_its_own)
{
	for (int i = 0; i < TP_COUNT_TOTAL; i++) {
		const char *name = tp_counter_name((enum tp_counter)i);
		ck_assert_msg(name != NULL, "counter %d", i);
		ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(name, tp_counter_name((enum tp_counter)j));
	}
	for (int i = 0; i < TP_GAUGE_TOTAL; i++)
		ck_assert_msg(tp_gauge_name((enum tp_gauge)i) != NULL, "gauge %d", i);
	ck_assert_str_eq(tp_counter_name(TP_COUNT_SENDS_FIRST + TP_CLASS_OVERLOAD), "sends_overload");
	ck_assert_str_eq(tp_counter_name(TP_COUNT_REFUSALS_FIRST + TP_CODE_NO_RESPONSE),
			 "refusals_upstream_no_response");
	ck_assert_ptr_null(tp_counter_name(TP_COUNT_TOTAL));
	ck_assert_ptr_null(tp_gauge_name(TP_GAUGE_TOTAL));
}
END_TEST

START_TEST(sums_add_up_over_slots)
{
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++)
		for (int c = 0; c < TP_COUNT_TOTAL; c++)
			tp_count(region, slot, (enum tp_counter)c, slot + (unsigned)c);
	for (unsigned c = 0; c < TP_COUNT_TOTAL; c++)
		ck_assert_uint_eq(tp_counter_sum(region, (enum tp_counter)c), 255 * 256 / 2 + 256 * c);
	tp_count(region, TP_SHM_SLOTS, TP_COUNT_TURNS, 1);
	ck_assert_uint_eq(tp_counter_sum(region, TP_COUNT_TURNS), 255 * 256 / 2 + 256 * TP_COUNT_TURNS);
}
END_TEST

START_TEST(counters_go_on_and_gauges_restart)
{
	tp_slot_assign(region, 1);
	tp_slot_assign(region, 2);
	tp_count(region, 1, TP_COUNT_TURNS, 5);
	tp_gauge_add(region, 1, TP_GAUGE_TURNS, 3);
	tp_gauge_add(region, 1, TP_GAUGE_TURNS, -1);
	tp_gauge_add(region, 2, TP_GAUGE_TURNS, 7);
	ck_assert_int_eq(tp_gauge_sum(region, TP_GAUGE_TURNS), 9);
	worker_dies(region, 1);
	ck_assert_int_eq(tp_gauge_sum(region, TP_GAUGE_TURNS), 7);
	ck_assert_uint_eq(tp_counter_sum(region, TP_COUNT_TURNS), 5);
	tp_slot_assign(region, 1);
	ck_assert_int_eq(tp_gauge_sum(region, TP_GAUGE_TURNS), 7);
	tp_count(region, 1, TP_COUNT_TURNS, 1);
	ck_assert_uint_eq(tp_counter_sum(region, TP_COUNT_TURNS), 6);
}
END_TEST

TP_TESTS(counters)
{
	tcase_add_checked_fixture(t, open_region, close_region);
	tcase_add_test(t, each_has_a_name_of_its_own);
	tcase_add_test(t, sums_add_up_over_slots);
	tcase_add_test(t, counters_go_on_and_gauges_restart);
}
