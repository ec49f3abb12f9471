#include "common/config/endpoint.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/un.h>

#include "common/config/convert.h"
#include "common/config/units.h"

static struct tp_str behind(struct tp_str s, size_t n)
{
	return (struct tp_str){s.p + n, s.n - n};
}

static bool is_host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
	       c == '-' || c == '_';
}

/* Numeric address of the given family into `bytes` (16 are enough). */
static bool is_address(int family, struct tp_str text, unsigned char bytes[16])
{
	char copy[INET6_ADDRSTRLEN];
	if (text.n == 0 || text.n >= sizeof copy)
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	return inet_pton(family, copy, bytes) == 1;
}

static bool is_bracketed(struct tp_str host)
{
	return host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
}

/* The address inside brackets, or the host as it is. */
static struct tp_str bare(struct tp_str host)
{
	return is_bracketed(host) ? (struct tp_str){host.p + 1, host.n - 2} : host;
}

bool tp_endpoint_is_host(struct tp_str host)
{
	unsigned char bytes[16];
	if (is_bracketed(host) || memchr(host.p, ':', host.n) != NULL)
		return is_address(AF_INET6, bare(host), bytes);
	for (size_t i = 0; i < host.n; i++)
		if (!is_host_char(host.p[i]))
			return false;
	return host.n > 0 && host.n <= 253 && host.p[0] != '.' && host.p[0] != '-';
}

static char *copy_of(struct tp_str s)
{
	return strndup(s.n > 0 ? s.p : "", s.n);
}

static char *lower_copy_of(struct tp_str s)
{
	char *copy = copy_of(s);
	for (char *c = copy; c != NULL && *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 'a' - 'A');
	return copy;
}

/* Cuts host[:port] in two; a host in brackets may hold colons. Without a port *ret_port is empty, p NULL. */
static bool split_port(struct tp_str authority, struct tp_str *ret_host, struct tp_str *ret_port)
{
	size_t host = 0;
	if (authority.n > 0 && authority.p[0] == '[') {
		const char *end = memchr(authority.p, ']', authority.n);
		if (end == NULL)
			return false;
		host = (size_t)(end - authority.p) + 1;
	} else {
		while (host < authority.n && authority.p[host] != ':')
			host++;
	}
	if (host < authority.n && authority.p[host] != ':')
		return false;
	*ret_host = (struct tp_str){authority.p, host};
	*ret_port = host < authority.n ? behind(authority, host + 1) : (struct tp_str){NULL, 0};
	return true;
}

static bool read_port(struct tp_str text, uint16_t *ret_port)
{
	uint64_t port = 0;
	if (tp_parse_count(text, &port) != NULL || port > UINT16_MAX)
		return false;
	*ret_port = (uint16_t)port;
	return true;
}

/* ---- listeners */

static const char *listen_unix(struct tp_listener_conf *l, struct tp_str path)
{
	if (path.n < 2 || path.p[0] != '/' || path.p[path.n - 1] == '/')
		return "needs an absolute path, like unix:/run/turnpike/turnpike.sock";
	if (path.n >= sizeof((struct sockaddr_un *)NULL)->sun_path)
		return "has a path that is too long for a socket (107 bytes at most)";
	l->host = copy_of(path);
	l->is_unix = true;
	return l->host != NULL ? NULL : "cannot be kept: out of memory";
}

const char *tp_endpoint_listen(struct tp_listener_conf *l)
{
	struct tp_str text = tp_str_from(l->address), host, port_text, prefix = TP_STR("unix:");
	unsigned char bytes[16];
	uint16_t port = 0;
	if (tp_str_starts(text, prefix))
		return listen_unix(l, behind(text, prefix.n));
	if (!split_port(text, &host, &port_text) || port_text.p == NULL)
		return "is no address: write 127.0.0.1:8080, [::1]:8080 or unix:/path";
	if (!read_port(port_text, &port))
		return "has no valid port: from 0 to 65535";
	if (host.n == 0 || tp_str_eq(host, TP_STR("*")))
		return "names no address: write 0.0.0.0 or [::] for all of them";
	/* The one name that needs no resolver. */
	if (tp_str_ieq(host, TP_STR("localhost")))
		host = TP_STR("127.0.0.1");
	if (!is_address(is_bracketed(host) ? AF_INET6 : AF_INET, bare(host), bytes))
		return "needs a numeric address: 127.0.0.1, or IPv6 in brackets like [::1]";
	l->host = copy_of(bare(host));
	l->port = port;
	l->is_unix = false;
	return l->host != NULL ? NULL : "cannot be kept: out of memory";
}

