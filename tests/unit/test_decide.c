/* The decision: every row of design section 4. Profiles, replacements, alerts: test_decide_policy.c; waits
 * and properties: test_decide_waits.c. */
#include "common/retry/decide.h"

#include <stdlib.h>

#include "tests/unit/retry_turn.h"
#include "tests/unit/suite.h"

static struct tp_decision decide(struct tp_outcome o, struct tp_allowance a)
{
	struct tp_retry_conf p = defaults();

	return tp_decide(&p, &o, &a, 0x9e3779b97f4a7c15U);
}

static void expect_relay(struct tp_decision d, bool stop)
{
	ck_assert_msg(d.action == TP_ACT_RELAY, "%s", d.reason);
	ck_assert_msg(d.stop == stop, "%s", d.reason);
	ck_assert_int_eq(d.code, TP_CODE_NONE);
	ck_assert(!d.give_back);
	ck_assert_ptr_nonnull(d.reason);
}

static void expect_refusal(struct tp_decision d, enum tp_code code)
{
	ck_assert_int_eq(d.action, TP_ACT_REFUSE);
	ck_assert_int_eq(d.code, code);
	ck_assert(!d.give_back);
	ck_assert_ptr_nonnull(d.reason);
}

/* ---- answers by status */

/* Which class each status falls in when nothing else is known: all of 100..599. */
START_TEST(every_status)
{
	static const int transient[] = {500, 502, 503, 504, 520, 521, 522};
	static const int overload[] = {429, 498, 529};
	static const int stopped[] = {408, 499, 524};
	char kind[600] = {0};

	for (size_t i = 0; i < 7; i++)
		kind[transient[i]] = 't';
	for (size_t i = 0; i < 3; i++) {
		kind[overload[i]] = 'o';
		kind[stopped[i]] = 's';
	}
	for (int status = 200; status < 600; status++) {
		struct tp_decision d = decide(answer(status), plenty());
		bool undefined = d.evidence == TP_EVIDENCE_UNKNOWN && status > 500;

		if (kind[status] == 't')
			expect_again(d, TP_CLASS_TRANSIENT);
		else if (kind[status] == 'o')
			expect_again(d, TP_CLASS_OVERLOAD);
		else
			expect_relay(d, kind[status] == 's' || undefined);
	}
	/* the ordinary ones of cases TL-3, by name: relayed, and not stopped */
	static const int plain[] = {400, 401, 402, 403, 404, 405, 409, 415, 418, 425, 451, 501,
				    505, 507, 508, 523, 525, 526, 527, 530, 200, 204, 302, 307};
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		expect_relay(decide(answer(plain[i]), plenty()), false);
}
END_TEST

START_TEST(overload_by_evidence)
{
	struct tp_outcome o = answer(503);

	o.told_ms = 1500;
	expect_again(decide(o, plenty()), TP_CLASS_OVERLOAD); /* a 503 that names a wait */
	o = answer(503);
	o.overload = true;
	expect_again(decide(o, plenty()), TP_CLASS_OVERLOAD);
	o = answer(200); /* X-Codex-Status, or an error in the body */
	o.overload = true;
	expect_again(decide(o, plenty()), TP_CLASS_OVERLOAD);
	ck_assert_int_eq(decide(o, plenty()).evidence, TP_EVIDENCE_DECLINED);
	o = answer(400); /* the word of a provider that did not decline */
	o.overload = true;
	expect_relay(decide(o, plenty()), false);
	o = answer(502); /* a wait alone does not make an overload of it, but it is waited for */
	o.told_ms = 9000;
	expect_again(decide(o, plenty()), TP_CLASS_TRANSIENT);
	ck_assert_uint_ge(decide(o, plenty()).wait_ms, 9000);
}
END_TEST

