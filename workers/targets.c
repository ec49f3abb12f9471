#include "workers/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/config/families.h"
#include "common/retry/order.h"
#include "common/shm/rounds.h"
#include "workers/admit.h"
#include "workers/blacklist.h"
#include "workers/cooling.h"
#include "workers/dispatch.h"
#include "workers/keys.h"
#include "workers/numbers.h"
#include "workers/relay.h"
#include "workers/runtime.h"
#include "workers/turn.h"
#include "workers/waits.h"

enum { LOOK_AGAIN_MS = 250 }; /* a turn that waits sees by then that a probe was good */

/* ---- which combo */

static bool no_such_combo(struct tp_turn *t)
{
	struct tp_refusal r = tp_refusal_for(TP_CODE_MODEL_NOT_FOUND, 0);
	tp_numbers_refusal(t->worker, TP_CODE_MODEL_NOT_FOUND);
	tp_turn_answer_local(t, &r, TP_TURN_BAD, NULL);
	return false;
}

/* The model is replaced in the plain body, which is also what is sent. */
static bool make_plain(struct tp_turn *t)
{
	enum tp_coding coding = tp_coding_of_head(t->request->head, t->request->bytes);
	switch (coding == TP_CODING_NONE ? TP_REQUEST_DECODED : tp_request_decode(t->request, coding)) {
	case TP_REQUEST_DECODED: return true;
	case TP_REQUEST_TOO_LARGE: tp_turn_reject(t, 413, TP_BODY_TOO_LARGE_DECODED); return false;
	case TP_REQUEST_NO_MEMORY: tp_turn_reject(t, 503, "out of memory"); return false;
	case TP_REQUEST_BROKEN: break;
	}
	tp_turn_reject(t, 400,
		       "the body's content coding cannot be undone, which a combo needs to put its target's "
		       "model in");
	return false;
}

static bool none_speaks(struct tp_turn *t, const struct tp_combo_conf *combo)
{
	struct tp_buf text = {0};
	tp_buf_printf(&text, "combo `%s` serves ", combo->name);
	tp_combo_families(t->config, combo, &text);
	tp_buf_printf(&text, ", and this is a request of family %s", tp_family_name(t->family));
	tp_turn_reject(t, 400, tp_buf_cstr(&text));
	tp_buf_free(&text);
	return false;
}

static struct tp_targets *new_targets(const struct tp_combo_conf *combo, const struct tp_request_facts *facts,
				      uint32_t speak)
{
	struct tp_targets *g = calloc(1, sizeof *g);
	if (g == NULL)
		return NULL;
	g->combo = combo;
	g->model_at = facts->model_at;
	g->model_n = facts->model_n;
	for (unsigned i = 0; i < combo->n_targets; i++)
		if ((speak >> i & 1) != 0)
			g->order[g->n++] = (uint8_t)i;
	return g;
}

bool tp_targets_find(struct tp_turn *t, const struct tp_request_facts *facts)
{
	static const struct tp_str prefix = {"combo/", 6};
	struct tp_str model = {facts->model, facts->model_text_n};
	bool by_prefix = tp_str_starts(model, prefix);
	if (by_prefix)
		model = (struct tp_str){model.p + prefix.n, model.n - prefix.n};
	const struct tp_combo_conf *combo = facts->model_cut ? NULL : tp_config_combo(t->config, model);
	if (combo == NULL)
		return !by_prefix || no_such_combo(t);
	if (facts->model_repeated) {
		tp_turn_reject(t, 400, "`model` stands in the body more than once");
		return false;
	}
	uint32_t speak = tp_combo_speaks(t->config, combo, t->family);
	if (speak == 0)
		return none_speaks(t, combo);
	if (!make_plain(t))
		return false;
	t->targets = new_targets(combo, facts, speak);
	if (t->targets == NULL) {
		tp_turn_reject(t, 503, "out of memory");
		return false;
	}
	t->other_targets = t->targets->n > 1;
	return true;
}

void tp_targets_end(struct tp_turn *t)
{
	if (t->targets != NULL)
		tp_cooldown_end_probe(&t->targets->probe, false);
}

void tp_targets_drop(struct tp_turn *t)
{
	if (t->targets != NULL)
		tp_worker_park(t->worker, t->targets); /* those up the stack may still look at it */
	t->targets = NULL;
}

const char *tp_targets_name(const struct tp_turn *t)
{
	return t->targets != NULL && t->targets->name[0] != '\0' ? t->targets->name : NULL;
}

