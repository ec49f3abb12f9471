#include "workers/dispatch.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "workers/blacklist.h"
#include "workers/credential.h"
#include "workers/gate.h"
#include "workers/keys.h"
#include "workers/observe.h"
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

static void out_of_budget(struct tp_turn *t)
{
	if (!tp_turn_answered_instead(t, 0, true))
		tp_turn_refuse(t, TP_CODE_BUDGET_EXHAUSTED);
}

void tp_dispatch(struct tp_turn *t, enum tp_class klass)
{
	if (!tp_refresh_may_send(t, klass))
		return; /* held, or already on another way: what it has in hand by now is of that one */
	if (!tp_keys_may_send(t, klass) || !tp_waits_may_send(t, klass)) {
		tp_turn_gate_leave(t); /* others may go as long as a wait holds this one */
		return;
	}
	/* Behind the waits, which can take long and must not hold a permit; before the blacklist, whose probe
	 * must not wait in a queue. */
	if (!tp_turn_gate_ask(t, klass) || !tp_blacklist_ask(t))
		return;
	if (!tp_ledger_charge(&t->ledger, &t->limits, klass, tp_clock_boot_ms())) {
		out_of_budget(t);
		return;
	}
	tp_worker_count(t->worker, TP_COUNT_SENDS_FIRST + klass);
	t->klass = klass;
	tp_targets_sent(t);
	t->record.sends[klass]++;
	t->attempt.tried = 0;
	tp_debug("turn %s: send %u, class %s, to %s", t->id, t->ledger.used, tp_class_name(klass),
		 t->provider->conf->name);
	tp_observe_send(t);
	start(t, t->replaced !=
			 TP_CODE_NONE); /* a replacement must not meet the connection that lost its like */
}

void tp_dispatch_reconnect(struct tp_turn *t)
{
	start(t, true);
}
