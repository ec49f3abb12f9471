#include "workers/targets.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/hop.h"
#include "workers/admit.h"
#include "workers/blacklist.h"
#include "workers/credential.h"
#include "workers/dispatch.h"
#include "workers/numbers.h"
#include "workers/relay.h"
#include "workers/turn.h"
#include "workers/runtime.h"
#include "workers/waits.h"

enum { LOOK_AGAIN_MS = 250 }; /* a turn that waits sees by then that a probe was good */

/* ---- which combo */

static const struct tp_combo_conf *find_combo(const struct tp_config *c, struct tp_str name)
{
	for (size_t i = 0; i < c->n_combos; i++)
		if (tp_str_eq(tp_str_from(c->combos[i].name), name))
			return &c->combos[i];
	return NULL;
}

static bool no_such_combo(struct tp_turn *t)
{
	struct tp_refusal r = tp_refusal_for(TP_CODE_MODEL_NOT_FOUND, 0);
	tp_turn_answer_local(t, &r, TP_TURN_BAD, NULL);
	return false;
}

/* The model is replaced in the plain body, which is also what is sent. */
static bool make_plain(struct tp_turn *t)
{
	enum tp_coding coding = tp_coding_of_head(t->request->head, t->request->bytes);
	if (coding == TP_CODING_NONE || tp_request_decode(t->request, coding))
		return true;
	tp_turn_reject(t, 400,
		       "the body's content coding cannot be undone, which a combo needs to put its target's "
		       "model in");
	return false;
}

bool tp_targets_find(struct tp_turn *t, const struct tp_request_facts *facts)
{
	static const struct tp_str prefix = {"combo/", 6};
	struct tp_str model = {facts->model, facts->model_text_n};
	bool by_prefix = tp_str_starts(model, prefix);
	if (by_prefix)
		model = (struct tp_str){model.p + prefix.n, model.n - prefix.n};
	const struct tp_combo_conf *combo = facts->model_cut ? NULL : find_combo(t->config, model);
	if (combo == NULL)
		return !by_prefix || no_such_combo(t);
	if (facts->model_repeated) {
		tp_turn_reject(t, 400, "`model` stands in the body more than once");
		return false;
	}
	if (!make_plain(t))
		return false;
	t->targets =
		(struct tp_targets){.combo = combo, .model_at = facts->model_at, .model_n = facts->model_n};
	t->other_targets = combo->n_targets > 1;
	return true;
}

/* ---- what cools */

static const struct tp_provider_rt *provider_of(const struct tp_turn *t, unsigned i)
{
	return &t->runtime->providers[t->targets.combo->targets[i].provider];
}

static void describe(const struct tp_turn *t, unsigned i, char out[TP_TARGET_NAME])
{
	snprintf(out, TP_TARGET_NAME, "%s/%s", provider_of(t, i)->conf->name,
		 t->targets.combo->targets[i].model);
}

/* What may cool of a target: itself, itself for this client's credential only, and the key it is asked with.
 */
enum name { NAME_TARGET, NAME_OF_CLIENT, NAME_KEY, NAMES };

/* `text` takes the name's text and has to live as long as it. */
static struct tp_cooldown_name name_of(const struct tp_turn *t, unsigned i, enum name kind,
				       char text[TP_TARGET_NAME])
{
	const struct tp_provider_conf *p = provider_of(t, i)->conf;
	uint64_t client = kind != NAME_TARGET ? tp_waits_client(t, p) : 0;
	if (kind != NAME_KEY) {
		snprintf(text, TP_TARGET_NAME, "%s/%s%s", p->name, t->targets.combo->targets[i].model,
			 client != 0 ? " (one client's credential)" : "");
		return tp_waits_target(t, p, tp_str_from(t->targets.combo->targets[i].model), client,
				       tp_str_from(text));
	}
	struct tp_str secret = {(const char *)&client, sizeof client};
	if (tp_credential_own(p))
		secret = tp_credential_now(t, p);
	snprintf(text, TP_TARGET_NAME, client != 0 ? "%s (one client's credential)" : "%s key 1", p->name);
	return tp_cooldown_key(t->worker->region, tp_str_from(p->name), secret, tp_str_from(text));
}

struct cooling {
	struct tp_hash128 key; /* of the entry that ends last */
	uint64_t until_ms;
	bool told; /* one of them */
};

