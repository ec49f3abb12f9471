#include "common/http/mask_names.h"

#include <stddef.h>

enum { NAME_MAX_BYTES = 64, WORD_MAX_BYTES = 20, TOKEN_MIN = 6, NUMBER_MIN = 6 };

struct name {
	const char *name; /* lower case, without - _ and . */
	bool whole;       /* else: names that end so (x-auth-token, OPENAI_API_KEY) */
	enum tp_mask_kind kind;
};

static const struct name names[] = {
	{"authorization", false, TP_MASK_KIND_AUTH},
	{"cookie", false, TP_MASK_KIND_COOKIE},
	{"cookies", false, TP_MASK_KIND_COOKIE},
	{"password", false, TP_MASK_KIND_SECRET},
	{"passwd", false, TP_MASK_KIND_SECRET},
	{"pwd", true, TP_MASK_KIND_SECRET},
	{"passphrase", false, TP_MASK_KIND_SECRET},
	{"secret", false, TP_MASK_KIND_SECRET},
	{"secretkey", false, TP_MASK_KIND_SECRET},
	{"apikey", false, TP_MASK_KIND_SECRET},
	{"apikeys", false, TP_MASK_KIND_SECRET},
	{"apitoken", false, TP_MASK_KIND_SECRET},
	{"accesstoken", false, TP_MASK_KIND_SECRET},
	{"refreshtoken", false, TP_MASK_KIND_SECRET},
	{"authtoken", false, TP_MASK_KIND_SECRET},
	{"accesskey", false, TP_MASK_KIND_SECRET},
	{"accesskeyid", false, TP_MASK_KIND_SECRET},
	{"privatekey", false, TP_MASK_KIND_SECRET},
	{"signingkey", false, TP_MASK_KIND_SECRET},
	{"encryptionkey", false, TP_MASK_KIND_SECRET},
	{"subscriptionkey", false, TP_MASK_KIND_SECRET},
	{"masterkey", false, TP_MASK_KIND_SECRET},
	{"authkey", false, TP_MASK_KIND_SECRET},
	{"sessionkey", false, TP_MASK_KIND_SECRET},
	{"signature", false, TP_MASK_KIND_TOKEN},
	{"credential", false, TP_MASK_KIND_TOKEN},
	{"credentials", false, TP_MASK_KIND_TOKEN},
	{"token", false, TP_MASK_KIND_TOKEN},
	{"jwt", true, TP_MASK_KIND_TOKEN},
	{"bearer", true, TP_MASK_KIND_TOKEN},
	{"key", true, TP_MASK_KIND_WEAK},
	{"auth", true, TP_MASK_KIND_WEAK},
	{"userid", false, TP_MASK_KIND_ID},
	{"accountid", false, TP_MASK_KIND_ID},
	{"orgid", false, TP_MASK_KIND_ID},
	{"organizationid", false, TP_MASK_KIND_ID},
	{"organisationid", false, TP_MASK_KIND_ID},
	{"teamid", false, TP_MASK_KIND_ID},
	{"projectid", false, TP_MASK_KIND_ID},
	{"projectnumber", false, TP_MASK_KIND_ID},
	{"customerid", false, TP_MASK_KIND_ID},
	{"tenantid", false, TP_MASK_KIND_ID},
	{"workspaceid", false, TP_MASK_KIND_ID},
	{"openaiorganization", false, TP_MASK_KIND_ID},
	{"openaiproject", false, TP_MASK_KIND_ID},
};

static const struct name parameters[] = {
	{"key", true, TP_MASK_KIND_SECRET},  {"token", true, TP_MASK_KIND_SECRET},
	{"auth", true, TP_MASK_KIND_SECRET}, {"sig", true, TP_MASK_KIND_SECRET},
	{"pass", true, TP_MASK_KIND_SECRET}, {"signature", false, TP_MASK_KIND_SECRET},
	{"project", true, TP_MASK_KIND_ID},  {"organization", true, TP_MASK_KIND_ID},
	{"account", true, TP_MASK_KIND_ID},
};

/* Names that begin so speak about a secret or count something: invalid_api_key, max_token. */
static const char *const no_names[] = {"invalid", "missing", "expired", "incorrect", "wrong",
				       "bad",     "unknown", "max",     "min",       "num",
				       "total",   "count",   "next",    "unexpected"};

/* What stands where a credential could, and says something. */
static const char *const plain_words[] = {
	"",
	"null",
	"none",
	"true",
	"false",
	"undefined",
	"required",
	"missing",
	"invalid",
	"expired",
	"incorrect",
	"empty",
	"is",
	"was",
	"not",
	"no",
	"and",
	"or",
	"for",
	"field",
	"must",
	"token",
	"tokens",
	"auth",
	"realm",
	"scheme",
	"key",
	"keys",
	"error",
	"authentication",
	"authorization",
	"credential",
	"header",
	"headers",
	"format",
	"string",
	"credentials",
	"bearer",
	"basic",
	"digest",
	"the",
	"in",
	"value",
	"with",
	"provided",
	"could",
	"redacted",
	"unauthorized",
	"denied",
	"rejected",
	"your",
	"failed",
	"disabled",
	"revoked",
	"<token>",
	"security",
};