/* ---- in which order */

static struct tp_order_target facts_of(const struct tp_turn *t, unsigned i)
{
	const struct tp_combo_conf *combo = t->targets->combo;
	struct tp_order_target f = {.weight = combo->targets[i].weight};
	if (combo->strategy == TP_STRATEGY_LEAST_BUSY) {
		f.provider_busy = tp_numbers_busy(&t->runtime->providers[combo->targets[i].provider]);
		f.target_busy = tp_series_sum(t->worker->region, tp_numbers_target(t, i));
	}
	return f;
}

/* Once in a turn, with its first send: a turn that is answered without one is nobody's. */
static void put_in_order(struct tp_turn *t)
{
	struct tp_targets *g = t->targets;
	struct tp_order_target facts[TP_TARGETS_MAX];
	uint8_t order[TP_TARGETS_MAX], speak[TP_TARGETS_MAX];
	uint64_t number = 0;
	if (g->ordered)
		return;
	g->ordered = true;
	memcpy(speak, g->order, sizeof speak);
	for (unsigned i = 0; i < g->n; i++)
		facts[i] = facts_of(t, speak[i]);
	if (g->combo->strategy == TP_STRATEGY_RANDOM ||
	    (g->combo->strategy == TP_STRATEGY_ROUND_ROBIN &&
	     !tp_round_next(t->worker->region, tp_str_from(g->combo->name), &number)))
		number = tp_worker_random(t->worker);
	tp_order(g->combo->strategy, facts, g->n, number, order);
	for (unsigned i = 0; i < g->n; i++)
		g->order[i] = speak[order[i]];
}

/* ---- which target */

static bool may_ask(const struct tp_turn *t, unsigned i, uint64_t now_ms)
{
	struct tp_target_cooling cooling;
	return (t->targets->asked >> i & 1) == 0 && !tp_target_cools(t, i, now_ms, &cooling);
}

uint32_t tp_targets_left(const struct tp_turn *t)
{
	uint32_t left = 0;
	uint64_t now = tp_clock_boot_ms();
	for (unsigned i = 0; t->targets != NULL && i < t->targets->n; i++)
		left += may_ask(t, t->targets->order[i], now);
	return left;
}

struct tp_ledger_limits tp_targets_hold_back(const struct tp_turn *t, uint32_t left)
{
	struct tp_ledger_limits l = t->limits;
	l.total = l.total > left ? l.total - left : 0;
	l.base = l.base < l.total ? l.base : l.total;
	return l;
}

bool tp_targets_choose(struct tp_turn *t)
{
	struct tp_targets *g = t->targets;
	uint64_t now = tp_clock_boot_ms();
	for (unsigned i = 0; i < g->n; i++)
		if (may_ask(t, g->order[i], now)) {
			g->chosen = g->order[i];
			return true;
		}
	return false;
}

/* Our own guesses never empty a combo: one request at a time finds out. */
static bool choose_probe(struct tp_turn *t, const struct tp_all_cooling *all, uint64_t now_ms)
{
	if (!all->untold || !tp_cooldown_take_probe(t->worker->region, t->worker->stamp, all->of_first.key, 0,
						    now_ms, &t->targets->probe, NULL))
		return false;
	t->targets->chosen = all->first;
	return true;
}

static void tell_unavailable(struct tp_turn *t, uint64_t left_ms)
{
	tp_info("turn %s: every target of %s cools", t->id, t->targets->combo->name);
	tp_turn_answer_later(t, TP_CODE_COMBO_UNAVAILABLE, left_ms);
}

static void wait_or_tell(struct tp_turn *t, const struct tp_all_cooling *all, uint64_t now_ms)
{
	struct tp_targets *g = t->targets;
	uint64_t left = all->soonest_ms - now_ms;
	if (g->wait_until_ms == 0) {
		g->wait_until_ms = now_ms + g->combo->wait_for_cooldown_ms;
		if (g->wait_until_ms > t->deadline_ms)
			g->wait_until_ms = t->deadline_ms;
	}
	bool hope = all->untold || all->soonest_ms <= g->wait_until_ms;
	if (now_ms >= g->wait_until_ms || !hope) {
		tell_unavailable(t, left);
		return;
	}
	uint64_t most = g->wait_until_ms - now_ms;
	tp_turn_wait_for(t, TP_OPEN_WAIT_COOLDOWN, g->wait_until_ms);
	left = left < LOOK_AGAIN_MS ? left : LOOK_AGAIN_MS;
	tp_timer_set(&t->timer, left < most ? left : most);
}

