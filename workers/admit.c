#include "workers/admit.h"

#include <string.h>

#include "common/config/units.h"
#include "workers/access.h"
#include "workers/numbers.h"
#include "workers/runtime.h"

/* ---- the head */

/* The longest path; of several routes with it the one for requests that name no model. */
static const struct tp_route_conf *find_route(const struct tp_config *c, struct tp_str path)
{
	const struct tp_route_conf *first = NULL;
	for (size_t i = 0; i < c->n_routes; i++) {
		const struct tp_route_conf *r = &c->routes[i];
		if (first != NULL ? strcmp(r->path, first->path) != 0
				  : !tp_path_under(path, tp_str_from(r->path)))
			continue;
		if (r->n_models == 0)
			return r;
		first = first != NULL ? first : r;
	}
	return first;
}

static bool is_replay_safe(const struct tp_turn *t, struct tp_str path)
{
	struct tp_str method = tp_request_str(t->request, t->request->head->method);
	if (tp_str_eq(method, TP_STR("GET")) || tp_str_eq(method, TP_STR("HEAD")) ||
	    tp_str_eq(method, TP_STR("OPTIONS")))
		return true;
	size_t cut = t->route_cut;
	struct tp_str rest = {path.p + cut, path.n - cut};
	const struct tp_provider_conf *p = t->provider->conf;
	for (size_t i = 0; i < p->n_replay_safe; i++) {
		/* Behind the route "/" the path still has the API's own prefix: /v1/messages/count_tokens. */
		struct tp_str safe = tp_str_from(p->replay_safe[i]);
		if (tp_str_eq(rest, safe) || (cut == 0 && tp_str_starts(rest, TP_STR("/v1/")) &&
					      tp_str_eq((struct tp_str){rest.p + 3, rest.n - 3}, safe)))
			return true;
	}
	return false;
}

void tp_turn_use_provider(struct tp_turn *t, size_t provider)
{
	t->provider = &t->runtime->providers[provider];
	t->replay_safe = !t->tunnel && is_replay_safe(t, t->request->path);
}

/* A header that may only lower (design section 10). False when it is unreadable. */
static bool lower_by(struct tp_turn *t, const struct tp_field *f)
{
	struct tp_str v = tp_request_str(t->request, f->value);
	uint64_t n;
	if (f->id == TP_FIELD_X_TURNPIKE_MAX_SENDS) {
		if (tp_parse_count(v, &n) != NULL)
			return false;
		if (n < t->limits.total)
			t->limits.total = (uint32_t)n;
		if (t->limits.base > t->limits.total)
			t->limits.base = t->limits.total;
	} else if (f->id == TP_FIELD_X_TURNPIKE_DEADLINE) {
		if (tp_parse_duration(v, &n) != NULL)
			return false;
		if (t->begun_ms + n < t->deadline_ms)
			t->deadline_ms = t->begun_ms + n;
	}
	return true;
}

/* Each of them counts, also behind another of its name: whoever stands in front of a client may add one. */
static bool lower_limits(struct tp_turn *t)
{
	const struct tp_head *h = t->request->head;
	if (!tp_head_has(h, TP_FIELD_X_TURNPIKE_MAX_SENDS) && !tp_head_has(h, TP_FIELD_X_TURNPIKE_DEADLINE))
		return true;
	for (uint32_t i = 0; i < h->n_fields; i++)
		if (!lower_by(t, &h->fields[i]))
			return false;
	return true;
}

/* Other upgrades may be ignored, and are (RFC 9110 section 7.8): Java's client offers h2c with each request.
 */
static bool wants_websocket(const struct tp_request *r)
{
	static const char name[] = "websocket";
	if (!r->head->upgrade)
		return false;
	struct tp_str v = tp_request_field(r, TP_FIELD_UPGRADE);
	for (size_t i = 0; i + sizeof name - 1 <= v.n; i++)
		if (strncasecmp(v.p + i, name, sizeof name - 1) == 0)
			return true;
	return false;
}

