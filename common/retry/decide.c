#include "common/retry/decide.h"

#include "common/retry/failure.h"
#include "common/retry/hop.h"
#include "common/retry/situation.h"

/* ---- the rules: the first one that applies decides */

struct rule {
	bool (*applies)(const struct tp_situation *f);
	enum verdict {
		CANCEL,
		CARRY_ON, /* committed and complete: nothing to decide */
		END,      /* committed and broken */
		RECONNECT,
		REFRESH,
		NEXT_TARGET,
		NEXT_KEY,
		UNREACHABLE,
		REJECTED,
		REFUSE,
		REFUSE_FIRST, /* with the code of the send that this one replaced */
		RELAY,
		RELAY_STOP,
		GIVE_UP,      /* relay, or refuse where no answer is in hand */
		GIVE_UP_STOP, /* the same, and the client is not to send again either */
		AGAIN
	} verdict;
	const char *reason;
};

static bool client_gone(const struct tp_situation *f);
static bool committed_complete(const struct tp_situation *f);
static bool committed(const struct tp_situation *f);
static bool pool_closed(const struct tp_situation *f);
static bool other_way_out(const struct tp_situation *f);
static bool replacement_shown(const struct tp_situation *f);
static bool replacement_failed(const struct tp_situation *f);
static bool unsent_and_more(const struct tp_situation *f);
static bool unsent(const struct tp_situation *f);
static bool may_have_run(const struct tp_situation *f);
static bool credential_renewable(const struct tp_situation *f);
static bool key_refused_and_more(const struct tp_situation *f);
static bool declined_and_more(const struct tp_situation *f);
static bool lost_and_more(const struct tp_situation *f);
static bool own_credential_rejected(const struct tp_situation *f);
static bool usable_answer(const struct tp_situation *f);
static bool provider_forbids(const struct tp_situation *f);
static bool may_have_run_answer(const struct tp_situation *f);
static bool quota_used_up(const struct tp_situation *f);
static bool final_answer(const struct tp_situation *f);
static bool grant_used(const struct tp_situation *f);
static bool slow(const struct tp_situation *f);
static bool told_above_ceiling(const struct tp_situation *f);
static bool beyond_deadline(const struct tp_situation *f);
static bool model_dead(const struct tp_situation *f);
static bool class_used_up(const struct tp_situation *f);
static bool budget_used_up(const struct tp_situation *f);
static bool always(const struct tp_situation *f);

static const struct rule rules[] = {
	{client_gone, CANCEL, "client gone"},
	{committed_complete, CARRY_ON, "answer complete"},
	{committed, END, "broke off after the client had seen output"},
	{pool_closed, RECONNECT, "kept connection was closed before the first byte"},
	{other_way_out, RECONNECT, "a proxy declined before the provider saw it: the next way out"},
	{replacement_shown, RELAY_STOP, "answer to a replacement: the send before it may have run too"},
	{replacement_failed, REFUSE_FIRST,
	 "failed in place of a send that may have run: nothing is sent after it"},
	{unsent_and_more, NEXT_TARGET, "provably nothing was sent: the next target is asked"},
	{unsent, UNREACHABLE, "provably nothing was sent; the same target is not asked again"},
	{may_have_run, REFUSE, "may have run and been billed: not sent again"},
	{credential_renewable, REFRESH, "the provider rejected the access token: it is renewed"},
	{key_refused_and_more, NEXT_KEY, "the key was refused: the next key is asked"},
	{declined_and_more, NEXT_TARGET, "declined: the next target is asked"},
	{lost_and_more, NEXT_TARGET,
	 "connection lost, and the request may safely run twice: the next target"},
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
	{model_dead, GIVE_UP_STOP, "three waits of 55s or more in a row: the model is dead, not busy"},
	{class_used_up, GIVE_UP_STOP, "sends of this class are used up"},
	{budget_used_up, GIVE_UP_STOP, "send budget is used up"},
	{always, AGAIN, NULL}, /* the reason is the class's own */
};

/* ---- what the rules ask */

static bool client_gone(const struct tp_situation *f)
{
	return f->o->cause == TP_CAUSE_CLIENT_GONE;
}

static bool committed(const struct tp_situation *f)
{
	return f->o->committed || (!f->answer && f->o->stage == TP_STAGE_OUTPUT);
}

static bool committed_complete(const struct tp_situation *f)
{
	return f->answer && f->o->committed;
}

static bool pool_closed(const struct tp_situation *f)
{
	return f->o->cause == TP_CAUSE_POOL_CLOSED && f->o->stage == TP_STAGE_UNSENT;
}

