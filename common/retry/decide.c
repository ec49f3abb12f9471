#include "common/retry/decide.h"

#include "common/retry/failure.h"

enum { JITTER_TOLD_MS = 300, JITTER_OVERLOAD_MS = 1000, SPREAD_OVERLOAD_MS = 300 };

/* Everything the rules look at: worked out once, before the first rule is asked. */
struct facts {
	const struct tp_retry_conf *policy;
	const struct tp_outcome *o;
	const struct tp_allowance *a;
	bool answer; /* the provider answered: there is something to show */
	enum tp_evidence evidence;
	bool repeatable; /* may be sent again at all; klass and wait_ms are valid */
	bool forced;     /* only because of x-should-retry: true */
	enum tp_class klass;
	uint64_t wait_ms;
};

/* ---- the rules: the first one that applies decides */

struct rule {
	bool (*applies)(const struct facts *f);
	enum verdict {
		CANCEL,
		CARRY_ON, /* committed and complete: nothing to decide */
		END,      /* committed and broken */
		RECONNECT,
		UNREACHABLE,
		REJECTED,
		REFUSE,
		RELAY,
		RELAY_STOP,
		GIVE_UP,      /* relay, or refuse where no answer is in hand */
		GIVE_UP_STOP, /* the same, and the client is not to send again either */
		AGAIN
	} verdict;
	const char *reason;
};

static bool client_gone(const struct facts *f);
static bool committed_complete(const struct facts *f);
static bool committed(const struct facts *f);
static bool pool_closed(const struct facts *f);
static bool unsent(const struct facts *f);
static bool may_have_run(const struct facts *f);
static bool own_credential_rejected(const struct facts *f);
static bool usable_answer(const struct facts *f);
static bool provider_forbids(const struct facts *f);
static bool may_have_run_answer(const struct facts *f);
static bool quota_used_up(const struct facts *f);
static bool final_answer(const struct facts *f);
static bool grant_used(const struct facts *f);
static bool slow(const struct facts *f);
static bool told_above_ceiling(const struct facts *f);
static bool beyond_deadline(const struct facts *f);
static bool class_used_up(const struct facts *f);
static bool budget_used_up(const struct facts *f);
static bool always(const struct facts *f);

static const struct rule rules[] = {
	{client_gone, CANCEL, "client gone"},
	{committed_complete, CARRY_ON, "answer complete"},
	{committed, END, "broke off after the client had seen output"},
	{pool_closed, RECONNECT, "kept connection was closed before the first byte"},
	{unsent, UNREACHABLE, "provably nothing was sent; the same target is not asked again"},
	{may_have_run, REFUSE, "may have run and been billed: not sent again"},
	{own_credential_rejected, REJECTED, "the provider rejected Turnpike's own credential"},
	{usable_answer, RELAY, "answer"},
	{provider_forbids, RELAY_STOP, "the provider said x-should-retry: false"},
	{may_have_run_answer, RELAY_STOP, "the status does not rule out that it ran: not sent again"},
	{quota_used_up, RELAY_STOP, "quota used up: waiting does not help"},
	{final_answer, RELAY, "status is not one that is retried"},
	{grant_used, RELAY_STOP, "the one retry that x-should-retry: true grants was made"},
	{slow, GIVE_UP, "failed after more than retry.slow_attempt"},
	{told_above_ceiling, GIVE_UP, "told wait is above retry.retry_after.ceiling"},
	{beyond_deadline, GIVE_UP, "the wait would end after retry.deadline"},
	{class_used_up, GIVE_UP_STOP, "sends of this class are used up"},
	{budget_used_up, GIVE_UP_STOP, "send budget is used up"},
	{always, AGAIN, NULL}, /* the reason is the class's own */
};

/* ---- what the rules ask */

static bool client_gone(const struct facts *f)
{
	return f->o->cause == TP_CAUSE_CLIENT_GONE;
}

static bool committed(const struct facts *f)
{
	return f->o->committed || (!f->answer && f->o->stage == TP_STAGE_OUTPUT);
}

static bool committed_complete(const struct facts *f)
{
	return f->answer && f->o->committed;
}

static bool pool_closed(const struct facts *f)
{
	return f->o->cause == TP_CAUSE_POOL_CLOSED && f->o->stage == TP_STAGE_UNSENT;
}

static bool unsent(const struct facts *f)
{
	return f->evidence == TP_EVIDENCE_NOT_PROCESSED;
}

static bool may_have_run(const struct facts *f)
{
	return !f->answer && !f->repeatable;
}

static bool own_credential_rejected(const struct facts *f)
{
	/* 403 is also how some providers say "no credits": that is for the user to read. */
	return f->answer && f->o->own_credential && !f->o->quota &&
	       (f->o->status == 401 || f->o->status == 403);
}