bool tp_endpoint_is_local(const struct tp_listener_conf *l)
{
	static const unsigned char v6[16] = {[15] = 1}, mapped[12] = {[10] = 0xff, [11] = 0xff};
	unsigned char bytes[16];
	if (l->is_unix)
		return true;
	if (l->host == NULL)
		return false;
	if (is_address(AF_INET, tp_str_from(l->host), bytes))
		return bytes[0] == 127;
	if (!is_address(AF_INET6, tp_str_from(l->host), bytes))
		return false;
	return memcmp(bytes, v6, sizeof v6) == 0 ||
	       (memcmp(bytes, mapped, sizeof mapped) == 0 && bytes[12] == 127);
}

/* ---- urls (RFC 3986; http and https with a host only) */

struct url {
	bool https, has_user;
	struct tp_str user, host, port_text, path;
	uint16_t port;
};

static const char *check_path(struct tp_str path)
{
	for (size_t i = 0; i < path.n; i++) {
		unsigned char c = (unsigned char)path.p[i];
		if (c <= 0x20 || c >= 0x7f || strchr("\"<>\\^`{|}", c) != NULL)
			return "has a character in its path that must be percent-encoded";
		if (c != '/')
			continue;
		struct tp_str rest = behind(path, i + 1);
		if (tp_str_starts(rest, TP_STR("/")))
			return "has an empty segment (//) in its path";
		if (tp_str_eq(rest, TP_STR(".")) || tp_str_eq(rest, TP_STR("..")) ||
		    tp_str_starts(rest, TP_STR("./")) || tp_str_starts(rest, TP_STR("../")))
			return "has a dot segment in its path";
	}
	return NULL;
}

/* user@host:port */
static const char *split_authority(struct tp_str authority, struct url *u)
{
	for (size_t i = authority.n; i > 0; i--)
		if (authority.p[i - 1] == '@') {
			u->has_user = i > 1; /* "@host" names nobody */
			u->user = (struct tp_str){authority.p, i - 1};
			authority = behind(authority, i);
			break;
		}
	if (!split_port(authority, &u->host, &u->port_text))
		return "has no valid host";
	if (u->host.n == 0)
		return "has no host";
	if (!tp_endpoint_is_host(u->host))
		return "has no valid host";
	u->port = u->https ? 443 : 80;
	if (u->port_text.p != NULL && (!read_port(u->port_text, &u->port) || u->port == 0))
		return "has no valid port: from 1 to 65535";
	return NULL;
}

static const char *split_url(struct tp_str text, struct url *u)
{
	struct tp_str http = TP_STR("http://"), https = TP_STR("https://");
	u->https = tp_str_ieq((struct tp_str){text.p, text.n < https.n ? text.n : https.n}, https);
	if (!u->https && !tp_str_ieq((struct tp_str){text.p, text.n < http.n ? text.n : http.n}, http))
		return "must begin with http:// or https://";
	text = behind(text, u->https ? https.n : http.n);
	if (memchr(text.p, '?', text.n) != NULL)
		return "must not have a query: clients bring their own";
	if (memchr(text.p, '#', text.n) != NULL)
		return "must not have a fragment (#)";
	const char *slash = memchr(text.p, '/', text.n);
	struct tp_str authority = {text.p, slash != NULL ? (size_t)(slash - text.p) : text.n};
	u->path = behind(text, authority.n);
	const char *reason = split_authority(authority, u);
	if (reason == NULL)
		reason = check_path(u->path);
	while (u->path.n > 0 && u->path.p[u->path.n - 1] == '/')
		u->path.n--;
	return reason;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* RFC 4648, section 4. `out` has room for (n + 2) / 3 * 4 bytes and a terminator. */
static void encode_base64(const unsigned char *in, size_t n, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		unsigned group = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
				 (left > 2 ? in[i + 2] : 0);
		*out++ = digits[group >> 18];
		*out++ = digits[group >> 12 & 63];
		*out++ = left > 1 ? digits[group >> 6 & 63] : '=';
		*out++ = left > 2 ? digits[group & 63] : '=';
	}
	*out = '\0';
}

/* %xx undone; `out` has room for as many bytes as `in` has. Returns how many there are. */
static size_t decode_percent(struct tp_str in, unsigned char *out)
{
	size_t n = 0;
	for (size_t i = 0; i < in.n; i++) {
		bool escaped =
			in.p[i] == '%' && i + 2 < in.n && hex(in.p[i + 1]) >= 0 && hex(in.p[i + 2]) >= 0;
		out[n++] = escaped ? (unsigned char)(hex(in.p[i + 1]) * 16 + hex(in.p[i + 2]))
				   : (unsigned char)in.p[i];
		i += escaped ? 2 : 0;
	}
	return n;
}

