/* Profiles, replacements of lost sends, drowning gateways and dead models (design sections 4, 5). */

#include "common/retry/decide.h"
#include "tests/unit/retry_turn.h"
#include "tests/unit/suite.h"

/* A turn that goes on as long as it is let: the same outcome each time, the counters as `workers` keeps them.
 */
struct turn {
	struct tp_retry_conf policy;
	struct tp_allowance a;
	uint32_t sends;
	struct tp_decision last;
};

static struct turn begin(struct tp_retry_conf policy)
{
	return (struct turn){.policy = policy, .a = plenty(), .sends = 1};
}

static bool step(struct turn *t, struct tp_outcome o)
{
	t->last = tp_decide(&t->policy, &o, &t->a, 0x9e3779b97f4a7c15U);
	t->a.overload_limit = t->last.overload_limit;
	if (t->last.action != TP_ACT_SEND_AGAIN)
		return false;
	t->a.class_sends[t->last.klass]++;
	t->sends++;
	return true;
}

static uint32_t sends_of(struct tp_retry_conf policy, struct tp_outcome o)
{
	struct turn t = begin(policy);

	while (step(&t, o))
		ck_assert_uint_lt(t.sends, 50);
	ck_assert_int_eq(t.last.action, TP_ACT_RELAY);
	return t.sends;
}

/* ---- profiles */

START_TEST(sends_by_profile)
{
	static const struct {
		int status;
		uint32_t guarded, patient;
	} rows[] = {{503, 3, 6}, {429, 4, 4}, {529, 4, 6}, {498, 4, 6}, {500, 3, 3}, {502, 3, 3},
		    {504, 3, 3}, {400, 1, 1}, {408, 1, 1}, {524, 1, 1}, {501, 1, 1}, {525, 1, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_uint_eq(sends_of(defaults(), answer(rows[i].status)), rows[i].guarded);
		ck_assert_uint_eq(sends_of(patient(), answer(rows[i].status)), rows[i].patient);
	}
}
END_TEST

START_TEST(patient_is_overload_with_a_ceiling_of_its_own)
{
	struct turn t = begin(patient());
	struct tp_outcome o = answer(503);

	ck_assert(step(&t, o));
	expect_again(t.last, TP_CLASS_OVERLOAD);
	ck_assert_uint_ge(t.last.wait_ms, 1200);
	o.told_ms = 110000; /* below 300s: only the deadline bounds it */
	expect_again(tp_decide(&t.policy, &o, &t.a, 0), TP_CLASS_OVERLOAD);
	t.a.deadline_left_ms = 110000;
	ck_assert_int_eq(tp_decide(&t.policy, &o, &t.a, 0).action, TP_ACT_RELAY);
	t.a.deadline_left_ms = 900000;
	o.told_ms = 300001;
	ck_assert_int_eq(tp_decide(&t.policy, &o, &t.a, 0).action, TP_ACT_RELAY);
	/* what the class has used up with 503s is not there for a 429 */
	t = begin(patient());
	for (int i = 0; i < 3; i++)
		ck_assert(step(&t, answer(503)));
	ck_assert(!step(&t, answer(429)));
	ck_assert(step(&t, answer(503)));
}
END_TEST

/* ---- drowning gateways */

START_TEST(drowning_halves_what_is_left)
{
	struct tp_outcome busy = answer(429), drowning = answer(429);
	struct turn t;

	drowning.drowning = drowning.overload = true;
	ck_assert_uint_eq(sends_of(defaults(), busy), 4);
	ck_assert_uint_eq(sends_of(defaults(), drowning), 2); /* of three left, one */
	drowning.status = 503;
	ck_assert_uint_eq(sends_of(patient(), drowning), 2); /* of five left, two; of one left, none */
	/* what it took stays taken, when the next answer does not say it again */
	t = begin(defaults());
	ck_assert(step(&t, drowning));
	ck_assert(!step(&t, busy));
	/* of two left, one */
	t = begin(defaults());
	ck_assert(step(&t, busy));
	ck_assert(step(&t, drowning));
	ck_assert(!step(&t, busy));
	ck_assert_uint_eq(t.sends, 3);
	/* one left: none */
	t = begin(defaults());
	ck_assert(step(&t, busy) && step(&t, busy));
	ck_assert(!step(&t, drowning));
	ck_assert(t.last.stop);
	/* other classes lose nothing */
	t = begin(defaults());
	ck_assert(step(&t, drowning));
	ck_assert(step(&t, answer(500)) && step(&t, answer(500)));
}
END_TEST

START_TEST(drowning_is_told)
{
	struct tp_retry_conf p = defaults();
	struct tp_outcome o = answer(429);
	struct tp_allowance a = plenty();

	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).alert, TP_ALERT_NONE);
	o.drowning = true;
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).alert, TP_ALERT_SYSTEM_LOAD);
	o.told_ms = 600000; /* shown, and told all the same */
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_RELAY);
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).alert, TP_ALERT_SYSTEM_LOAD);
	ck_assert_str_eq(tp_alert_name(TP_ALERT_SYSTEM_LOAD), "system_load");
	ck_assert_str_eq(tp_alert_name(TP_ALERT_MODEL_DEAD), "model_dead");
	ck_assert_str_eq(tp_alert_name((enum tp_alert)99), "?");
}
END_TEST