static bool usable_answer(const struct facts *f)
{
	return f->answer && f->o->status < 400 && !f->repeatable;
}

static bool provider_forbids(const struct facts *f)
{
	return f->answer && f->o->should_retry == 0;
}

static bool may_have_run_answer(const struct facts *f)
{
	return f->answer && f->evidence == TP_EVIDENCE_UNKNOWN;
}

static bool quota_used_up(const struct facts *f)
{
	return f->answer && f->o->quota;
}

static bool final_answer(const struct facts *f)
{
	return f->answer && !f->repeatable;
}

static bool grant_used(const struct facts *f)
{
	return f->forced && f->a->forced_retry_used;
}

static bool slow(const struct facts *f)
{
	return f->o->took_ms > f->policy->slow_attempt_ms;
}

static bool told_above_ceiling(const struct facts *f)
{
	return f->answer && f->o->told_ms > (int64_t)f->policy->ceiling_ms;
}

static bool beyond_deadline(const struct facts *f)
{
	return f->wait_ms >= f->a->deadline_left_ms;
}

static uint32_t sends_of_class(const struct tp_retry_conf *p, enum tp_class c)
{
	switch (c) {
	case TP_CLASS_RESET: return p->reset_sends;
	case TP_CLASS_TRANSIENT: return p->transient_sends;
	default: return p->overload_sends;
	}
}

/* `sends` counts the first send, which belongs to no class; zero is zero. A drowning gateway gets half of
 * the retries, rounded down: of three, one. Halving what the class may make in all (rather than what is
 * left) keeps a second drowning answer from halving again. */
static bool class_used_up(const struct facts *f)
{
	uint32_t sends = sends_of_class(f->policy, f->klass);
	uint32_t retries = sends > 0 ? sends - 1 : 0;

	if (f->o->drowning)
		retries /= 2;
	return f->a->class_sends[f->klass] >= retries;
}

static bool budget_used_up(const struct facts *f)
{
	return !(f->a->base_left || (tp_class_may_take_reserve(f->klass) && f->a->reserve_left));
}

static bool always(const struct facts *f)
{
	(void)f;
	return true;
}

/* ---- which class a repetition belongs to */

/* Failures without an answer: only a request that may be run twice, and never after a timeout (it may
 * still be running, and a second one would only add load). */
static bool repeatable_failure(const struct tp_outcome *o)
{
	return o->replay_safe && (o->cause == TP_CAUSE_RESET || o->cause == TP_CAUSE_CLOSED ||
				  o->cause == TP_CAUSE_BROKEN_HEAD);
}

/* The provider said of itself that it is overloaded: a 503 that names a wait, or evidence beside the
 * status. A 200 may carry such evidence too (design section 6). */
static bool overloaded(const struct tp_outcome *o)
{
	bool may = o->status == 498 || o->status >= 500 || (o->status >= 200 && o->status < 300);

	return o->status == 498 || (o->overload && may) || (o->status == 503 && o->told_ms >= 0);
}

static bool forced_status(int status)
{
	return status == 409 || status == 425 || status == 429 || (status >= 500 && status <= 599);
}

static bool classify_answer(struct facts *f)
{
	const struct tp_outcome *o = f->o;

	/* Accepted, then ran out of time: no list and no header makes that safe. */
	if (o->status == 408 || o->status == 524)
		return false;
	f->klass = TP_CLASS_OVERLOAD;
	if (tp_status_in(&f->policy->overload_statuses, o->status) || overloaded(o))
		return true;
	f->klass = o->status == 429 ? TP_CLASS_OVERLOAD : TP_CLASS_TRANSIENT;
	if (o->status != 429 && tp_status_in(&f->policy->transient_statuses, o->status))
		return true;
	f->forced = o->should_retry == 1 && forced_status(o->status);
	return f->forced;
}

/* What is repeated was declined: by the status, by the operator's list, or by the provider's own word. A
 * 5xx that the operator took off the list is no longer taken as declined by convention. */
static enum tp_evidence evidence_of_answer(const struct facts *f, enum tp_evidence by_status)
{
	static const int convention[] = {500, 502, 504, 520};

	if (f->repeatable)
		return TP_EVIDENCE_DECLINED;
	for (unsigned i = 0; i < sizeof(convention) / sizeof(convention[0]); i++)
		if (f->o->status == convention[i])
			return TP_EVIDENCE_UNKNOWN;
	return by_status;
}

/* ---- waits (design section 5) */

/* 0..most, evenly, from 32 random bits. */
static uint64_t jitter(uint32_t random, uint32_t most)
{
	return ((uint64_t)random * ((uint64_t)most + 1)) >> 32;
}

static uint64_t backoff(uint32_t base, uint32_t n, uint64_t extra, uint32_t cap)
{
	uint64_t wait = ((uint64_t)base << (n < 31 ? n : 31)) + extra;

	return wait < cap ? wait : cap;
}