/* ---- asking */

/* False when out of memory: the turn was answered. */
static bool enter(struct tp_turn *t, unsigned i)
{
	struct tp_targets *g = t->targets;
	const struct tp_target_conf *target = &g->combo->targets[i];
	struct tp_buf model = {0};
	tp_buf_add_json(&model, tp_str_from(target->model));
	bool ok =
		!model.failed && tp_request_replace(t->request, g->model_at, g->model_n, tp_buf_str(&model));
	if (ok) {
		g->model_n = model.len;
		g->at = i;
		g->asked |= 1u << i;
		g->sends = 0;
		snprintf(g->name, sizeof g->name, "%s/%s", t->config->providers[target->provider].name,
			 target->model);
		tp_turn_use_provider(t, target->provider);
		/* What holds other requests for this model holds this one, and the other way round. */
		tp_waits_model(t, tp_str_from(target->model));
	}
	tp_buf_free(&model);
	if (!ok)
		tp_turn_reject(t, 503, "out of memory");
	return ok;
}

void tp_targets_start(struct tp_turn *t)
{
	if (t->targets == NULL) {
		tp_dispatch(t, TP_CLASS_INITIAL);
		return;
	}
	uint64_t now = tp_clock_boot_ms();
	put_in_order(t);
	if (!tp_targets_choose(t)) {
		struct tp_all_cooling all = tp_targets_cooling(t, now);
		if (!choose_probe(t, &all, now)) {
			wait_or_tell(t, &all, now);
			return;
		}
	}
	if (enter(t, t->targets->chosen))
		tp_dispatch(t, TP_CLASS_INITIAL);
}

void tp_targets_sent(struct tp_turn *t)
{
	if (t->targets == NULL)
		return;
	t->targets->sends++;
	t->attempt.target = tp_numbers_target(t, t->targets->at);
}

/* What is known of the present target by now is told to others. */
static void leave(struct tp_turn *t)
{
	tp_blacklist_over(t, false);
	tp_turn_gate_leave(t);
	tp_cooldown_end_probe(&t->targets->probe, false);
}

bool tp_targets_cool_by_now(const struct tp_turn *t)
{
	const struct tp_targets *g = t->targets;
	struct tp_target_cooling c;
	if (g == NULL || g->probe.region != NULL || !tp_target_cools(t, g->at, tp_clock_boot_ms(), &c))
		return false;
	/* A turn that is at it with its own sends has them, whatever others guess. */
	return c.told || g->sends == 0;
}

bool tp_targets_skip(struct tp_turn *t, const char *why, uint64_t until_ms)
{
	if (t->targets == NULL || !tp_targets_choose(t))
		return false;
	uint64_t *soonest = &t->targets->passed_over_until_ms;
	if (until_ms != 0 && (*soonest == 0 || until_ms < *soonest))
		*soonest = until_ms;
	tp_info("turn %s: %s %s: passed over", t->id, t->targets->name, why);
	leave(t);
	tp_waits_leave(t);
	(void)enter(t, t->targets->chosen);
	return true;
}

uint64_t tp_targets_soonest(const struct tp_turn *t, uint64_t left_ms)
{
	const struct tp_targets *g = t->targets;
	struct tp_target_cooling c;
	if (g == NULL)
		return left_ms;
	uint64_t now = tp_clock_boot_ms(), soonest = now + left_ms;
	if (g->passed_over_until_ms != 0 && g->passed_over_until_ms < soonest)
		soonest = g->passed_over_until_ms;
	for (unsigned i = 0; i < g->n; i++)
		if (tp_target_cools(t, g->order[i], now, &c) && c.until_ms < soonest)
			soonest = c.until_ms;
	return soonest > now ? soonest - now : 0;
}

void tp_targets_next(struct tp_turn *t)
{
	tp_timer_clear(&t->timer); /* of the answer that is left behind, as is all of it */
	tp_relay_reset(t);
	t->overload_limit = 0;
	leave(t);
	if (enter(t, t->targets->chosen))
		tp_dispatch(t, TP_CLASS_HOP);
}

bool tp_targets_foreign(const struct tp_turn *t)
{
	if (t->targets == NULL || t->provider->conf->pass_credential)
		return false;
	const struct tp_provider_conf *a = &t->config->providers[t->route->provider], *b = t->provider->conf;
	return a->https != b->https || a->port != b->port || strcmp(a->host, b->host) != 0;
}
