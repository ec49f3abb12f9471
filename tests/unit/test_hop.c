/* Combos in the decision: which failures go on to the next target, what they say about whom (design section
 * 8). */
#include "common/retry/hop.h"

#include <stdlib.h>

#include "tests/unit/retry_turn.h"
#include "tests/unit/suite.h"

static struct tp_allowance one_more(void)
{
	struct tp_allowance a = plenty();

	a.more_targets = 1;
	a.hop_left = true;
	a.target_sends = 1;
	a.sends_per_target = 2;
	return a;
}

static struct tp_decision decide(struct tp_outcome o, struct tp_allowance a)
{
	struct tp_retry_conf p = defaults();

	return tp_decide(&p, &o, &a, 0x9e3779b97f4a7c15U);
}

static enum tp_action action(struct tp_outcome o)
{
	return decide(o, one_more()).action;
}

START_TEST(every_status)
{
	static const int hop[] = {401, 402, 403, 404, 425, 429, 498},
			 stay[] = {500, 502, 503, 504, 520, 521, 522};

	for (int status = 200; status < 600; status++) {
		enum tp_action expected = status >= 500 && status != 524 ? TP_ACT_NEXT_TARGET : TP_ACT_RELAY;

		for (size_t i = 0; i < sizeof hop / sizeof hop[0]; i++)
			expected = status == hop[i] ? TP_ACT_NEXT_TARGET : expected;
		for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
			expected = status == stay[i] ? TP_ACT_SEND_AGAIN : expected;
		ck_assert_msg(action(answer(status)) == expected, "%d", status);
		/* with its sends used up, or nothing left beside those of the targets to come, it goes on */
		if (expected != TP_ACT_SEND_AGAIN)
			continue;
		struct tp_allowance a = one_more();
		a.target_sends = 2;
		ck_assert_int_eq(decide(answer(status), a).action, TP_ACT_NEXT_TARGET);
		ck_assert_int_eq(decide(answer(status), a).klass, TP_CLASS_HOP);
		a = one_more();
		a.base_left = false;
		ck_assert_int_eq(decide(answer(status), a).action, TP_ACT_NEXT_TARGET);
		/* the last target left may use what the budget holds */
		a = plenty();
		a.target_sends = a.sends_per_target = 2;
		ck_assert_int_eq(decide(answer(status), a).action, TP_ACT_SEND_AGAIN);
	}
}
END_TEST

START_TEST(what_codes_say)
{
	static const int stop[] = {400, 405, 408, 409, 410, 413, 415, 422, 451};

	for (size_t i = 0; i < sizeof stop / sizeof stop[0]; i++) {
		struct tp_outcome o = answer(stop[i]);
		bool size = stop[i] == 400 || stop[i] == 413 || stop[i] == 422;

		o.model_unavailable = true;
		ck_assert_int_eq(action(o), stop[i] == 408 ? TP_ACT_RELAY : TP_ACT_NEXT_TARGET);
		o.safety = true;
		ck_assert_int_eq(action(o), TP_ACT_RELAY);
		o.safety = o.model_unavailable = false;
		o.too_large = true;
		ck_assert_int_eq(action(o), size ? TP_ACT_NEXT_TARGET : TP_ACT_RELAY);
		o.too_large = false;
		o.quota = true;
		ck_assert_int_eq(action(o), TP_ACT_RELAY);
	}
	for (int status = 401; status <= 403; status++) {
		struct tp_outcome o = answer(status);
		o.own_credential = true;
		ck_assert_int_eq(action(o), TP_ACT_NEXT_TARGET);
	}
}
END_TEST

START_TEST(not_at_the_same_target)
{
	struct tp_outcome o = answer(503);

	o.told_ms = 1500; /* the provider names a time: the other one is asked meanwhile */
	ck_assert_int_eq(action(o), TP_ACT_NEXT_TARGET);
	o = answer(503);
	o.overload = true;
	ck_assert_int_eq(action(o), TP_ACT_NEXT_TARGET);
	o = answer(503);
	o.took_ms = 15001;
	ck_assert_int_eq(action(o), TP_ACT_NEXT_TARGET);
	o = answer(503);
	o.should_retry = 0;
	ck_assert_int_eq(action(o), TP_ACT_RELAY);
	o = answer(429); /* an explicit no: it did not run, and another target is no retry */
	o.should_retry = 0;
	ck_assert_int_eq(action(o), TP_ACT_NEXT_TARGET);
}
END_TEST

START_TEST(a_stricter_operator)
{
	struct tp_retry_conf p = defaults();
	struct tp_allowance a = one_more();
	struct tp_outcome o = answer(500);

	p.transient_statuses = (struct tp_status_set){{0}};
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_RELAY); /* it may have run */
	o = answer(501);
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_NEXT_TARGET);
}
END_TEST

