#include "workers/waits.h"

#include <string.h>

#include "common/base/block.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/classify.h"
#include "common/retry/known_codes.h"
#include "common/retry/others.h"
#include "common/retry/told.h"
#include "workers/access.h"
#include "workers/credential.h"
#include "workers/keys.h"
#include "workers/numbers.h"
#include "workers/obstacle.h"
#include "workers/outcome.h"
#include "workers/turn.h"

enum { LOOK_MS = 1000 }; /* a held turn asks again: the operator may have ended the wait */

/* ---- whose wait it is */

static struct tp_str model_of(const struct tp_turn *t)
{
	return (struct tp_str){t->waits.model, t->waits.model_n};
}

static struct tp_str provider_of(const struct tp_turn *t)
{
	return tp_str_from(t->provider->conf->name);
}

/* The provider's own key goes out, else what the client sent, unless that only opened Turnpike. */
static struct tp_str own_credential(const struct tp_turn *t, const struct tp_provider_conf *p)
{
	struct tp_str key = tp_credential_identity(t, p);
	return key.n > 0 ? key : tp_str_from(p->url_authorization);
}

uint64_t tp_waits_client(const struct tp_turn *t, const struct tp_provider_conf *p)
{
	const uint8_t *seed = tp_region_seed(t->worker->region);
	uint64_t h = 0;
	if (own_credential(t, p).n > 0 || t->who != NULL)
		return 0;
	for (size_t i = 0; i < TP_CREDENTIAL_FIELDS; i++) {
		struct tp_str v = tp_request_field(t->request, tp_credential_fields[i]);
		const uint64_t both[2] = {h, v.n > 0 ? tp_siphash128(seed, v.p, v.n).lo : 0};
		if (v.n > 0)
			h = tp_siphash128(seed, both, sizeof both).lo;
	}
	return h;
}

static uint64_t client_credential(const struct tp_turn *t)
{
	return tp_waits_client(t, t->provider->conf);
}

static struct tp_hash128 wait_key(const struct tp_turn *t, uint64_t client)
{
	struct tp_region *r = t->worker->region;
	struct tp_str own = own_credential(t, t->provider->conf);
	uint64_t credential = own.n > 0 ? tp_siphash128(tp_region_seed(r), own.p, own.n).lo : client;
	return tp_shared_wait_key(r, provider_of(t), model_of(t), credential);
}

struct tp_cooldown_name tp_waits_target(const struct tp_turn *t, const struct tp_provider_conf *p,
					struct tp_str model, uint64_t client, struct tp_str text)
{
	char of_client[TP_MODEL_MAX + 1 + sizeof client];
	struct tp_str provider = tp_str_from(p->name);
	if (client == 0)
		return tp_cooldown_target(t->worker->region, provider, model, text);
	memcpy(of_client, model.p, model.n);
	of_client[model.n] = '\0'; /* no model has one */
	memcpy(of_client + model.n + 1, &client, sizeof client);
	return tp_cooldown_target(t->worker->region, provider,
				  (struct tp_str){of_client, model.n + 1 + sizeof client}, text);
}

static struct tp_cooldown_name target(const struct tp_turn *t, uint64_t client, struct tp_str text)
{
	return tp_waits_target(t, t->provider->conf, model_of(t), client, text);
}

void tp_waits_model(struct tp_turn *t, struct tp_str model)
{
	struct tp_turn_waits *w = &t->waits;
	tp_block_free(w->model, w->model_n);
	w->model = NULL;
	w->model_n = 0;
	if (model.n == 0 || model.n > TP_MODEL_MAX || (w->model = tp_block_new(model.n)) == NULL)
		return; /* out of memory: nothing holds it, and it holds nobody */
	memcpy(w->model, model.p, model.n);
	w->model_n = (uint16_t)model.n;
}

/* ---- why it cools: one byte that says status and code */

enum { CAUSE_STATUS_0 = 400, CAUSE_CODES = 200 };

static uint8_t cause_of(const struct tp_turn *t, int status)
{
	uint16_t code_index = status == 429 ? tp_outcome_code_index(t->saved) : 0;
	if (code_index > 0 && CAUSE_CODES + code_index <= TP_COOLDOWN_MAX_CAUSE)
		return (uint8_t)(CAUSE_CODES + code_index);
	return status >= CAUSE_STATUS_0 ? (uint8_t)(status - CAUSE_STATUS_0) : 0;
}

