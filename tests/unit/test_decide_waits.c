/* The waits of design section 5, and what holds for every decision of a turn. */
#include "common/retry/decide.h"

#include <inttypes.h>

#include "common/retry/failure.h"
#include "common/retry/told.h"
#include "tests/unit/retry_turn.h"
#include "tests/unit/suite.h"

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

static bool one_in(uint32_t n)
{
	return next_random() % n == 0;
}

/* Guarded, patient, or an operator's own mixture. */
static struct tp_retry_conf random_policy(void)
{
	struct tp_retry_conf p = one_in(2) ? patient() : defaults();

	p.overload_base_ms = one_in(8) ? 60000 : 200;
	p.ambiguous_replays = (uint32_t)(next_random() % 2);
	if (one_in(4)) {
		p.reset_sends = (uint32_t)(next_random() % 5);
		p.transient_sends = (uint32_t)(next_random() % 5);
		p.overload_sends = (uint32_t)(next_random() % 8);
		p.overload_429_sends = (uint32_t)(next_random() % 8);
	}
	if (one_in(4)) {
		p.budget_sends = (uint32_t)(next_random() % 9);
		p.budget_reserve = (uint32_t)(next_random() % (p.budget_sends + 1));
	}
	if (one_in(8))
		p.transient_statuses = (struct tp_status_set){{0}};
	return p;
}

static struct tp_outcome random_outcome(void)
{
	static const int often[] = {429, 503, 500, 529, 200, 401, 408, 524};
	static const enum tp_cause losses[] = {TP_CAUSE_RESET, TP_CAUSE_CLOSED, TP_CAUSE_BROKEN_HEAD};
	uint64_t r = next_random();
	struct tp_outcome o = {.stage = (enum tp_stage)(r % TP_STAGE_COUNT),
			       .cause = (enum tp_cause)((r >> 8) % TP_CAUSE_COUNT),
			       .told_ms = -1,
			       .should_retry = -1};

	if ((r >> 16) % 4 != 0) {
		o.cause = TP_CAUSE_ANSWER;
		o.status = (r >> 20) % 2 ? often[(r >> 24) % 8] : 200 + (int)((r >> 24) % 400);
	} else if ((r >> 20) % 2) {
		o.cause = losses[(r >> 24) % 3];
	}
	if ((r >> 32) % 3 == 0)
		o.told_ms = tp_told_floor(
			(int64_t)(one_in(2) ? next_random() % 70000 : 55000 + next_random() % 5000), 1500);
	o.took_ms = (uint32_t)(next_random() % ((r >> 34) % 8 == 0 ? 20000 : 300));
	o.should_retry = (int8_t)((int)((r >> 40) % 8) - 1 > 1 ? -1 : (int)((r >> 40) % 8) - 1);
	o.overload = (r >> 44) % 8 == 0;
	o.quota = (r >> 48) % 16 == 0;
	o.rate_limit = o.status == 429 && !o.quota && one_in(2);
	o.drowning = (r >> 52) % 8 == 0;
	o.committed = (r >> 56) % 16 == 0;
	o.own_credential = (r >> 60) % 4 == 0;
	o.auth = one_in(16);
	if (o.cause == TP_CAUSE_ANSWER && one_in(32))
		o.status = 401;
	return o;
}

struct turn {
	struct tp_retry_conf policy;
	struct tp_allowance allowed;
	bool replay_safe, self_contained;
	enum tp_code replaced;
	uint32_t base, reserve, sends, replacements;
	uint32_t keys;      /* of the provider */
	uint64_t keys_used; /* bit n: key n was refused, or is in hand */
	uint32_t
		overload_left; /* what drowning gateways have left of the class; UINT32_MAX = nothing taken */
	uint64_t now;
};