/* ---- dead models */

START_TEST(long_waits)
{
	static const struct {
		int64_t waits[8]; /* -1: a success; 0 ends the row */
		uint32_t then;
	} rows[] = {
		{{55000}, 1},
		{{54999}, 0},
		{{55000, 60000, 55000}, 3},
		{{55000, 60000, 1500, 55000}, 1}, /* in a row */
		{{55000, 60000, -1, 55000}, 1},
		{{55000, 55000, 55000, 1500, 58000}, 3}, /* dead until a success */
		{{55000, 55000, 55000, -1}, 0},
		{{INT64_MAX, INT64_MAX}, 2},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t n = 0;

		for (size_t k = 0; rows[i].waits[k] != 0; k++)
			n = tp_long_waits_next(n, rows[i].waits[k]);
		ck_assert_msg(n == rows[i].then, "row %zu: %u", i, n);
		ck_assert_int_eq(tp_model_is_dead(n), rows[i].then == 3);
	}
}
END_TEST

START_TEST(dead_model)
{
	struct tp_retry_conf p = defaults();
	struct tp_outcome o = answer(429), lost = failure(TP_STAGE_SENT, TP_CAUSE_RESET);
	struct tp_allowance a = plenty();
	struct tp_decision d;

	o.told_ms = 58000;
	for (a.long_waits = 0; a.long_waits < 3; a.long_waits = tp_long_waits_next(a.long_waits, d.wait_ms)) {
		d = tp_decide(&p, &o, &a, 0);
		expect_again(d, TP_CLASS_OVERLOAD);
		/* the third of them is still waited for, and is the one that is told */
		ck_assert_int_eq(d.alert, a.long_waits == 2 ? TP_ALERT_MODEL_DEAD : TP_ALERT_NONE);
	}
	o.told_ms = -1;
	d = tp_decide(&p, &o, &a, 0);
	ck_assert_int_eq(d.action, TP_ACT_RELAY);
	ck_assert(d.stop);
	ck_assert_int_eq(d.alert, TP_ALERT_NONE); /* once */
	/* only overload retries end */
	o = answer(500);
	expect_again(tp_decide(&p, &o, &a, 0), TP_CLASS_TRANSIENT);
	lost.replay_safe = true;
	expect_again(tp_decide(&p, &lost, &a, 0), TP_CLASS_RESET);
	a.long_waits = tp_long_waits_next(a.long_waits, -1);
	o = answer(429);
	expect_again(tp_decide(&p, &o, &a, 0), TP_CLASS_OVERLOAD);
}
END_TEST

/* ---- replacements of lost sends */

static struct tp_retry_conf granted(void)
{
	struct tp_retry_conf p = defaults();

	p.ambiguous_replays = 1;
	return p;
}

static struct tp_outcome lost_send(enum tp_stage stage, enum tp_cause cause)
{
	struct tp_outcome o = failure(stage, cause);

	o.self_contained = true;
	return o;
}

static struct tp_allowance with_ambiguous(void)
{
	struct tp_allowance a = plenty();

	a.ambiguous_left = true;
	return a;
}

