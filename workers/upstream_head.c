#include "workers/upstream_head.h"

#include "common/http/chars.h"
#include "common/http/fields.h"
#include "common/http/lines.h"
#include "common/http/scan.h"
#include "workers/access.h"
#include "workers/credential.h"
#include "workers/egress.h"

enum {
	HEAD_ROOM = 128,    /* for what is added to the client's head, in most cases */
	PARAMETER_MAX = 24, /* longer than every parameter that carries a key */
	LOOSE_MAX = 64      /* longer than every field name that we know */
};

static bool has_prefix(struct tp_str name, struct tp_str prefix)
{
	return name.n >= prefix.n && tp_str_ieq((struct tp_str){name.p, prefix.n}, prefix);
}

/* All that a client may have sent to be known by (design section 8) leaves when the provider's key is put in:
 * credentials, cookies, and the account they belong to. */
static uint64_t credential_ids(void)
{
	uint64_t ids = (uint64_t)1 << TP_FIELD_COOKIE;
	for (size_t i = 0; i < TP_CREDENTIAL_FIELDS; i++)
		ids |= (uint64_t)1 << tp_credential_fields[i];
	return ids;
}

/* The same, of fields that have no id. */
static bool is_credential(struct tp_str name)
{
	static const struct tp_str names[] = {
		TP_NAME("cookie2"),
		TP_NAME("x-auth-token"),
		TP_NAME("x-access-token"),
		TP_NAME("x-session-token"),
		TP_NAME("x-amz-security-token"),
		TP_NAME("ocp-apim-subscription-key"),
		TP_NAME("openai-organization"),
		TP_NAME("openai-project"),
		TP_NAME("chatgpt-account-id"),
		TP_NAME("chatgpt-user-id"),
		TP_NAME("anthropic-organization-id"),
		TP_NAME("anthropic-account-id"),
		TP_NAME("anthropic-workspace-id"),
		TP_NAME("x-goog-user-project"),
		TP_NAME("x-goog-iam-authorization-token"),
	};
	return tp_str_is_one_of(name, names, sizeof names / sizeof names[0]);
}

struct tp_str tp_protocol_credential(struct tp_str protocol)
{
	static const struct tp_str prefixes[] = {TP_NAME("openai-insecure-api-key."),
						 TP_NAME("openai-organization."), TP_NAME("openai-project.")};
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (has_prefix(protocol, prefixes[i]))
			return (struct tp_str){protocol.p + prefixes[i].n, protocol.n - prefixes[i].n};
	return (struct tp_str){NULL, 0};
}

/* The list without them; nothing where none is left. */
static void add_protocols(struct tp_buf *out, struct tp_str list)
{
	struct tp_str protocol;
	struct tp_str before = TP_STR("sec-websocket-protocol: ");
	while (tp_scan_element(&list, &protocol)) {
		if (protocol.n == 0 || tp_protocol_credential(protocol).p != NULL)
			continue;
		tp_buf_add_str(out, before);
		tp_buf_add_str(out, protocol);
		before = TP_STR(", ");
	}
	if (before.n == 2)
		tp_buf_add_str(out, TP_STR("\r\n"));
}

/* Asks for no answer, or a part of one, where the client has one already: it would be about the provider's
 * body, and the client has ours. */
static bool is_condition(struct tp_str name)
{
	static const struct tp_str names[] = {
		TP_NAME("if-none-match"),       TP_NAME("if-modified-since"), TP_NAME("if-match"),
		TP_NAME("if-unmodified-since"), TP_NAME("if-range"),          TP_NAME("range"),
	};
	return tp_str_is_one_of(name, names, sizeof names / sizeof names[0]);
}

/* A field as a reader takes it that makes `-` of `_` (CGI and WSGI do; nginx drops such names in front of
 * them): Transfer_Encoding would then frame the body once more, X_Api_Key would stand beside ours. */
struct loose {
	struct tp_field field;
	char name[LOOSE_MAX];
};

static const struct tp_field *read_loosely(const struct tp_field *f, struct tp_str *name, struct loose *room)
{
	if (!f->underscore || f->id != TP_FIELD_OTHER || name->n > LOOSE_MAX)
		return f;
	for (size_t i = 0; i < name->n; i++)
		room->name[i] = name->p[i] == '_' ? '-' : name->p[i];
	name->p = room->name;
	room->field = *f;
	room->field.id = (uint8_t)tp_field_lookup(name->p, name->n);
	return &room->field;
}

/* ---- the dialect of a keyed provider */

enum dialect { DIALECT_ANY, DIALECT_OPENAI, DIALECT_ANTHROPIC };

