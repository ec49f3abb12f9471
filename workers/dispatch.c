#include "workers/dispatch.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "workers/blacklist.h"
#include "workers/credential.h"
#include "workers/gate.h"
#include "workers/keys.h"
#include "workers/numbers.h"
#include "workers/observe.h"
#include "workers/relay.h"
#include "workers/waits.h"

static void start(struct tp_turn *t, bool fresh)
{
	struct tp_upstream_head_args args = {
		.provider = t->provider->conf,
		.key = tp_credential_now(t, t->provider->conf),
		.key_index = tp_keys_index(t, t->provider->conf),
		.route_cut = t->route_cut,
		.drop_credentials =
			t->who != NULL || tp_credential_own(t->provider->conf) || tp_targets_foreign(t),
		.tunnel = t->tunnel,
		.inspect = t->lists_models,
	};
	t->attempt.klass = t->klass;
	tp_turn_set_state(t, TP_TURN_SEND);
	tp_attempt_start(&t->attempt, t->provider, t->request, &args, fresh);
}

/* ---- what stands in the way, in the order in which it is asked */

static bool charged(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret)
{
	if (tp_ledger_charge(&t->ledger, &t->limits, klass, tp_clock_boot_ms()))
		return true;
	*ret = (struct tp_obstacle){.kind = TP_OBSTACLE_ENDS, .code = TP_CODE_BUDGET_EXHAUSTED, .stop = true};
	return false;
}

/* The gate behind the waits, which can take long and must not hold a permit; before the blacklist, whose
 * probe must not wait in a queue. */
static bool may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret)
{
	return tp_refresh_may_send(t, klass, ret) && tp_keys_may_send(t, klass, ret) &&
	       tp_waits_may_send(t, klass, ret) && tp_turn_gate_may_send(t, klass, ret) &&
	       tp_blacklist_may_send(t, ret) && charged(t, klass, ret);
}

/* ---- without the send */

static void hold(struct tp_turn *t, enum tp_class klass, const struct tp_obstacle *o)
{
	t->klass = klass;
	tp_turn_wait_for(t, o->wait, o->until_ms);
	tp_timer_set(&t->timer, o->again_ms);
}

static void end_saved(struct tp_turn *t, const struct tp_obstacle *o)
{
	if (o->only != 0)
		t->saved->facts.told_ms = (int64_t)o->left_ms;
	tp_relay_saved(t, o->code == TP_CODE_NONE ? o->words.stop : o->stop, TP_EVIDENCE_DECLINED);
}

static void end_local(struct tp_turn *t, const struct tp_obstacle *o)
{
	if (o->code == TP_CODE_NONE)
		tp_turn_answer_until(t, &o->words, o->left_ms);
	else if (o->stop)
		tp_turn_refuse(t, o->code);
	else
		tp_turn_answer_later(t, o->code, tp_targets_soonest(t, o->left_ms));
}

void tp_dispatch_end(struct tp_turn *t, const struct tp_obstacle *o)
{
	switch (tp_instead_of_send(t->replaced, t->saved != NULL ? t->saved->status : 0, o->only)) {
	case TP_INSTEAD_REFUSAL: tp_turn_refuse(t, t->replaced); break;
	case TP_INSTEAD_SAVED: end_saved(t, o); break;
	case TP_INSTEAD_LOCAL: end_local(t, o); break;
	}
}

/* True: the turn went on at another target, or is over since there was no memory for that. */
static bool went_elsewhere(struct tp_turn *t, const struct tp_obstacle *o)
{
	uint64_t until = o->kind == TP_OBSTACLE_HOLDS ? o->until_ms : tp_clock_boot_ms() + o->left_ms;
	if (o->elsewhere == NULL || t->replaced != TP_CODE_NONE || !tp_targets_skip(t, o->elsewhere, until))
		return false;
	if (t->state != TP_TURN_OVER)
		tp_dispatch(t, t->attempt.serial == 0 ? TP_CLASS_INITIAL : TP_CLASS_HOP);
	return true;
}

static void meet(struct tp_turn *t, enum tp_class klass, const struct tp_obstacle *o)
{
	/* Others may go meanwhile, unless it is their queue that this one waits in. */
	if (o->kind != TP_OBSTACLE_HOLDS || o->wait != TP_OPEN_WAIT_CAPACITY)
		tp_turn_gate_leave(t);
	if (went_elsewhere(t, o))
		return;
	switch (o->kind) {
	case TP_OBSTACLE_HOLDS: hold(t, klass, o); break;
	case TP_OBSTACLE_DECIDES: tp_turn_decide_on(t, &o->outcome, o->why); break;
	case TP_OBSTACLE_ENDS: tp_dispatch_end(t, o); break;
	}
}

/* ---- the send */

static void send_charged(struct tp_turn *t, enum tp_class klass)
{
	tp_worker_count(t->worker, TP_COUNT_SENDS_FIRST + klass);
	t->klass = klass;
	if (klass == TP_CLASS_HOP)
		tp_numbers_hop(t);
	tp_targets_sent(t);
	t->record.sends[klass]++;
	t->attempt.tried = 0;
	tp_debug("turn %s: send %u, class %s, to %s", t->id, t->ledger.used, tp_class_name(klass),
		 t->provider->conf->name);
	tp_observe_send(t);
	/* a replacement must not meet the connection that lost its like */
	start(t, t->replaced != TP_CODE_NONE);
}

void tp_dispatch(struct tp_turn *t, enum tp_class klass)
{
	struct tp_obstacle o;
	if (may_send(t, klass, &o))
		send_charged(t, klass);
	else
		meet(t, klass, &o);
}

void tp_dispatch_again(struct tp_turn *t)
{
	/* Until when stands with the cooldown. */
	static const struct tp_obstacle cools = {
		.kind = TP_OBSTACLE_ENDS, .left_ms = TP_COOLDOWN_MAX_MS, .elsewhere = "cools by now"};
	if (!tp_targets_cool_by_now(t) || !went_elsewhere(t, &cools))
		tp_dispatch(t, t->klass);
}

void tp_dispatch_queue_over(struct tp_turn *t)
{
	struct tp_obstacle o;
	tp_turn_gate_expired(t, &o);
	meet(t, t->klass, &o);
}

void tp_dispatch_reconnect(struct tp_turn *t)
{
	start(t, true);
}
