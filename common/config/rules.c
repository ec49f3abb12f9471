/* Rules between the keys of one section, and the fields derived from them. */
#include "common/config/rules.h"

#include <stdlib.h>

#include "common/config/convert.h"
#include "common/config/endpoint.h"
#include "common/config/refresh.h"
#include "common/config/units.h"

/* ---- listen */

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

/* What a profile sets where nobody wrote the key (design section 5). The first row repeats the defaults of
 * the option table: a provider may go back to them. */
static const struct profile {
	uint32_t ceiling_ms, overload_sends, overload_429_sends, budget_sends;
	int transient[8], overload[4]; /* up to a zero */
} profiles[] = {
	[TP_PROFILE_GUARDED] = {60000, 4, 4, 4, {500, 502, 503, 504, 520, 521, 522}, {429, 529}},
	[TP_PROFILE_PATIENT] = {300000, 6, 4, 6, {500, 502, 503, 504, 520, 521, 522}, {429, 503, 529}},
};

/* The keys of profiles inside a retry section. */
static uint8_t written_in(const struct tp_node *node)
{
	static const struct {
		const char *section, *key;
		enum tp_profile_key is;
	} keys[] = {{"retry_after", "ceiling", TP_PROFILE_CEILING},
		    {"overload", "sends", TP_PROFILE_OVERLOAD_SENDS},
		    {"overload", "statuses", TP_PROFILE_OVERLOAD_STATUSES},
		    {"transient", "statuses", TP_PROFILE_TRANSIENT_STATUSES}};
	uint8_t written = 0;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (inner(node, keys[i].section, keys[i].key) != NULL)
			written |= (uint8_t)keys[i].is;
	return written;
}

uint8_t tp_written_retry(const void *object)
{
	return ((const struct tp_retry_conf *)object)->written;
}

uint8_t tp_written_budget(const void *object)
{
	return ((const struct tp_config *)object)->retry.written;
}

static struct tp_status_set set_of(const int *statuses)
{
	struct tp_status_set set = {{0}};
	for (; *statuses != 0; statuses++)
		set.bits[*statuses / 64] |= UINT64_C(1) << *statuses % 64;
	return set;
}

static void apply_profile(struct tp_retry_conf *r)
{
	const struct profile *p = &profiles[r->profile];
	if ((r->written & TP_PROFILE_CEILING) == 0)
		r->ceiling_ms = p->ceiling_ms;
	if ((r->written & TP_PROFILE_OVERLOAD_SENDS) == 0)
		r->overload_sends = p->overload_sends;
	if ((r->written & TP_PROFILE_OVERLOAD_STATUSES) == 0)
		r->overload_statuses = set_of(p->overload);
	if ((r->written & TP_PROFILE_TRANSIENT_STATUSES) == 0)
		r->transient_statuses = set_of(p->transient);
}

/* The number that a profile tells for a 429 holds as long as the general one is not written. */
static void set_429_sends(struct tp_retry_conf *r)
{
	bool written = (r->written & TP_PROFILE_OVERLOAD_SENDS) != 0;
	r->overload_429_sends = written ? r->overload_sends : profiles[r->profile].overload_429_sends;
}

/* A status belongs to one class: the nearer a list was written, the better its claim (here, above, by
 * nobody); the profile's own lists part in favour of `overload`. */
static void part_statuses(struct tp_load *l, struct tp_retry_conf *r, uint8_t inherited, struct tp_node *node)
{
	uint8_t here = written_in(node);
	int transient = (here & TP_PROFILE_TRANSIENT_STATUSES) != 0        ? 2
			: (inherited & TP_PROFILE_TRANSIENT_STATUSES) != 0 ? 1
									   : 0;
	int overload = (here & TP_PROFILE_OVERLOAD_STATUSES) != 0        ? 2
		       : (inherited & TP_PROFILE_OVERLOAD_STATUSES) != 0 ? 1
									 : 0;
	const struct tp_node *first = inner(node, "transient", "statuses");
	struct tp_node *second = tp_node_get(tp_node_get(node, "overload"), "statuses");
	for (int status = 400; status < 600; status++) {
		uint64_t bit = UINT64_C(1) << status % 64;
		if (!tp_status_in(&r->transient_statuses, status) ||
		    !tp_status_in(&r->overload_statuses, status))
			continue;
		if (transient > overload)
			r->overload_statuses.bits[status / 64] &= ~bit;
		else if (transient < 2)
			r->transient_statuses.bits[status / 64] &= ~bit;
		else if (tp_is_given(first) && second->kind != TP_NODE_BAD)
			tp_node_complain(second, l->errors,
					 "%d is in transient.statuses too: a status stands in one class only",
					 status);
	}
}

static void check_bounds_of_told(struct tp_load *l, const struct tp_retry_conf *r, struct tp_node *node)
{
	struct tp_node *floor = tp_node_get(tp_node_get(node, "retry_after"), "floor");
	struct tp_node *ceiling = tp_node_get(tp_node_get(node, "retry_after"), "ceiling");
	struct tp_node *at = floor != NULL ? floor : ceiling != NULL ? ceiling : tp_node_get(node, "profile");
	bool readable = (floor == NULL || tp_is_given(floor)) && (ceiling == NULL || tp_is_given(ceiling));
	if (!readable || r->floor_ms <= r->ceiling_ms || at == NULL)
		return;
	struct tp_buf text = {0};
	tp_format_duration(&text, floor != NULL ? r->ceiling_ms : r->floor_ms);
	const char *other = tp_buf_cstr(&text);
	tp_node_complain(at, l->errors, "is %s (%s): no told wait could be waited for",
			 floor != NULL     ? "above ceiling"
			 : ceiling != NULL ? "below floor"
					   : "of a ceiling below floor",
			 other != NULL ? other : "?");
	tp_buf_free(&text);
}

