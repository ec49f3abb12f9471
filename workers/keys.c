#include "workers/keys.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/hop.h"
#include "common/retry/others.h"
#include "workers/credential.h"
#include "workers/obstacle.h"
#include "workers/turn.h"
#include "workers/waits.h"

enum {
	GUESS_MS = 60 * 1000, /* design 8: told, else 60s */
	LOOK_MS = 1000        /* a held turn asks again: the operator may have ended the time */
};

static bool has_many(const struct tp_provider_conf *p)
{
	return p->n_keys > 1;
}

unsigned tp_keys_index(const struct tp_turn *t, const struct tp_provider_conf *p)
{
	return t != NULL && t->keys.provider == p ? t->keys.at : 0;
}

/* ---- what cools */

static struct tp_cooldown_name name_of(const struct tp_turn *t, const struct tp_provider_conf *p, unsigned i,
				       struct tp_str text)
{
	return tp_cooldown_key(t->worker->region, tp_str_from(p->name), tp_str_from(p->keys[i]), text);
}

/* An access token stands for the keys as long as there is one: what it meets is nothing about them. */
static bool by_token(const struct tp_turn *t, const struct tp_provider_conf *p)
{
	return p->n_keys == 0 || tp_refresh_token(t, p).n > 0;
}

struct tp_cooldown_name tp_keys_name(const struct tp_turn *t, const struct tp_provider_conf *p,
				     char text[TP_KEY_TEXT])
{
	unsigned i = tp_keys_index(t, p);
	if (by_token(t, p)) {
		(void)snprintf(text, TP_KEY_TEXT, "%s token", p->name);
		return tp_cooldown_key(t->worker->region, tp_str_from(p->name), tp_credential_identity(t, p),
				       tp_str_from(text));
	}
	(void)snprintf(text, TP_KEY_TEXT, "%s key %u", p->name, i + 1);
	return name_of(t, p, i, tp_str_from(text));
}

static bool cools(const struct tp_turn *t, const struct tp_provider_conf *p, unsigned i, uint64_t now_ms,
		  struct tp_cooldown *ret, struct tp_hash128 *ret_key)
{
	*ret_key = name_of(t, p, i, (struct tp_str){NULL, 0}).key;
	return tp_cooldown_get(t->worker->region, *ret_key, now_ms, ret);
}

/* What stands in the way of a send with one of the keys that are not in `without`. */
struct choice {
	bool free;   /* nothing: `at` does not cool */
	bool any;    /* `at` is a key; else none was left */
	unsigned at; /* the first that does not cool, else the one that ends first */
	struct tp_cooldown cooldown;
	struct tp_hash128 key;
};

static struct choice choose(const struct tp_turn *t, const struct tp_provider_conf *p, uint64_t without,
			    uint64_t now_ms)
{
	struct choice best = {0};
	for (unsigned i = 0; i < p->n_keys; i++) {
		struct choice c = {.any = true, .at = i};
		if ((without >> i & 1) != 0)
			continue;
		c.free = !cools(t, p, i, now_ms, &c.cooldown, &c.key);
		if (c.free)
			return c;
		if (!best.any || c.cooldown.until_ms < best.cooldown.until_ms)
			best = c;
	}
	return best;
}

bool tp_keys_all_cool(const struct tp_turn *t, const struct tp_provider_conf *p, uint64_t now_ms,
		      struct tp_cooldown *ret, struct tp_hash128 *ret_key)
{
	if (by_token(t, p)) {
		char text[TP_KEY_TEXT];
		*ret_key = tp_keys_name(t, p, text).key;
		return tp_cooldown_get(t->worker->region, *ret_key, now_ms, ret);
	}
	struct choice c = choose(t, p, 0, now_ms);
	if (!c.any || c.free)
		return false;
	*ret = c.cooldown;
	*ret_key = c.key;
	return true;
}

/* ---- before a send */

static unsigned target_of(const struct tp_turn *t)
{
	return t->targets != NULL ? t->targets->at : 0;
}

static bool is_of(const struct tp_turn_keys *k, const struct tp_turn *t)
{
	return k->provider == t->provider->conf && k->target == target_of(t);
}

/* Another target begins with all keys again; what they met at the one before, their cooldowns say. */
static void enter(struct tp_turn *t)
{
	struct tp_turn_keys *k = &t->keys;
	if (is_of(k, t))
		return;
	tp_cooldown_end_probe(&k->probe, false);
	*k = (struct tp_turn_keys){.provider = t->provider->conf, .target = target_of(t)};
}

static bool in_use(const struct tp_turn_keys *k)
{
	return (k->used >> k->at & 1) != 0;
}

static struct tp_obstacle all_cool(const struct tp_turn *t, const struct choice *c, uint64_t now_ms)
{
	tp_info("turn %s: every key of %s cools: not sent", t->id, t->provider->conf->name);
	return (struct tp_obstacle){.kind = TP_OBSTACLE_ENDS,
				    .code = TP_CODE_KEYS_COOLING,
				    .left_ms = c->cooldown.until_ms - now_ms,
				    .elsewhere = "has no key that does not cool"};
}

/* A repetition whose key others were told to leave alone meanwhile, and which has no better one: it waits, as
 * it would have had it been told so itself. */
