#include "workers/runtime.h"

#include <stdlib.h>
#include <string.h>

#include "common/config/refresh.h"
#include "common/shm/gate.h"
#include "common/shm/token.h"
#include "workers/gate.h"
#include "workers/health.h"
#include "workers/numbers.h"
#include "workers/refresher.h"
#include "workers/tls.h"
#include "workers/upstream.h"

_Static_assert((int)TP_GATED_MAX == (int)TP_GATES && (int)TP_REFRESHED_MAX == (int)TP_TOKENS,
	       "config.h says what there is room for");

/* One configuration has not too many; all since the table was made may. Then it is refused: a limit that does
 * not hold is worse than a reload that fails. */
static bool has_gate(const struct tp_provider_rt *p, struct tp_buf *why)
{
	if (p->conf->capacity_limit == TP_LIMIT_OFF || p->gate != TP_GATE_NONE)
		return true;
	tp_buf_printf(why,
		      "provider %s: the shared table has no room for its capacity.limit: "
		      "%d names have had one since it was made; start once with --fresh-state",
		      p->conf->name, TP_GATES);
	return false;
}

static bool open_providers(struct tp_runtime *r, struct tp_buf *why)
{
	const struct tp_config *c = r->config;
	r->providers = calloc(c->n_providers, sizeof r->providers[0]);
	if (r->providers == NULL)
		return false;
	for (size_t i = 0; i < c->n_providers; i++)
		tp_provider_rt_init(&r->providers[i], r, &c->providers[i]);
	for (size_t i = 0; i < c->n_providers; i++)
		if (!has_gate(&r->providers[i], why))
			return false;
	for (size_t i = 0; i < c->n_providers; i++)
		if (c->providers[i].https &&
		    (r->providers[i].tls = tp_tls_provider(&c->providers[i], c->files, why)) == NULL)
			return false;
	for (size_t i = 0; i < c->n_providers; i++)
		if (tp_refresh_is_set(&c->providers[i]) &&
		    (r->providers[i].refresher = tp_refresher_new(&r->providers[i], why)) == NULL)
			return false;
	return true;
}

static bool open_listeners(struct tp_runtime *r, struct tp_buf *why)
{
	const struct tp_config *c = r->config;
	r->listener_tls = calloc(c->n_listeners, sizeof r->listener_tls[0]);
	if (r->listener_tls == NULL)
		return false;
	for (size_t i = 0; i < c->n_listeners; i++)
		if (c->listeners[i].tls.own.certificate != NULL &&
		    (r->listener_tls[i] = tp_tls_listener(&c->listeners[i], c->files, why)) == NULL)
			return false;
	return true;
}

static void free_runtime(struct tp_runtime *r)
{
	tp_health_free(r->health);
	for (size_t i = 0; r->providers != NULL && i < r->config->n_providers; i++)
		tp_provider_rt_close(&r->providers[i]);
	for (size_t i = 0; r->listener_tls != NULL && i < r->config->n_listeners; i++)
		SSL_CTX_free(r->listener_tls[i]);
	free(r->providers);
	free(r->listener_tls);
	tp_numbers_free(r->numbers);
	tp_config_unref(r->config);
	free(r);
}

struct tp_runtime *tp_runtime_new(struct tp_worker *w, struct tp_config *config, struct tp_buf *why)
{
	struct tp_runtime *r = calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	r->refs = 1;
	r->worker = w;
	r->config = tp_config_ref(config);
	if ((r->numbers = tp_numbers_new(config)) != NULL && open_providers(r, why) &&
	    open_listeners(r, why) && (r->health = tp_health_new(r)) != NULL)
		return r;
	free_runtime(r);
	return NULL;
}

struct tp_runtime *tp_runtime_ref(struct tp_runtime *r)
{
	r->refs++;
	return r;
}

/* Not at once: callbacks further up the stack may still look at a provider. */
void tp_runtime_unref(struct tp_runtime *r)
{
	if (r != NULL && --r->refs == 0)
		SLIST_INSERT_HEAD(&r->worker->ended, r, ended);
}

void tp_runtime_free_ended(struct tp_worker *w)
{
	struct tp_runtime *r;
	while ((r = SLIST_FIRST(&w->ended)) != NULL) {
		SLIST_REMOVE_HEAD(&w->ended, ended);
		free_runtime(r);
	}
}

/* Kept connections know the way they were made by its place in the list. */
static bool same_ways(const struct tp_provider_conf *a, const struct tp_provider_conf *b)
{
	for (size_t i = 0; i < a->n_via && i < b->n_via; i++)
		if (strcmp(a->via[i], b->via[i]) != 0)
			return false;
	return a->n_via == b->n_via;
}

/* Under TLS a CA file may be another one under the same name. */
static bool same_peer(const struct tp_provider_conf *a, const struct tp_provider_conf *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->host, b->host) == 0 && a->port == b->port &&
	       !a->https && !b->https && same_ways(a, b);
}

static void retire(struct tp_runtime *old, struct tp_runtime *r)
{
	old->retired = true;
	tp_health_free(old->health);
	old->health = NULL;
	for (size_t i = 0; i < old->config->n_providers; i++) {
		struct tp_provider_rt *from = &old->providers[i];
		for (size_t k = 0; k < r->config->n_providers; k++)
			if (same_peer(from->conf, &r->config->providers[k]))
				tp_provider_rt_move(from, &r->providers[k]);
		tp_provider_rt_rest(from);
	}
}

void tp_runtime_enter(struct tp_runtime *r)
{
	struct tp_worker *w = r->worker;
	struct tp_runtime *old = w->runtime;
	w->runtime = r;
	w->config = r->config;
	tp_gates_enter(w->gates, r);
	if (old != NULL)
		retire(old, r);
	tp_runtime_unref(old);
	tp_health_begin(r->health);
}