START_TEST(without_an_answer)
{
	static const enum tp_cause nothing_sent[] = {TP_CAUSE_REFUSED, TP_CAUSE_CONNECT_TIMEOUT, TP_CAUSE_DNS,
						     TP_CAUSE_TLS, TP_CAUSE_EGRESS};

	for (size_t i = 0; i < sizeof nothing_sent / sizeof nothing_sent[0]; i++) {
		struct tp_decision d = decide(failure(TP_STAGE_UNSENT, nothing_sent[i]), one_more());
		ck_assert_int_eq(d.action, TP_ACT_NEXT_TARGET);
		ck_assert(d.give_back);
	}
	for (int cause = TP_CAUSE_RESET; cause < TP_CAUSE_CLIENT_GONE; cause++)
		for (int stage = TP_STAGE_SENDING; stage <= TP_STAGE_PRELUDE; stage++) {
			struct tp_outcome o = failure((enum tp_stage)stage, (enum tp_cause)cause);
			ck_assert_int_eq(action(o), TP_ACT_REFUSE);
			o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
			ck_assert_int_eq(action(o), TP_ACT_REFUSE);
		}
	/* what may run twice: twice here, then elsewhere */
	struct tp_outcome o = failure(TP_STAGE_SENT, TP_CAUSE_RESET);
	struct tp_allowance a = one_more();
	o.replay_safe = true;
	ck_assert_int_eq(decide(o, a).action, TP_ACT_SEND_AGAIN);
	a.target_sends = 2;
	ck_assert_int_eq(decide(o, a).action, TP_ACT_NEXT_TARGET);
	/* nothing follows a replacement, and nothing follows output */
	o = failure(TP_STAGE_UNSENT, TP_CAUSE_REFUSED);
	o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
	ck_assert_int_eq(action(o), TP_ACT_REFUSE);
	o = answer(503);
	o.committed = true;
	ck_assert_int_eq(action(o), TP_ACT_RELAY);
}
END_TEST

START_TEST(no_hop_left)
{
	struct tp_allowance none = one_more(), late = one_more();

	none.hop_left = none.base_left = none.reserve_left = false;
	ck_assert_int_eq(decide(answer(503), none).action, TP_ACT_RELAY);
	ck_assert(decide(answer(503), none).stop);
	ck_assert_int_eq(decide(failure(TP_STAGE_UNSENT, TP_CAUSE_DNS), none).action, TP_ACT_LOCAL);
	late.deadline_left_ms = 0;
	ck_assert_int_eq(decide(answer(404), late).action, TP_ACT_RELAY);
}
END_TEST

START_TEST(blame)
{
	static const struct {
		int status;
		enum tp_blame blame, with_quota;
	} rows[] = {{400, TP_BLAME_NONE, TP_BLAME_NONE},     {401, TP_BLAME_KEY, TP_BLAME_KEY},
		    {402, TP_BLAME_KEY, TP_BLAME_KEY},       {403, TP_BLAME_KEY, TP_BLAME_KEY},
		    {404, TP_BLAME_NONE, TP_BLAME_NONE},     {408, TP_BLAME_NONE, TP_BLAME_NONE},
		    {425, TP_BLAME_NONE, TP_BLAME_NONE},     {429, TP_BLAME_TARGET, TP_BLAME_KEY},
		    {500, TP_BLAME_TARGET, TP_BLAME_TARGET}, {524, TP_BLAME_NONE, TP_BLAME_NONE},
		    {529, TP_BLAME_TARGET, TP_BLAME_TARGET}, {200, TP_BLAME_NONE, TP_BLAME_NONE}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct tp_outcome o = answer(rows[i].status);
		ck_assert_msg(tp_blame_of(&o) == rows[i].blame, "%d", o.status);
		o.quota = true;
		ck_assert_msg(tp_blame_of(&o) == rows[i].with_quota, "%d", o.status);
		o.too_large = true;
		ck_assert_msg(tp_blame_of(&o) == TP_BLAME_NONE, "%d", o.status);
		o = answer(rows[i].status);
		o.model_unavailable = true;
		ck_assert(tp_blame_of(&o) == (o.status < 400 ? TP_BLAME_NONE : TP_BLAME_TARGET));
		o.safety = true;
		ck_assert(tp_blame_of(&o) == TP_BLAME_NONE);
	}
	for (int cause = TP_CAUSE_REFUSED; cause < TP_CAUSE_COUNT; cause++) {
		struct tp_outcome o = failure(TP_STAGE_UNSENT, (enum tp_cause)cause);
		ck_assert(tp_blame_of(&o) == (cause <= TP_CAUSE_EGRESS ? TP_BLAME_TARGET : TP_BLAME_NONE));
	}
	struct tp_outcome o = answer(503);
	o.committed = true;
	ck_assert(tp_blame_of(&o) == TP_BLAME_NONE);
}
END_TEST

