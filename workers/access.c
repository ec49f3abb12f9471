#include "workers/access.h"

#include <openssl/crypto.h>

const enum tp_field_id tp_credential_fields[TP_CREDENTIAL_FIELDS] = {
	TP_FIELD_AUTHORIZATION, TP_FIELD_X_API_KEY, TP_FIELD_API_KEY, TP_FIELD_X_GOOG_API_KEY};

static struct tp_str bearer(struct tp_str v)
{
	static const struct tp_str scheme = {"Bearer ", 7};
	if (v.n < scheme.n || !tp_str_ieq((struct tp_str){v.p, scheme.n}, scheme))
		return (struct tp_str){NULL, 0};
	return tp_str_trim((struct tp_str){v.p + scheme.n, v.n - scheme.n});
}

/* Takes as long for a wrong key as for the right one. */
static bool same_secret(struct tp_str given, struct tp_str key)
{
	return given.n == key.n && key.n > 0 && CRYPTO_memcmp(given.p, key.p, key.n) == 0;
}

static const struct tp_client_conf *client_of(const struct tp_config *c, struct tp_str key)
{
	const struct tp_client_conf *found = NULL;
	for (size_t i = 0; i < c->n_clients; i++)
		if (same_secret(key, tp_str_from(c->clients[i].key)))
			found = &c->clients[i];
	return found;
}

static struct tp_access check_key(const struct tp_config *c, const struct tp_request *r)
{
	bool given = false;
	for (size_t i = 0; i < TP_CREDENTIAL_FIELDS; i++) {
		struct tp_str v = tp_request_field(r, tp_credential_fields[i]);
		if (tp_credential_fields[i] == TP_FIELD_AUTHORIZATION)
			v = bearer(v);
		const struct tp_client_conf *who = v.n > 0 ? client_of(c, v) : NULL;
		if (who != NULL)
			return (struct tp_access){0, NULL, who};
		given = given || v.n > 0;
	}
	return (struct tp_access){401, given ? "this key is not known here" : "a key is needed", NULL};
}

/* Host without its port; brackets of an IPv6 literal stay. */
static struct tp_str host_name(struct tp_str authority)
{
	if (authority.n > 0 && authority.p[0] == '[') {
		const char *end = memchr(authority.p, ']', authority.n);
		return end != NULL ? (struct tp_str){authority.p, (size_t)(end - authority.p) + 1}
				   : authority;
	}
	const char *colon = memchr(authority.p, ':', authority.n);
	return colon != NULL ? (struct tp_str){authority.p, (size_t)(colon - authority.p)} : authority;
}

static bool is_loopback_name(struct tp_str host)
{
	return tp_str_ieq(host, TP_STR("localhost")) || tp_str_eq(host, TP_STR("[::1]")) ||
	       (tp_str_starts(host, TP_STR("127.")) && strspn(host.p, "0123456789.") >= host.n);
}

static bool in_list(struct tp_str v, char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tp_str_ieq(v, tp_str_from(list[i])))
			return true;
	return false;
}

struct tp_access tp_access_check(const struct tp_config *c, const struct tp_listener_conf *l,
				 const struct tp_request *r)
{
	if (c->n_clients > 0)
		return check_key(c, r);
	struct tp_str authority = tp_request_str(r, r->head->authority);
	struct tp_str host = host_name(authority);
	if (!l->is_unix && !c->allow_anonymous && host.n > 0 && !is_loopback_name(host) &&
	    !in_list(host, c->hosts, c->n_hosts) && !in_list(authority, c->hosts, c->n_hosts))
		return (struct tp_access){403, "this Host is not one of `hosts`", NULL};
	struct tp_str origin = tp_request_field(r, TP_FIELD_ORIGIN);
	if (origin.n > 0 && !in_list(origin, c->origins, c->n_origins))
		return (struct tp_access){403, "this Origin is not one of `origins`", NULL};
	return (struct tp_access){0, NULL, NULL};
}