START_TEST(quota_and_stop_signs)
{
	static const int statuses[] = {400, 402, 403, 429, 503};

	for (size_t i = 0; i < 5; i++) {
		struct tp_outcome o = answer(statuses[i]);

		o.quota = true;
		o.told_ms = 2000;
		expect_relay(decide(o, plenty()), true);
		o.should_retry = 1; /* never with a quota code */
		expect_relay(decide(o, plenty()), true);
		o = answer(statuses[i]);
		o.should_retry = 0;
		expect_relay(decide(o, plenty()), true);
	}
	/* what the provider runs out of time with is not repeated, whatever it says about it */
	struct tp_outcome o = answer(524);
	o.should_retry = 1;
	o.told_ms = 1500;
	expect_relay(decide(o, plenty()), true);
	o.status = 408;
	expect_relay(decide(o, plenty()), true);
}
END_TEST

START_TEST(should_retry_true)
{
	static const int statuses[] = {409, 425, 501, 507, 530};

	for (size_t i = 0; i < 5; i++) {
		struct tp_outcome o = answer(statuses[i]);
		struct tp_allowance a = plenty();
		struct tp_decision d;

		o.should_retry = 1;
		d = decide(o, a);
		expect_again(d, TP_CLASS_TRANSIENT);
		ck_assert(d.forced);
		a.forced_retry_used = true;
		expect_relay(decide(o, a), true);
	}
	/* what is retried anyway is no grant: its ladder goes on */
	struct tp_outcome o = answer(529);
	struct tp_allowance a = plenty();
	o.should_retry = 1;
	a.forced_retry_used = true;
	expect_again(decide(o, a), TP_CLASS_OVERLOAD);
	ck_assert(!decide(o, a).forced);
	/* other statuses do not become retryable */
	static const int never[] = {200, 302, 400, 401, 403, 404, 413, 422};
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		o = answer(never[i]);
		o.should_retry = 1;
		expect_relay(decide(o, plenty()), false);
	}
}
END_TEST

START_TEST(own_credential)
{
	static const int statuses[] = {401, 403};

	for (size_t i = 0; i < 2; i++) {
		struct tp_outcome o = answer(statuses[i]);
		struct tp_decision d;

		expect_relay(decide(o, plenty()), false); /* the client's own: it is told */
		o.own_credential = true;
		o.should_retry = 0;
		d = decide(o, plenty());
		ck_assert_int_eq(d.action, TP_ACT_LOCAL);
		ck_assert_int_eq(d.code, TP_CODE_CREDENTIAL_REJECTED);
		ck_assert(!d.give_back);
		o.quota = true; /* "no credits" as a 403 is for people to read */
		expect_relay(decide(o, plenty()), true);
	}
}
END_TEST

/* Once per turn, where a newer access token can be had: before the next target, inside the budget. */
START_TEST(access_token)
{
	struct tp_allowance a = plenty();
	struct tp_outcome o = answer(401);
	struct tp_decision d;

	a.refresh_left = a.hop_left = true;
	a.more_targets = 1;
	ck_assert_int_eq(decide(o, a).action, TP_ACT_NEXT_TARGET); /* the client's own */
	o.own_credential = true;
	o.should_retry = 0; /* said of what was sent, which had another credential */
	d = decide(o, a);
	ck_assert(d.action == TP_ACT_REFRESH && d.klass == TP_CLASS_REFRESH && !d.give_back && !d.stop);
	a.base_left = false; /* it may take the reserve */
	ck_assert_int_eq(decide(o, a).action, TP_ACT_REFRESH);
	a.reserve_left = false;
	ck_assert_int_eq(decide(o, a).action, TP_ACT_NEXT_TARGET);
	a = plenty();
	ck_assert_int_eq(decide(o, a).code, TP_CODE_CREDENTIAL_REJECTED); /* the second one */
	a.refresh_left = true;
	a.deadline_left_ms = 0;
	ck_assert_int_eq(decide(o, a).code, TP_CODE_CREDENTIAL_REJECTED);
	a.deadline_left_ms = 1;
	static const int coded[] = {400, 403, 404};
	for (size_t i = 0; i < 3; i++) {
		o.status = coded[i];
		o.auth = true;
		ck_assert_int_eq(decide(o, a).action, TP_ACT_REFRESH);
		o.quota = true;
		ck_assert_int_ne(decide(o, a).action, TP_ACT_REFRESH);
		o.auth = o.quota = false;
		ck_assert_int_ne(decide(o, a).action, TP_ACT_REFRESH);
	}
	o.auth = true;
	static const int other[] = {500, 408}; /* whatever it says: not declined */
	for (size_t i = 0; i < 2; i++) {
		o.status = other[i];
		ck_assert_int_ne(decide(o, a).action, TP_ACT_REFRESH);
	}
	o.status = 401;
	o.replaced = TP_CODE_CLOSED_BEFORE_RESPONSE; /* nothing is sent after a replacement */
	ck_assert_int_eq(decide(o, a).action, TP_ACT_REFUSE);
}
END_TEST

