/* What headers tell to wait: the table of the design's cases, and the resets of rate limits. */
#include "common/retry/told.h"

#include <inttypes.h>

#include "common/http/date.h"
#include "tests/unit/tsv.h"
#include "tests/unit/suite.h"

#define NOW ((int64_t)1790000000) /* Mon, 21 Sep 2026 14:13:20 GMT */

static struct tp_str str(const char *s)
{
	return tp_str_from(s);
}

START_TEST(table)
{
	struct tsv t = tsv_open("retry_after.tsv");
	unsigned rows = 0;

	while (tsv_next(&t)) {
		struct tp_str value = tsv_unescape(&t, 0);
		int64_t now, told, want = -1;

		ck_assert_uint_eq(t.n_columns, 3);
		ck_assert(tp_date_parse(str(t.columns[1]), 0, &now));
		if (strcmp(t.columns[2], "absent") != 0)
			want = strtoll(t.columns[2], NULL, 10);
		told = tp_told_floor(tp_told_retry_after(value, now, -1), 1500);
		ck_assert_msg(told == want, "%s: told %" PRId64 ", expected %" PRId64, t.columns[0], told,
			      want);
		rows++;
	}
	tsv_close(&t);
	ck_assert_uint_ge(rows, 40);
}
END_TEST

START_TEST(retry_after_beyond_the_table)
{
	/* relative to the answer's own Date, whatever our clock says */
	ck_assert_int_eq(tp_told_retry_after(str("Mon, 21 Sep 2026 14:13:40 GMT"), NOW + 3600, NOW), 20000);
	ck_assert_int_eq(tp_told_retry_after(str("Mon, 21 Sep 2026 14:13:40 GMT"), NOW - 5, -1), 25000);
	/* saturates: never a short or a negative wait out of a long number */
	ck_assert_int_eq(tp_told_retry_after(str("99999999999999999999999999"), NOW, -1),
			 (int64_t)UINT32_MAX * 1000);
	ck_assert_int_eq(tp_told_retry_after(str("4294967296"), NOW, -1), (int64_t)UINT32_MAX * 1000);
	ck_assert_int_eq(tp_told_retry_after(str("4294967294"), NOW, -1), (int64_t)4294967294 * 1000);
	/* rounded up, since it is a lower bound */
	ck_assert_int_eq(tp_told_retry_after(str("7.0001"), NOW, -1), 7001);
	ck_assert_int_eq(tp_told_retry_after(str("7.00000000000000001"), NOW, -1), 7001);
	ck_assert_int_eq(tp_told_retry_after(str("7.99999999999"), NOW, -1), 8000);
	ck_assert_int_eq(tp_told_retry_after(str(""), NOW, -1), -1);
	ck_assert_int_eq(tp_told_retry_after(str("-5"), NOW, -1), -1);
	ck_assert_int_eq(tp_told_retry_after(str("+5"), NOW, -1), -1);
	ck_assert_int_eq(tp_told_retry_after(str("5."), NOW, -1), -1);
	ck_assert_int_eq(tp_told_retry_after(str(".5"), NOW, -1), -1);
	ck_assert_int_eq(tp_told_retry_after(str("5 5"), NOW, -1), -1);
	ck_assert_int_eq(tp_told_retry_after(str("NaN"), NOW, -1), -1);
	ck_assert_int_eq(tp_told_retry_after((struct tp_str){NULL, 0}, NOW, -1), -1);
}
END_TEST