void tp_waits_cool(struct tp_turn *t, const struct tp_cooldown_name *name, const struct tp_outcome *o,
		   uint64_t guess_ms, const char *guess)
{
	uint64_t now = tp_clock_boot_ms(), ms = o->told_ms >= 0 ? (uint64_t)o->told_ms : guess_ms;
	struct tp_cooldown c = {
		.until_ms = now + ms, .told = o->told_ms >= 0, .cause = cause_of(t, o->status)};
	if (tp_cooldown_set(t->worker->region, t->worker->stamp, name, c, now))
		tp_info("turn %s: %.*s cools for %llu ms, %s", t->id, (int)name->text.n, name->text.p,
			(unsigned long long)ms, c.told ? "as told" : guess);
}

static struct tp_refusal refusal_of(const struct tp_turn *t, uint8_t cause, uint32_t left_s)
{
	const char *code = cause >= CAUSE_CODES ? tp_known_code(cause - CAUSE_CODES) : NULL;
	int status = cause >= CAUSE_CODES ? 429 : cause + CAUSE_STATUS_0;
	if (!tp_speaks_of_load(status))
		status = 429;
	struct tp_error_facts facts = {.status = status, .code = tp_str_from(code)};
	bool quota = code != NULL && tp_classify(&facts).quota;
	struct tp_refusal r = tp_refusal_cooling(status, code, quota, left_s);
	/* Codex looks for a used-up plan in the type. */
	if (quota && t->family != TP_FAMILY_MESSAGES)
		r.type = code;
	return r;
}

/* ---- before a send */

/* True: what has this key cools. */
static bool cools(struct tp_turn *t, struct tp_hash128 key, uint64_t now, struct tp_obstacle *ret)
{
	struct tp_worker *w = t->worker;
	struct tp_cooldown c;
	/* A guess (combos.cooldown) chooses among targets; it is no reason to refuse. */
	if (!tp_cooldown_get(w->region, key, now, &c) || !c.told)
		return false;
	if (tp_cooldown_take_probe(w->region, w->stamp, key, TP_PROBE_GAP_MS, now, &t->waits.probe, NULL)) {
		t->waits.probed = key;
		tp_info("turn %s: asks %s although it cools, as a probe", t->id, t->provider->conf->name);
		return false;
	}
	uint64_t left = c.until_ms - now;
	struct tp_refusal r = refusal_of(t, c.cause, tp_told_header_seconds((int64_t)left));
	tp_info("turn %s: %s cools for %llu s more, as it told with a %d: not sent", t->id,
		t->provider->conf->name, (unsigned long long)(left / 1000), r.status);
	*ret = (struct tp_obstacle){.kind = TP_OBSTACLE_ENDS,
				    .words = r,
				    .left_ms = left,
				    .only = r.status,
				    .elsewhere = "cools, as it told"};
	return true;
}

static void let_go(struct tp_turn *t, uint64_t now)
{
	struct tp_turn_waits *w = &t->waits;
	if (w->held_since_ms == 0)
		return;
	tp_debug("turn %s: was held for %llu ms", t->id, (unsigned long long)(now - w->held_since_ms));
	tp_numbers_wait(t->worker, (uint32_t)(now - w->held_since_ms));
	w->held_since_ms = 0;
}

/* True: a shared wait runs. Of a combo's turn it holds only one that has nobody else to ask. */
static bool held(struct tp_turn *t, uint64_t client, uint64_t now, struct tp_obstacle *ret)
{
	static const char elsewhere[] = "waits for the end of its rate limit";
	struct tp_worker *w = t->worker;
	uint64_t again_ms, left_ms;
	if (tp_shared_wait_ask(w->region, w->stamp, wait_key(t, client), now, &t->waits.pass, &again_ms,
			       &left_ms))
		return false;
	if (now + left_ms >= t->deadline_ms) {
		tp_info("turn %s: a shared wait of %s ends after its deadline: not sent", t->id,
			t->provider->conf->name);
		*ret = (struct tp_obstacle){.kind = TP_OBSTACLE_ENDS,
					    .code = TP_CODE_RATE_LIMIT_SHARED,
					    .left_ms = left_ms,
					    .only = 429,
					    .elsewhere = elsewhere};
		return true;
	}
	if (t->waits.held_since_ms == 0) {
		t->waits.held_since_ms = now;
		tp_debug("turn %s: held by a shared wait of %s", t->id, t->provider->conf->name);
	}
	*ret = (struct tp_obstacle){.kind = TP_OBSTACLE_HOLDS,
				    .wait = TP_OPEN_WAIT_SHARED,
				    .until_ms = now + left_ms,
				    .again_ms = again_ms < LOOK_MS ? again_ms : LOOK_MS,
				    .elsewhere = elsewhere};
	return true;
}