static const struct {
	enum tp_cause cause;
	enum tp_code code;
	bool replaced;
} losses[] = {
	{TP_CAUSE_RESET, TP_CODE_RESET_REPLAY_REFUSED, true},
	{TP_CAUSE_CLOSED, TP_CODE_CLOSED_BEFORE_RESPONSE, true},
	{TP_CAUSE_BROKEN_HEAD, TP_CODE_CLOSED_BEFORE_RESPONSE, true},
	{TP_CAUSE_FIRST_BYTE_TIMEOUT, TP_CODE_NO_RESPONSE, false},
	{TP_CAUSE_STALLED, TP_CODE_NO_RESPONSE, false},
	{TP_CAUSE_TRUNCATED, TP_CODE_RESPONSE_TRUNCATED, false},
	{TP_CAUSE_INVALID, TP_CODE_RESPONSE_INVALID, false},
	{TP_CAUSE_LOCAL, TP_CODE_CLOSED_BEFORE_RESPONSE, false},
};

static void expect_refusal(struct tp_decision d, enum tp_code code)
{
	ck_assert_msg(d.action == TP_ACT_REFUSE, "%s", d.reason);
	ck_assert_int_eq(d.code, code);
	ck_assert(!d.stop && !d.ambiguous);
}

/* AM-8, PR-9: which losses are replaced, and how. */
START_TEST(replaces_a_lost_send)
{
	struct tp_retry_conf p = granted();
	struct tp_allowance a = with_ambiguous();

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		for (int stage = TP_STAGE_SENDING; stage <= TP_STAGE_PRELUDE; stage++) {
			struct tp_outcome o = lost_send((enum tp_stage)stage, losses[i].cause);
			struct tp_decision d = tp_decide(&p, &o, &a, 0);

			if (!losses[i].replaced) {
				expect_refusal(d, losses[i].code);
				continue;
			}
			expect_again(d, TP_CLASS_RESET);
			ck_assert(d.ambiguous);
			ck_assert_int_eq(d.code, losses[i].code);
			ck_assert_int_eq(d.evidence, TP_EVIDENCE_UNKNOWN); /* possibly billed */
			ck_assert_uint_ge(d.wait_ms, 120);
			ck_assert_uint_le(d.wait_ms, 180);
		}
	/* not once the client has seen something */
	struct tp_outcome o = lost_send(TP_STAGE_OUTPUT, TP_CAUSE_RESET);
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_END_STREAM);
	o = lost_send(TP_STAGE_PRELUDE, TP_CAUSE_RESET);
	o.committed = true;
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_END_STREAM);
	/* what may run twice anyway takes its own ladder, not the allowance */
	o = lost_send(TP_STAGE_SENT, TP_CAUSE_RESET);
	o.replay_safe = true;
	ck_assert(!tp_decide(&p, &o, &a, 0).ambiguous);
}
END_TEST

/* AM-9 and its like: each condition alone takes the allowance away. */
START_TEST(replaces_only_with_everything_granted)
{
	for (int missing = 0; missing < 7; missing++) {
		struct tp_retry_conf p = granted();
		struct tp_allowance a = with_ambiguous();
		struct tp_outcome o = lost_send(TP_STAGE_SENT, TP_CAUSE_RESET);

		switch (missing) {
		case 0: p.ambiguous_replays = 0; break;
		case 1: o.self_contained = false; break;
		case 2: a.ambiguous_left = false; break;
		case 3: a.base_left = false; break; /* AM-10: the grant does not widen the budget */
		case 4: a.deadline_left_ms = 100; break;
		case 5: o.took_ms = 15001; break;
		case 6: p.reset_sends = 1; break;
		default: break;
		}
		expect_refusal(tp_decide(&p, &o, &a, 0), TP_CODE_RESET_REPLAY_REFUSED);
	}
}
END_TEST

/* AM-10: whatever fails after it ends as the refusal of the first. */
START_TEST(a_replacement_is_the_last)
{
	static const int shown[] = {400, 403, 404, 405, 410, 415, 418, 422, 425, 451, 498};
	struct tp_retry_conf p = granted();
	struct tp_allowance a = with_ambiguous();
	bool is_shown[600] = {false};

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		is_shown[shown[i]] = true;
	for (int status = 300; status < 600; status++)
		for (int should_retry = -1; should_retry < 2; should_retry++) {
			struct tp_outcome o = answer(status);
			struct tp_decision d;

			o.replaced = TP_CODE_CLOSED_BEFORE_RESPONSE;
			o.self_contained = true;
			o.told_ms = 2000;
			o.should_retry = (int8_t)should_retry;
			d = tp_decide(&p, &o, &a, 0);
			if (is_shown[status]) {
				ck_assert_int_eq(d.action, TP_ACT_RELAY);
				ck_assert(d.stop);
			} else if (status < 400 || status > 499) {
				expect_refusal(d, TP_CODE_CLOSED_BEFORE_RESPONSE);
			}
		}
	static const int hidden[] = {401, 402, 408, 409, 413, 429};
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		struct tp_outcome o = answer(hidden[i]);

		o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
		expect_refusal(tp_decide(&p, &o, &a, 0), TP_CODE_RESET_REPLAY_REFUSED);
	}
}
END_TEST

