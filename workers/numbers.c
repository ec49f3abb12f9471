#include "workers/numbers.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/marks.h"
#include "common/shm/series.h"
#include "workers/runtime.h"
#include "workers/turn.h"

enum { OUTCOMES = TP_TURN_BAD + 1, FAMILIES = TP_FAMILY_COUNT, RESULTS = 2, LEDGER_FULL_EVERY_MS = 60000 };

/* Not looked up yet; TP_SERIES_NONE is "looked up, and there was no room". */
enum { UNKNOWN = UINT16_MAX - 1 };

struct of_provider {
	tp_series_id sends[TP_CLASS_COUNT], billed, inflight, queued, keys[TP_KEYS_MAX], refreshes[2];
};

struct of_route {
	tp_series_id turns[FAMILIES][OUTCOMES];
};

struct tp_numbers {
	struct of_provider *providers;
	tp_series_id *hops;      /* of each combo */
	tp_series_id *targets;   /* TP_TARGETS_MAX of each combo */
	struct of_route *routes; /* one more than the configuration has: none of them */
	tp_series_id retries[TP_CLASS_COUNT], refusals[TP_CODE_COUNT], retried[RESULTS],
		alerts[TP_ALERT_COUNT];
};

static void forget(tp_series_id *ids, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof *ids; i++)
		ids[i] = UNKNOWN;
}

struct tp_numbers *tp_numbers_new(const struct tp_config *c)
{
	size_t n_providers = c->n_providers, n_routes = c->n_routes + 1;
	size_t n_targets = c->n_combos * TP_TARGETS_MAX;
	struct tp_numbers *n = calloc(1, sizeof *n);
	if (n == NULL)
		return NULL;
	n->providers = calloc(n_providers, sizeof *n->providers);
	n->routes = calloc(n_routes, sizeof *n->routes);
	n->hops = calloc(c->n_combos + 1, sizeof *n->hops);
	n->targets = calloc(n_targets + 1, sizeof *n->targets);
	if (n->providers == NULL || n->routes == NULL || n->hops == NULL || n->targets == NULL) {
		tp_numbers_free(n);
		return NULL;
	}
	forget((tp_series_id *)n->providers, n_providers * sizeof *n->providers);
	forget((tp_series_id *)n->routes, n_routes * sizeof *n->routes);
	forget(n->hops, c->n_combos * sizeof *n->hops);
	forget(n->targets, n_targets * sizeof *n->targets);
	forget(n->retries, sizeof n->retries);
	forget(n->refusals, sizeof n->refusals);
	forget(n->retried, sizeof n->retried);
	forget(n->alerts, sizeof n->alerts);
	return n;
}

void tp_numbers_free(struct tp_numbers *n)
{
	if (n == NULL)
		return;
	free(n->providers);
	free(n->routes);
	free(n->hops);
	free(n->targets);
	free(n);
}

static tp_series_id look_up(struct tp_worker *w, tp_series_id *id, enum tp_metric m, const char *a,
			    const char *b, const char *c)
{
	if (*id == UNKNOWN) {
		const struct tp_str values[] = {tp_str_from(a), tp_str_from(b), tp_str_from(c)};
		*id = tp_series_open(w->region, w->stamp, m, values);
	}
	return *id;
}

static void add(struct tp_worker *w, tp_series_id *id, int64_t n, enum tp_metric m, const char *a,
		const char *b, const char *c)
{
	tp_series_add(w->region, w->stamp.slot, look_up(w, id, m, a, b, c), n);
}

static struct of_provider *provider_of(const struct tp_provider_rt *p)
{
	return &p->runtime->numbers->providers[p - p->runtime->providers];
}

static void count_key(const struct tp_provider_rt *p, unsigned key)
{
	char number[16]; /* as in "codex key 2" */
	if (key >= p->conf->n_keys)
		return;
	(void)snprintf(number, sizeof number, "%u", key + 1);
	add(p->worker, &provider_of(p)->keys[key], 1, TP_METRIC_KEY_SENDS, p->conf->name, number, NULL);
}

void tp_numbers_send(const struct tp_provider_rt *p, enum tp_class klass, unsigned key)
{
	struct tp_worker *w = p->worker;
	const char *name = tp_class_name(klass);
	add(w, &provider_of(p)->sends[klass], 1, TP_METRIC_SENDS, p->conf->name, name, NULL);
	count_key(p, key);
	if (klass != TP_CLASS_INITIAL && klass != TP_CLASS_HOP)
		add(w, &p->runtime->numbers->retries[klass], 1, TP_METRIC_RETRY_ATTEMPTS, name, NULL, NULL);
}

void tp_numbers_inflight(const struct tp_provider_rt *p, int delta)
{
	add(p->worker, &provider_of(p)->inflight, delta, TP_METRIC_INFLIGHT, p->conf->name, NULL, NULL);
}

void tp_numbers_queued(const struct tp_provider_rt *p, int delta)
{
	add(p->worker, &provider_of(p)->queued, delta, TP_METRIC_QUEUED, p->conf->name, NULL, NULL);
}

