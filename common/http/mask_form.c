#include "common/http/mask_form.h"

#include <string.h>

#include "common/base/str.h"
#include "common/http/mask_names.h"

static bool is_upper(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

static bool in_base64url(char c)
{
	return is_upper(c) || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

static bool in_word(char c)
{
	return in_base64url(c) || c == '.';
}

/* Keys, also those a provider has shortened. */
static bool in_key(char c)
{
	return in_word(c) || c == '*';
}

static size_t run(const char *text, size_t n, size_t from, bool (*in)(char))
{
	while (from < n && in(text[from]))
		from++;
	return from;
}

struct form {
	const char *prefix;
	bool (*in)(char);
	size_t min;   /* bytes behind the prefix */
	bool made_up; /* only when they look made up: the prefix alone may begin an everyday name */
	bool foreign; /* an id rather than a credential */
};

static const struct form forms[] = {
	{"sk-", in_key, 6, false, false},      {"pk-", in_key, 12, true, false},
	{"ghp_", in_key, 8, true, false},      {"gho_", in_key, 8, true, false},
	{"ghu_", in_key, 8, true, false},      {"ghs_", in_key, 8, true, false},
	{"ghr_", in_key, 8, true, false},      {"github_pat_", in_key, 8, false, false},
	{"glpat-", in_key, 8, false, false},   {"AKIA", is_upper, 12, true, false},
	{"ASIA", is_upper, 12, true, false},   {"AIza", in_key, 16, false, false},
	{"ya29.", in_key, 8, false, false},    {"xai-", in_key, 8, true, false},
	{"gsk_", in_key, 8, true, false},      {"hf_", in_key, 8, true, false},
	{"pplx-", in_key, 8, true, false},     {"nvapi-", in_key, 8, true, false},
	{"xoxb-", in_key, 8, true, false},     {"xoxp-", in_key, 8, true, false},
	{"sk_live_", in_key, 6, false, false}, {"sk_test_", in_key, 6, false, false},
	{"org-", in_base64url, 6, true, true}, {"org_", in_base64url, 6, true, true},
	{"ak-", in_base64url, 8, true, true},  {"proj_", in_base64url, 6, true, true},
};

/* A JSON web token: two or three base64url parts, the first of which begins with {". */
size_t tp_mask_jwt(const char *text, size_t n, size_t at)
{
	if (n - at < 12 || memcmp(text + at, "eyJ", 3) != 0)
		return 0;
	size_t dot = run(text, n, at, in_base64url);
	if (dot - at < 6 || dot >= n || text[dot] != '.')
		return 0;
	size_t end = run(text, n, dot + 1, in_base64url);
	if (end - dot < 5)
		return 0;
	return run(text, n, end, in_word);
}

size_t tp_mask_form(const char *text, size_t n, size_t at, bool foreign)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form *f = &forms[i];
		if (f->prefix[0] != text[at] || (f->foreign && !foreign))
			continue;
		struct tp_str prefix = tp_str_from(f->prefix), rest = {text + at, n - at};
		if (!tp_str_starts(rest, prefix))
			continue;
		size_t end = run(text, n, at + prefix.n, f->in);
		struct tp_str secret = {text + at + prefix.n, end - at - prefix.n};
		while (secret.n > 0 && secret.p[secret.n - 1] == '.') /* the end of a sentence */
			secret.n--;
		if (secret.n >= f->min && (!f->made_up || tp_mask_looks_made_up(secret)))
			return at + prefix.n + secret.n;
	}
	return 0;
}