/* ---- limits */

START_TEST(class_limits)
{
	struct tp_retry_conf p = defaults();
	struct tp_outcome o = answer(500);
	struct tp_allowance a = plenty();

	/* `sends` counts the first send too */
	for (uint32_t sends = 0; sends < 6; sends++)
		for (uint32_t made = 0; made < 6; made++) {
			struct tp_decision d;

			p.transient_sends = sends;
			a.class_sends[TP_CLASS_TRANSIENT] = made;
			d = tp_decide(&p, &o, &a, 0);
			ck_assert_int_eq(d.action, made + 1 < sends ? TP_ACT_SEND_AGAIN : TP_ACT_RELAY);
			ck_assert_int_eq(d.stop, made + 1 >= sends);
		}
	/* the retries of other classes do not count */
	p = defaults();
	a = plenty();
	a.class_sends[TP_CLASS_OVERLOAD] = 3;
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_SEND_AGAIN);
	a.class_sends[TP_CLASS_OVERLOAD] = 2;
	a.class_sends[TP_CLASS_TRANSIENT] = 9;
	expect_again(decide(answer(429), a), TP_CLASS_OVERLOAD);
}
END_TEST

START_TEST(budget_left)
{
	struct tp_allowance a = plenty();

	a.base_left = false; /* the reserve is for what the provider declined, not for transient ones */
	expect_again(decide(answer(429), a), TP_CLASS_OVERLOAD);
	expect_relay(decide(answer(500), a), true);
	a.reserve_left = false;
	expect_relay(decide(answer(429), a), true);
	a.base_left = true;
	expect_again(decide(answer(429), a), TP_CLASS_OVERLOAD);
	expect_again(decide(answer(500), a), TP_CLASS_TRANSIENT);
}
END_TEST

START_TEST(slow_ceiling_deadline)
{
	struct tp_outcome o = answer(503);
	struct tp_allowance a = plenty();

	o.took_ms = 15000;
	expect_again(decide(o, a), TP_CLASS_TRANSIENT);
	o.took_ms = 15001;
	expect_relay(decide(o, a), false);
	o = answer(429);
	o.told_ms = 60000;
	expect_again(decide(o, a), TP_CLASS_OVERLOAD);
	o.told_ms = 60001; /* unchanged, at once, and the client may come back after it */
	expect_relay(decide(o, a), false);
	o.told_ms = INT64_MAX;
	expect_relay(decide(o, a), false);
	o.told_ms = 10000;
	a.deadline_left_ms = 10000;
	expect_relay(decide(o, a), false);
	a.deadline_left_ms = 10301;
	expect_again(decide(o, a), TP_CLASS_OVERLOAD);
	a.deadline_left_ms = 0;
	expect_relay(decide(answer(500), a), false);
}
END_TEST