/* What runs a second time must have been declined, or be allowed to run twice. */
static void check_evidence(const struct turn *t, const struct tp_outcome *o, const struct tp_decision *d)
{
	bool answered = o->cause == TP_CAUSE_ANSWER;

	ck_assert(answered || o->replay_safe || d->ambiguous);
	ck_assert_int_eq(d->evidence == TP_EVIDENCE_DECLINED, answered);
	ck_assert(o->status != 408 && o->status != 524 && !(answered && o->quota));
	ck_assert(o->should_retry != 0 || !answered);
	ck_assert(!d->forced || !t->allowed.forced_retry_used);
	ck_assert_int_eq(o->replaced, TP_CODE_NONE); /* nothing is sent after a replacement */
	if (!d->ambiguous)
		return;
	ck_assert(t->policy.ambiguous_replays > 0 && o->self_contained && t->allowed.ambiguous_left);
	ck_assert_int_eq(d->evidence, TP_EVIDENCE_UNKNOWN);
	ck_assert_int_eq(d->klass, TP_CLASS_RESET);
	ck_assert_int_eq(d->code, tp_failure_row(o->cause)->refusal);
}

static void check_wait(const struct turn *t, const struct tp_outcome *o, const struct tp_decision *d)
{
	bool answered = o->cause == TP_CAUSE_ANSWER;

	ck_assert(!answered || (int64_t)d->wait_ms >= o->told_ms);
	ck_assert(!answered || o->told_ms <= (int64_t)t->policy.ceiling_ms);
	ck_assert_uint_le(t->now + d->wait_ms, t->policy.deadline_ms);
	ck_assert_uint_le(o->took_ms, t->policy.slow_attempt_ms);
	ck_assert(d->klass != TP_CLASS_OVERLOAD || !tp_model_is_dead(t->allowed.long_waits));
}

/* A replacement is answered, refused with the first one's code, or gone. */
static void check_replacement(const struct tp_outcome *o, const struct tp_decision *d)
{
	if (o->committed || d->action == TP_ACT_CANCEL || d->action == TP_ACT_RECONNECT ||
	    d->action == TP_ACT_END_STREAM)
		return;
	if (d->action == TP_ACT_RELAY)
		ck_assert_msg((o->status >= 400 && o->status < 500 && d->stop) ||
				      (o->status >= 200 && o->status < 300),
			      "%d is shown after a replacement", o->status);
	else
		ck_assert(d->action == TP_ACT_REFUSE && d->code == o->replaced);
}

/* Only what was refused for its key is sent with the next one, at once. */
static void check_rotation(const struct turn *t, const struct tp_outcome *o, const struct tp_decision *d)
{
	ck_assert_int_eq(o->cause, TP_CAUSE_ANSWER);
	ck_assert(o->status >= 400 && o->status < 500 && o->status != 408 && !o->committed);
	ck_assert(o->status != 429 || o->rate_limit || o->quota);
	ck_assert_uint_gt(t->allowed.more_keys, 0);
	ck_assert_int_eq(d->klass, TP_CLASS_ROTATE);
	ck_assert_int_eq(d->evidence, TP_EVIDENCE_DECLINED);
	ck_assert_int_eq(o->replaced, TP_CODE_NONE);
	ck_assert(!d->stop && !d->give_back && d->wait_ms == 0 && d->code == TP_CODE_NONE);
	ck_assert_uint_le(o->took_ms, t->policy.slow_attempt_ms);
	ck_assert_uint_gt(t->allowed.deadline_left_ms, 0);
}

/* What must hold for the decision about one outcome. */
static void check_decision(const struct turn *t, const struct tp_outcome *o, const struct tp_decision *d)
{
	bool answered = o->cause == TP_CAUSE_ANSWER;

	ck_assert_ptr_nonnull(d->reason);
	ck_assert(!d->give_back || d->evidence == TP_EVIDENCE_NOT_PROCESSED);
	ck_assert((d->action == TP_ACT_REFUSE || d->action == TP_ACT_LOCAL) ? d->code != TP_CODE_NONE : true);
	ck_assert(!d->ambiguous || d->action == TP_ACT_SEND_AGAIN);
	ck_assert(d->alert != TP_ALERT_SYSTEM_LOAD || o->drowning);
	ck_assert(!answered || !o->drowning || d->alert != TP_ALERT_NONE);
	ck_assert(t->allowed.overload_limit == 0 ||
		  (d->overload_limit > 0 && d->overload_limit <= t->allowed.overload_limit));
	if (o->committed)
		ck_assert(d->action == TP_ACT_END_STREAM || d->action == TP_ACT_RELAY ||
			  d->action == TP_ACT_CANCEL);
	ck_assert(answered || d->action != TP_ACT_RELAY);
	if (d->action == TP_ACT_NEXT_KEY)
		check_rotation(t, o, d);
	if (o->replaced != TP_CODE_NONE)
		check_replacement(o, d);
	if (d->action != TP_ACT_SEND_AGAIN)
		return;
	check_evidence(t, o, d);
	check_wait(t, o, d);
}

