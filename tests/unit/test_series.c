/* Labelled numbers, histograms, marks: sums, what restarts and what goes on, what stays apart. */
#include <stdlib.h>
#include <string.h>

#include "common/shm/histogram.h"
#include "common/shm/layout.h"
#include "common/shm/marks.h"
#include "common/shm/series.h"
#include "tests/unit/dies.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

static struct tp_stamp a, b;

static void setup(void)
{
	open_region();
	a = tp_slot_assign(region, 1);
	b = tp_slot_assign(region, 2);
}

static tp_series_id turns(const char *route, const char *family, const char *outcome)
{
	const struct tp_str v[] = {tp_str_from(route), tp_str_from(family), tp_str_from(outcome)};
	return tp_series_open(region, a, TP_METRIC_TURNS, v);
}

START_TEST(every_metric_is_described)
{
	for (int m = 0; m < TP_METRIC_COUNT; m++) {
		const struct tp_metric_info *i = tp_metric_info((enum tp_metric)m);
		ck_assert(strncmp(i->name, "turnpike_", 9) == 0 && strlen(i->help) > 5);
		ck_assert(i->gauge == (strstr(i->name, "_total") == NULL));
		ck_assert(i->n_labels > 0 && i->n_labels <= TP_METRIC_MAX_LABELS);
		for (unsigned l = 0; l < i->n_labels; l++)
			ck_assert_ptr_nonnull(i->labels[l]);
		for (int n = 0; n < m; n++)
			ck_assert_str_ne(i->name, tp_metric_info((enum tp_metric)n)->name);
	}
	ck_assert_ptr_null(tp_metric_info(TP_METRIC_COUNT));
}
END_TEST

START_TEST(series_are_what_their_labels_say)
{
	tp_series_id one = turns("/v1", "chat", "ok"), two = turns("/v1", "chat", "error");
	tp_series_id three = turns("/v1c", "hat", "ok");
	ck_assert(one != two && two != three && one != three && one != TP_SERIES_NONE);
	ck_assert_uint_eq(turns("/v1", "chat", "ok"), one);
	const struct tp_str same[] = {TP_STR("p"), TP_STR("x")};
	ck_assert_uint_ne(tp_series_open(region, a, TP_METRIC_KEY_SENDS, same),
			  tp_series_open(region, a, TP_METRIC_REFRESHES, same));
	tp_series_add(region, a.slot, one, 5);
	tp_series_add(region, b.slot, one, 6);
	tp_series_add(region, b.slot, two, 100);
	tp_series_add_shared(region, one, 1000);
	tp_series_add(region, a.slot, TP_SERIES_NONE, 1);
	tp_series_add(region, TP_SHM_SLOTS, one, 1);
	ck_assert_int_eq(tp_series_sum(region, one), 1011);
	ck_assert_int_eq(tp_metric_sum(region, TP_METRIC_TURNS, -1, TP_STR("")), 1111);
	ck_assert_int_eq(tp_metric_sum(region, TP_METRIC_TURNS, 2, TP_STR("error")), 100);
	ck_assert_int_eq(tp_metric_sum(region, TP_METRIC_TURNS, 0, TP_STR("error")), 0);
	ck_assert_int_eq(tp_metric_sum(region, TP_METRIC_TURNS, 3, TP_STR("error")), 0);
}
END_TEST

START_TEST(rows_of_one_metric)
{
	tp_series_add(region, a.slot, turns("/v1", "chat", "ok"), 5);
	const struct tp_str provider = TP_STR("codex");
	(void)tp_series_open(region, a, TP_METRIC_HOPS, &provider);
	struct tp_series_row row;
	uint32_t cursor = 0;
	ck_assert(tp_series_next(region, TP_METRIC_TURNS, &cursor, &row));
	ck_assert_uint_eq(row.n_values, 3);
	ck_assert_str_eq(row.values[0].p, "/v1");
	ck_assert_str_eq(row.values[1].p, "chat");
	ck_assert_str_eq(row.values[2].p, "ok");
	ck_assert_int_eq(row.sum, 5);
	ck_assert(!tp_series_next(region, TP_METRIC_TURNS, &cursor, &row));
	cursor = 0;
	ck_assert(tp_series_next(region, TP_METRIC_HOPS, &cursor, &row));
	ck_assert(tp_str_eq(row.values[0], provider) && row.sum == 0);
}
END_TEST

