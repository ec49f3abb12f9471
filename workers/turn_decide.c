/* What an attempt came to: decided upon in common/retry, acted upon here. */
#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/hop.h"
#include "workers/alerts.h"
#include "workers/cooling.h"
#include "workers/dispatch.h"
#include "workers/numbers.h"
#include "workers/observe.h"
#include "workers/outcome.h"
#include "workers/relay.h"
#include "workers/snapshot.h"
#include "workers/turn.h"

static void answer_without_send(struct tp_turn *t, enum tp_code code)
{
	struct tp_obstacle o = {.kind = TP_OBSTACLE_ENDS, .words = tp_refusal_for(code, 0)};
	/* An answer that a provider gave earlier in this turn says more than our failure to ask again. */
	if (code == TP_CODE_UNREACHABLE && (t->replaced != TP_CODE_NONE || t->saved != NULL)) {
		tp_dispatch_end(t, &o);
		return;
	}
	tp_numbers_refusal(t->worker, code);
	tp_turn_answer_until(t, &o.words, 0);
}

static void wait_and_send_again(struct tp_turn *t, const struct tp_decision *d)
{
	if (d->ambiguous) {
		if (!tp_ledger_take_ambiguous(&t->ledger)) {
			tp_turn_refuse(t, d->code);
			return;
		}
		t->replaced = d->code;
	}
	if (d->klass == TP_CLASS_OVERLOAD)
		tp_streak_next(t->worker->region, t->provider->long_waits, d->wait_ms);
	t->class_sends[d->klass]++;
	t->forced_retry_used = t->forced_retry_used || d->forced;
	t->overload_limit = d->overload_limit;
	t->klass = d->klass;
	tp_relay_reset(t);
	tp_turn_wait_for(t, TP_OPEN_WAIT_RETRY, tp_clock_boot_ms() + d->wait_ms);
	tp_numbers_wait(t->worker, d->wait_ms);
	tp_timer_set(&t->timer, d->wait_ms);
}

/* What the refused key was told is no wait for this one. */
static void next_key(struct tp_turn *t)
{
	/* a token was rejected for good, or there is none: the keys are next */
	enum tp_class klass = tp_refresh_give_up(t);
	t->class_sends[klass] += klass == TP_CLASS_ROTATE;
	tp_timer_clear(&t->timer); /* of the answer that is left behind, as is all of it */
	tp_relay_reset(t);
	tp_dispatch(t, klass);
}

/* The charge follows the evidence: returned when provably nothing was written. */
static void settle(struct tp_turn *t, const struct tp_decision *d)
{
	if (d->action == TP_ACT_RECONNECT)
		return; /* the send is still open */
	if (d->give_back) {
		tp_turn_give_back(t);
		return;
	}
	bool billed = d->evidence == TP_EVIDENCE_UNKNOWN || d->evidence == TP_EVIDENCE_PROCESSED;
	/* What may have run stays open until the turn has ended or sends again: whoever finds the record of a
	 * worker that died in between must not take it for declined. */
	if (!billed || t->replay_safe)
		tp_ledger_settle(&t->ledger);
	if (billed && d->action != TP_ACT_CANCEL) {
		tp_worker_count(t->worker, TP_COUNT_POSSIBLY_BILLED);
		tp_numbers_billed(t->provider);
	}
}

/* A decision that leaves the target, or gives up at it, has it cool. That may cool those that were to come
 * after it, too: then there is no next one, and it is decided again. */
static struct tp_decision decide_and_cool(struct tp_turn *t, const struct tp_outcome *o)
{
	const struct tp_retry_conf *policy = &t->provider->conf->retry;
	struct tp_allowance a = tp_allowance_of(t);
	struct tp_decision d = tp_decide(policy, o, &a, tp_worker_random(t->worker));
	if (d.action == TP_ACT_NEXT_TARGET) {
		tp_targets_failed(t, o);
		if (tp_targets_choose(t))
			return d;
		a = tp_allowance_of(t);
		d = tp_decide(policy, o, &a, tp_worker_random(t->worker));
	}
	if (d.action == TP_ACT_RELAY || d.action == TP_ACT_LOCAL)
		tp_targets_failed(t, o);
	return d;
}