static uint64_t wait_for(const struct facts *f, uint64_t random)
{
	const struct tp_retry_conf *p = f->policy;
	uint32_t n = f->a->class_sends[f->klass];
	uint32_t low = (uint32_t)random, high = (uint32_t)(random >> 32);
	uint64_t wait;

	if (f->answer && f->o->told_ms >= 0) {
		uint64_t told = (uint64_t)f->o->told_ms;
		return (told > p->floor_ms ? told : p->floor_ms) + jitter(low, JITTER_TOLD_MS);
	}
	if (f->klass == TP_CLASS_OVERLOAD) {
		wait = backoff(p->overload_base_ms, n, jitter(low, JITTER_OVERLOAD_MS), p->overload_cap_ms);
		wait += jitter(high, 2 * SPREAD_OVERLOAD_MS);
		return wait > SPREAD_OVERLOAD_MS ? wait - SPREAD_OVERLOAD_MS : 0;
	}
	wait = f->klass == TP_CLASS_RESET ? backoff(p->reset_base_ms, n, 0, p->reset_cap_ms)
					  : backoff(p->transient_base_ms, n, 0, p->transient_cap_ms);
	return wait * (800 + jitter(low, 400)) / 1000;
}

/* ---- the decision */

static const char *reason_again(const struct facts *f)
{
	if (f->forced)
		return "the provider said x-should-retry: true";
	switch (f->klass) {
	case TP_CLASS_RESET: return "connection lost, and the request may safely run twice";
	case TP_CLASS_TRANSIENT: return "transient status";
	default: return f->o->told_ms >= 0 ? "told to wait" : "overloaded or rate limited";
	}
}

static struct facts gather(const struct tp_retry_conf *policy, const struct tp_outcome *o,
			   const struct tp_allowance *a, uint64_t random)
{
	struct facts f = {.policy = policy, .o = o, .a = a, .answer = o->cause == TP_CAUSE_ANSWER};
	enum tp_stage stage = o->committed && o->stage < TP_STAGE_OUTPUT ? TP_STAGE_OUTPUT : o->stage;

	f.evidence = tp_evidence_of(stage, o->cause, o->status);
	if (f.answer) {
		f.repeatable = classify_answer(&f);
		f.evidence = evidence_of_answer(&f, f.evidence);
	} else {
		f.klass = TP_CLASS_RESET;
		f.repeatable = repeatable_failure(o);
	}
	if (f.repeatable)
		f.wait_ms = wait_for(&f, random);
	return f;
}

static void give_up(const struct facts *f, bool stop, struct tp_decision *d)
{
	d->action = f->answer ? TP_ACT_RELAY : TP_ACT_REFUSE;
	d->stop = f->answer && stop;
	if (!f->answer)
		d->code = tp_failure_row(f->o->cause)->refusal;
}

static void act(const struct facts *f, enum verdict verdict, struct tp_decision *d)
{
	switch (verdict) {
	case CANCEL:
		d->action = TP_ACT_CANCEL;
		d->give_back = f->evidence == TP_EVIDENCE_NOT_PROCESSED;
		break;
	case CARRY_ON: d->action = TP_ACT_RELAY; break;
	case END:
		d->action = TP_ACT_END_STREAM;
		d->code = tp_failure_row(f->o->cause)->refusal;
		break;
	case RECONNECT: d->action = TP_ACT_RECONNECT; break;
	case UNREACHABLE:
		d->action = TP_ACT_LOCAL;
		d->code = TP_CODE_UNREACHABLE;
		d->give_back = true;
		break;
	case REJECTED:
		d->action = TP_ACT_LOCAL;
		d->code = TP_CODE_CREDENTIAL_REJECTED;
		break;
	case RELAY:
	case GIVE_UP: give_up(f, f->o->should_retry == 0, d); break;
	case REFUSE:
	case RELAY_STOP:
	case GIVE_UP_STOP: give_up(f, true, d); break;
	case AGAIN:
		d->action = TP_ACT_SEND_AGAIN;
		d->klass = f->klass;
		d->wait_ms = f->wait_ms < UINT32_MAX ? (uint32_t)f->wait_ms : UINT32_MAX;
		d->forced = f->forced;
		d->reason = reason_again(f);
		break;
	}
}

struct tp_decision tp_decide(const struct tp_retry_conf *policy, const struct tp_outcome *o,
			     const struct tp_allowance *a, uint64_t random)
{
	struct facts f = gather(policy, o, a, random);
	struct tp_decision d = {.evidence = f.evidence};
	const struct rule *r = rules;

	while (!r->applies(&f))
		r++; /* the last row always applies */
	d.reason = r->reason;
	act(&f, r->verdict, &d);
	return d;
}