/* The provider has not seen the request: it is the same send that goes out by another proxy. */
static bool other_way_out(const struct tp_situation *f)
{
	return f->o->cause == TP_CAUSE_EGRESS && f->o->egress_left &&
	       f->evidence == TP_EVIDENCE_NOT_PROCESSED;
}

/* A 4xx that speaks of the request itself is worth more to the user than the refusal. Not those that clients
 * send again, that speak of Turnpike's credential, or of this moment only. */
static bool replacement_shown(const struct tp_situation *f)
{
	static const int hidden[] = {401, 402, 408, 409, 413, 429};
	int status = f->o->status;

	if (f->o->replaced == TP_CODE_NONE || !f->answer)
		return false;
	for (unsigned i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (status == hidden[i])
			return false;
	if (status == 403 && f->o->own_credential && !f->o->quota)
		return false;
	return status >= 400 && status < 500;
}

static bool replacement_failed(const struct tp_situation *f)
{
	bool good = f->answer && f->o->status >= 200 && f->o->status < 300 && !f->repeatable;

	return f->o->replaced != TP_CODE_NONE && !good;
}

/* There is a target left, and a send for it. */
static bool may_hop(const struct tp_situation *f)
{
	return f->a->more_targets > 0 && f->a->hop_left && f->a->deadline_left_ms > 0;
}

static bool unsent_and_more(const struct tp_situation *f)
{
	return unsent(f) && may_hop(f);
}

/* A failure of the moment gets its sends at the same target first; what the provider refused or told does
 * not. */
static bool stays_here(const struct tp_situation *f)
{
	bool moment = f->klass == TP_CLASS_RESET || f->klass == TP_CLASS_TRANSIENT;

	return f->repeatable && moment && !f->forced && f->o->told_ms < 0 && !f->o->quota &&
	       f->a->target_sends < f->a->sends_per_target && !slow(f) && !beyond_deadline(f) &&
	       !class_used_up(f) && !budget_used_up(f);
}

/* Not after a slow failure: it is the same target that would be asked again. */
static bool key_refused_and_more(const struct tp_situation *f)
{
	return f->a->more_keys > 0 && tp_refuses_key(f->o) && f->evidence == TP_EVIDENCE_DECLINED &&
	       (f->a->base_left || f->a->reserve_left) && f->a->deadline_left_ms > 0 && !slow(f);
}

/* 403 is also how some providers say "no credits". */
static bool credential_renewable(const struct tp_situation *f)
{
	const struct tp_outcome *o = f->o;
	bool credential = o->status == 401 || (o->auth && o->status >= 400 && o->status < 500);

	return f->evidence == TP_EVIDENCE_DECLINED && f->answer && credential && o->own_credential &&
	       !o->quota && f->a->refresh_left && (f->a->base_left || f->a->reserve_left) &&
	       f->a->deadline_left_ms > 0;
}

static bool declined_and_more(const struct tp_situation *f)
{
	return may_hop(f) && tp_answer_hops(f->o, f->repeatable) && !stays_here(f);
}

static bool lost_and_more(const struct tp_situation *f)
{
	return may_hop(f) && !f->answer && f->repeatable && !f->ambiguous && !stays_here(f);
}

static bool unsent(const struct tp_situation *f)
{
	return f->evidence == TP_EVIDENCE_NOT_PROCESSED;
}

static bool may_have_run(const struct tp_situation *f)
{
	return !f->answer && !f->repeatable;
}

static bool own_credential_rejected(const struct tp_situation *f)
{
	return tp_own_credential_rejected(f->o);
}

static bool usable_answer(const struct tp_situation *f)
{
	return f->answer && f->o->status < 400 && !f->repeatable;
}

static bool provider_forbids(const struct tp_situation *f)
{
	return f->answer && f->o->should_retry == 0;
}

static bool may_have_run_answer(const struct tp_situation *f)
{
	return f->answer && f->evidence == TP_EVIDENCE_UNKNOWN;
}

static bool quota_used_up(const struct tp_situation *f)
{
	return f->answer && f->o->quota;
}

static bool final_answer(const struct tp_situation *f)
{
	return f->answer && !f->repeatable;
}

static bool grant_used(const struct tp_situation *f)
{
	return f->forced && f->a->forced_retry_used;
}

static bool slow(const struct tp_situation *f)
{
	return f->o->took_ms > f->policy->slow_attempt_ms;
}

static bool told_above_ceiling(const struct tp_situation *f)
{
	return f->answer && f->o->told_ms > (int64_t)f->policy->ceiling_ms;
}

static bool beyond_deadline(const struct tp_situation *f)
{
	return f->wait_ms >= f->a->deadline_left_ms;
}

static bool model_dead(const struct tp_situation *f)
{
	return f->klass == TP_CLASS_OVERLOAD && tp_model_is_dead(f->a->long_waits);
}

static bool class_used_up(const struct tp_situation *f)
{
	return f->retries_left == 0;
}

static bool budget_used_up(const struct tp_situation *f)
{
	return !(f->a->base_left || (tp_class_may_take_reserve(f->klass) && f->a->reserve_left));
}

static bool always(const struct tp_situation *f)
{
	(void)f;
	return true;
}

/* ---- the decision */

static const char *reason_again(const struct tp_situation *f)
{
	if (f->ambiguous)
		return "connection lost; replaced once, as retry.ambiguous_replays grants";
	if (f->forced)
		return "the provider said x-should-retry: true";
	switch (f->klass) {
	case TP_CLASS_RESET: return "connection lost, and the request may safely run twice";
	case TP_CLASS_TRANSIENT: return "transient status";
	default: return f->o->told_ms >= 0 ? "told to wait" : "overloaded or rate limited";
	}
}

static void give_up(const struct tp_situation *f, bool stop, struct tp_decision *d)
{
	d->action = f->answer ? TP_ACT_RELAY : TP_ACT_REFUSE;
	d->stop = f->answer && stop;
	if (!f->answer)
		d->code = tp_failure_row(f->o->cause)->refusal;
}

static void act(const struct tp_situation *f, enum verdict verdict, struct tp_decision *d)
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
	case REFRESH:
		d->action = TP_ACT_REFRESH;
		d->klass = TP_CLASS_REFRESH;
		break;
	case NEXT_TARGET:
		d->action = TP_ACT_NEXT_TARGET;
		d->klass = TP_CLASS_HOP;
		d->give_back = f->evidence == TP_EVIDENCE_NOT_PROCESSED;
		break;
	case NEXT_KEY:
		d->action = TP_ACT_NEXT_KEY;
		d->klass = TP_CLASS_ROTATE;
		break;
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
	case REFUSE_FIRST:
		d->action = TP_ACT_REFUSE;
		d->code = f->o->replaced;
		d->give_back = f->evidence == TP_EVIDENCE_NOT_PROCESSED;
		break;
	case REFUSE:
	case RELAY_STOP:
	case GIVE_UP_STOP: give_up(f, true, d); break;
	case AGAIN:
		d->action = TP_ACT_SEND_AGAIN;
		d->klass = f->klass;
		d->wait_ms = f->wait_ms < UINT32_MAX ? (uint32_t)f->wait_ms : UINT32_MAX;
		d->forced = f->forced;
		d->ambiguous = f->ambiguous;
		if (f->ambiguous)
			d->code = tp_failure_row(f->o->cause)->refusal;
		d->reason = reason_again(f);
		break;
	}
}