/* What goes on is worth a line; what ends the turn stands in the line of the turn. */
static void tell_decision(struct tp_turn *t, const struct tp_outcome *o, const struct tp_decision *d,
			  const char *why)
{
	bool again = d->action == TP_ACT_SEND_AGAIN || d->action == TP_ACT_NEXT_TARGET ||
		     d->action == TP_ACT_NEXT_KEY || d->action == TP_ACT_REFRESH ||
		     d->action == TP_ACT_RECONNECT;
	enum tp_log_level level = again ? TP_LOG_INFO : TP_LOG_DEBUG;
	char wait[48] = "";
	if (d->action == TP_ACT_SEND_AGAIN)
		(void)snprintf(wait, sizeof wait, "; again (%s) in %u ms", tp_class_name(d->klass),
			       d->wait_ms);
	tp_record_reason(t, why, d->reason);
	if (tp_log_wants(level))
		tp_log(level, "turn %s: %s, send %u (%s) at %s: %s, status %d, stage %s, %s: %s%s", t->id,
		       tp_family_name(t->family), t->ledger.used, tp_class_name(t->klass),
		       t->provider->conf->name, why, o->status, tp_stage_name(o->stage),
		       tp_evidence_name(d->evidence), d->reason, wait);
}

/* The same target again, as soon as there is a newer access token. */
static void renew_and_send_again(struct tp_turn *t, const struct tp_outcome *o)
{
	tp_refresh_rejected(t, o);
	t->class_sends[TP_CLASS_REFRESH]++;
	tp_timer_clear(&t->timer); /* of the answer that is left behind */
	tp_relay_reset(t);
	tp_dispatch(t, TP_CLASS_REFRESH);
}

/* The turn goes on. Should that lead to no other answer, the client must not be told by the provider's 401
 * that it is its own credential that is wrong. */
static void forget_rejection(struct tp_turn *t, const struct tp_decision *d, const struct tp_outcome *o)
{
	bool on = d->action == TP_ACT_REFRESH || d->action == TP_ACT_NEXT_TARGET ||
		  d->action == TP_ACT_NEXT_KEY;
	if (!on || !tp_own_credential_rejected(o))
		return;
	tp_saved_answer_free(t->saved);
	t->saved = NULL;
}

static void act(struct tp_turn *t, const struct tp_outcome *o, const struct tp_decision *d, const char *why)
{
	if (d->alert != TP_ALERT_NONE)
		tp_alert_of_turn(t, d->alert);
	forget_rejection(t, d, o);
	switch (d->action) {
	case TP_ACT_RELAY: tp_relay_saved(t, d->stop, d->evidence); break;
	case TP_ACT_SEND_AGAIN:
		tp_observe_wait(t, o, d, why);
		wait_and_send_again(t, d);
		break;
	case TP_ACT_REFRESH: renew_and_send_again(t, o); break;
	case TP_ACT_NEXT_TARGET: tp_targets_next(t); break;
	case TP_ACT_NEXT_KEY: next_key(t); break;
	case TP_ACT_RECONNECT: tp_dispatch_reconnect(t); break;
	case TP_ACT_REFUSE: tp_turn_refuse(t, d->code); break;
	case TP_ACT_LOCAL: answer_without_send(t, d->code); break;
	case TP_ACT_END_STREAM: tp_relay_cut(t, why); break;
	case TP_ACT_CANCEL: tp_turn_client_gone(t); break;
	}
}

void tp_turn_decide_on(struct tp_turn *t, const struct tp_outcome *o, const char *why)
{
	struct tp_decision d = decide_and_cool(t, o);
	tell_decision(t, o, &d, why);
	act(t, o, &d, why);
}

void tp_turn_decide(struct tp_turn *t, enum tp_cause cause, const char *why)
{
	tp_clock_refresh(); /* a told time counts from now, not from the beginning of this loop turn */
	struct tp_outcome o = tp_outcome_of(t, cause);
	tp_keys_told(t, &o);
	struct tp_decision d = decide_and_cool(t, &o);
	settle(t, &d);
	tp_turn_gate_learn(t, &o);
	if (d.action != TP_ACT_RECONNECT) {
		tp_waits_told(t, &o);
		tp_turn_gate_leave(t);
	}
	tp_blacklist_note(t, cause, o.status);
	tell_decision(t, &o, &d, why);
	tp_snapshot_attempt(t, cause, why, &d);
	if (d.action != TP_ACT_REFRESH)
		tp_refresh_note(t, &o);
	act(t, &o, &d, why);
}
