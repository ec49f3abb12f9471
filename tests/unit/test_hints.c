/* Wait hints in the bodies of error answers. */
#include "common/retry/hints.h"

#include <inttypes.h>

#include "common/retry/told.h"
#include "tests/unit/tsv.h"
#include "tests/unit/suite.h"

#define NOW ((int64_t)1790000000)

static struct tp_str str(const char *s)
{
	return tp_str_from(s);
}

START_TEST(table)
{
	struct tsv t = tsv_open("body_hints.tsv");
	unsigned rows = 0;

	while (tsv_next(&t)) {
		int64_t told = tp_hint_message(tsv_unescape(&t, 0));
		int64_t seconds = told < 0 ? -1 : (int64_t)tp_told_header_seconds(told), want = -1;

		ck_assert_uint_eq(t.n_columns, 2);
		if (strcmp(t.columns[1], "none") != 0)
			want = strtoll(t.columns[1], NULL, 10);
		ck_assert_msg(seconds == want, "%s: %" PRId64 ", expected %" PRId64, t.columns[0], seconds,
			      want);
		rows++;
	}
	tsv_close(&t);
	ck_assert_uint_ge(rows, 40);
}
END_TEST

START_TEST(prose_beyond_the_table)
{
	static const struct {
		const char *message;
		int64_t ms;
	} rows[] = {
		{"Please try again in 11.054s. Visit", 11054}, /* exact: rounded only towards the client */
		{"Please retry in 34.074824224s.", 34075},
		{"reached organization max RPM: 3, please try again after 1 seconds", 1000},
		{"Please retry after 37 seconds. Please contact", 37000},
		{"retry after 5", 5000},
		{"retry after 5.", 5000},
		{"retry after 5-10 seconds", -1},
		{"retry after 5/7", -1},
		{"try again in 5", -1},
		{"try again in 2 weeks", 1209600000},
		{"presets in 5s", -1},
		{"try  again\nin 5s", 5000},
		{"try again int 5s", -1},
		{"try again in", -1},
		{"retry after", -1},
		{"try again in 99999999999999999999 days", (int64_t)UINT32_MAX * 1000},
		{"try again in 4294967295s 4294967295s", (int64_t)UINT32_MAX * 1000},
		{"\xff\xfe try again in 3s", 3000},
		{"", -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t told = tp_hint_message(str(rows[i].message));

		ck_assert_msg(told == rows[i].ms, "%s: %" PRId64, rows[i].message, told);
	}
	ck_assert_int_eq(tp_hint_message((struct tp_str){NULL, 0}), -1);
	/* the bytes behind the end are not looked at */
	ck_assert_int_eq(tp_hint_message((struct tp_str){"try again in 15s", 14}), -1);
}
END_TEST

START_TEST(structured)
{
	static const struct {
		struct tp_body_hints h;
		int64_t ms;
	} rows[] = {
		{{13872000, NOW + 13872, -1, false, {"", 0}}, 13872000},
		{{2000, -1, -1, false, {"", 0}}, 2000},
		{{-1, NOW + 3, -1, false, {"", 0}}, 3000},
		{{-1, NOW - 1, -1, false, {"", 0}}, 0},
		{{-1, -1, 34075, false, {"Please retry in 45.57s.", 23}}, 34075}, /* structure before prose */
		{{2000, NOW + 7, -1, false, {"", 0}}, 7000},
		{{-1, -1, -1, false, {"try again in 7s", 15}}, 7000},
		{{-1, -1, 34075, true, {"Please retry in 45.57s.", 23}}, -1}, /* a daily quota misleads */
		{{-1, -1, -1, false, {"", 0}}, -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(tp_hint_body(&rows[i].h, NOW, -1) == rows[i].ms, "row %zu", i);
	/* the answer's own clock, where it has one */
	struct tp_body_hints at = {-1, NOW + 3, -1, false, {"", 0}};
	ck_assert_int_eq(tp_hint_body(&at, NOW, NOW + 1), 2000);
}
END_TEST

TP_TESTS(hints)
{
	tcase_add_test(t, table);
	tcase_add_test(t, prose_beyond_the_table);
	tcase_add_test(t, structured);
}