/* ---- whole turns: random outcomes, the budget as the ledger keeps it */

static uint64_t state = 88172645463325252U;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % n;
}

static struct tp_outcome some_outcome(void)
{
	static const int statuses[] = {400, 401, 404, 429, 429, 500, 502, 503, 503, 529, 522, 408, 410};
	struct tp_outcome o = answer(statuses[below(sizeof statuses / sizeof statuses[0])]);

	if (below(8) == 0)
		return failure(TP_STAGE_UNSENT, TP_CAUSE_REFUSED);
	if (below(32) == 0)
		return failure(TP_STAGE_SENT, TP_CAUSE_RESET);
	if (below(6) == 0)
		o.told_ms = 1500 + below(100000);
	return o;
}

struct turn {
	uint32_t targets, total, used, base_used, asked;
	struct tp_allowance a;
};

static bool fits(const struct turn *t, uint32_t total, enum tp_class klass)
{
	return t->used < total && (tp_class_may_take_reserve(klass) || t->base_used < 3);
}

static void pay(struct turn *t, enum tp_class klass)
{
	ck_assert(fits(t, t->total, klass));
	t->used++;
	t->base_used += !tp_class_may_take_reserve(klass);
	t->a.target_sends++;
}

static void run_turn(uint32_t seen[2])
{
	struct tp_retry_conf p = defaults();
	struct turn t = {.targets = 1 + below(6), .asked = 1};
	enum tp_class klass = TP_CLASS_INITIAL;
	struct tp_decision d;
	bool hopeful;

	t.total = p.budget_sends + t.targets - 1;
	if (below(3) == 0)
		t.total = 1 + below(t.total);
	t.a = plenty();
	t.a.sends_per_target = 1 + below(3);
	pay(&t, klass);
	do {
		struct tp_outcome o = some_outcome();
		uint32_t more = t.targets - t.asked;

		t.a.more_targets = more;
		t.a.hop_left = more > 0 && fits(&t, t.total, TP_CLASS_HOP);
		t.a.base_left = fits(&t, t.total > more ? t.total - more : 0, TP_CLASS_TRANSIENT);
		t.a.reserve_left = fits(&t, t.total > more ? t.total - more : 0, TP_CLASS_OVERLOAD);
		d = tp_decide(&p, &o, &t.a, below(UINT32_MAX));
		hopeful = tp_answer_hops(&o, true) || o.stage == TP_STAGE_UNSENT;
		if (d.give_back) {
			t.used--;
			t.base_used -= !tp_class_may_take_reserve(klass);
		}
		if (d.action == TP_ACT_NEXT_TARGET) {
			ck_assert(hopeful);
			t.asked++;
			t.a.target_sends = 0;
			pay(&t, klass = TP_CLASS_HOP);
		} else if (d.action == TP_ACT_SEND_AGAIN) {
			/* what is left for those to come stays left */
			ck_assert_uint_le(t.used + 1 + more, t.total);
			ck_assert(more == 0 || t.a.target_sends < t.a.sends_per_target);
			pay(&t, klass = d.klass);
			t.a.class_sends[klass]++;
		} else if (hopeful && more > 0) {
			/* only a client that lowered the budget keeps a declared target from being reached */
			ck_assert_uint_lt(t.total, t.targets);
			ck_assert_uint_eq(t.used + d.give_back, t.total);
			seen[0]++;
		}
		ck_assert_uint_le(t.used, t.targets + 3);
		ck_assert_uint_le(t.asked, t.targets);
	} while (d.action == TP_ACT_NEXT_TARGET || d.action == TP_ACT_SEND_AGAIN);
	seen[1] += t.asked == t.targets && t.targets > 3;
}

START_TEST(property)
{
	uint32_t seen[2] = {0};

	for (int i = 0; i < 100000; i++)
		run_turn(seen);
	ck_assert_uint_gt(seen[0], 50); /* the interesting paths were taken */
	ck_assert_uint_gt(seen[1], 50);
}
END_TEST

TP_TESTS(hop)
{
	tcase_set_timeout(t, 30);
	tcase_add_test(t, every_status);
	tcase_add_test(t, what_codes_say);
	tcase_add_test(t, not_at_the_same_target);
	tcase_add_test(t, a_stricter_operator);
	tcase_add_test(t, without_an_answer);
	tcase_add_test(t, no_hop_left);
	tcase_add_test(t, blame);
	tcase_add_test(t, property);
}