static uint32_t retries_of(const struct tp_retry_conf *p, enum tp_class klass, int status)
{
	uint32_t sends = klass == TP_CLASS_RESET       ? p->reset_sends
			 : klass == TP_CLASS_TRANSIENT ? p->transient_sends
			 : status == 429               ? p->overload_429_sends
						       : p->overload_sends;

	return sends > 0 ? sends - 1 : 0;
}

static void draw(struct turn *t, enum tp_class klass)
{
	t->sends++;
	if (t->base > 0) {
		t->base--;
	} else {
		ck_assert(tp_class_may_take_reserve(klass));
		ck_assert_uint_gt(t->reserve, 0);
		t->reserve--;
	}
}

/* The next key is one that was not used, as `workers` chooses it. */
static void rotate(struct turn *t)
{
	uint32_t next = 0;

	while (t->keys_used >> next & 1)
		next++;
	ck_assert_uint_lt(next, t->keys);
	t->keys_used |= UINT64_C(1) << next;
	t->allowed.class_sends[TP_CLASS_ROTATE]++;
	draw(t, TP_CLASS_ROTATE);
}

/* Pays one send out of the simulated budget, and notes what `workers` notes. */
static void pay(struct turn *t, const struct tp_outcome *o, const struct tp_decision *d)
{
	uint32_t *made = &t->allowed.class_sends[d->klass];
	uint32_t left = retries_of(&t->policy, d->klass, o->status);

	ck_assert_uint_lt(*made, left);
	if (d->klass == TP_CLASS_OVERLOAD) {
		uint32_t bound = t->overload_left < left - *made ? t->overload_left : left - *made;

		ck_assert_uint_gt(o->drowning ? bound / 2 : bound, 0);
		if (o->drowning)
			t->overload_left = bound / 2;
		t->overload_left -= t->overload_left != UINT32_MAX ? 1 : 0;
	}
	(*made)++;
	draw(t, d->klass);
	t->now += d->wait_ms;
	t->allowed.forced_retry_used |= d->forced;
	if (d->ambiguous) {
		t->replacements++;
		t->allowed.ambiguous_left = false;
		t->replaced = d->code;
	}
}

/* Long waits in a row over all turns of the one provider there is; what the design says of them, said once
 * more. */
static uint32_t long_waits;
static uint32_t in_a_row; /* since the last success */

static void note_wait(const struct tp_decision *d)
{
	bool was_dead = in_a_row >= 3;

	if (d->action == TP_ACT_SEND_AGAIN && d->klass == TP_CLASS_OVERLOAD) {
		ck_assert(!was_dead);
		long_waits = tp_long_waits_next(long_waits, d->wait_ms);
		in_a_row = d->wait_ms >= 55000 ? in_a_row + 1 : 0;
	}
	ck_assert_int_eq(d->alert == TP_ALERT_MODEL_DEAD, !was_dead && in_a_row >= 3);
}

static void note_success(void)
{
	long_waits = tp_long_waits_next(long_waits, -1);
	in_a_row = 0;
}

static struct turn new_turn(void)
{
	struct turn t = {.policy = random_policy(),
			 .replay_safe = one_in(3),
			 .self_contained = one_in(2),
			 .overload_left = UINT32_MAX};

