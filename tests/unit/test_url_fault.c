/* What the end of an attempt says about its URL: every cause, before and behind an answer's head. */
#include "common/retry/url_fault.h"

#include "tests/unit/suite.h"

enum { NONE = TP_URL_FAULT_NONE, ANSWER = TP_URL_FAULT_ANSWER, CONNECTION = TP_URL_FAULT_CONNECTION };

static const struct {
	enum tp_cause cause;
	int before, behind; /* the head of an answer */
} causes[] = {
	{TP_CAUSE_REFUSED, CONNECTION, CONNECTION},
	{TP_CAUSE_CONNECT_TIMEOUT, CONNECTION, CONNECTION},
	{TP_CAUSE_DNS, CONNECTION, CONNECTION},
	{TP_CAUSE_TLS, CONNECTION, CONNECTION},
	{TP_CAUSE_EGRESS, NONE, NONE}, /* speaks about a proxy */
	{TP_CAUSE_POOL_CLOSED, NONE, NONE},
	{TP_CAUSE_RESET, CONNECTION, ANSWER},
	{TP_CAUSE_CLOSED, CONNECTION, ANSWER},
	{TP_CAUSE_BROKEN_HEAD, CONNECTION, ANSWER},
	{TP_CAUSE_FIRST_BYTE_TIMEOUT, ANSWER, ANSWER},
	{TP_CAUSE_TRUNCATED, ANSWER, ANSWER},
	{TP_CAUSE_INVALID, NONE, NONE},
	{TP_CAUSE_STALLED, ANSWER, ANSWER},
	{TP_CAUSE_LOCAL, NONE, NONE},
	{TP_CAUSE_CLIENT_GONE, NONE, NONE},
};

START_TEST(by_cause)
{
	ck_assert_uint_eq(sizeof causes / sizeof causes[0] + 1, TP_CAUSE_COUNT); /* and TP_CAUSE_ANSWER */
	for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
		for (int stage = 0; stage < TP_STAGE_COUNT; stage++)
			ck_assert_msg((int)tp_url_fault_of(causes[i].cause, (enum tp_stage)stage, 200) ==
					      (stage < TP_STAGE_HEAD ? causes[i].before : causes[i].behind),
				      "%s at %s", tp_cause_name(causes[i].cause),
				      tp_stage_name((enum tp_stage)stage));
}
END_TEST

START_TEST(by_status)
{
	for (int status = 100; status < 600; status++)
		ck_assert_int_eq((int)tp_url_fault_of(TP_CAUSE_ANSWER, TP_STAGE_DONE, status),
				 status >= 500 ? ANSWER : NONE);
}
END_TEST

TP_TESTS(url_fault)
{
	tcase_add_test(t, by_cause);
	tcase_add_test(t, by_status);
}