static struct tp_obstacle told_meanwhile(const struct tp_turn *t, const struct choice *first, uint64_t now_ms)
{
	uint64_t left = first->cooldown.until_ms - now_ms;
	if (now_ms + left >= t->deadline_ms || left > t->provider->conf->retry.ceiling_ms)
		return all_cool(t, first, now_ms);
	return (struct tp_obstacle){.kind = TP_OBSTACLE_HOLDS,
				    .wait = TP_OPEN_WAIT_SHARED,
				    .until_ms = first->cooldown.until_ms,
				    .again_ms = left < LOOK_MS ? left : LOOK_MS,
				    .elsewhere = "has no key that does not cool"};
}

/* Whether a turn without another target may ask a key although it cools. */
static bool may_all_the_same(struct tp_turn *t, enum tp_class klass, const struct choice *c, uint64_t now_ms)
{
	struct tp_worker *w = t->worker;
	/* Without budget the dispatch has another answer. In a combo, and after a refusal, somebody chose
	 * this target and key a moment ago. */
	if (klass != TP_CLASS_INITIAL || t->targets != NULL || !tp_ledger_fits(&t->ledger, &t->limits, klass))
		return true;
	if (!tp_cooldown_take_probe(w->region, w->stamp, c->key, TP_PROBE_GAP_MS, now_ms, &t->keys.probe,
				    NULL))
		return false;
	tp_info("turn %s: asks %s key %u although it cools, as a probe", t->id, t->provider->conf->name,
		c->at + 1);
	return true;
}

bool tp_keys_may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret)
{
	struct tp_turn_keys *k = &t->keys;
	const struct tp_provider_conf *p = t->provider->conf;
	if (!has_many(p) || by_token(t, p))
		return true;
	enter(t);
	if (k->probe.region != NULL)
		return true; /* it was held meanwhile */
	uint64_t now = tp_clock_boot_ms();
	bool again = in_use(k) && klass != TP_CLASS_ROTATE;
	struct choice c = choose(t, p, k->used, now);
	/* A repetition stays with its key, unless that was refused meanwhile and there is a better one. */
	if (again) {
		struct choice own = choose(t, p, ~(UINT64_C(1) << k->at), now);
		k->at = !own.free && c.free ? c.at : k->at;
		/* Our own guess is no reason; nor is there one to wait without budget. */
		if (own.free || c.free || !own.cooldown.told ||
		    !tp_ledger_fits(&t->ledger, &t->limits, klass))
			return true;
		bool sooner = c.any && c.cooldown.until_ms < own.cooldown.until_ms;
		*ret = told_meanwhile(t, sooner ? &c : &own, now);
		return false;
	}
	if (!c.free && !may_all_the_same(t, klass, &c, now)) {
		*ret = all_cool(t, &c, now);
		return false;
	}
	k->at = c.any ? c.at : k->at;
	return true;
}

uint32_t tp_keys_left(const struct tp_turn *t)
{
	const struct tp_provider_conf *p = t->provider->conf;
	struct tp_cooldown c;
	struct tp_hash128 key;
	uint64_t now = tp_clock_boot_ms();
	uint32_t left = 0;
	bool here = is_of(&t->keys, t), by_key = here && !by_token(t, p);
	if (!has_many(p))
		return 0;
	/* Whoever came here with a token, or got none, has used no key yet: what stands there is then of the
	 * target before. */
	uint64_t used = here ? t->keys.used : 0;
	for (unsigned i = 0; i < p->n_keys; i++)
		left += (!by_key || i != t->keys.at) && (used >> i & 1) == 0 &&
			!cools(t, p, i, now, &c, &key);
	return left;
}

/* ---- after it */

bool tp_keys_refused(const struct tp_turn *t, const struct tp_outcome *o)
{
	const struct tp_provider_conf *p = t->provider->conf;
	return has_many(p) && !by_token(t, p) && t->keys.provider == p && tp_refuses_key(o);
}

static void cool(struct tp_turn *t, const struct tp_outcome *o)
{
	char text[TP_KEY_TEXT];
	const struct tp_combo_conf *combo = t->targets != NULL ? t->targets->combo : NULL;
	struct tp_cooldown_name name = tp_keys_name(t, t->provider->conf, text);
	tp_waits_cool(t, &name, o, combo != NULL ? combo->cooldown_ms : GUESS_MS, "a guess");
}

void tp_keys_told(struct tp_turn *t, const struct tp_outcome *o)
{
	struct tp_turn_keys *k = &t->keys;
	if (k->provider != t->provider->conf || by_token(t, k->provider))
		return;
	k->used |= UINT64_C(1) << k->at;
	if (tp_keys_refused(t, o))
		cool(t, o);
	tp_cooldown_end_probe(&k->probe, tp_probe_told(o));
}

void tp_keys_good(struct tp_turn *t)
{
	struct tp_turn_keys *k = &t->keys;
	struct tp_region *r = t->worker->region;
	char text[TP_KEY_TEXT];
	struct tp_cooldown c;
	uint64_t now = tp_clock_boot_ms();
	if (k->provider == NULL || k->provider != t->provider->conf || by_token(t, k->provider))
		return;
	struct tp_hash128 key = tp_keys_name(t, k->provider, text).key;
	/* A told time stands: an answer to what was sent before it was told says nothing about it. */
	if (tp_cooldown_get(r, key, now, &c) && (!c.told || k->probe.region != NULL) &&
	    tp_cooldown_clear(r, key, now))
		tp_info("turn %s: %s cools no more", t->id, text);
	tp_cooldown_end_probe(&k->probe, true);
}

void tp_keys_end(struct tp_turn *t)
{
	tp_cooldown_end_probe(&t->keys.probe, false);
}
