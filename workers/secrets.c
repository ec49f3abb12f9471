#include "workers/secrets.h"

#include <openssl/evp.h>
#include <string.h>

#include "common/http/path.h"
#include "common/http/scan.h"
#include "workers/upstream_head.h"

/* Shorter ones are placeholders such as "none" and "ollama", which error messages use as words. */
enum { CLIENT_SECRET_MIN = 8 };

static void add(struct tp_turn_secrets *s, struct tp_str text)
{
	if (text.n >= CLIENT_SECRET_MIN && s->list.n < TP_CLIENT_SECRETS_MAX)
		s->items[s->list.n++] = text;
}

static struct tp_str behind(struct tp_str s, char c)
{
	const char *found = s.n > 0 ? memchr(s.p, c, s.n) : NULL;
	return found != NULL ? (struct tp_str){found + 1, s.n - (size_t)(found - s.p) - 1}
			     : (struct tp_str){NULL, 0};
}

/* Decoded bytes are added to s->decoded, which never grows: it was reserved for the whole head. */
static struct tp_str unpercent(struct tp_turn_secrets *s, struct tp_str in)
{
	struct tp_buf *b = &s->decoded;
	size_t from = b->len;
	for (size_t i = 0; i < in.n; i++) {
		unsigned code;
		char hex[3] = {0};
		if (in.p[i] == '%' && i + 2 < in.n) {
			memcpy(hex, in.p + i + 1, 2);
			if (strspn(hex, "0123456789abcdefABCDEF") == 2 && sscanf(hex, "%2x", &code) == 1) {
				tp_buf_add(b, &(char){(char)code}, 1);
				i += 2;
				continue;
			}
		}
		tp_buf_add(b, in.p + i, 1);
	}
	return (struct tp_str){b->data + from, b->len - from};
}

/* user:password of Basic credentials. */
static struct tp_str unbase64(struct tp_turn_secrets *s, struct tp_str in)
{
	struct tp_buf *b = &s->decoded;
	if (in.n == 0 || in.n % 4 != 0 || in.n > b->size - b->len)
		return (struct tp_str){NULL, 0};
	int n = EVP_DecodeBlock((unsigned char *)b->data + b->len, (const unsigned char *)in.p, (int)in.n);
	if (n < 3)
		return (struct tp_str){NULL, 0};
	/* The padding was decoded to zero bytes. */
	n -= in.p[in.n - 1] == '=' ? in.p[in.n - 2] == '=' ? 2 : 1 : 0;
	struct tp_str plain = {b->data + b->len, (size_t)n};
	b->len += (size_t)n;
	return plain;
}

static void add_cookies(struct tp_turn_secrets *s, struct tp_str value)
{
	while (value.n > 0) {
		struct tp_str rest = behind(value, ';');
		struct tp_str pair = {value.p, rest.p != NULL ? value.n - rest.n - 1 : value.n};
		add(s, behind(tp_str_trim(pair), '='));
		value = rest;
	}
}

static void add_protocols(struct tp_turn_secrets *s, struct tp_str list)
{
	struct tp_str protocol;
	while (tp_scan_element(&list, &protocol))
		add(s, tp_protocol_credential(protocol));
}

static void add_field(struct tp_turn_secrets *s, const struct tp_field *f, struct tp_str value)
{
	add(s, value);
	if (f->id == TP_FIELD_COOKIE) {
		add_cookies(s, value);
		return;
	}
	struct tp_str credential = tp_str_trim(behind(value, ' '));
	add(s, credential);
	if (value.n > 6 && tp_str_ieq((struct tp_str){value.p, 6}, TP_STR("Basic "))) {
		struct tp_str plain = unbase64(s, credential);
		add(s, plain);
		add(s, behind(plain, ':'));
	}
}

/* ?key=... of Gemini and its like, as sent and as meant. */
static void add_parameters(struct tp_turn_secrets *s, struct tp_str query)
{
	while (query.n > 0) {
		struct tp_str rest = behind(query, '&');
		struct tp_str pair = {query.p, rest.p != NULL ? query.n - rest.n - 1 : query.n};
		struct tp_str value = behind(pair, '=');
		struct tp_str name = {pair.p, value.p != NULL ? pair.n - value.n - 1 : pair.n};
		if (value.n > 0 && tp_mask_secret_parameter(name)) {
			add(s, value);
			if (memchr(value.p, '%', value.n) != NULL)
				add(s, unpercent(s, value));
		}
		query = rest;
	}
}

void tp_turn_secrets_take(const struct tp_turn *t, struct tp_turn_secrets *ret_secrets)
{
	struct tp_turn_secrets *s = ret_secrets;
	const struct tp_request *r = t->request;
	*s = (struct tp_turn_secrets){0};
	tp_secrets_of_config(t->config, &s->of_config);
	s->list = (struct tp_mask_secrets){.list = s->items, .next = &s->of_config.list};
	/* Decoded values are shorter than the encoded ones, and nothing is decoded twice. */
	s->failed =
		s->of_config.failed || !tp_buf_reserve(&s->decoded, r->head != NULL ? r->head->size + 4 : 1);
	if (s->failed || r->head == NULL)
		return;
	for (uint32_t i = 0; i < r->head->n_fields; i++) {
		const struct tp_field *f = &r->head->fields[i];
		struct tp_str name = tp_request_str(r, f->name), value = tp_request_str(r, f->value);
		if (tp_mask_secret_name(name))
			add_field(s, f, value);
		else if (tp_str_ieq(name, TP_STR("sec-websocket-protocol")))
			add_protocols(s, value);
	}
	add_parameters(s, behind(tp_request_str(r, r->head->target), '?'));
}

void tp_turn_secrets_free(struct tp_turn_secrets *s)
{
	tp_secrets_free(&s->of_config);
	if (s->decoded.data != NULL)
		explicit_bzero(s->decoded.data, s->decoded.len);
	tp_buf_free(&s->decoded);
}