static bool stopped(struct tp_turn *t, enum tp_class klass, uint64_t now, struct tp_obstacle *ret)
{
	struct tp_turn_waits *w = &t->waits;
	/* Without budget there is nothing to wait for: the dispatch says so. */
	if (w->model_n == 0 || !tp_shared_wait_any(t->worker->region, now) ||
	    !tp_ledger_fits(&t->ledger, &t->limits, klass))
		return false;
	uint64_t client = client_credential(t);
	if (cools(t, target(t, 0, TP_STR("")).key, now, ret))
		return true;
	if (client != 0 && w->probe.region == NULL && cools(t, target(t, client, TP_STR("")).key, now, ret))
		return true;
	return w->probe.region == NULL && t->provider->conf->retry.share_waits && held(t, client, now, ret);
}

bool tp_waits_may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret)
{
	uint64_t now = tp_clock_boot_ms();
	if (stopped(t, klass, now, ret))
		return false;
	let_go(t, now);
	return true;
}

/* ---- after it */

/* For people; never the credential. */
static void describe(const struct tp_turn *t, uint64_t client, struct tp_buf *out)
{
	tp_buf_printf(out, "%s/%.*s%s", t->provider->conf->name, (int)t->waits.model_n, t->waits.model,
		      client != 0 ? " (one client's credential)" : "");
}

static void cool(struct tp_turn *t, const struct tp_outcome *o)
{
	uint64_t client = tp_holds_one_account(o) ? client_credential(t) : 0;
	struct tp_buf text = {0};
	describe(t, client, &text);
	struct tp_cooldown_name name = target(t, client, tp_buf_str(&text));
	tp_waits_cool(t, &name, o, 0, "");
	tp_buf_free(&text);
}

static void share(struct tp_turn *t, const struct tp_outcome *o)
{
	uint64_t now = tp_clock_boot_ms(), client = client_credential(t);
	struct tp_buf text = {0};
	describe(t, client, &text);
	tp_shared_wait_begin(t->worker->region, t->worker->stamp, wait_key(t, client), tp_buf_str(&text),
			     now + (uint64_t)o->told_ms, now);
	tp_buf_free(&text);
}

void tp_waits_told(struct tp_turn *t, const struct tp_outcome *o)
{
	if (t->waits.model_n == 0)
		return;
	/* What one of several keys was told holds nobody: the next key is used. */
	switch (tp_keys_refused(t, o) ? TP_OTHERS_GO : tp_told_for_others(&t->provider->conf->retry, o)) {
	case TP_OTHERS_GO: break;
	case TP_OTHERS_SHARE: share(t, o); break;
	case TP_OTHERS_COOL: cool(t, o); break;
	}
	tp_shared_wait_report(&t->waits.pass, false);
	tp_cooldown_end_probe(&t->waits.probe, tp_probe_told(o));
}

void tp_waits_good(struct tp_turn *t)
{
	struct tp_turn_waits *w = &t->waits;
	tp_shared_wait_report(&w->pass, true);
	if (w->probe.region == NULL)
		return;
	if (tp_cooldown_clear(t->worker->region, w->probed, tp_clock_boot_ms()))
		tp_info("turn %s: the probe succeeded: %s cools no more", t->id, t->provider->conf->name);
	tp_cooldown_end_probe(&w->probe, true);
}

void tp_waits_put_back(struct tp_turn *t)
{
	tp_shared_wait_report(&t->waits.pass, false);
	tp_cooldown_end_probe(&t->waits.probe, false);
}

void tp_waits_end(struct tp_turn *t)
{
	tp_waits_put_back(t);
	tp_waits_model(t, (struct tp_str){NULL, 0});
}

void tp_waits_leave(struct tp_turn *t)
{
	uint64_t now = tp_clock_boot_ms();
	if (t->waits.held_since_ms == now) /* it was not held at all */
		t->waits.held_since_ms = 0;
	let_go(t, now);
	tp_waits_end(t);
}