static enum dialect dialect_of(const struct tp_provider_conf *p, enum tp_family family)
{
	if (p->family == TP_PROVIDER_ANTHROPIC ||
	    (p->family == TP_PROVIDER_AUTO && family == TP_FAMILY_MESSAGES))
		return DIALECT_ANTHROPIC;
	return p->family == TP_PROVIDER_AUTO && family == TP_FAMILY_PLAIN ? DIALECT_ANY : DIALECT_OPENAI;
}

/* A version or a feature of the other dialect: what it names, this provider does not have. */
static bool is_foreign(enum dialect d, struct tp_str name)
{
	return (d == DIALECT_OPENAI && has_prefix(name, TP_STR("anthropic-"))) ||
	       (d == DIALECT_ANTHROPIC && has_prefix(name, TP_STR("openai-")));
}

/* Anthropic takes no request without one. */
static void add_version(struct tp_buf *out, const struct tp_request *r, enum dialect d)
{
	if (d == DIALECT_ANTHROPIC &&
	    tp_head_find_name(r->head, r->bytes, TP_STR("anthropic-version")) == NULL)
		tp_buf_add_str(out, TP_STR("anthropic-version: 2023-06-01\r\n"));
}

/* ---- the provider's credential */

static enum tp_key_header key_header(const struct tp_provider_conf *p, enum tp_family family)
{
	if (p->key_header != TP_KEY_AUTO)
		return p->key_header;
	return dialect_of(p, family) == DIALECT_ANTHROPIC ? TP_KEY_X_API_KEY : TP_KEY_AUTHORIZATION;
}

static void add_key(struct tp_buf *out, const struct tp_provider_conf *p, enum tp_family family,
		    struct tp_str key)
{
	static const char *const names[] = {
		[TP_KEY_AUTHORIZATION] = "authorization: Bearer ",
		[TP_KEY_X_API_KEY] = "x-api-key: ",
		[TP_KEY_API_KEY] = "api-key: ",
		[TP_KEY_X_GOOG_API_KEY] = "x-goog-api-key: ",
	};
	tp_buf_add_str(out, tp_str_from(names[key_header(p, family)]));
	tp_buf_add_str(out, key);
	tp_buf_add_str(out, TP_STR("\r\n"));
}

void tp_upstream_credential(struct tp_buf *out, const struct tp_provider_conf *p, enum tp_family family,
			    struct tp_str key)
{
	if (key.n > 0)
		add_key(out, p, family, key);
	else if (p->url_authorization != NULL)
		tp_buf_printf(out, "authorization: %s\r\n", p->url_authorization);
}

/* The name of a parameter as a provider reads it: `%6bEY` is key. Longer ones than any name we look for are
 * cut. */
static struct tp_str parameter_name(struct tp_str pair, char out[PARAMETER_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < pair.n && pair.p[i] != '=' && n < PARAMETER_MAX; i++) {
		char c = pair.p[i];
		if (c == '%' && pair.n - i > 2 && tp_char_is(pair.p[i + 1], TP_CHAR_HEX) &&
		    tp_char_is(pair.p[i + 2], TP_CHAR_HEX)) {
			c = (char)(tp_char_hex(pair.p[i + 1]) << 4 | tp_char_hex(pair.p[i + 2]));
			i += 2;
		}
		out[n++] = c;
	}
	return (struct tp_str){out, n};
}

/* One "name=value" of a query that carries a key (Gemini's ?key=). */
static bool is_key_parameter(struct tp_str pair)
{
	static const char *const names[] = {"key",        "api_key",    "api-key",
					    "apikey",     "x-api-key",  "access_token",
					    "access-key", "auth_token", "x-goog-api-key"};
	char text[PARAMETER_MAX];
	struct tp_str name = parameter_name(pair, text);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (tp_str_ieq(name, tp_str_from(names[i])))
			return true;
	return false;
}

static void add_query_without_keys(struct tp_buf *out, struct tp_str query)
{
	char lead = '?';
	while (query.n > 0) {
		const char *amp = memchr(query.p, '&', query.n);
		struct tp_str pair = {query.p, amp != NULL ? (size_t)(amp - query.p) : query.n};
		query = amp != NULL ? (struct tp_str){amp + 1, query.n - pair.n - 1}
				    : (struct tp_str){NULL, 0};
		if (is_key_parameter(pair))
			continue;
		tp_buf_add(out, &lead, 1);
		tp_buf_add_str(out, pair);
		lead = '&';
	}
}

static void add_target(struct tp_buf *out, const struct tp_request *r, const struct tp_upstream_head_args *a)
{
	struct tp_str target = tp_request_str(r, r->head->target);
	tp_egress_target(out, a->proxy, a->provider);
	if (tp_str_eq(target, TP_STR("*"))) { /* in absolute form: no path at all (RFC 9112, 3.2.4) */
		if (a->proxy == NULL)
			tp_buf_add_str(out, target);
		return;
	}
	size_t start = out->len;
	struct tp_str path = r->path;
	tp_buf_add_str(out, tp_str_from(a->provider->path));
	tp_buf_add(out, path.p + a->route_cut, path.n - a->route_cut);
	if (out->len == start)
		tp_buf_add_str(out, TP_STR("/"));
	if (target.n <= path.n)
		return;
	if (a->drop_credentials)
		add_query_without_keys(out, (struct tp_str){target.p + path.n + 1, target.n - path.n - 1});
	else
		tp_buf_add(out, target.p + path.n, target.n - path.n);
}