START_TEST(operator_lists)
{
	struct tp_retry_conf p = defaults();
	struct tp_allowance a = plenty();
	struct tp_outcome o = answer(500);

	/* stricter: no longer taken as declined, so it may have run, and nobody is to send it again */
	p.transient_statuses = (struct tp_status_set){{0}};
	expect_relay(tp_decide(&p, &o, &a, 0), true);
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).evidence, TP_EVIDENCE_UNKNOWN);
	o.status = 503;
	expect_relay(tp_decide(&p, &o, &a, 0), false);
	o.told_ms = 1500; /* said in so many words: still a refusal */
	expect_again(tp_decide(&p, &o, &a, 0), TP_CLASS_OVERLOAD);
	p.overload_statuses = (struct tp_status_set){{0}};
	o = answer(429);
	expect_relay(tp_decide(&p, &o, &a, 0), false);
	/* patient: 503 in the overload list */
	p = defaults();
	p.overload_statuses.bits[503 / 64] |= (uint64_t)1 << (503 % 64);
	o = answer(503);
	expect_again(tp_decide(&p, &o, &a, 0), TP_CLASS_OVERLOAD);
	/* but a list does not make 524 safe */
	p.transient_statuses.bits[524 / 64] |= (uint64_t)1 << (524 % 64);
	o = answer(524);
	expect_relay(tp_decide(&p, &o, &a, 0), true);
}
END_TEST

/* ---- failures without an answer */

/* A proxy declined what was written to it: the provider has not seen it. */
START_TEST(other_way_out)
{
	for (int stage = TP_STAGE_UNSENT; stage < TP_STAGE_OUTPUT; stage++) {
		struct tp_outcome o = failure((enum tp_stage)stage, TP_CAUSE_EGRESS);
		struct tp_decision d = decide(o, plenty());

		ck_assert_int_eq(d.action, TP_ACT_LOCAL);
		ck_assert_int_eq(d.code, TP_CODE_UNREACHABLE);
		ck_assert(d.give_back);
		o.egress_left = true;
		o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
		d = decide(o, plenty());
		ck_assert_int_eq(d.action, TP_ACT_RECONNECT);
		ck_assert(!d.give_back);  /* the same send goes on */
		o.cause = TP_CAUSE_RESET; /* of nobody else is that known */
		ck_assert_int_eq(decide(o, plenty()).action, TP_ACT_REFUSE);
	}
}
END_TEST

START_TEST(unsent)
{
	for (int cause = TP_CAUSE_REFUSED; cause < TP_CAUSE_COUNT; cause++) {
		struct tp_decision d = decide(failure(TP_STAGE_UNSENT, (enum tp_cause)cause), plenty());

		if (cause == TP_CAUSE_POOL_CLOSED) {
			ck_assert_int_eq(d.action, TP_ACT_RECONNECT);
			ck_assert(!d.give_back); /* the same send goes on */
		} else if (cause == TP_CAUSE_CLIENT_GONE) {
			ck_assert_int_eq(d.action, TP_ACT_CANCEL);
			ck_assert(d.give_back);
		} else if (cause == TP_CAUSE_TRUNCATED || cause == TP_CAUSE_INVALID) {
			ck_assert_int_eq(d.action, TP_ACT_REFUSE); /* a 200 came: it ran */
		} else {
			ck_assert_int_eq(d.action, TP_ACT_LOCAL);
			ck_assert_int_eq(d.code, TP_CODE_UNREACHABLE);
			ck_assert(d.give_back);
			ck_assert_int_eq(d.evidence, TP_EVIDENCE_NOT_PROCESSED);
		}
	}
}
END_TEST

static const struct {
	enum tp_cause cause;
	enum tp_code code;
	bool again; /* when it is replay-safe */
} ambiguous[] = {
	{TP_CAUSE_RESET, TP_CODE_RESET_REPLAY_REFUSED, true},
	{TP_CAUSE_CLOSED, TP_CODE_CLOSED_BEFORE_RESPONSE, true},
	{TP_CAUSE_BROKEN_HEAD, TP_CODE_CLOSED_BEFORE_RESPONSE, true},
	{TP_CAUSE_FIRST_BYTE_TIMEOUT, TP_CODE_NO_RESPONSE, false},
	{TP_CAUSE_STALLED, TP_CODE_NO_RESPONSE, false},
	{TP_CAUSE_TRUNCATED, TP_CODE_RESPONSE_TRUNCATED, false},
	{TP_CAUSE_INVALID, TP_CODE_RESPONSE_INVALID, false},
	{TP_CAUSE_LOCAL, TP_CODE_CLOSED_BEFORE_RESPONSE, false},
};

