/* The failure model: total, and careful wherever a byte was written. */
#include "common/retry/model.h"
#include "tests/unit/suite.h"

#include <string.h>

static bool known(enum tp_evidence e)
{
	return e == TP_EVIDENCE_NOT_PROCESSED || e == TP_EVIDENCE_DECLINED || e == TP_EVIDENCE_UNKNOWN ||
	       e == TP_EVIDENCE_PROCESSED;
}

/* Every stage x cause x status has an answer, and the invariants of design section 4 hold for all. */
START_TEST(total)
{
	for (int stage = 0; stage < TP_STAGE_COUNT; stage++)
		for (int cause = 0; cause < TP_CAUSE_COUNT; cause++)
			for (int status = -1; status <= 1000; status++) {
				enum tp_evidence e =
					tp_evidence_of((enum tp_stage)stage, (enum tp_cause)cause, status);

				ck_assert(known(e));
				if (cause == TP_CAUSE_ANSWER) {
					/* an answer is never proof that nothing was sent */
					ck_assert_int_ne(e, TP_EVIDENCE_NOT_PROCESSED);
					continue;
				}
				/* only a status can say that a request was declined */
				ck_assert_int_ne(e, TP_EVIDENCE_DECLINED);
				/* not processed is claimed only where not one byte was written to the
				 * provider: what a proxy declined went to the proxy, and what came
				 * before the end of the handshake to nobody */
				ck_assert(e != TP_EVIDENCE_NOT_PROCESSED || stage == TP_STAGE_UNSENT ||
					  cause == TP_CAUSE_EGRESS || cause == TP_CAUSE_TLS);
				if (stage >= TP_STAGE_OUTPUT)
					ck_assert_int_eq(e, TP_EVIDENCE_PROCESSED);
			}
}
END_TEST

START_TEST(failures)
{
	static const struct {
		enum tp_cause cause;
		enum tp_evidence unsent, written;
	} rows[] = {
		{TP_CAUSE_REFUSED, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_CONNECT_TIMEOUT, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_DNS, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_TLS, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_NOT_PROCESSED},
		{TP_CAUSE_EGRESS, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_NOT_PROCESSED},
		{TP_CAUSE_POOL_CLOSED, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_RESET, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_CLOSED, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_BROKEN_HEAD, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_FIRST_BYTE_TIMEOUT, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_TRUNCATED, TP_EVIDENCE_PROCESSED, TP_EVIDENCE_PROCESSED},
		{TP_CAUSE_INVALID, TP_EVIDENCE_PROCESSED, TP_EVIDENCE_PROCESSED},
		{TP_CAUSE_STALLED, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_LOCAL, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
		{TP_CAUSE_CLIENT_GONE, TP_EVIDENCE_NOT_PROCESSED, TP_EVIDENCE_UNKNOWN},
	};

	ck_assert_uint_eq(sizeof(rows) / sizeof(rows[0]), TP_CAUSE_COUNT - 1); /* all but the answer */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(tp_evidence_of(TP_STAGE_UNSENT, rows[i].cause, 0), rows[i].unsent);
		for (int s = TP_STAGE_SENDING; s <= TP_STAGE_PRELUDE; s++)
			ck_assert_int_eq(tp_evidence_of((enum tp_stage)s, rows[i].cause, 0), rows[i].written);
	}
}
END_TEST

START_TEST(answers)
{
	static const struct {
		int from, to;
		enum tp_evidence evidence;
	} rows[] = {
		{200, 206, TP_EVIDENCE_PROCESSED}, {301, 308, TP_EVIDENCE_DECLINED},
		{400, 407, TP_EVIDENCE_DECLINED},  {408, 408, TP_EVIDENCE_UNKNOWN},
		{409, 451, TP_EVIDENCE_DECLINED},  {498, 498, TP_EVIDENCE_DECLINED},
		{500, 508, TP_EVIDENCE_DECLINED},  {520, 523, TP_EVIDENCE_DECLINED},
		{524, 524, TP_EVIDENCE_UNKNOWN},   {525, 527, TP_EVIDENCE_DECLINED},
		{529, 530, TP_EVIDENCE_DECLINED},  {598, 599, TP_EVIDENCE_UNKNOWN},
		{0, 199, TP_EVIDENCE_UNKNOWN},     {600, 999, TP_EVIDENCE_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int s = rows[i].from; s <= rows[i].to; s++)
			ck_assert_msg(tp_evidence_of(TP_STAGE_HEAD, TP_CAUSE_ANSWER, s) == rows[i].evidence,
				      "%d", s);
}
END_TEST

/* Names go into logs and metrics: each is there, none twice, and an impossible value does not crash. */
#define NAMES_ARE_GOOD(name_of, type, count)                                                                 \
	do {                                                                                                 \
		for (int i_ = 0; i_ < (count); i_++) {                                                       \
			ck_assert_str_ne(name_of((type)i_), "?");                                            \
			for (int j_ = 0; j_ < i_; j_++)                                                      \
				ck_assert_str_ne(name_of((type)i_), name_of((type)j_));                      \
		}                                                                                            \
		ck_assert_str_eq(name_of((type)(count)), "?");                                               \
		ck_assert_str_eq(name_of((type)-1), "?");                                                    \
	} while (0)

START_TEST(names)
{
	NAMES_ARE_GOOD(tp_stage_name, enum tp_stage, TP_STAGE_COUNT);
	NAMES_ARE_GOOD(tp_cause_name, enum tp_cause, TP_CAUSE_COUNT);
	NAMES_ARE_GOOD(tp_evidence_name, enum tp_evidence, TP_EVIDENCE_PROCESSED + 1);
	NAMES_ARE_GOOD(tp_class_name, enum tp_class, TP_CLASS_COUNT);
	NAMES_ARE_GOOD(tp_code_name, enum tp_code, TP_CODE_COUNT);
	ck_assert_str_eq(tp_evidence_name(TP_EVIDENCE_NOT_PROCESSED), "not_processed");
	ck_assert_str_eq(tp_class_name(TP_CLASS_OVERLOAD), "overload");
	ck_assert_str_eq(tp_code_name(TP_CODE_RESET_REPLAY_REFUSED), "upstream_reset_replay_refused");
	ck_assert_str_eq(tp_code_name(TP_CODE_CLOSED_BEFORE_RESPONSE), "upstream_closed_before_response");
	ck_assert_str_eq(tp_code_name(TP_CODE_NO_RESPONSE), "upstream_no_response");
	ck_assert_str_eq(tp_code_name(TP_CODE_BUDGET_EXHAUSTED), "request_send_budget_exhausted");
}
END_TEST

TP_TESTS(model)
{
	tcase_add_test(t, total);
	tcase_add_test(t, failures);
	tcase_add_test(t, answers);
	tcase_add_test(t, names);
}
