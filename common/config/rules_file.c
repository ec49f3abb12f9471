/* Rules that look at the whole file. */
#include "common/config/rules.h"

#include <stdlib.h>

#include "common/config/endpoint.h"
#include "common/config/refresh.h"

/* Node i of a list, or of what stands in its place. */
static struct tp_node *entry(struct tp_node *list, size_t i)
{
	if (list == NULL || list->kind != TP_NODE_LIST)
		return list;
	struct tp_node *node = list->first;
	while (node != NULL && i-- > 0)
		node = node->next;
	return node;
}

static bool same_place(const struct tp_listener_conf *a, const struct tp_listener_conf *b)
{
	if (a->host == NULL || b->host == NULL || a->is_unix != b->is_unix || strcmp(a->host, b->host) != 0)
		return false;
	/* Port 0 is another port each time. */
	return a->is_unix || (a->port == b->port && a->port != 0);
}

static void check_listeners(struct tp_load *l, struct tp_node *root)
{
	const struct tp_config *c = l->config;
	struct tp_node *list = tp_node_get(root, "listen"), *clients = tp_node_get(root, "clients");
	/* Clients that were written wrongly are told as such; they are not "none". */
	bool open = c->n_clients == 0 && (clients == NULL || !clients->bad) && !c->allow_anonymous;
	for (size_t i = 0; i < c->n_listeners && list != NULL; i++) {
		const struct tp_listener_conf *a = &c->listeners[i];
		struct tp_node *node = entry(list, i);
		if (a->host == NULL)
			continue;
		if (open && !tp_endpoint_is_local(a))
			tp_node_complain(
				node, l->errors,
				"`%s` can be reached from other machines: name `clients` with keys, or set "
				"allow_anonymous: true to let everybody in",
				a->address);
		for (size_t k = 0; k < i; k++)
			if (same_place(a, &c->listeners[k]))
				tp_node_complain(node, l->errors, "`%s` is the address of listen[%zu] too",
						 a->address, k);
	}
}

/* Where two addresses are the same, the later one of the file is told. */
static void check_admin(struct tp_load *l, struct tp_node *root)
{
	const struct tp_config *c = l->config;
	struct tp_node *list = tp_node_get(tp_node_get(root, "admin"), "listen");
	struct tp_node *token = tp_node_get(tp_node_get(root, "admin"), "token");
	bool open = c->admin.token == NULL && (token == NULL || !token->bad);
	for (size_t i = 0; i < c->admin.n_listeners && list != NULL; i++) {
		const struct tp_listener_conf *a = &c->admin.listeners[i];
		struct tp_node *node = entry(list, i);
		if (a->host == NULL)
			continue;
		if (open && !tp_endpoint_is_local(a))
			tp_node_complain(node, l->errors,
					 "`%s` can be reached from other machines: that needs admin.token",
					 a->address);
		for (size_t k = 0; k < c->n_listeners; k++)
			if (same_place(a, &c->listeners[k]))
				tp_node_complain(
					node, l->errors,
					"`%s` is the address of listen[%zu] too: the admin endpoints "
					"have one of their own",
					a->address, k);
		for (size_t k = 0; k < i; k++)
			if (same_place(a, &c->admin.listeners[k]))
				tp_node_complain(node, l->errors,
						 "`%s` is the address of admin.listen[%zu] too", a->address,
						 k);
	}
}

static void check_anonymous(struct tp_load *l, struct tp_node *root)
{
	struct tp_node *node = tp_node_get(root, "allow_anonymous");
	if (tp_is_given(node) && l->config->allow_anonymous && l->config->n_clients > 0)
		tp_node_complain(node, l->errors,
				 "contradicts `clients`: with clients every request needs a key");
}

/* /v1 and / -> the only provider. */
static void set_default_routes(struct tp_load *l)
{
	static const char *const paths[] = {"/v1", "/"};
	struct tp_config *c = l->config;
	free(c->routes);
	c->n_routes = 0;
	c->routes = calloc(2, sizeof *c->routes);
	for (; c->routes != NULL && c->n_routes < 2; c->n_routes++) {
		c->routes[c->n_routes].path = strdup(paths[c->n_routes]);
		if (c->routes[c->n_routes].path == NULL)
			break;
	}
	if (c->n_routes < 2)
		l->errors->no_memory = true;
}

static void check_routes(struct tp_load *l, struct tp_node *root)
{
	struct tp_config *c = l->config;
	struct tp_node *list = tp_node_get(root, "routes");
	if (c->n_routes == 0 && c->n_providers == 1 && (list == NULL || tp_is_given(list)))
		set_default_routes(l);
	else if (c->n_routes == 0 && c->n_providers > 1 && (list == NULL || tp_is_given(list)))
		tp_node_complain(list != NULL ? list : tp_node_get(root, "providers"), l->errors,
				 "with several providers `routes` must say which path goes where");
	for (size_t i = 0; i < c->n_routes && list != NULL; i++)
		for (size_t k = 0; k < i; k++)
			if (c->routes[i].path != NULL && c->routes[k].path != NULL &&
			    c->routes[k].n_models == 0 && strcmp(c->routes[i].path, c->routes[k].path) == 0) {
				tp_node_complain(tp_node_get(entry(list, i), "path"), l->errors,
						 "routes[%zu] has the same path and takes all models", k);
				break;
			}
}

/* What the shared table has no room for is no limit, which nobody would notice. */
static void check_numbers(struct tp_load *l, struct tp_node *root)
{
	const struct tp_config *c = l->config;
	unsigned gated = 0, refreshed = 0;
	for (size_t i = 0; i < c->n_providers; i++) {
		struct tp_node *node = tp_node_get(tp_node_get(root, "providers"), c->providers[i].name);
		if (c->providers[i].capacity_limit != TP_LIMIT_OFF && ++gated > TP_GATED_MAX)
			tp_node_complain(tp_node_get(tp_node_get(node, "capacity"), "limit"), l->errors,
					 "is one too many: %d providers at most have a limit", TP_GATED_MAX);
		if (tp_refresh_is_set(&c->providers[i]) && ++refreshed > TP_REFRESHED_MAX)
			tp_node_complain(tp_node_get(node, "refresh"), l->errors,
					 "is one too many: %d providers at most have it", TP_REFRESHED_MAX);
	}
}

static size_t path_length(const struct tp_route_conf *r)
{
	return r->path != NULL ? strlen(r->path) : 0;
}

/* The longest path first; equal ones stay in the order of the file, which decides among their models. */
static void sort_routes(struct tp_route_conf *routes, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct tp_route_conf moved = routes[i];
		size_t at = i;
		for (; at > 0 && path_length(&routes[at - 1]) < path_length(&moved); at--)
			routes[at] = routes[at - 1];
		routes[at] = moved;
	}
}

void tp_check_config(struct tp_load *l, void *object, struct tp_node *node)
{
	struct tp_config *c = object;
	check_listeners(l, node);
	check_admin(l, node);
	check_anonymous(l, node);
	check_routes(l, node);
	tp_check_combos(l, node);
	tp_check_state_files(l, node);
	check_numbers(l, node);
	/* Last: the checks above find nodes by the order of the file. */
	sort_routes(c->routes, c->n_routes);
}
