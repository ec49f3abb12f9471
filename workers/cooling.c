#include "workers/cooling.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/hop.h"
#include "common/retry/others.h"
#include "workers/credential.h"
#include "workers/keys.h"
#include "workers/turn.h"

static const struct tp_provider_conf *provider_of(const struct tp_turn *t, unsigned i)
{
	return &t->config->providers[t->targets->combo->targets[i].provider];
}

/* What may cool of a target: itself, itself for this client's credential only, and the key it is asked with.
 */
enum name { NAME_TARGET, NAME_OF_CLIENT, NAME_KEY, NAMES };

/* `text` takes the name's text and has to live as long as it. */
static struct tp_cooldown_name name_of(const struct tp_turn *t, unsigned i, enum name kind,
				       char text[TP_TARGET_NAME])
{
	const struct tp_provider_conf *p = provider_of(t, i);
	uint64_t client = kind != NAME_TARGET ? tp_waits_client(t, p) : 0;
	if (kind != NAME_KEY) {
		snprintf(text, TP_TARGET_NAME, "%s/%s%s", p->name, t->targets->combo->targets[i].model,
			 client != 0 ? " (one client's credential)" : "");
		return tp_waits_target(t, p, tp_str_from(t->targets->combo->targets[i].model), client,
				       tp_str_from(text));
	}
	if (tp_credential_own(p))
		return tp_keys_name(t, p, text);
	struct tp_str secret = {(const char *)&client, sizeof client};
	snprintf(text, TP_TARGET_NAME, client != 0 ? "%s (one client's credential)" : "%s key 1", p->name);
	return tp_cooldown_key(t->worker->region, tp_str_from(p->name), secret, tp_str_from(text));
}

/* One of several keys is enough to ask it. */
static bool cools_by(const struct tp_turn *t, unsigned i, enum name kind, uint64_t now_ms,
		     struct tp_cooldown *ret, struct tp_hash128 *ret_key)
{
	char text[TP_TARGET_NAME];
	const struct tp_provider_conf *p = provider_of(t, i);
	if (kind == NAME_KEY && tp_credential_own(p))
		return tp_keys_all_cool(t, p, now_ms, ret, ret_key);
	*ret_key = name_of(t, i, kind, text).key;
	return tp_cooldown_get(t->worker->region, *ret_key, now_ms, ret);
}

bool tp_target_cools(const struct tp_turn *t, unsigned i, uint64_t now_ms, struct tp_target_cooling *ret)
{
	struct tp_hash128 key;
	struct tp_cooldown c;
	*ret = (struct tp_target_cooling){0};
	for (enum name kind = 0; kind < NAMES; kind++) {
		if (!cools_by(t, i, kind, now_ms, &c, &key))
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
	enum tp_blame blame = t->targets != NULL ? tp_blame_of(o) : TP_BLAME_NONE;
	if (blame == TP_BLAME_NONE)
		return;
	if (tp_keys_refused(t, o)) { /* that key cools; the target does with its last one */
		tp_cooldown_end_probe(&t->targets->probe, true);
		return;
	}
	char text[TP_TARGET_NAME];
	unsigned at = t->targets->at;
	enum name kind = blame == TP_BLAME_KEY     ? NAME_KEY
			 : tp_holds_one_account(o) ? NAME_OF_CLIENT
						   : NAME_TARGET;
	struct tp_cooldown_name name = name_of(t, at, kind, text);
	tp_waits_cool(t, &name, o, t->targets->combo->cooldown_ms, "as combos.cooldown says");
	tp_cooldown_end_probe(&t->targets->probe, true);
}

/* A told time stands: an answer to what was sent before it was told says nothing about it. */
void tp_targets_good(struct tp_turn *t)
{
	if (t->targets == NULL)
		return;
	char text[TP_TARGET_NAME];
	struct tp_cooldown c;
	uint64_t now = tp_clock_boot_ms();
	for (enum name kind = 0; kind < NAMES; kind++) {
		struct tp_hash128 key = name_of(t, t->targets->at, kind, text).key;
		if (tp_cooldown_get(t->worker->region, key, now, &c) && !c.told)
			(void)tp_cooldown_clear(t->worker->region, key, now);
	}
	tp_cooldown_end_probe(&t->targets->probe, true);
}

struct tp_all_cooling tp_targets_cooling(const struct tp_turn *t, uint64_t now_ms)
{
	struct tp_all_cooling all = {.soonest_ms = UINT64_MAX};
	for (unsigned at = 0; at < t->targets->n; at++) {
		unsigned i = t->targets->order[at];
		struct tp_target_cooling c;
		if (!tp_target_cools(t, i, now_ms, &c))
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