static bool cools(const struct tp_turn *t, unsigned i, uint64_t now_ms, struct cooling *ret)
{
	char text[TP_TARGET_NAME];
	struct tp_cooldown c;
	*ret = (struct cooling){0};
	for (enum name kind = 0; kind < NAMES; kind++) {
		struct tp_hash128 key = name_of(t, i, kind, text).key;
		if (!tp_cooldown_get(t->worker->region, key, now_ms, &c))
			continue;
		ret->told = ret->told || c.told;
		if (c.until_ms > ret->until_ms) {
			ret->until_ms = c.until_ms;
			ret->key = key;
		}
	}
	return ret->until_ms > 0;
}

void tp_targets_failed(struct tp_turn *t, const struct tp_outcome *o)
{
	const struct tp_combo_conf *combo = t->targets.combo;
	enum tp_blame blame = combo != NULL ? tp_blame_of(o) : TP_BLAME_NONE;
	if (blame == TP_BLAME_NONE)
		return;
	char text[TP_TARGET_NAME];
	unsigned at = t->targets.at;
	/* A limit belongs to the account that met it, overload to the provider. */
	enum name kind = blame == TP_BLAME_KEY ? NAME_KEY : o->status == 429 ? NAME_OF_CLIENT : NAME_TARGET;
	struct tp_cooldown_name name = name_of(t, at, kind, text);
	uint64_t now = tp_clock_boot_ms();
	uint64_t ms = o->told_ms >= 0 ? (uint64_t)o->told_ms : combo->cooldown_ms;
	struct tp_cooldown c = {
		.until_ms = now + ms, .told = o->told_ms >= 0, .cause = tp_waits_cause(t, o->status)};
	if (tp_cooldown_set(t->worker->region, t->worker->stamp, &name, c, now))
		tp_info("turn %s: %s cools for %llu ms, %s", t->id, text, (unsigned long long)ms,
			c.told ? "as told" : "as combos.cooldown says");
	tp_cooldown_end_probe(&t->targets.probe, true);
}

/* A told time stands: an answer to what was sent before it was told says nothing about it. */
void tp_targets_good(struct tp_turn *t)
{
	if (t->targets.combo == NULL)
		return;
	char text[TP_TARGET_NAME];
	struct tp_cooldown c;
	uint64_t now = tp_clock_boot_ms();
	for (enum name kind = 0; kind < NAMES; kind++) {
		struct tp_hash128 key = name_of(t, t->targets.at, kind, text).key;
		if (tp_cooldown_get(t->worker->region, key, now, &c) && !c.told)
			(void)tp_cooldown_clear(t->worker->region, key, now);
	}
	tp_cooldown_end_probe(&t->targets.probe, true);
}

void tp_targets_end(struct tp_turn *t)
{
	tp_cooldown_end_probe(&t->targets.probe, false);
}

/* ---- which target */

static bool may_ask(const struct tp_turn *t, unsigned i, uint64_t now_ms)
{
	struct cooling cooling;
	return (t->targets.asked >> i & 1) == 0 && !cools(t, i, now_ms, &cooling);
}

uint32_t tp_targets_left(const struct tp_turn *t)
{
	uint32_t left = 0;
	uint64_t now = tp_clock_boot_ms();
	for (unsigned i = 0; t->targets.combo != NULL && i < t->targets.combo->n_targets; i++)
		left += may_ask(t, i, now);
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
	uint64_t now = tp_clock_boot_ms();
	for (unsigned i = 0; i < t->targets.combo->n_targets; i++)
		if (may_ask(t, i, now)) {
			t->targets.chosen = i;
			return true;
		}
	return false;
}

/* Everything cools. */
struct all_cooling {
	bool untold; /* some of it on a guess of ours only: `first` is the one of these that ends first */
	unsigned first;
	struct cooling of_first;
	uint64_t soonest_ms; /* when the first of all ends */
};

static struct all_cooling look(const struct tp_turn *t, uint64_t now_ms)
{
	struct all_cooling all = {.soonest_ms = UINT64_MAX};
	for (unsigned i = 0; i < t->targets.combo->n_targets; i++) {
		struct cooling c;
		if (!cools(t, i, now_ms, &c))
			c.until_ms = now_ms; /* it has just ended */
		if (c.until_ms < all.soonest_ms)
			all.soonest_ms = c.until_ms;
		if (c.told || (all.untold && c.until_ms >= all.of_first.until_ms))
			continue;
		all.untold = true;
		all.first = i;
		all.of_first = c;
	}
	return all;
}

/* Our own guesses never empty a combo: one request at a time finds out. */
static bool choose_probe(struct tp_turn *t, const struct all_cooling *all, uint64_t now_ms)
{
	if (!all->untold || !tp_cooldown_take_probe(t->worker->region, t->worker->stamp, all->of_first.key, 0,
						    now_ms, &t->targets.probe, NULL))
		return false;
	t->targets.chosen = all->first;
	return true;
}