static const char *const schemes[] = {"bearer", "basic", "token", "apikey", "negotiate"};

static const char *const owners[] = {"team",    "organization", "organisation", "org",  "account",
				     "project", "workspace",    "tenant",       "user", "customer"};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool in_words(struct tp_str s, const char *const *words, size_t n)
{
	if (s.n > WORD_MAX_BYTES)
		return false;
	for (size_t i = 0; i < n; i++)
		if (tp_str_ieq(s, tp_str_from(words[i])))
			return true;
	return false;
}

bool tp_mask_is_scheme(struct tp_str word)
{
	return in_words(word, schemes, COUNT(schemes));
}

bool tp_mask_is_owner(struct tp_str word)
{
	return in_words(word, owners, COUNT(owners));
}

bool tp_mask_is_plain_word(struct tp_str word)
{
	while (word.n > 0 && (word.p[word.n - 1] == '.' || word.p[word.n - 1] == ':'))
		word.n--;
	return in_words(word, plain_words, COUNT(plain_words));
}

/* The end of a name is what tells: of a long one only that is kept.  Returns the length. */
static size_t squeeze(struct tp_str name, char out[NAME_MAX_BYTES])
{
	size_t n = 0;
	if (name.n > NAME_MAX_BYTES) {
		name.p += name.n - NAME_MAX_BYTES;
		name.n = NAME_MAX_BYTES;
	}
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] != '-' && name.p[i] != '_' && name.p[i] != '.' && name.p[i] != ' ')
			out[n++] = lower(name.p[i]);
	return n;
}

static enum tp_mask_kind look_up(struct tp_str s, const struct name *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tp_str known = tp_str_from(table[i].name);
		if (table[i].whole ? tp_str_eq(s, known) : tp_str_ends(s, known))
			return table[i].kind;
	}
	return TP_MASK_KIND_NONE;
}

enum tp_mask_kind tp_mask_kind_of(struct tp_str name)
{
	char squeezed[NAME_MAX_BYTES];
	struct tp_str s = {squeezed, squeeze(name, squeezed)};
	enum tp_mask_kind kind = look_up(s, names, COUNT(names));
	for (size_t i = 0; kind != TP_MASK_KIND_NONE && i < COUNT(no_names); i++)
		if (tp_str_starts(s, tp_str_from(no_names[i])))
			return TP_MASK_KIND_NONE;
	return kind;
}

enum tp_mask_kind tp_mask_kind_of_parameter(struct tp_str name)
{
	char squeezed[NAME_MAX_BYTES];
	struct tp_str s = {squeezed, squeeze(name, squeezed)};
	enum tp_mask_kind kind = look_up(s, parameters, COUNT(parameters));
	return kind != TP_MASK_KIND_NONE ? kind : tp_mask_kind_of(name);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool tp_mask_looks_made_up(struct tp_str s)
{
	if (s.n >= WORD_MAX_BYTES)
		return true;
	for (size_t i = 0; i < s.n; i++)
		if (is_digit(s.p[i]) || s.p[i] == '*' || (i > 0 && s.p[i] >= 'A' && s.p[i] <= 'Z'))
			return true;
	return false;
}

/* A number such as 100 or 4.5: an amount rather than a token. */
static bool is_amount(struct tp_str s)
{
	size_t digits = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (!is_digit(s.p[i]) && s.p[i] != '.')
			return false;
		digits += is_digit(s.p[i]);
	}
	return digits < NUMBER_MIN;
}

static bool looks_like_key(struct tp_str s)
{
	bool digit = false, letter = false;
	for (size_t i = 0; i < s.n; i++) {
		char c = lower(s.p[i]);
		if (c == ' ')
			return false;
		digit = digit || is_digit(c);
		letter = letter || (c >= 'a' && c <= 'z');
	}
	return s.n >= WORD_MAX_BYTES || (s.n >= 2 * TOKEN_MIN && digit && letter);
}

bool tp_mask_value_is_secret(enum tp_mask_kind kind, struct tp_str value)
{
	if (tp_mask_is_plain_word(value))
		return false;
	switch (kind) {
	case TP_MASK_KIND_NONE: return false;
	case TP_MASK_KIND_TOKEN: return value.n >= TOKEN_MIN && !is_amount(value);
	case TP_MASK_KIND_WEAK: return looks_like_key(value);
	case TP_MASK_KIND_SECRET:
	case TP_MASK_KIND_AUTH:
	case TP_MASK_KIND_COOKIE:
	case TP_MASK_KIND_ID: break;
	}
	return true;
}