	t.allowed.refresh_left = one_in(2);
	t.allowed.ambiguous_left = !one_in(4); /* an earlier turn of the logical request may have taken it */
	t.base = t.policy.budget_sends - t.policy.budget_reserve;
	t.reserve = t.policy.budget_reserve;
	t.keys = (uint32_t)(next_random() % 6);
	t.keys_used = 1;
	return t;
}

/* A newer access token was got, and replaces what was declined; or there is none, and it is decided again:
 * never for the same once more. */
static bool refresh(struct turn *t, const struct tp_outcome *o, struct tp_decision *d)
{
	ck_assert(o->cause == TP_CAUSE_ANSWER && o->own_credential && !o->committed && !o->quota);
	ck_assert(o->status == 401 || (o->auth && o->status >= 400 && o->status < 500));
	ck_assert(t->allowed.refresh_left && o->replaced == TP_CODE_NONE);
	ck_assert(d->klass == TP_CLASS_REFRESH && d->evidence == TP_EVIDENCE_DECLINED && d->wait_ms == 0);
	t->allowed.refresh_left = false;
	if (one_in(2)) {
		*d = tp_decide(&t->policy, o, &t->allowed, next_random());
		ck_assert_int_ne(d->action, TP_ACT_REFRESH);
		check_decision(t, o, d);
		return false;
	}
	ck_assert_uint_gt(t->base + t->reserve, 0);
	*(t->base > 0 ? &t->base : &t->reserve) -= 1;
	t->sends++;
	return true;
}

static void run_turn(uint64_t seen[])
{
	struct turn t = new_turn();
	struct tp_decision d;
	bool renewed;

	if (t.base == 0)
		return; /* a first send draws on the base only */
	t.base--;
	t.sends = 1;
	do {
		struct tp_outcome o = random_outcome();

		o.replay_safe = t.replay_safe;
		o.self_contained = t.self_contained;
		o.replaced = t.replaced;
		t.now += o.took_ms;
		t.allowed.base_left = t.base > 0;
		t.allowed.reserve_left = t.reserve > 0;
		t.allowed.deadline_left_ms = t.now < t.policy.deadline_ms ? t.policy.deadline_ms - t.now : 0;
		t.allowed.long_waits = long_waits;
		t.allowed.more_keys = t.keys > 0 ? t.keys - (uint32_t)__builtin_popcountll(t.keys_used) : 0;
		d = tp_decide(&t.policy, &o, &t.allowed, next_random());
		check_decision(&t, &o, &d);
		seen[4] += d.action == TP_ACT_REFRESH;
		renewed = d.action == TP_ACT_REFRESH && refresh(&t, &o, &d);
		note_wait(&d);
		t.allowed.overload_limit = d.overload_limit;
		if (d.action == TP_ACT_SEND_AGAIN)
			pay(&t, &o, &d);
		if (d.action == TP_ACT_NEXT_KEY)
			rotate(&t);
		ck_assert_uint_le(t.sends, t.policy.budget_sends);
		ck_assert_uint_le(t.replacements, t.policy.ambiguous_replays);
		seen[d.action == TP_ACT_NEXT_KEY      ? 4
		     : d.ambiguous                    ? 1
		     : d.alert == TP_ALERT_MODEL_DEAD ? 2
		     : o.replaced != TP_CODE_NONE     ? 3
						      : 0]++;
	} while (d.action == TP_ACT_SEND_AGAIN || d.action == TP_ACT_NEXT_KEY || renewed);
	if (one_in(8))
		note_success();
}

START_TEST(property)
{
	uint64_t seen[5] = {0};

	for (unsigned i = 0, most = rounds_of(rounds_of(200000)); i < most; i++)
		run_turn(seen);
	/* the interesting paths were really taken */
	for (size_t i = 0; i < 5; i++)
		ck_assert_msg(seen[i] > rounds_of(rounds_of(50)), "path %zu: %" PRIu64, i, seen[i]);
}
END_TEST

TP_TESTS(decide_waits)
{
	tcase_set_timeout(t, 30);
	tcase_add_test(t, windows);
	tcase_add_test(t, wait_extremes);
	tcase_add_test(t, property);
}