START_TEST(milliseconds)
{
	static const struct {
		const char *value;
		int64_t ms;
	} rows[] = {
		{"1503", 1503}, {" 250 ", 250},
		{"0", 0},       {"1500.5", 1501},
		{"900.0", 900}, {"abc", -1},
		{"", -1},       {"-1", -1},
		{"1e3", -1},    {"inf", -1},
		{"1500ms", -1}, {"0x10", -1},
		{"1 2", -1},    {"99999999999999999999", (int64_t)UINT32_MAX * 1000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(tp_told_retry_after_ms(str(rows[i].value)) == rows[i].ms, "%s", rows[i].value);
}
END_TEST

START_TEST(combine)
{
	ck_assert_int_eq(tp_told_combine(-1, -1), -1);
	ck_assert_int_eq(tp_told_combine(5000, -1), 5000);
	ck_assert_int_eq(tp_told_combine(-1, 250), 250);
	ck_assert_int_eq(tp_told_combine(8000, 7200), 7200); /* the same wait, finer */
	ck_assert_int_eq(tp_told_combine(5000, 700), 5000);  /* they contradict each other */
	ck_assert_int_eq(tp_told_combine(1000, 1500), 1500);
	ck_assert_int_eq(tp_told_combine(0, 0), 0);
}
END_TEST

START_TEST(floor_and_seconds)
{
	ck_assert_int_eq(tp_told_floor(-1, 1500), -1);
	ck_assert_int_eq(tp_told_floor(0, 1500), 1500);
	ck_assert_int_eq(tp_told_floor(1500, 1500), 1500);
	ck_assert_int_eq(tp_told_floor(61000, 1500), 61000);
	ck_assert_uint_eq(tp_told_header_seconds(0), 1);
	ck_assert_uint_eq(tp_told_header_seconds(1000), 1);
	ck_assert_uint_eq(tp_told_header_seconds(1001), 2);
	ck_assert_uint_eq(tp_told_header_seconds(7200), 8);
	ck_assert_uint_eq(tp_told_header_seconds(5400000), 5400);
	ck_assert_uint_eq(tp_told_header_seconds(INT64_MAX), UINT32_MAX);
}
END_TEST

/* One limit of each dialect, used up; what its reset says. */
START_TEST(reset_values)
{
	static const struct {
		const char *value;
		int64_t ms;
	} rows[] = {
		{"1s", 1000},
		{"6m0s", 360000},
		{"20ms", 20},
		{"2m59.56s", 179560},
		{"1h2m3.5s", 3723500},
		{"37", 37000},
		{"5.289s", 5289},
		{"0s", 0},
		{"45", 45000},
		{"1790000045", 45000},
		{"1790000045000", 45000},
		{"1790000045001", 45001},
		{"1789999999", 0},
		{"2026-09-21T14:13:41Z", 21000},
		{"2026-09-21T14:13:41.25Z", 21250},
		{"2026-09-21T16:13:41+02:00", 21000},
		{"2026-09-21T14:13:19Z", 0},
		{"2028-02-29T00:00:00Z", 45395200000},
		{"2027-02-29T00:00:00Z", -1},
		{"2026-09-21T14:13:41", -1},
		{"2026-09-21", -1},
		{"2026-13-01T00:00:00Z", -1},
		{"2026-09-21T14:13:41.Z", -1},
		{"1x", -1},
		{"s", -1},
		{"1m2", -1},
		{"-1s", -1},
		{"soon", -1},
		{"", -1},
		{"99999999999999999999s", (int64_t)UINT32_MAX * 1000},
		{"9999999999999999999999", (int64_t)UINT32_MAX * 1000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_told_field f[] = {
			{str("X-RateLimit-Remaining-Requests"), str("0")},
			{str("x-ratelimit-reset-requests"), str(rows[i].value)},
		};
		int64_t told = tp_told_limits(f, 2, NOW, -1);

		ck_assert_msg(told == rows[i].ms, "%s: told %" PRId64, rows[i].value, told);
	}
}
END_TEST

START_TEST(only_exhausted_limits)
{
	static const struct {
		const char *fields[8]; /* name, value, ... */
		int64_t ms;
	} rows[] = {
		{{"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "3s",
		  "x-ratelimit-remaining-tokens", "500", "x-ratelimit-reset-tokens", "40s"},
		 3000},
		{{"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "3s",
		  "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "40s"},
		 40000},
		{{"anthropic-ratelimit-requests-remaining", "0", "anthropic-ratelimit-requests-reset",
		  "2026-09-21T14:13:23Z", "anthropic-ratelimit-tokens-remaining", "9",
		  "anthropic-ratelimit-tokens-reset", "2026-09-21T15:13:23Z"},
		 3000},
		{{"anthropic-ratelimit-unified-status", "rejected", "anthropic-ratelimit-unified-reset",
		  "1790011876"},
		 11876000},
		{{"anthropic-ratelimit-unified-status", "allowed", "anthropic-ratelimit-unified-reset",
		  "1790011876"},
		 -1},
		{{"ratelimit-remaining", "0", "ratelimit-reset", "30"}, 30000},
		{{"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1790000045"}, 45000},
		{{"ratelimitbysize-remaining", "0", "ratelimitbysize-reset", "30"}, 30000},
		{{"ratelimitbysize-remaining", "900", "ratelimitbysize-query-cost", "1200",
		  "ratelimitbysize-reset", "30"},
		 30000},
		{{"ratelimitbysize-remaining", "1200", "ratelimitbysize-query-cost", "1200",
		  "ratelimitbysize-reset", "30"},
		 -1},
		{{"x-ratelimit-remaining-requests", "9", "x-ratelimit-query-cost-requests", "10",
		  "x-ratelimit-reset-requests", "30"},
		 -1},
		{{"x-codex-primary-used-percent", "100", "x-codex-primary-reset-after-seconds", "13873"},
		 13873000},
		{{"x-codex-primary-used-percent", "100", "X-Codex-Primary-Reset-At", "1790013872",
		  "x-codex-secondary-used-percent", "80", "x-codex-secondary-reset-at", "1790316705"},
		 13872000},
		{{"x-codex-primary-used-percent", "99.9", "x-codex-secondary-used-percent", "100.0",
		  "x-codex-secondary-reset-after-seconds", "5", "x-codex-primary-reset-after-seconds", "9"},
		 5000},
		{{"x-codex-primary-used-percent", "100", "x-codex-primary-reset-after-seconds", "9",
		  "x-codex-credits-has-credits", "False"},
		 9000},
		{{"x-codex-primary-used-percent", "100", "x-codex-primary-reset-after-seconds", "9",
		  "x-codex-credits-has-credits", "True"},
		 -1},
		{{"x-codex-primary-used-percent", "100", "x-codex-primary-reset-after-seconds", "9",
		  "x-codex-credits-unlimited", "true"},
		 -1},
		{{"x-codex-primary-used-percent", "100", "x-codex-primary-reset-after-seconds", "13873",
		  "x-codex-primary-reset-at", "1790013872"},
		 13872000},
		{{"x-codex-primary-used-percent", "100", "x-codex-primary-reset-after-seconds", "9",
		  "x-codex-primary-reset-at", "soon"},
		 9000},
		{{"x-codex-primary-reset-after-seconds", "9"}, -1},
		{{"x-codex-primary-used-percent", "many", "x-codex-primary-reset-after-seconds", "9"}, -1},
		/* no "remaining" of its own: nobody said that it is used up */
		{{"x-ratelimit-reset-requests", "37"}, -1},
		{{"x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-requests", "37s"}, -1},
		{{"x-ratelimit-remaining-requests", "-1", "x-ratelimit-reset-requests", "37s"}, -1},
		{{"x-ratelimit-remaining-requests", "1", "x-ratelimit-reset-requests", "37s"}, -1},
		{{"x-ratelimit-remaining-requests", "0"}, -1},
		{{"x-ratelimit-", "0", "x-ratelimit-reset", "5"}, -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_told_field f[4];
		size_t n = 0;

		for (; n < 4 && rows[i].fields[2 * n] != NULL; n++)
			f[n] = (struct tp_told_field){str(rows[i].fields[2 * n]),
						      str(rows[i].fields[2 * n + 1])};
		ck_assert_msg(tp_told_limits(f, n, NOW, -1) == rows[i].ms, "row %zu", i);
	}
}
END_TEST

START_TEST(all_headers)
{
	struct tp_told_field limits[] = {
		{str("x-ratelimit-remaining-requests"), str("0")},
		{str("x-ratelimit-reset-requests"), str("40s")},
		{str("Retry-After"), str("1")},
		{str("Retry-After"), str("3")},
		{str("retry-after-ms"), str("abc")},
	};
	struct tp_told_field dated[] = {
		{str("Retry-After"), str("Mon, 21 Sep 2026 14:13:40 GMT")},
		{str("Date"), str("Mon, 21 Sep 2026 14:13:30 GMT")},
	};

	ck_assert_int_eq(tp_told_headers(limits, 0, NOW), -1);
	ck_assert_int_eq(tp_told_headers(limits, 2, NOW), 40000);
	ck_assert_int_eq(tp_told_headers(limits, 5, NOW), 3000); /* two values: the larger */
	ck_assert_int_eq(tp_told_headers(dated, 1, NOW), 20000);
	ck_assert_int_eq(tp_told_headers(dated, 2, NOW), 10000); /* the answer's own clock */
}
END_TEST

TP_TESTS(told)
{
	tcase_add_test(t, table);
	tcase_add_test(t, retry_after_beyond_the_table);
	tcase_add_test(t, milliseconds);
	tcase_add_test(t, combine);
	tcase_add_test(t, floor_and_seconds);
	tcase_add_test(t, reset_values);
	tcase_add_test(t, only_exhausted_limits);
	tcase_add_test(t, all_headers);
}