static void tell_unavailable(struct tp_turn *t, uint64_t left_ms)
{
	uint64_t s = (left_ms + 999) / 1000;
	struct tp_refusal r = tp_refusal_for(TP_CODE_COMBO_UNAVAILABLE, s < 1            ? 1
									: s < UINT32_MAX ? (uint32_t)s
											 : UINT32_MAX);
	struct tp_ledger_ending e = {.end = TP_END_DECLINED};
	tp_info("turn %s: every target of %s cools", t->id, t->targets.combo->name);
	tp_worker_count(t->worker, TP_COUNT_REFUSALS_FIRST + TP_CODE_COMBO_UNAVAILABLE);
	tp_numbers_refusal(t->worker, TP_CODE_COMBO_UNAVAILABLE);
	tp_turn_answer_local(t, &r, TP_TURN_ERROR, &e);
}

static void wait_or_tell(struct tp_turn *t, const struct all_cooling *all, uint64_t now_ms)
{
	struct tp_targets *g = &t->targets;
	uint64_t left = all->soonest_ms - now_ms;
	if (!g->waiting) {
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
	g->waiting = true;
	tp_turn_set_state(t, TP_TURN_WAIT);
	left = left < LOOK_AGAIN_MS ? left : LOOK_AGAIN_MS;
	tp_timer_set(&t->timer, left < most ? left : most);
}

/* ---- asking */

/* What holds other requests for this model holds this one, and the other way round. */
static void tell_model(struct tp_turn *t, const char *model)
{
	struct tp_request_facts facts = {.model_present = true, .model_text_n = (uint16_t)strlen(model)};
	memcpy(facts.model, model, facts.model_text_n); /* at most 200: tp_refuse_model() */
	tp_waits_model(t, &facts);
}

/* False when out of memory: the turn was answered. */
static bool enter(struct tp_turn *t, unsigned i)
{
	struct tp_targets *g = &t->targets;
	struct tp_buf model = {0};
	tp_buf_add_json(&model, tp_str_from(g->combo->targets[i].model));
	bool ok =
		!model.failed && tp_request_replace(t->request, g->model_at, g->model_n, tp_buf_str(&model));
	if (ok) {
		g->model_n = model.len;
		g->at = i;
		g->asked |= 1u << i;
		g->sends = 0;
		g->waiting = false;
		describe(t, i, g->name);
		tp_turn_use_provider(t, g->combo->targets[i].provider);
		tell_model(t, g->combo->targets[i].model);
	}
	tp_buf_free(&model);
	if (!ok)
		tp_turn_reject(t, 503, "out of memory");
	return ok;
}

void tp_targets_start(struct tp_turn *t)
{
	if (t->targets.combo == NULL) {
		tp_dispatch(t, TP_CLASS_INITIAL);
		return;
	}
	uint64_t now = tp_clock_boot_ms();
	if (!tp_targets_choose(t)) {
		struct all_cooling all = look(t, now);
		if (!choose_probe(t, &all, now)) {
			wait_or_tell(t, &all, now);
			return;
		}
	}
	if (enter(t, t->targets.chosen))
		tp_dispatch(t, TP_CLASS_INITIAL);
}

/* What is known of the present target by now is told to others. */
static void leave(struct tp_turn *t)
{
	tp_blacklist_over(t, false);
	tp_turn_gate_leave(t);
	tp_cooldown_end_probe(&t->targets.probe, false);
}

bool tp_targets_skip(struct tp_turn *t, const char *why)
{
	if (t->targets.combo == NULL || !tp_targets_choose(t))
		return false;
	tp_info("turn %s: %s %s: passed over", t->id, t->targets.name, why);
	leave(t);
	tp_waits_end(t);
	if (enter(t, t->targets.chosen))
		tp_dispatch(t, t->attempt.serial == 0 ? TP_CLASS_INITIAL : TP_CLASS_HOP);
	return true;
}

void tp_targets_next(struct tp_turn *t)
{
	tp_numbers_hop(t);
	tp_timer_clear(&t->timer); /* of the answer that is left behind, as is all of it */
	tp_relay_reset(t);
	t->overload_limit = 0;
	leave(t);
	if (enter(t, t->targets.chosen))
		tp_dispatch(t, TP_CLASS_HOP);
}

bool tp_targets_foreign(const struct tp_turn *t)
{
	if (t->targets.combo == NULL || t->provider->conf->pass_credential)
		return false;
	const struct tp_provider_conf *a = &t->config->providers[t->route->provider], *b = t->provider->conf;
	return a->https != b->https || a->port != b->port || strcmp(a->host, b->host) != 0;
}
