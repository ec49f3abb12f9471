/* Rules between the keys of one section, and the fields derived from them. */
#include "common/config/rules.h"

#include <stdlib.h>

#include "common/config/convert.h"
#include "common/config/endpoint.h"
#include "common/config/units.h"

/* ---- listen */

void tp_check_listener_tls(struct tp_load *l, void *object, struct tp_node *node)
{
	const struct tp_listener_conf *c = object;
	if (!tp_is_given(node) || (c->tls.certificate != NULL) == (c->tls.key != NULL))
		return;
	tp_node_complain(node, l->errors, "`%s` is missing: TLS needs `certificate` and `key`",
			 c->tls.key == NULL ? "key" : "certificate");
}

void tp_check_listener(struct tp_load *l, void *object, struct tp_node *node)
{
	struct tp_listener_conf *c = object;
	struct tp_node *address =
		node != NULL && node->kind == TP_NODE_MAPPING ? tp_node_get(node, "address") : node;
	if (c->address == NULL)
		return;
	const char *reason = tp_endpoint_listen(c);
	if (reason != NULL && address != NULL)
		tp_node_complain(address, l->errors, "`%s` %s", address->raw, reason);
}

void tp_release_listener(void *object)
{
	struct tp_listener_conf *c = object;
	tp_convert_set_string(&c->host, NULL);
}

/* ---- retry, budget */

static const struct tp_node *inner(const struct tp_node *node, const char *section, const char *key)
{
	return tp_node_get(tp_node_get(node, section), key);
}

/* A status belongs to one class. What is written takes it from the default (or inherited) list of the other.
 */
static void part_statuses(struct tp_load *l, struct tp_retry_conf *r, struct tp_node *node)
{
	const struct tp_node *transient = inner(node, "transient", "statuses");
	struct tp_node *overload = tp_node_get(tp_node_get(node, "overload"), "statuses");
	for (int status = 400; status < 600; status++) {
		uint64_t bit = UINT64_C(1) << status % 64;
		if (!tp_status_in(&r->transient_statuses, status) ||
		    !tp_status_in(&r->overload_statuses, status))
			continue;
		if (overload == NULL)
			r->overload_statuses.bits[status / 64] &= ~bit;
		else if (transient == NULL)
			r->transient_statuses.bits[status / 64] &= ~bit;
		else if (tp_is_given(transient) && overload->kind != TP_NODE_BAD)
			tp_node_complain(overload, l->errors,
					 "%d is in transient.statuses too: a status stands in one class only",
					 status);
	}
}

void tp_check_retry(struct tp_load *l, void *object, struct tp_node *node)
{
	struct tp_retry_conf *r = object;
	struct tp_node *floor = tp_node_get(tp_node_get(node, "retry_after"), "floor");
	struct tp_node *ceiling = tp_node_get(tp_node_get(node, "retry_after"), "ceiling");
	bool readable = (floor == NULL || tp_is_given(floor)) && (ceiling == NULL || tp_is_given(ceiling));
	if (readable && r->floor_ms > r->ceiling_ms && (floor != NULL || ceiling != NULL)) {
		struct tp_buf text = {0};
		tp_format_duration(&text, floor != NULL ? r->ceiling_ms : r->floor_ms);
		const char *other = tp_buf_cstr(&text);
		tp_node_complain(floor != NULL ? floor : ceiling, l->errors,
				 "is %s (%s): no told wait could be waited for",
				 floor != NULL ? "above ceiling" : "below floor",
				 other != NULL ? other : "?");
		tp_buf_free(&text);
	}
	part_statuses(l, r, node);
}

void tp_check_budget(struct tp_load *l, void *object, struct tp_node *node)
{
	const struct tp_budget_conf *b = &((const struct tp_config *)object)->budget;
	struct tp_node *sends = tp_node_get(node, "sends"), *reserve = tp_node_get(node, "reserve");
	if (b->reserve <= b->sends || (sends != NULL && !tp_is_given(sends)) ||
	    (reserve != NULL && !tp_is_given(reserve)))
		return;
	if (reserve != NULL)
		tp_node_complain(reserve, l->errors, "is above sends (%u), of which it is a part", b->sends);
	else
		tp_node_complain(sends, l->errors,
				 "is below reserve (%u by default), which is a part of it: set both",
				 b->reserve);
}

/* ---- clients, providers */

void tp_check_client(struct tp_load *l, void *object, struct tp_node *node)
{
	const struct tp_client_conf *c = object, *all = l->config->clients;
	for (size_t i = 0; &all[i] < c; i++) {
		if (c->name != NULL && all[i].name != NULL && strcmp(all[i].name, c->name) == 0)
			tp_node_complain(tp_node_get(node, "name"), l->errors,
					 "clients[%zu] has the same name", i);
		if (c->key != NULL && all[i].key != NULL && strcmp(all[i].key, c->key) == 0)
			tp_node_complain(tp_node_get(node, "key"), l->errors, "clients[%zu] has the same key",
					 i);
	}
}

void tp_prepare_provider(struct tp_load *l, void *object)
{
	((struct tp_provider_conf *)object)->retry = l->config->retry;
}

/* The Authorization header cannot carry both. */
static bool keys_clash_with_user(const struct tp_provider_conf *p)
{
	bool in_authorization = p->key_header == TP_KEY_AUTHORIZATION ||
				(p->key_header == TP_KEY_AUTO && p->family != TP_PROVIDER_ANTHROPIC);
	return p->url_authorization != NULL && p->n_keys > 0 && in_authorization;
}

void tp_check_provider(struct tp_load *l, void *object, struct tp_node *node)
{
	struct tp_provider_conf *p = object;
	struct tp_node *url = tp_node_get(node, "url"), *tls = tp_node_get(node, "tls");
	const char *reason = p->name != NULL ? tp_refuse_name(p->name) : NULL;
	if (reason != NULL && node != NULL)
		tp_config_errors_add(l->errors, node->key_line, node->key_column, "providers: `%s` %s",
				     p->name, reason);
	if (p->url == NULL || url == NULL)
		return;
	reason = tp_endpoint_url(p);
	if (reason != NULL) {
		tp_node_complain(url, l->errors, "the url %s", reason);
		return;
	}
	if (keys_clash_with_user(p))
		tp_node_complain(
			url, l->errors,
			"the url has user information and there is a key: both would need the Authorization "
			"header. Set key_header to another one, or drop one of them");
	/* Silently sending in clear what somebody meant to protect would be the worst reading. */
	bool protected = p->tls.ca != NULL || p->tls.server_name != NULL || !p->tls.verify;
	if (!p->https && tp_is_given(tls) && protected)
		tp_node_complain(tls, l->errors, "has no meaning for an http:// url");
}

void tp_mask_url(const void *object, struct tp_buf *out)
{
	const struct tp_provider_conf *p = object;
	const char *host = strstr(p->base, "://") + 3;
	tp_buf_add(out, p->base, (size_t)(host - p->base));
	tp_buf_printf(out, "%s%s", p->url_authorization != NULL ? "********@" : "", host);
}

void tp_release_provider(void *object)
{
	struct tp_provider_conf *p = object;
	tp_convert_set_string(&p->base, NULL);
	tp_convert_set_string(&p->host, NULL);
	tp_convert_set_string(&p->path, NULL);
	tp_convert_set_string(&p->authority, NULL);
	tp_convert_set_string(&p->url_authorization, NULL);
}