/* A bit for each field id that is not passed on. */
static uint64_t dropped_ids(const struct tp_request *r, const struct tp_upstream_head_args *a, bool identity)
{
	uint64_t ids = tp_ids_end_here();
	if (identity)
		ids |= (uint64_t)1 << TP_FIELD_ACCEPT_ENCODING;
	if (a->drop_credentials)
		ids |= credential_ids();
	if (r->decoded)
		ids |= (uint64_t)1 << TP_FIELD_CONTENT_ENCODING;
	if (a->provider->url_authorization != NULL)
		ids |= (uint64_t)1 << TP_FIELD_AUTHORIZATION;
	return ids;
}

static void add_fields(struct tp_buf *out, const struct tp_request *r, const struct tp_upstream_head_args *a)
{
	bool own = tp_credential_own(a->provider);
	enum dialect dialect = own ? dialect_of(a->provider, r->family) : DIALECT_ANY;
	bool identity = (r->family != TP_FAMILY_PLAIN || a->inspect) && !a->provider->compression_pass;
	uint64_t dropped = dropped_ids(r, a, identity);
	bool by_name = a->drop_credentials || a->inspect || dialect != DIALECT_ANY;
	struct tp_lines lines = {.out = out, .bytes = r->bytes};
	for (uint32_t i = 0; i < r->head->n_fields; i++) {
		struct loose room;
		struct tp_str name = tp_request_str(r, r->head->fields[i].name);
		const struct tp_field *f = read_loosely(&r->head->fields[i], &name, &room);
		if ((dropped >> f->id & 1) != 0 || f->connection_named)
			continue;
		if (by_name && f->id == TP_FIELD_OTHER &&
		    ((a->drop_credentials && is_credential(name)) || (a->inspect && is_condition(name)) ||
		     is_foreign(dialect, name)))
			continue;
		if (a->drop_credentials && tp_str_ieq(name, TP_STR("sec-websocket-protocol"))) {
			tp_lines_flush(&lines);
			add_protocols(out, tp_request_str(r, f->value));
			continue;
		}
		tp_lines_add(&lines, &r->head->fields[i]);
	}
	tp_lines_flush(&lines);
	if (identity)
		tp_buf_add_str(out, TP_STR("accept-encoding: identity\r\n"));
	add_version(out, r, dialect);
	tp_upstream_credential(out, a->provider, r->family, a->key);
}

static void add_framing(struct tp_buf *out, const struct tp_request *r)
{
	if (r->head->framing == TP_FRAMING_NONE)
		return;
	if (!r->chunk_out) {
		tp_buf_add_str(out, TP_STR("content-length: "));
		tp_buf_add_uint(out, r->complete ? r->received : r->head->content_length);
		tp_buf_add_str(out, TP_STR("\r\n"));
	} else {
		tp_buf_add_str(out, TP_STR("transfer-encoding: chunked\r\n"));
	}
}

void tp_upstream_head(const struct tp_request *r, const struct tp_upstream_head_args *a, struct tp_buf *out)
{
	/* Nearly always enough: fields are dropped rather than added. */
	(void)tp_buf_reserve(out, r->head->size + HEAD_ROOM);
	tp_buf_add_str(out, tp_request_str(r, r->head->method));
	tp_buf_add_str(out, TP_STR(" "));
	add_target(out, r, a);
	tp_buf_add_str(out, TP_STR(" HTTP/1.1\r\nhost: "));
	tp_buf_add_str(out, tp_str_from(a->provider->authority));
	tp_buf_add_str(out, TP_STR("\r\n"));
	add_fields(out, r, a);
	tp_egress_credential(out, a->proxy);
	add_framing(out, r);
	if (a->tunnel) {
		const struct tp_field *upgrade = tp_head_find(r->head, TP_FIELD_UPGRADE);
		tp_buf_add_str(out, TP_STR("connection: upgrade\r\nupgrade: "));
		tp_buf_add_str(out, tp_request_str(r, upgrade->value));
		tp_buf_add_str(out, TP_STR("\r\n"));
	}
	tp_buf_add_str(out, TP_STR("\r\n"));
	/* Streaming through with no length known: what was here when that began is the first chunk; what has
	 * come since then, while the connection was made, is framed already. */
	if (r->chunk_out)
		tp_buf_printf(out, "%llx\r\n", (unsigned long long)r->first_chunk);
}