static enum tp_alert alert_for(const struct tp_situation *f, const struct tp_decision *d)
{
	bool waits = d->action == TP_ACT_SEND_AGAIN && d->klass == TP_CLASS_OVERLOAD;

	if (waits && !tp_model_is_dead(f->a->long_waits) &&
	    tp_model_is_dead(tp_long_waits_next(f->a->long_waits, d->wait_ms)))
		return TP_ALERT_MODEL_DEAD;
	return f->answer && f->o->drowning ? TP_ALERT_SYSTEM_LOAD : TP_ALERT_NONE;
}

struct tp_decision tp_decide(const struct tp_retry_conf *policy, const struct tp_outcome *o,
			     const struct tp_allowance *a, uint64_t random)
{
	struct tp_situation f = tp_situation_of(policy, o, a, random);
	struct tp_decision d = {
		.evidence = f.evidence, .overload_limit = f.limit, .retries_left = f.retries_left};
	const struct rule *r = rules;

	while (!r->applies(&f))
		r++; /* the last row always applies */
	d.reason = r->reason;
	act(&f, r->verdict, &d);
	d.alert = alert_for(&f, &d);
	return d;
}

enum tp_instead tp_instead_of_send(enum tp_code replaced, int saved, int only)
{
	if (replaced != TP_CODE_NONE)
		return TP_INSTEAD_REFUSAL;
	return saved != 0 && (only == 0 || saved == only) ? TP_INSTEAD_SAVED : TP_INSTEAD_LOCAL;
}
