/* What one turn's end means for those that come after it (design 3.3). */
#include "common/retry/others.h"

#include "tests/unit/retry_turn.h"
#include "tests/unit/suite.h"

START_TEST(which_statuses_speak_of_load)
{
	static const int load[] = {429, 498, 503, 529};

	for (int status = 0; status < 600; status++) {
		bool expected = false;
		for (size_t i = 0; i < sizeof load / sizeof load[0]; i++)
			expected = expected || status == load[i];
		ck_assert_msg(tp_speaks_of_load(status) == expected, "%d", status);
	}
}
END_TEST

START_TEST(a_told_time)
{
	static const struct {
		const char *what;
		int status;
		int64_t told_ms; /* the ceiling is 60 s */
		bool rate_limit, too_large, share;
		enum tp_for_others expected;
	} rows[] = {
		{"none", 429, -1, true, false, true, TP_OTHERS_GO},
		{"of a rate limit", 429, 60000, true, false, true, TP_OTHERS_SHARE},
		{"at once", 429, 0, true, false, true, TP_OTHERS_SHARE},
		{"and nobody shares", 429, 60000, true, false, false, TP_OTHERS_GO},
		{"of no rate limit", 503, 5000, false, false, true, TP_OTHERS_GO},
		{"above the ceiling", 429, 60001, true, false, true, TP_OTHERS_COOL},
		{"above it, shared or not", 429, 60001, true, false, false, TP_OTHERS_COOL},
		{"above it, of overload", 503, 60001, false, false, true, TP_OTHERS_COOL},
		{"above it, of neither", 500, 60001, false, false, true, TP_OTHERS_GO},
		{"above it, of a code only", 400, 60001, true, false, true, TP_OTHERS_GO},
		{"of what is too large", 429, 5000, true, true, true, TP_OTHERS_GO},
		{"of what is far too large", 429, 60001, true, true, true, TP_OTHERS_GO},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct tp_retry_conf p = defaults();
		struct tp_outcome o = answer(rows[i].status);

		p.share_waits = rows[i].share;
		o.told_ms = rows[i].told_ms;
		o.rate_limit = rows[i].rate_limit;
		o.too_large = rows[i].too_large;
		ck_assert_msg(tp_told_for_others(&p, &o) == rows[i].expected, "%s", rows[i].what);
		o.cause = TP_CAUSE_TRUNCATED; /* no answer: what its head told counts for nothing */
		ck_assert_msg(tp_told_for_others(&p, &o) == TP_OTHERS_GO, "%s", rows[i].what);
	}
}
END_TEST

START_TEST(whom_it_holds)
{
	static const int everybody[] = {498, 503, 529};
	struct tp_outcome o = answer(429);

	ck_assert(tp_holds_one_account(&o));
	for (size_t i = 0; i < sizeof everybody / sizeof everybody[0]; i++) {
		o = answer(everybody[i]);
		ck_assert(!tp_holds_one_account(&o));
	}
}
END_TEST

START_TEST(what_a_probe_says)
{
	struct tp_outcome o = answer(503);

	ck_assert(tp_probe_told(&o));
	for (int stage = TP_STAGE_UNSENT; stage < TP_STAGE_COUNT; stage++) {
		o = failure((enum tp_stage)stage, TP_CAUSE_RESET);
		ck_assert_int_eq(tp_probe_told(&o), stage != TP_STAGE_UNSENT);
		o.cause = TP_CAUSE_CLIENT_GONE; /* neutral everywhere */
		ck_assert(!tp_probe_told(&o));
	}
}
END_TEST

TP_TESTS(others)
{
	tcase_add_test(t, which_statuses_speak_of_load);
	tcase_add_test(t, a_told_time);
	tcase_add_test(t, whom_it_holds);
	tcase_add_test(t, what_a_probe_says);
}