/* Who asks, and where to. False when the turn was answered. */
static bool admit_head(struct tp_turn *t)
{
	struct tp_str target = tp_request_str(t->request, t->request->head->target);
	struct tp_str path = t->request->path;
	struct tp_access access = tp_access_check(t->config, t->client->listener, t->request);
	if (access.status != 0) {
		tp_turn_reject(t, access.status, access.detail);
		return false;
	}
	t->who = access.who;
	if (t->config->n_providers == 0) {
		tp_turn_reject(t, 503, "no provider configured: add one to `providers`");
		return false;
	}
	/* Its answer repeats the request, with the credential that was put in (RFC 9110 section 9.3.8). */
	if (tp_str_eq(tp_request_str(t->request, t->request->head->method), TP_STR("TRACE"))) {
		tp_turn_reject(t, 501, "TRACE is not served");
		return false;
	}
	if (tp_path_has_dots(target)) {
		tp_turn_reject(t, 400, "dot segments in the path");
		return false;
	}
	/* "*" asks about the server as a whole: the route that takes everything. */
	t->route = find_route(t->config, tp_str_eq(path, TP_STR("*")) ? TP_STR("/") : path);
	if (t->route == NULL) {
		tp_turn_reject(t, 404, "no route has this path");
		return false;
	}
	t->route_cut = strcmp(t->route->path, "/") == 0 ? 0 : strlen(t->route->path);
	t->tunnel = wants_websocket(t->request);
	tp_turn_use_provider(t, t->route->provider);
	if (t->tunnel && !t->provider->conf->upgrade_tunnel) {
		tp_turn_reject(t, 426, "no upgrades here: use plain HTTP");
		return false;
	}
	return true;
}

static void set_limits(struct tp_turn *t)
{
	const struct tp_retry_conf *r = &t->provider->conf->retry;
	t->limits = (struct tp_ledger_limits){r->budget_sends, r->budget_sends - r->budget_reserve};
	if (t->targets != NULL && r->budget_sends > 0)
		t->limits.total += t->targets->n - 1;
	t->deadline_ms = t->begun_ms + r->deadline_ms;
	uint64_t count = 0;
	struct tp_str v = tp_request_field(t->request, TP_FIELD_X_STAINLESS_RETRY_COUNT);
	t->resend = v.p != NULL && tp_parse_count(v, &count) == NULL && count > 0;
}

bool tp_turn_admit(struct tp_turn *t)
{
	if (!admit_head(t))
		return false;
	set_limits(t);
	if (lower_limits(t))
		return true;
	tp_turn_reject(t, 400,
		       "X-Turnpike-Max-Sends wants a number, X-Turnpike-Deadline a duration such as 30s");
	return false;
}

/* ---- the body */

/* `*` stands for any text: when what follows it does not fit, the last one takes a byte more. */
static bool matches(const char *pattern, struct tp_str model)
{
	const char *star = NULL;
	size_t at = 0, taken = 0;
	while (at < model.n) {
		if (*pattern == '*') {
			star = pattern++;
			taken = at;
		} else if (*pattern == model.p[at] && *pattern != '\0') {
			pattern++;
			at++;
		} else if (star != NULL) {
			pattern = star + 1;
			at = ++taken;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

static bool takes_model(const struct tp_route_conf *r, struct tp_str model)
{
	for (size_t i = 0; i < r->n_models; i++)
		if (matches(r->models[i], model))
			return true;
	return r->n_models == 0;
}

/* Of the routes with the path of the present one: the first that takes the model, or NULL. */
static const struct tp_route_conf *find_route_of_model(const struct tp_turn *t, struct tp_str model)
{
	const struct tp_config *c = t->config;
	for (size_t i = 0; i < c->n_routes; i++)
		if (strcmp(c->routes[i].path, t->route->path) == 0 && takes_model(&c->routes[i], model))
			return &c->routes[i];
	return NULL;
}

bool tp_turn_admit_model(struct tp_turn *t, const struct tp_request_facts *facts)
{
	if (t->streaming && t->route->n_models > 0) {
		tp_turn_reject(t, 413,
			       "the body is too large to be kept, and where it goes hangs on its model");
		return false;
	}
	if (facts == NULL)
		return true;
	if (!tp_targets_find(t, facts))
		return false;
	if (t->targets != NULL) {
		tp_turn_use_provider(t, t->targets->combo->targets[t->targets->order[0]].provider);
	} else {
		struct tp_str model = {facts->model, facts->model_text_n};
		const struct tp_route_conf *route = find_route_of_model(t, model);
		if (route == t->route)
			return true;
		if (route == NULL) {
			struct tp_refusal r = tp_refusal_for(TP_CODE_MODEL_NOT_FOUND, 0);
			tp_numbers_refusal(t->worker, TP_CODE_MODEL_NOT_FOUND);
			tp_turn_answer_local(t, &r, TP_TURN_BAD, NULL);
			return false;
		}
		t->route = route;
		tp_turn_use_provider(t, route->provider);
	}
	set_limits(t);
	return lower_limits(t); /* true: it was read before */
}
