#include "server/admin/access.h"

#include <arpa/inet.h>

#include "common/config/endpoint.h"

static struct tp_str field(const char *bytes, const struct tp_head *head, enum tp_field_id id)
{
	const struct tp_field *f = tp_head_find(head, id);
	return f != NULL ? tp_span_str(bytes, f->value) : (struct tp_str){NULL, 0};
}

static bool is_read(const char *bytes, const struct tp_head *head)
{
	struct tp_str method = tp_span_str(bytes, head->method);
	return tp_str_eq(method, TP_STR("GET")) || tp_str_eq(method, TP_STR("HEAD"));
}

/* Without a query: what it shows is in the program, not of this server. */
static bool is_page(const char *bytes, const struct tp_head *head)
{
	return tp_str_eq(tp_span_str(bytes, head->target), TP_STR("/"));
}

/* How long it takes says nothing about where they differ. */
static bool same_secret(struct tp_str a, struct tp_str b)
{
	unsigned difference = a.n != b.n;
	for (size_t i = 0; i < a.n; i++)
		difference |= (unsigned char)a.p[i] ^ (unsigned char)(b.n > 0 ? b.p[i % b.n] : 0);
	return difference == 0;
}

static bool has_token(const struct tp_config *config, struct tp_str authorization)
{
	static const struct tp_str scheme = {"Bearer ", 7};
	if (config->admin.token == NULL || authorization.n <= scheme.n ||
	    !tp_str_ieq((struct tp_str){authorization.p, scheme.n}, scheme))
		return false;
	struct tp_str given = {authorization.p + scheme.n, authorization.n - scheme.n};
	return same_secret(tp_str_trim(given), tp_str_from(config->admin.token));
}

/* Host without port and brackets. */
static struct tp_str host_name(struct tp_str authority)
{
	if (authority.n > 0 && authority.p[0] == '[') {
		const char *end = memchr(authority.p, ']', authority.n);
		return end != NULL ? (struct tp_str){authority.p + 1, (size_t)(end - authority.p) - 1}
				   : authority;
	}
	const char *colon = memchr(authority.p, ':', authority.n);
	return colon != NULL ? (struct tp_str){authority.p, (size_t)(colon - authority.p)} : authority;
}

static bool is_numeric(struct tp_str host)
{
	char text[INET6_ADDRSTRLEN];
	unsigned char address[16];
	if (host.n == 0 || host.n >= sizeof text)
		return false;
	memcpy(text, host.p, host.n);
	text[host.n] = '\0';
	return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static bool in_list(struct tp_str v, char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tp_str_ieq(v, tp_str_from(list[i])))
			return true;
	return false;
}

static bool is_known_host(const struct tp_config *config, struct tp_str authority)
{
	struct tp_str host = host_name(authority);
	return host.n == 0 || tp_str_ieq(host, TP_STR("localhost")) || is_numeric(host) ||
	       in_list(host, config->hosts, config->n_hosts);
}

/* http://HOST as the request itself names it, or one that the operator has listed. */
static bool is_own_origin(const struct tp_config *config, struct tp_str origin, struct tp_str authority)
{
	static const struct tp_str scheme = {"http://", 7};
	if (authority.n > 0 && tp_str_starts(origin, scheme) &&
	    tp_str_ieq((struct tp_str){origin.p + scheme.n, origin.n - scheme.n}, authority))
		return true;
	return in_list(origin, config->origins, config->n_origins);
}

/* A page of another origin, as the browser itself says. */
static bool is_foreign(const struct tp_config *config, const char *bytes, const struct tp_head *head,
		       struct tp_str authority)
{
	const struct tp_field *site = tp_head_find_name(head, bytes, TP_STR("sec-fetch-site"));
	struct tp_str from = site != NULL ? tp_span_str(bytes, site->value) : TP_STR("none");
	if (tp_head_has(head, TP_FIELD_ORIGIN))
		return !is_own_origin(config, field(bytes, head, TP_FIELD_ORIGIN), authority);
	return !tp_str_ieq(from, TP_STR("same-origin")) && !tp_str_ieq(from, TP_STR("none"));
}

static bool is_browser(const char *bytes, const struct tp_head *head)
{
	return tp_head_has(head, TP_FIELD_ORIGIN) ||
	       tp_head_find_name(head, bytes, TP_STR("sec-fetch-site")) != NULL;
}

struct tp_admin_access tp_admin_access_check(const struct tp_config *config, const struct tp_listener_conf *l,
					     const char *bytes, const struct tp_head *head)
{
	if (l->is_unix && !is_browser(bytes, head))
		return (struct tp_admin_access){0, NULL};
	struct tp_str authority = tp_span_str(bytes, head->authority);
	bool token = has_token(config, field(bytes, head, TP_FIELD_AUTHORIZATION));
	bool reads = is_read(bytes, head);
	if (!token && !is_known_host(config, authority))
		return (struct tp_admin_access){403, "this Host is not one of `hosts`"};
	if (!reads && is_foreign(config, bytes, head, authority))
		return (struct tp_admin_access){403, "this Origin is not one of `origins`"};
	if (token || l->is_unix || (reads && (tp_endpoint_is_local(l) || is_page(bytes, head))))
		return (struct tp_admin_access){0, NULL};
	if (config->admin.token == NULL)
		return (struct tp_admin_access){
			403, "admin.token is not set: over TCP there is only reading; use a unix socket"};
	return (struct tp_admin_access){401, "the token is needed: Authorization: Bearer TOKEN"};
}
