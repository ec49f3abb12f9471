/* Section `refresh` of a provider. */
#include "common/config/refresh.h"

#include <string.h>

#include "common/config/endpoint.h"
#include "common/config/rules.h"

const char *tp_refresh_endpoint(const struct tp_provider_conf *p, struct tp_provider_conf *ret_endpoint)
{
	struct tp_provider_conf e = *p;
	e.url = p->refresh.url;
	e.base = e.host = e.path = e.authority = e.url_authorization = NULL;
	e.tls.server_name = NULL; /* that of the provider's host */
	e.tls.own =
		(struct tp_certificate_conf){0}; /* it says to the provider who we are, and to nobody else */
	const char *reason = tp_endpoint_url(&e);
	if (reason == NULL && e.url_authorization != NULL)
		reason = "must not have user information: use client_id and client_secret";
	if (reason != NULL)
		tp_refresh_endpoint_free(&e);
	else
		*ret_endpoint = e;
	return reason;
}

void tp_refresh_endpoint_free(struct tp_provider_conf *endpoint)
{
	endpoint->egress = NULL; /* borrowed */
	tp_release_provider(endpoint);
}

static const char *missing(const struct tp_provider_conf *p)
{
	return p->refresh.url == NULL             ? "url"
	       : p->refresh.refresh_token == NULL ? "refresh_token"
	       : p->refresh.state_file == NULL    ? "state_file"
						  : NULL;
}

void tp_check_refresh(struct tp_load *l, const struct tp_provider_conf *p, struct tp_node *provider)
{
	struct tp_node *node = tp_node_get(provider, "refresh"), *url = tp_node_get(node, "url");
	bool any = p->refresh.url != NULL || p->refresh.refresh_token != NULL ||
		   p->refresh.client_id != NULL || p->refresh.client_secret != NULL ||
		   p->refresh.state_file != NULL;
	if (!any || !tp_is_given(node))
		return;
	if (missing(p) != NULL)
		tp_node_complain(node, l->errors,
				 "needs `%s` too: url, refresh_token and state_file go together", missing(p));
	if (p->refresh.client_secret != NULL && p->refresh.client_id == NULL)
		tp_node_complain(node, l->errors, "has a client_secret and no client_id");
	struct tp_provider_conf endpoint = {0};
	const char *reason = p->refresh.url != NULL ? tp_refresh_endpoint(p, &endpoint) : NULL;
	if (reason != NULL && url != NULL)
		tp_node_complain(url, l->errors, "the url %s", reason);
	tp_refresh_endpoint_free(&endpoint);
}

/* Two providers would overwrite each other's token. */
void tp_check_state_files(struct tp_load *l, struct tp_node *root)
{
	const struct tp_config *c = l->config;
	for (size_t i = 0; i < c->n_providers; i++)
		for (size_t k = 0; k < i; k++) {
			const char *a = c->providers[i].refresh.state_file,
				   *b = c->providers[k].refresh.state_file;
			struct tp_node *providers = tp_node_get(root, "providers");
			struct tp_node *node =
				tp_node_get(tp_node_get(providers, c->providers[i].name), "refresh");
			if (a != NULL && b != NULL && node != NULL && strcmp(a, b) == 0)
				tp_node_complain(tp_node_get(node, "state_file"), l->errors,
						 "is the file of provider `%s` too", c->providers[k].name);
		}
}