START_TEST(a_replacement_fails)
{
	struct tp_retry_conf p = granted();
	struct tp_allowance a = with_ambiguous();
	struct tp_outcome o;

	for (int cause = TP_CAUSE_REFUSED; cause < TP_CAUSE_COUNT; cause++)
		for (int stage = TP_STAGE_UNSENT; stage <= TP_STAGE_PRELUDE; stage++)
			for (int safe = 0; safe < 2; safe++) {
				struct tp_decision d;

				if (cause == TP_CAUSE_CLIENT_GONE ||
				    (cause == TP_CAUSE_POOL_CLOSED && stage == TP_STAGE_UNSENT))
					continue;
				o = lost_send((enum tp_stage)stage, (enum tp_cause)cause);
				o.replaced = TP_CODE_CLOSED_BEFORE_RESPONSE;
				o.replay_safe = safe == 1;
				d = tp_decide(&p, &o, &a, 0);
				expect_refusal(d, TP_CODE_CLOSED_BEFORE_RESPONSE);
				/* the first may have run: no 502 that says "nothing was sent"; but the charge
				 * of a send that wrote nothing returns */
				ck_assert_int_eq(d.give_back, d.evidence == TP_EVIDENCE_NOT_PROCESSED);
			}
	/* our own key's rejection would be a 502, which Codex sends again */
	o = answer(403);
	o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
	o.own_credential = true;
	expect_refusal(tp_decide(&p, &o, &a, 0), TP_CODE_RESET_REPLAY_REFUSED);
	o.quota = true; /* "no credits" is for people to read */
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_RELAY);
	/* a 200 that says it is overloaded is a failure, a good one is an answer */
	o = answer(200);
	o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_RELAY);
	o.overload = true;
	expect_refusal(tp_decide(&p, &o, &a, 0), TP_CODE_RESET_REPLAY_REFUSED);
	/* committed, or left by its client: as ever */
	o = failure(TP_STAGE_OUTPUT, TP_CAUSE_RESET);
	o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_END_STREAM);
	o = failure(TP_STAGE_SENT, TP_CAUSE_CLIENT_GONE);
	o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_CANCEL);
}
END_TEST

START_TEST(instead_of_a_send)
{
	static const struct {
		const char *what;
		enum tp_code replaced;
		int saved, only;
		enum tp_instead expected;
	} rows[] = {
		{"nothing in hand", TP_CODE_NONE, 0, 0, TP_INSTEAD_LOCAL},
		{"nothing in hand, and one would do", TP_CODE_NONE, 0, 429, TP_INSTEAD_LOCAL},
		{"an answer", TP_CODE_NONE, 503, 0, TP_INSTEAD_SAVED},
		{"the one that would do", TP_CODE_NONE, 429, 429, TP_INSTEAD_SAVED},
		{"another one", TP_CODE_NONE, 503, 429, TP_INSTEAD_LOCAL},
		{"may have run", TP_CODE_NO_RESPONSE, 0, 0, TP_INSTEAD_REFUSAL},
		{"may have run, after an answer", TP_CODE_NO_RESPONSE, 429, 0, TP_INSTEAD_REFUSAL},
		{"may have run, after the one", TP_CODE_NO_RESPONSE, 429, 429, TP_INSTEAD_REFUSAL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ck_assert_msg(tp_instead_of_send(rows[i].replaced, rows[i].saved, rows[i].only) ==
				      rows[i].expected,
			      "%s", rows[i].what);
}
END_TEST

TP_TESTS(decide_policy)
{
	tcase_add_test(t, sends_by_profile);
	tcase_add_test(t, patient_is_overload_with_a_ceiling_of_its_own);
	tcase_add_test(t, drowning_halves_what_is_left);
	tcase_add_test(t, drowning_is_told);
	tcase_add_test(t, long_waits);
	tcase_add_test(t, dead_model);
	tcase_add_test(t, replaces_a_lost_send);
	tcase_add_test(t, replaces_only_with_everything_granted);
	tcase_add_test(t, a_replacement_is_the_last);
	tcase_add_test(t, a_replacement_fails);
	tcase_add_test(t, instead_of_a_send);
}