START_TEST(counters_go_on_and_gauges_restart)
{
	const struct tp_str p = TP_STR("codex");
	tp_series_id count = tp_series_open(region, a, TP_METRIC_HOPS, &p);
	tp_series_id gauge = tp_series_open(region, a, TP_METRIC_INFLIGHT, &p);
	tp_series_add(region, a.slot, count, 3);
	tp_series_add(region, a.slot, gauge, 3);
	tp_series_add(region, b.slot, gauge, 5);
	tp_series_add(region, b.slot, gauge, -1);
	ck_assert_int_eq(tp_series_sum(region, gauge), 7);
	worker_dies(region, a.slot);
	ck_assert_int_eq(tp_series_sum(region, gauge), 4);
	ck_assert_int_eq(tp_series_sum(region, count), 3);
	a = tp_slot_assign(region, a.slot);
	tp_series_add(region, a.slot, gauge, 1);
	tp_series_add(region, a.slot, count, 1);
	ck_assert_int_eq(tp_series_sum(region, gauge), 5);
	ck_assert_int_eq(tp_series_sum(region, count), 4);
}
END_TEST

/* Two that differ at their ends only must not become the same line of /metrics. */
START_TEST(long_values_stay_apart)
{
	char route[2][400];
	char shown[2][TP_SERIES_TEXT];
	for (int i = 0; i < 2; i++) {
		memset(route[i], 'r', sizeof route[i]);
		route[i][398] = (char)('a' + i);
		route[i][399] = '\0';
		ck_assert_uint_ne(turns(route[i], "\n", "\303\244"), TP_SERIES_NONE);
	}
	struct tp_series_row row;
	int n = 0;
	for (uint32_t cursor = 0; tp_series_next(region, TP_METRIC_TURNS, &cursor, &row); n++) {
		ck_assert_int_lt(n, 2);
		ck_assert_uint_lt(row.values[0].n, TP_SERIES_TEXT / 3);
		ck_assert_uint_gt(row.values[0].n, 40);
		ck_assert_str_eq(row.values[1].p, "?");
		ck_assert_str_eq(row.values[2].p, "\303\244");
		memcpy(shown[n], row.values[0].p, row.values[0].n + 1);
	}
	ck_assert_int_eq(n, 2);
	ck_assert_str_ne(shown[0], shown[1]);
}
END_TEST

START_TEST(a_full_table_counts_what_it_lost)
{
	char route[32];
	unsigned lost = 0;
	tp_series_id first = turns("/0", "chat", "ok");
	tp_series_add(region, a.slot, first, 7);
	for (unsigned n = 1; n < TP_SERIES + 50; n++) {
		(void)snprintf(route, sizeof route, "/%u", n);
		bool entered = turns(route, "chat", "ok") != TP_SERIES_NONE;
		lost += !entered;
		ck_assert_msg(entered || n > TP_SERIES * 8 / 10, "full at %u", n);
	}
	ck_assert_uint_ge(lost, 50);
	ck_assert_uint_eq(tp_series_lost(region), lost);
	ck_assert_uint_eq(turns("/0", "chat", "ok"), first);
	ck_assert_int_eq(tp_metric_sum(region, TP_METRIC_TURNS, -1, TP_STR("")), 7);
}
END_TEST

/* ---- histograms */

START_TEST(bounds_grow)
{
	for (int h = 0; h < TP_HISTOGRAM_COUNT; h++) {
		ck_assert(strncmp(tp_histogram_name((enum tp_histogram)h), "turnpike_", 9) == 0);
		ck_assert_ptr_nonnull(tp_histogram_help((enum tp_histogram)h));
		for (unsigned i = 1; i < TP_HISTOGRAM_BUCKETS; i++)
			ck_assert(tp_histogram_bound_us((enum tp_histogram)h, i) >
				  tp_histogram_bound_us((enum tp_histogram)h, i - 1));
		ck_assert(tp_histogram_bound_us((enum tp_histogram)h, TP_HISTOGRAM_BUCKETS - 1) ==
			  UINT64_MAX);
	}
	ck_assert_ptr_null(tp_histogram_name(TP_HISTOGRAM_COUNT));
}
END_TEST