/* A provider's own profile brings its budget along; what the file says in `budget` wins. */
static void take_budget(struct tp_load *l, struct tp_retry_conf *r, struct tp_node *profile)
{
	const struct tp_budget_conf *b = &l->config->budget;
	if ((r->written & TP_PROFILE_BUDGET_SENDS) == 0)
		r->budget_sends = profiles[r->profile].budget_sends;
	if (r->budget_reserve > r->budget_sends && b->reserve <= b->sends)
		tp_node_complain(profile, l->errors,
				 "has %u sends, fewer than budget.reserve (%u): write budget.sends",
				 r->budget_sends, r->budget_reserve);
}

void tp_check_retry(struct tp_load *l, void *object, struct tp_node *node)
{
	struct tp_retry_conf *r = object;
	struct tp_node *profile = tp_node_get(node, "profile");
	uint8_t inherited = r->written;
	r->written |= written_in(node);
	if (profile != NULL)
		apply_profile(r);
	set_429_sends(r);
	part_statuses(l, r, inherited, node);
	check_bounds_of_told(l, r, node);
	if (profile != NULL && r != &l->config->retry)
		take_budget(l, r, profile);
}

void tp_check_budget(struct tp_load *l, void *object, struct tp_node *node)
{
	struct tp_config *c = object;
	struct tp_budget_conf *b = &c->budget;
	struct tp_node *sends = tp_node_get(node, "sends"), *reserve = tp_node_get(node, "reserve");
	if (sends != NULL)
		c->retry.written |= TP_PROFILE_BUDGET_SENDS;
	else
		b->sends = profiles[c->retry.profile].budget_sends;
	c->retry.budget_sends = b->sends;
	c->retry.budget_reserve = b->reserve;
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
	return p->url_authorization != NULL && (p->n_keys > 0 || tp_refresh_is_set(p)) && in_authorization;
}

/* A text was checked by tp_refuse_egress() before: what can still fail is memory. */
static void set_egress(struct tp_load *l, struct tp_provider_conf *p)
{
	p->egress = calloc(p->n_via + 1, sizeof *p->egress);
	for (size_t i = 0; p->egress != NULL && i < p->n_via; i++)
		if (tp_endpoint_egress(p->via[i], &p->egress[i]) != NULL)
			l->errors->no_memory = true;
	if (p->egress == NULL)
		l->errors->no_memory = true;
}

void tp_check_provider(struct tp_load *l, void *object, struct tp_node *node)
{
	struct tp_provider_conf *p = object;
	struct tp_node *url = tp_node_get(node, "url"), *tls = tp_node_get(node, "tls");
	const char *reason = p->name != NULL ? tp_refuse_name(p->name) : NULL;
	if (reason != NULL && node != NULL)
		tp_config_errors_add(l->errors, node->key_line, node->key_column, "providers: `%s` %s",
				     p->name, reason);
	set_egress(l, p);
	tp_check_refresh(l, p, node);
	if (p->url == NULL || url == NULL)
		return;
	reason = tp_endpoint_url(p);
	if (reason != NULL) {
		tp_node_complain(url, l->errors, "the url %s", reason);
		return;
	}
	if (keys_clash_with_user(p))
		tp_node_complain(url, l->errors,
				 "the url has user information and there is a key or `refresh`: both would "
				 "need the Authorization "
				 "header. Set key_header to another one, or drop one of them");
	/* Silently sending in clear what somebody meant to protect would be the worst reading. */
	bool protected = p->tls.ca != NULL || p->tls.server_name != NULL || !p->tls.verify ||
			 p->tls.own.certificate != NULL;
	if (!p->https && !tp_refresh_is_set(p) && tp_is_given(tls) && protected)
		tp_node_complain(tls, l->errors, "has no meaning for an http:// url");
}

void tp_mask_url(const void *object, struct tp_buf *out)
{
	const struct tp_provider_conf *p = object;
	const char *host = strstr(p->base, "://") + 3;
	tp_buf_add(out, p->base, (size_t)(host - p->base));
	tp_buf_printf(out, "%s%s", p->url_authorization != NULL ? "********@" : "", host);
}

void tp_mask_egress(const char *value, struct tp_buf *out)
{
	struct tp_egress_conf e = {0};
	if (tp_endpoint_egress(value, &e) == NULL)
		tp_buf_printf(out, "%s%s%s", e.host != NULL ? "http://" : "",
			      e.authorization != NULL ? "********@" : "", e.address);
	else
		out->failed = true;
	tp_endpoint_egress_free(&e);
}

void tp_release_provider(void *object)
{
	struct tp_provider_conf *p = object;
	/* The rows have freed `via` and its count by now: a last entry without an address ends the list. */
	for (size_t i = 0; p->egress != NULL && p->egress[i].address != NULL; i++)
		tp_endpoint_egress_free(&p->egress[i]);
	free(p->egress);
	p->egress = NULL;
	tp_convert_set_string(&p->base, NULL);
	tp_convert_set_string(&p->host, NULL);
	tp_convert_set_string(&p->path, NULL);
	tp_convert_set_string(&p->authority, NULL);
	tp_convert_set_string(&p->url_authorization, NULL);
}
