#include "common/http/token_answer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 8192, SECOND_MS = 1000 };
#define LIFETIME_MAX_S (10 * 365 * 86400.0)

/* ---- the question */

static void add_encoded(struct tp_buf *out, const char *name, struct tp_str value)
{
	if (value.n == 0)
		return;
	tp_buf_printf(out, "&%s=", name);
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			     c == '-' || c == '.' || c == '_' || c == '~';
		if (plain)
			tp_buf_add(out, &c, 1);
		else
			tp_buf_printf(out, "%%%02X", c);
	}
}

void tp_token_form(struct tp_buf *out, struct tp_str refresh_token, struct tp_str client_id,
		   struct tp_str client_secret)
{
	tp_buf_add_str(out, TP_STR("grant_type=refresh_token"));
	add_encoded(out, "refresh_token", refresh_token);
	add_encoded(out, "client_id", client_id);
	add_encoded(out, "client_secret", client_secret);
}

void tp_token_json(struct tp_buf *out, struct tp_str refresh_token)
{
	tp_buf_add_str(out, TP_STR("{\"refresh_token\":\""));
	tp_buf_add_json(out, refresh_token);
	tp_buf_add_str(out, TP_STR("\"}"));
}

/* ---- the answer */

/* The first of these members that is text and can stand in a header; a copy, or NULL. */
static char *text_of(const json_t *root, const char *const *names)
{
	for (; *names != NULL; names++) {
		const json_t *v = json_object_get(root, *names);
		size_t n = json_string_length(v), i = 0;
		const char *text = json_string_value(v);
		while (i < n && text[i] > 0x20 && text[i] < 0x7f)
			i++;
		if (n > 0 && n <= VALUE_MAX && i == n)
			return strdup(text);
	}
	return NULL;
}

/* A number, or one written as a text, as some endpoints do. -1 = none above zero. */
static double number_of(const json_t *v)
{
	double d = json_number_value(v);
	if (json_is_string(v)) {
		char *end;
		d = strtod(json_string_value(v), &end);
		if (*end != '\0')
			return -1;
	}
	return d > 0 ? d : -1;
}

static int digit_of(char c)
{
	return c >= 'A' && c <= 'Z'   ? c - 'A'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 26
	       : c >= '0' && c <= '9' ? c - '0' + 52
	       : c == '-' || c == '+' ? 62
	       : c == '_' || c == '/' ? 63
				      : -1;
}

/* base64url without padding (RFC 7515); false: it is none. */
static bool decode(struct tp_str in, struct tp_buf *out)
{
	unsigned bits = 0;
	int have = 0;
	for (size_t i = 0; i < in.n; i++) {
		int d = digit_of(in.p[i]);
		if (d < 0)
			return false;
		bits = (bits << 6 | (unsigned)d) & 0xffff;
		have += 6;
		if (have >= 8) {
			have -= 8;
			unsigned char byte = (unsigned char)(bits >> have);
			tp_buf_add(out, &byte, 1);
		}
	}
	return !out->failed;
}

/* `exp` of a JWT, in seconds since 1970; -1 = it is none, or says none. */
static double expiry_of(const char *token)
{
	const char *first = strchr(token, '.');
	const char *second = first != NULL ? strchr(first + 1, '.') : NULL;
	if (second == NULL)
		return -1;
	struct tp_buf claims = {0};
	json_t *root = NULL;
	if (decode((struct tp_str){first + 1, (size_t)(second - first - 1)}, &claims))
		root = json_loadb(claims.data != NULL ? claims.data : "", claims.len, 0, NULL);
	double at = number_of(json_object_get(root, "exp"));
	json_decref(root);
	tp_buf_free(&claims);
	return at;
}

static int64_t lifetime(const json_t *root, const char *token, int64_t now_ms)
{
	double s = number_of(json_object_get(root, "expires_in"));
	if (s < 0)
		s = number_of(json_object_get(root, "expiresIn"));
	if (s < 0 && (s = expiry_of(token)) > 0)
		s -= (double)now_ms / SECOND_MS;
	if (s < 1) /* over already: a clock is wrong, and the provider knows better */
		return -1;
	return (int64_t)((s < LIFETIME_MAX_S ? s : LIFETIME_MAX_S) * SECOND_MS);
}

static void take_error(const json_t *root, char out[64])
{
	const json_t *e = json_object_get(root, "error");
	if (json_is_object(e)) {
		const json_t *code = json_object_get(e, "code");
		e = json_is_string(code) ? code : json_object_get(e, "type");
	}
	const char *text = json_string_value(e);
	for (size_t i = 0; text != NULL && text[i] != '\0' && i < 63; i++)
		out[i] = text[i] > 0x20 && text[i] < 0x7f ? text[i] : '_';
}

void tp_token_answer_read(struct tp_str body, int64_t now_ms, struct tp_token_answer *ret_answer)
{
	static const char *const access[] = {"access_token", "accessToken", "token", NULL};
	static const char *const refresh[] = {"refresh_token", "refreshToken", NULL};
	*ret_answer = (struct tp_token_answer){.lifetime_ms = -1};
	json_t *root = json_loadb(body.n > 0 ? body.p : "", body.n, JSON_REJECT_DUPLICATES, NULL);
	ret_answer->access = text_of(root, access);
	ret_answer->refresh = text_of(root, refresh);
	take_error(root, ret_answer->error);
	if (ret_answer->access != NULL)
		ret_answer->lifetime_ms = lifetime(root, ret_answer->access, now_ms);
	json_decref(root);
}

static void wipe(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
}

void tp_token_answer_free(struct tp_token_answer *a)
{
	wipe(a->access);
	wipe(a->refresh);
	*a = (struct tp_token_answer){0};
}
