/* Several keys of one provider in the decision: what is asked again with the next one (design section 8). */
#include "common/retry/hop.h"

#include <stdlib.h>

#include "tests/unit/retry_turn.h"
#include "tests/unit/suite.h"

static struct tp_allowance more_keys(void)
{
	struct tp_allowance a = plenty();

	a.more_keys = 1;
	return a;
}

static struct tp_outcome refused(int status)
{
	struct tp_outcome o = answer(status);

	o.own_credential = true;
	o.rate_limit = status == 429;
	return o;
}

static struct tp_decision decide(struct tp_outcome o, struct tp_allowance a)
{
	struct tp_retry_conf p = defaults();

	return tp_decide(&p, &o, &a, 0x9e3779b97f4a7c15U);
}

static bool rotates(struct tp_outcome o)
{
	return decide(o, more_keys()).action == TP_ACT_NEXT_KEY;
}

START_TEST(every_status)
{
	for (int status = 200; status < 600; status++) {
		bool expected = status == 401 || status == 402 || status == 403 || status == 429;
		struct tp_decision d = decide(refused(status), more_keys());

		ck_assert_msg((d.action == TP_ACT_NEXT_KEY) == expected, "%d", status);
		ck_assert(decide(refused(status), plenty()).action != TP_ACT_NEXT_KEY);
		if (!expected)
			continue;
		ck_assert_int_eq(d.klass, TP_CLASS_ROTATE);
		ck_assert_uint_eq(d.wait_ms, 0);
		ck_assert(!d.stop && !d.give_back);
	}
}
END_TEST

START_TEST(what_speaks_of_the_key)
{
	struct tp_outcome o = refused(429);

	o.told_ms = 600000; /* nobody waits for it */
	o.should_retry = 0; /* said of this key */
	ck_assert(rotates(o));
	o = refused(429);
	o.rate_limit = false; /* overload, capacity */
	ck_assert(!rotates(o));
	o.quota = true;
	ck_assert(rotates(o));
	o.too_large = true; /* of any key */
	ck_assert(!rotates(o));
	o = refused(400);
	o.quota = true;
	ck_assert(rotates(o));
	o = refused(503);
	o.quota = true;
	ck_assert(!rotates(o));
	o = refused(403);
	o.safety = true;
	ck_assert(!rotates(o));
	o = refused(403);
	o.model_unavailable = true;
	ck_assert(!rotates(o));
	o = refused(401);
	o.committed = true;
	ck_assert(!rotates(o) && !tp_refuses_key(&o));
	o = refused(401);
	o.replaced = TP_CODE_RESET_REPLAY_REFUSED;
	ck_assert(!rotates(o));
}
END_TEST

/* Next key, then next target, then what is done with the last one. */
START_TEST(order)
{
	static const int statuses[] = {401, 402, 403, 429};

	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
		struct tp_allowance a = more_keys();

		a.more_targets = a.sends_per_target = a.target_sends = 1;
		a.hop_left = true;
		ck_assert_int_eq(decide(refused(statuses[i]), a).action, TP_ACT_NEXT_KEY);
		a.more_keys = 0;
		ck_assert_int_eq(decide(refused(statuses[i]), a).action, TP_ACT_NEXT_TARGET);
		/* only the send kept for that target is left */
		a.more_keys = 1;
		a.base_left = a.reserve_left = false;
		ck_assert_int_eq(decide(refused(statuses[i]), a).action, TP_ACT_NEXT_TARGET);
	}
	ck_assert_int_eq(decide(refused(401), plenty()).code, TP_CODE_CREDENTIAL_REJECTED);
	ck_assert_int_eq(decide(refused(402), plenty()).action, TP_ACT_RELAY);
	expect_again(decide(refused(429), plenty()), TP_CLASS_OVERLOAD);
}
END_TEST

START_TEST(inside_the_budget)
{
	struct tp_retry_conf p = defaults();
	struct tp_outcome o = refused(429);
	struct tp_allowance a = more_keys();

	a.base_left = false; /* it may take the reserve */
	ck_assert_int_eq(decide(o, a).action, TP_ACT_NEXT_KEY);
	a.reserve_left = false;
	ck_assert_int_eq(decide(o, a).action, TP_ACT_RELAY);
	a = more_keys();
	a.deadline_left_ms = 0;
	ck_assert_int_eq(decide(o, a).action, TP_ACT_RELAY);
	a = more_keys();
	o.took_ms = p.slow_attempt_ms + 1;
	ck_assert_int_eq(decide(o, a).action, TP_ACT_RELAY);
	/* no send of class overload is asked for it */
	o = refused(429);
	p.overload_429_sends = p.overload_sends = 1;
	ck_assert_int_eq(tp_decide(&p, &o, &a, 0).action, TP_ACT_NEXT_KEY);
}
END_TEST

TP_TESTS(rotate)
{
	tcase_add_test(t, every_status);
	tcase_add_test(t, what_speaks_of_the_key);
	tcase_add_test(t, order);
	tcase_add_test(t, inside_the_budget);
}
