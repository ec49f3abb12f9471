/* Section `refresh` of a provider, as those use it who ask its endpoint (design section 9). */
#ifndef TP_CONFIG_REFRESH_H
#define TP_CONFIG_REFRESH_H

#include "common/config/config.h"

/* The provider asks with access tokens that are renewed. */
static inline bool tp_refresh_is_set(const struct tp_provider_conf *p)
{
	return p->refresh.url != NULL;
}

/*
 * The endpoint as a provider of its own, so that names, TLS and egress work as for the provider: all that is
 * not derived from the url is borrowed from `p`.  NULL on success; else a static reason that holds no part of
 * the value.  Free with tp_refresh_endpoint_free().
 */
const char *tp_refresh_endpoint(const struct tp_provider_conf *p, struct tp_provider_conf *ret_endpoint);
/* Accepts a zeroed struct. */
void tp_refresh_endpoint_free(struct tp_provider_conf *endpoint);

#endif
