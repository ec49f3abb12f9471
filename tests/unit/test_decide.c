/* The decision: every row of design section 4, the waits of section 5, and what holds for all of them. */
#include "common/retry/decide.h"

#include <check.h>
#include <stdlib.h>

#include "common/retry/told.h"

static struct tp_retry_conf defaults(void)
{
	static const int transient[] = {500, 502, 503, 504, 520, 521, 522}, overload[] = {429, 529};
	struct tp_retry_conf p = {.deadline_ms = 120000,
				  .slow_attempt_ms = 15000,
				  .floor_ms = 1500,
				  .ceiling_ms = 60000,
				  .reset_sends = 3,
				  .reset_base_ms = 150,
				  .reset_cap_ms = 1000,
				  .transient_sends = 3,
				  .transient_base_ms = 400,
				  .transient_cap_ms = 5000,
				  .overload_sends = 4,
				  .overload_base_ms = 1500,
				  .overload_cap_ms = 60000};

	for (size_t i = 0; i < sizeof(transient) / sizeof(transient[0]); i++)
		p.transient_statuses.bits[transient[i] / 64] |= (uint64_t)1 << (transient[i] % 64);
	for (size_t i = 0; i < sizeof(overload) / sizeof(overload[0]); i++)
		p.overload_statuses.bits[overload[i] / 64] |= (uint64_t)1 << (overload[i] % 64);
	return p;
}

static struct tp_outcome answer(int status)
{
	return (struct tp_outcome){.stage = TP_STAGE_HEAD,
				   .cause = TP_CAUSE_ANSWER,
				   .status = status,
				   .told_ms = -1,
				   .should_retry = -1};
}

static struct tp_outcome failure(enum tp_stage stage, enum tp_cause cause)
{
	return (struct tp_outcome){.stage = stage, .cause = cause, .told_ms = -1, .should_retry = -1};
}

static struct tp_allowance plenty(void)
{
	return (struct tp_allowance){.base_left = true, .reserve_left = true, .deadline_left_ms = 120000};
}

static struct tp_decision decide(struct tp_outcome o, struct tp_allowance a)
{
	struct tp_retry_conf p = defaults();

	return tp_decide(&p, &o, &a, 0x9e3779b97f4a7c15U);
}

static void expect_again(struct tp_decision d, enum tp_class klass)
{
	ck_assert_int_eq(d.action, TP_ACT_SEND_AGAIN);
	ck_assert_int_eq(d.klass, klass);
	ck_assert(!d.stop && !d.give_back);
	ck_assert_int_eq(d.code, TP_CODE_NONE);
	ck_assert_ptr_nonnull(d.reason);
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
START_TEST(statuses)
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

START_TEST(budget)
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

START_TEST(drowning)
{
	struct tp_outcome o = answer(429);
	struct tp_allowance a = plenty();

	o.drowning = true; /* of three retries one is left, and the second answer does not halve again */
	expect_again(decide(o, a), TP_CLASS_OVERLOAD);
	a.class_sends[TP_CLASS_OVERLOAD] = 1;
	expect_relay(decide(o, a), true);
	o.drowning = false;
	expect_again(decide(o, a), TP_CLASS_OVERLOAD);
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
		p.reset_sends = p.transient_sends = p.overload_sends = 100;
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
	p.overload_sends = p.transient_sends = UINT32_MAX;
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
	uint32_t budget = (uint32_t)(next_random() % 7), reserve = budget > 0 ? next_random() % budget : 0;
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
	static const TTest *const tests[] = {
		statuses,
		overload_by_evidence,
		quota_and_stop_signs,
		should_retry_true,
		own_credential,
		class_limits,
		budget,
		drowning,
		slow_ceiling_deadline,
		operator_lists,
		unsent,
		ambiguous_failures,
		after_commit,
		windows,
		wait_extremes,
		property,
	};
	Suite *s = suite_create("decide");
	TCase *c = tcase_create("decide");

	tcase_set_timeout(c, 30);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? 0 : 1;
}