START_TEST(ambiguous_failures)
{
	for (size_t i = 0; i < sizeof(ambiguous) / sizeof(ambiguous[0]); i++)
		for (int stage = TP_STAGE_SENDING; stage <= TP_STAGE_PRELUDE; stage++) {
			struct tp_outcome o = failure((enum tp_stage)stage, ambiguous[i].cause);
			struct tp_allowance a = plenty();

			expect_refusal(decide(o, a), ambiguous[i].code);
			o.should_retry = 1; /* a header of nobody's */
			o.told_ms = 1500;
			expect_refusal(decide(o, a), ambiguous[i].code);
			o.replay_safe = true;
			o.should_retry = -1;
			if (!ambiguous[i].again) {
				expect_refusal(decide(o, a), ambiguous[i].code);
				continue;
			}
			expect_again(decide(o, a), TP_CLASS_RESET);
			ck_assert_uint_lt(decide(o, a).wait_ms, 181); /* a told wait needs an answer */
			a.class_sends[TP_CLASS_RESET] = 2;
			expect_refusal(decide(o, a), ambiguous[i].code);
			a = plenty();
			a.base_left = false; /* class reset may not take the reserve */
			expect_refusal(decide(o, a), ambiguous[i].code);
			a = plenty();
			a.deadline_left_ms = 100;
			expect_refusal(decide(o, a), ambiguous[i].code);
			o.took_ms = 15001;
			expect_refusal(decide(o, plenty()), ambiguous[i].code);
		}
}
END_TEST

START_TEST(after_commit)
{
	for (int safe = 0; safe < 2; safe++)
		for (size_t i = 0; i < sizeof(ambiguous) / sizeof(ambiguous[0]); i++)
			for (int stage = TP_STAGE_HEAD; stage <= TP_STAGE_OUTPUT; stage++) {
				struct tp_outcome o = failure((enum tp_stage)stage, ambiguous[i].cause);
				struct tp_decision d;

				o.committed = true;
				o.replay_safe = safe == 1;
				d = decide(o, plenty());
				ck_assert_int_eq(d.action, TP_ACT_END_STREAM);
				ck_assert_int_eq(d.evidence, TP_EVIDENCE_PROCESSED);
				ck_assert_int_eq(d.code, ambiguous[i].code);
			}
	for (int stage = TP_STAGE_HEAD; stage < TP_STAGE_COUNT; stage++) {
		struct tp_outcome o = answer(503);

		o.stage = (enum tp_stage)stage;
		o.committed = true;
		ck_assert_int_eq(decide(o, plenty()).action, TP_ACT_RELAY);
		o = failure((enum tp_stage)stage, TP_CAUSE_CLIENT_GONE);
		o.committed = true;
		ck_assert_int_eq(decide(o, plenty()).action, TP_ACT_CANCEL);
		ck_assert(!decide(o, plenty()).give_back);
	}
	/* read to its end, found unusable, nothing shown yet: still a refusal */
	expect_refusal(decide(failure(TP_STAGE_DONE, TP_CAUSE_INVALID), plenty()), TP_CODE_RESPONSE_INVALID);
}
END_TEST

TP_TESTS(decide)
{
	tcase_set_timeout(t, 30);
	tcase_add_test(t, every_status);
	tcase_add_test(t, overload_by_evidence);
	tcase_add_test(t, quota_and_stop_signs);
	tcase_add_test(t, should_retry_true);
	tcase_add_test(t, own_credential);
	tcase_add_test(t, access_token);
	tcase_add_test(t, class_limits);
	tcase_add_test(t, budget_left);
	tcase_add_test(t, slow_ceiling_deadline);
	tcase_add_test(t, operator_lists);
	tcase_add_test(t, other_way_out);
	tcase_add_test(t, unsent);
	tcase_add_test(t, ambiguous_failures);
	tcase_add_test(t, after_commit);
}
