/* The waits of design section 5, and what holds for every decision of a turn. */
#include "common/retry/decide.h"

#include <check.h>

#include "common/retry/told.h"
#include "tests/unit/retry_turn.h"

/* ---- waits: the windows of the cases, met at both ends */

static uint64_t next_random(void)
{
	static uint64_t x = 0x2545f4914f6cdd1dU;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

START_TEST(windows)
{
	static const struct {
		enum tp_class klass;
		uint32_t n, low, high;
		int64_t told;
	} rows[] = {
		{TP_CLASS_TRANSIENT, 0, 320, 480, -1},     {TP_CLASS_TRANSIENT, 1, 640, 960, -1},
		{TP_CLASS_TRANSIENT, 5, 4000, 6000, -1},   {TP_CLASS_RESET, 0, 120, 180, -1},
		{TP_CLASS_RESET, 1, 240, 360, -1},         {TP_CLASS_RESET, 9, 800, 1200, -1},
		{TP_CLASS_OVERLOAD, 0, 1200, 2800, -1},    {TP_CLASS_OVERLOAD, 1, 2700, 4300, -1},
		{TP_CLASS_OVERLOAD, 2, 5700, 7300, -1},    {TP_CLASS_OVERLOAD, 40, 59700, 60300, -1},
		{TP_CLASS_OVERLOAD, 0, 1500, 1800, 0},     {TP_CLASS_OVERLOAD, 2, 2000, 2300, 2000},
		{TP_CLASS_TRANSIENT, 0, 5000, 5300, 5000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_retry_conf p = defaults();
		struct tp_outcome o = answer(rows[i].klass == TP_CLASS_OVERLOAD ? 429 : 500);
		struct tp_allowance a = plenty();
		uint32_t least = UINT32_MAX, most = 0, width = rows[i].high - rows[i].low;

		if (rows[i].klass == TP_CLASS_RESET) {
			o = failure(TP_STAGE_SENT, TP_CAUSE_RESET);
			o.replay_safe = true;
		}
		o.told_ms = rows[i].told;
		p.reset_sends = p.transient_sends = p.overload_sends = p.overload_429_sends = 100;
		a.class_sends[rows[i].klass] = rows[i].n;
		for (int k = 0; k < 5000; k++) {
			struct tp_decision d = tp_decide(&p, &o, &a, next_random());

			expect_again(d, rows[i].klass);
			least = d.wait_ms < least ? d.wait_ms : least;
			most = d.wait_ms > most ? d.wait_ms : most;
		}
		ck_assert_msg(least >= rows[i].low && most <= rows[i].high, "row %zu: %u..%u", i, least,
			      most);
		ck_assert_msg(least < rows[i].low + width / 8 && most > rows[i].high - width / 8,
			      "row %zu does not use its window: %u..%u", i, least, most);
	}
}
END_TEST

START_TEST(wait_extremes)
{
	struct tp_retry_conf p = defaults();
	struct tp_outcome o = answer(429);
	struct tp_allowance a = plenty();

	a.deadline_left_ms = UINT64_MAX;
	p.overload_base_ms = 0; /* 0..1s +-0.3s: never below zero */
	for (int k = 0; k < 2000; k++)
		ck_assert_uint_le(tp_decide(&p, &o, &a, next_random()).wait_ms, 1300);
	p.ceiling_ms = UINT32_MAX;
	o.told_ms = UINT32_MAX;
	ck_assert_uint_eq(tp_decide(&p, &o, &a, UINT64_MAX).wait_ms, UINT32_MAX);
	p = defaults();
	p.overload_sends = p.overload_429_sends = p.transient_sends = UINT32_MAX;
	p.overload_base_ms = UINT32_MAX;
	a.class_sends[TP_CLASS_OVERLOAD] = 4000000000U;
	o = answer(429);
	ck_assert_uint_le(tp_decide(&p, &o, &a, 7).wait_ms, 60300);
	/* equal arguments, equal decisions */
	ck_assert_uint_eq(tp_decide(&p, &o, &a, 7).wait_ms, tp_decide(&p, &o, &a, 7).wait_ms);
}
END_TEST

/* ---- properties: whole turns of random outcomes against a simulated budget and clock */

static struct tp_outcome random_outcome(bool replay_safe)
{
	uint64_t r = next_random();
	struct tp_outcome o = {.stage = (enum tp_stage)(r % TP_STAGE_COUNT),
			       .cause = (enum tp_cause)((r >> 8) % TP_CAUSE_COUNT),
			       .told_ms = -1,
			       .should_retry = -1,
			       .replay_safe = replay_safe};
	static const int often[] = {429, 503, 500, 529, 200, 409, 408, 524};

	if ((r >> 16) % 4 != 0) {
		o.cause = TP_CAUSE_ANSWER;
		o.status = (r >> 20) % 2 ? often[(r >> 24) % 8] : 200 + (int)((r >> 24) % 400);
	}
	if ((r >> 32) % 3 == 0)
		o.told_ms = tp_told_floor((int64_t)(next_random() % 70000), 1500);
	o.took_ms = (uint32_t)(next_random() % ((r >> 34) % 8 == 0 ? 20000 : 300));
	o.should_retry = (int8_t)((int)((r >> 40) % 8) - 1 > 1 ? -1 : (int)((r >> 40) % 8) - 1);
	o.overload = (r >> 44) % 8 == 0;
	o.quota = (r >> 48) % 16 == 0;
	o.drowning = (r >> 52) % 8 == 0;
	o.committed = (r >> 56) % 16 == 0;
	return o;
}

struct turn {
	struct tp_retry_conf policy;
	struct tp_allowance allowed;
	uint32_t base, reserve, sends, retries;
	uint64_t now;
	bool forced;
};

/* What must hold for the decision about one outcome. */
static void check_decision(const struct turn *t, const struct tp_outcome *o, const struct tp_decision *d)
{
	bool answered = o->cause == TP_CAUSE_ANSWER;

	ck_assert_ptr_nonnull(d->reason);
	ck_assert(!d->give_back || d->evidence == TP_EVIDENCE_NOT_PROCESSED);
	ck_assert((d->action == TP_ACT_REFUSE || d->action == TP_ACT_LOCAL) ? d->code != TP_CODE_NONE : true);
	if (o->committed)
		ck_assert(d->action == TP_ACT_END_STREAM || d->action == TP_ACT_RELAY ||
			  d->action == TP_ACT_CANCEL);
	ck_assert(answered || d->action != TP_ACT_RELAY);
	if (d->action != TP_ACT_SEND_AGAIN)
		return;
	/* never what may have run, unless it may run twice */
	ck_assert(d->evidence == TP_EVIDENCE_DECLINED || o->replay_safe);
	ck_assert(answered || o->replay_safe);
	ck_assert(o->status != 408 && o->status != 524 && !(answered && o->quota));
	ck_assert(o->should_retry != 0 || !answered);
	ck_assert(!answered || (int64_t)d->wait_ms >= o->told_ms);
	ck_assert(!answered || o->told_ms <= (int64_t)t->policy.ceiling_ms);
	ck_assert_uint_le(t->now + d->wait_ms, t->policy.deadline_ms);
	ck_assert(!d->forced || !t->forced);
	ck_assert_uint_le(o->took_ms, t->policy.slow_attempt_ms);
}

/* Pays one send out of the simulated budget. */
static void pay(struct turn *t, const struct tp_decision *d)
{
	t->allowed.class_sends[d->klass]++;
	t->retries++;
	t->sends++;
	if (t->base > 0)
		t->base--;
	else {
		ck_assert(tp_class_may_take_reserve(d->klass));
		ck_assert_uint_gt(t->reserve, 0);
		t->reserve--;
	}
	t->now += d->wait_ms;
	t->forced |= d->forced;
}

static void run_turn(void)
{
	uint32_t budget = (uint32_t)(next_random() % 7);
	uint32_t reserve = budget > 0 ? (uint32_t)(next_random() % budget) : 0;
	bool replay_safe = next_random() % 2 == 0;
	struct turn t = {.policy = defaults(), .base = budget - reserve, .reserve = reserve};

	t.policy.overload_base_ms = 200;
	if (t.base == 0)
		return; /* a first send draws on the base only */
	t.base--;
	t.sends = 1;
	for (;;) {
		struct tp_outcome o = random_outcome(replay_safe);
		struct tp_decision d;

		t.now += o.took_ms;
		t.allowed.base_left = t.base > 0;
		t.allowed.reserve_left = t.reserve > 0;
		t.allowed.forced_retry_used = t.forced;
		t.allowed.deadline_left_ms = t.now < t.policy.deadline_ms ? t.policy.deadline_ms - t.now : 0;
		d = tp_decide(&t.policy, &o, &t.allowed, next_random());
		check_decision(&t, &o, &d);
		if (d.action != TP_ACT_SEND_AGAIN)
			break;
		pay(&t, &d);
		ck_assert_uint_le(t.sends, budget);
	}
	ck_assert_uint_lt(t.allowed.class_sends[TP_CLASS_RESET], 3);
	ck_assert_uint_lt(t.allowed.class_sends[TP_CLASS_TRANSIENT], 3);
	ck_assert_uint_lt(t.allowed.class_sends[TP_CLASS_OVERLOAD], 4);
}

START_TEST(property)
{
	for (int i = 0; i < 50000; i++)
		run_turn();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("decide_waits");
	TCase *c = tcase_create("decide_waits");

	tcase_set_timeout(c, 30);
	tcase_add_test(c, windows);
	tcase_add_test(c, wait_extremes);
	tcase_add_test(c, property);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? 0 : 1;
}