/* "Basic ..." of user information (RFC 7617). NULL = out of memory. */
static char *basic_of(struct tp_str user)
{
	static const char scheme[] = "Basic ";
	unsigned char *plain = malloc(user.n + 1);
	char *value = malloc(sizeof scheme + (user.n + 3) / 3 * 4);
	if (plain == NULL || value == NULL) {
		free(plain);
		free(value);
		return NULL;
	}
	size_t n = decode_percent(user, plain);
	if (memchr(user.p, ':', user.n) == NULL) /* a user without a password */
		plain[n++] = ':';
	memcpy(value, scheme, sizeof scheme);
	encode_base64(plain, n, value + sizeof scheme - 1);
	explicit_bzero(plain, n);
	free(plain);
	return value;
}

/* ---- via */

void tp_endpoint_egress_free(struct tp_egress_conf *e)
{
	tp_convert_set_string(&e->host, NULL);
	tp_convert_set_string(&e->address, NULL);
	tp_convert_set_string(&e->authorization, NULL);
	*e = (struct tp_egress_conf){0};
}

static const char *egress_proxy(struct tp_str text, struct tp_egress_conf *ret_egress)
{
	struct url u = {0};
	const char *reason = split_url(text, &u);
	if (reason != NULL)
		return reason;
	if (u.https)
		return "is no proxy that can be used: it is reached by http:// only";
	if (u.path.n > 0)
		return "must be a proxy without a path";
	if (u.port_text.p == NULL)
		return "needs the port of the proxy, like http://127.0.0.1:3128";
	struct tp_buf address = {0};
	tp_buf_printf(&address, "%.*s:%u", (int)u.host.n, u.host.p, u.port);
	struct tp_egress_conf e = {
		.host = lower_copy_of(bare(u.host)),
		.port = u.port,
		.address = address.failed ? NULL : lower_copy_of(tp_buf_str(&address)),
		.authorization = u.has_user ? basic_of(u.user) : NULL,
	};
	tp_buf_free(&address);
	*ret_egress = e;
	if (e.host != NULL && e.address != NULL && (!u.has_user || e.authorization != NULL))
		return NULL;
	tp_endpoint_egress_free(ret_egress);
	return "cannot be kept: out of memory";
}

const char *tp_endpoint_egress(const char *text, struct tp_egress_conf *ret_egress)
{
	if (strcmp(text, "direct") != 0) {
		bool url = strstr(text, "://") != NULL;
		return url ? egress_proxy(tp_str_from(text), ret_egress)
			   : "is no way out: write direct, or a proxy like http://127.0.0.1:3128";
	}
	*ret_egress = (struct tp_egress_conf){.address = strdup("direct")};
	return ret_egress->address != NULL ? NULL : "cannot be kept: out of memory";
}

/* ---- the url of a provider */

static void set_base(struct tp_provider_conf *p, const struct url *u)
{
	struct tp_buf text = {0};
	bool usual = u->port == (u->https ? 443 : 80);
	char *host = lower_copy_of(u->host);
	p->host = host != NULL ? lower_copy_of(bare(u->host)) : NULL;
	tp_buf_printf(&text, "%s", host != NULL ? host : "");
	if (!usual)
		tp_buf_printf(&text, ":%u", u->port);
	p->authority = copy_of(tp_buf_str(&text));
	tp_buf_free(&text);
	tp_buf_printf(&text, "%s%s%s", u->https ? "https://" : "http://",
		      p->authority != NULL ? p->authority : "", p->path != NULL ? p->path : "");
	p->base = text.failed ? NULL : copy_of(tp_buf_str(&text));
	tp_buf_free(&text);
	free(host);
}

const char *tp_endpoint_url(struct tp_provider_conf *p)
{
	struct url u = {0};
	const char *reason = split_url(tp_str_from(p->url), &u);
	if (reason != NULL)
		return reason;
	p->https = u.https;
	p->port = u.port;
	p->path = copy_of(u.path);
	set_base(p, &u);
	p->url_authorization = u.has_user ? basic_of(u.user) : NULL;
	bool complete = p->path != NULL && p->host != NULL && p->authority != NULL && p->base != NULL &&
			(!u.has_user || p->url_authorization != NULL);
	return complete ? NULL : "cannot be kept: out of memory";
}