int64_t tp_numbers_busy(const struct tp_provider_rt *p)
{
	return tp_series_sum(p->worker->region, look_up(p->worker, &provider_of(p)->inflight,
							TP_METRIC_INFLIGHT, p->conf->name, NULL, NULL));
}

tp_series_id tp_numbers_target(const struct tp_turn *t, unsigned i)
{
	const struct tp_combo_conf *combo = t->targets->combo;
	size_t at = (size_t)(combo - t->config->combos) * TP_TARGETS_MAX + i;
	return look_up(t->worker, &t->runtime->numbers->targets[at], TP_METRIC_TARGET_INFLIGHT,
		       t->config->providers[combo->targets[i].provider].name, combo->targets[i].model, NULL);
}

void tp_numbers_billed(const struct tp_provider_rt *p)
{
	add(p->worker, &provider_of(p)->billed, 1, TP_METRIC_POSSIBLY_BILLED, p->conf->name, NULL, NULL);
}

void tp_numbers_refresh(const struct tp_provider_rt *p, bool renewed)
{
	add(p->worker, &provider_of(p)->refreshes[renewed], 1, TP_METRIC_REFRESHES, p->conf->name,
	    renewed ? "renewed" : "failed", NULL);
}

void tp_numbers_hop(const struct tp_turn *t)
{
	const struct tp_combo_conf *combo = t->targets->combo;
	add(t->worker, &t->runtime->numbers->hops[combo - t->config->combos], 1, TP_METRIC_HOPS, combo->name,
	    NULL, NULL);
}

void tp_numbers_refusal(struct tp_worker *w, enum tp_code code)
{
	tp_worker_count(w, TP_COUNT_REFUSALS_FIRST + code);
	add(w, &w->runtime->numbers->refusals[code], 1, TP_METRIC_REFUSALS, tp_code_name(code), NULL, NULL);
}

void tp_numbers_alert(struct tp_worker *w, enum tp_alert alert)
{
	add(w, &w->runtime->numbers->alerts[alert], 1, TP_METRIC_ALERTS, tp_alert_name(alert), NULL, NULL);
}

void tp_numbers_wait(struct tp_worker *w, uint32_t ms)
{
	tp_histogram_add(w->region, w->stamp.slot, TP_HISTOGRAM_WAIT, (uint64_t)ms * 1000);
}

void tp_numbers_first_byte(struct tp_worker *w, uint64_t us)
{
	tp_histogram_add(w->region, w->stamp.slot, TP_HISTOGRAM_FIRST_BYTE, us);
}

void tp_numbers_ledger_full(struct tp_worker *w)
{
	tp_worker_count(w, TP_COUNT_LEDGER_FULL);
	if (tp_mark_due(w->region, TP_MARK_LEDGER_FULL, LEDGER_FULL_EVERY_MS, tp_clock_boot_ms()))
		tp_warn("the ledger is full: requests get their first send and no retry; "
			"raise state.logical_requests (%u)",
			(unsigned)w->config->state.logical_requests);
}

static const char *const outcome_names[] = {
	[TP_TURN_OK] = "ok",   [TP_TURN_ERROR] = "error", [TP_TURN_REFUSED] = "refused",
	[TP_TURN_CUT] = "cut", [TP_TURN_GONE] = "gone",   [TP_TURN_BAD] = "bad",
};

static void count_turn(const struct tp_runtime *r, size_t route, const char *path, enum tp_family family,
		       unsigned outcome)
{
	add(r->worker, &r->numbers->routes[route].turns[family][outcome], 1, TP_METRIC_TURNS, path,
	    tp_family_name(family), outcome_names[outcome]);
}

void tp_numbers_turn(const struct tp_turn *t, unsigned outcome)
{
	struct tp_worker *w = t->worker;
	size_t none = t->config->n_routes;
	size_t route = t->route != NULL ? (size_t)(t->route - t->config->routes) : none;
	count_turn(t->runtime, route < none ? route : none, t->route != NULL ? t->route->path : "none",
		   t->family, outcome);
	tp_histogram_add(w->region, w->stamp.slot, TP_HISTOGRAM_TURN,
			 (tp_clock_boot_ms() - t->begun_ms) * 1000);
	if (t->attempt.serial > 0 && !t->streaming)
		tp_histogram_add(w->region, w->stamp.slot, TP_HISTOGRAM_OVERHEAD,
				 tp_overhead_total(&t->overhead));
	bool retried = false;
	for (unsigned k = TP_CLASS_RESET; k < TP_CLASS_COUNT; k++)
		retried = retried || t->class_sends[k] > 0;
	if (!retried || outcome == TP_TURN_GONE)
		return;
	bool good = outcome == TP_TURN_OK;
	add(w, &t->runtime->numbers->retried[good], 1, TP_METRIC_RETRIED_TURNS, good ? "success" : "failure",
	    NULL, NULL);
}

void tp_numbers_bad_head(struct tp_worker *w, enum tp_family family)
{
	count_turn(w->runtime, w->config->n_routes, "none", family, TP_TURN_BAD);
}