START_TEST(each_value_falls_into_its_bucket)
{
	struct tp_histogram_sum s;
	uint64_t sum = 0;
	for (unsigned i = 0; i < TP_HISTOGRAM_BUCKETS; i++) {
		uint64_t bound = tp_histogram_bound_us(TP_HISTOGRAM_TURN, i);
		uint64_t below = i > 0 ? tp_histogram_bound_us(TP_HISTOGRAM_TURN, i - 1) + 1 : 0;
		if (bound == UINT64_MAX)
			bound = UINT64_C(1) << 40;
		tp_histogram_add(region, i, TP_HISTOGRAM_TURN, bound);
		tp_histogram_add(region, 255 - i, TP_HISTOGRAM_TURN, below);
		sum += bound + below;
	}
	tp_histogram_add(region, TP_SHM_SLOTS, TP_HISTOGRAM_TURN, 1);
	tp_histogram_read(region, TP_HISTOGRAM_TURN, &s);
	for (unsigned i = 0; i < TP_HISTOGRAM_BUCKETS; i++)
		ck_assert_uint_eq(s.counts[i], 2);
	ck_assert_uint_eq(s.count, 2 * TP_HISTOGRAM_BUCKETS);
	ck_assert_uint_eq(s.sum_us, sum);
	tp_histogram_read(region, TP_HISTOGRAM_WAIT, &s);
	ck_assert_uint_eq(s.count, 0);
	worker_dies(region, 1);
	(void)tp_slot_assign(region, 1);
	tp_histogram_read(region, TP_HISTOGRAM_TURN, &s);
	ck_assert_uint_eq(s.count, 2 * TP_HISTOGRAM_BUCKETS);
}
END_TEST

/* ---- marks and numbers */

START_TEST(marks_come_due)
{
	ck_assert(tp_mark_due(region, TP_MARK_LEDGER_FULL, 60000, 5));
	ck_assert(!tp_mark_due(region, TP_MARK_LEDGER_FULL, 60000, 6));
	ck_assert(tp_mark_due(region, TP_MARK_SYSTEM_LOAD, 60000, 6));
	ck_assert(!tp_mark_due(region, TP_MARK_LEDGER_FULL, 60000, 60004));
	ck_assert(tp_mark_due(region, TP_MARK_LEDGER_FULL, 60000, 60005));
	ck_assert(!tp_mark_due(region, TP_MARK_COUNT, 0, 60005));
}
END_TEST

START_TEST(numbers)
{
	ck_assert_uint_eq(tp_number_add(region, TP_NUMBER_WORKER_RESTARTS, 2), 0);
	ck_assert_uint_eq(tp_number_add(region, TP_NUMBER_WORKER_RESTARTS, 1), 2);
	tp_number_set(region, TP_NUMBER_CONFIG_GENERATION, 9);
	ck_assert_uint_eq(tp_number_get(region, TP_NUMBER_WORKER_RESTARTS), 3);
	ck_assert_uint_eq(tp_number_get(region, TP_NUMBER_CONFIG_GENERATION), 9);
	tp_number_set(region, TP_NUMBER_COUNT, 9);
	ck_assert_uint_eq(tp_number_get(region, TP_NUMBER_COUNT), 0);
}
END_TEST

TP_TESTS(series)
{
	tcase_add_checked_fixture(t, setup, close_region);
	tcase_add_test(t, every_metric_is_described);
	tcase_add_test(t, series_are_what_their_labels_say);
	tcase_add_test(t, rows_of_one_metric);
	tcase_add_test(t, counters_go_on_and_gauges_restart);
	tcase_add_test(t, long_values_stay_apart);
	tcase_add_test(t, a_full_table_counts_what_it_lost);
	tcase_add_test(t, bounds_grow);
	tcase_add_test(t, each_value_falls_into_its_bucket);
	tcase_add_test(t, marks_come_due);
	tcase_add_test(t, numbers);
}
