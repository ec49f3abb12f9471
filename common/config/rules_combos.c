/* Rules between combos, their providers and routes (design section 8). */
#include "common/config/rules.h"

#include <string.h>

#include "common/config/refresh.h"

void tp_check_combo(struct tp_load *l, void *object, struct tp_node *node)
{
	const struct tp_combo_conf *c = object;
	const char *reason = c->name != NULL ? tp_refuse_name(c->name) : NULL;
	if (reason != NULL && node != NULL)
		tp_config_errors_add(l->errors, node->key_line, node->key_column, "combos: `%s` %s", c->name,
				     reason);
	struct tp_node *targets = tp_node_get(node, "targets");
	if (!tp_is_given(targets))
		return;
	struct tp_node *item = targets->first;
	for (size_t i = 0; i < c->n_targets && item != NULL; i++, item = item->next)
		for (size_t k = 0; k < i; k++)
			if (c->targets[i].provider == c->targets[k].provider && c->targets[i].model != NULL &&
			    c->targets[k].model != NULL &&
			    strcmp(c->targets[i].model, c->targets[k].model) == 0)
				tp_node_complain(item, l->errors, "is the same target as targets[%zu]", k);
}

static bool same_origin(const struct tp_provider_conf *a, const struct tp_provider_conf *b)
{
	return a->https == b->https && a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* Lives on what the client sends along: neither a key nor a user in its url. */
static bool takes_clients_credential(const struct tp_provider_conf *p)
{
	return p->n_keys == 0 && !tp_refresh_is_set(p) && p->url_authorization == NULL;
}

static bool is_routed(const struct tp_config *c, const struct tp_provider_conf *p)
{
	for (size_t i = 0; i < c->n_routes; i++)
		if (same_origin(&c->providers[c->routes[i].provider], p))
			return true;
	return false;
}

/* The first target before `n` that lives on the client's credential too, at another origin; or NULL. */
static const struct tp_provider_conf *stranger(const struct tp_config *c, const struct tp_combo_conf *combo,
					       size_t n)
{
	const struct tp_provider_conf *p = &c->providers[combo->targets[n].provider];
	for (size_t i = 0; i < n; i++) {
		const struct tp_provider_conf *other = &c->providers[combo->targets[i].provider];
		if (takes_clients_credential(other) && !other->pass_credential && !same_origin(other, p))
			return other;
	}
	return NULL;
}

static void check_credential(struct tp_load *l, const struct tp_combo_conf *combo, size_t n,
			     struct tp_node *node)
{
	const struct tp_config *c = l->config;
	const struct tp_provider_conf *p = &c->providers[combo->targets[n].provider];
	/* With `clients` the client's credential opens Turnpike only. */
	if (c->n_clients > 0 || !takes_clients_credential(p) || p->pass_credential)
		return;
	const struct tp_provider_conf *other = stranger(c, combo, n);
	if (other != NULL)
		tp_node_complain(node, l->errors,
				 "`%s` has no key, and neither has `%s` at another origin: the client's "
				 "credential can be meant for one of them only. Give it `keys`, or set "
				 "pass_credential: true to show it that credential",
				 p->name, other->name);
	else if (!is_routed(c, p))
		tp_node_complain(
			node, l->errors,
			"`%s` has no key, and no route leads to its origin: the client's credential "
			"is meant for somebody else. Give it `keys`, or set pass_credential: true to "
			"show it that credential",
			p->name);
}

void tp_check_combos(struct tp_load *l, struct tp_node *root)
{
	const struct tp_config *c = l->config;
	struct tp_node *node = tp_node_get(root, "combos");
	struct tp_node *providers = tp_node_get(root, "providers"), *routes = tp_node_get(root, "routes");
	/* What was written wrongly has been told; the rules are about files that are right otherwise. */
	if (!tp_is_given(node) || !tp_is_given(providers) || (routes != NULL && !tp_is_given(routes)))
		return;
	node = node->first;
	for (size_t i = 0; i < c->n_combos && node != NULL; i++, node = node->next) {
		struct tp_node *target = tp_node_get(node, "targets")->first;
		for (size_t k = 0; k < c->combos[i].n_targets && target != NULL; k++, target = target->next)
			check_credential(l, &c->combos[i], k, target);
	}
}
