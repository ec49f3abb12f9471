#include "common/http/mask_match.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/http/mask_form.h"
#include "common/http/mask_path.h"

enum {
	SCHEME_VALUE_MIN = 6,
	OWNER_VALUE_MIN = 6,
	WEAK_LOOK = 256 /* bytes of a value that are looked at to see whether it is a key */
};

struct scan {
	const struct tp_mask_view *view;
	const char *t; /* view->text */
	size_t n;
	bool foreign;
	struct tp_mask_marks *marks;
};

void tp_mask_mark(struct tp_mask_marks *m, const struct tp_mask_view *v, size_t from, size_t to)
{
	if (from >= to || m->failed)
		return;
	if (m->bytes == NULL && (m->bytes = calloc(1, m->n)) == NULL) {
		m->failed = true;
		return;
	}
	size_t start = tp_mask_view_start(v, from);
	memset(m->bytes + start, TP_MASK_MARK_TEXT, tp_mask_view_end(v, to) - start);
}

/* ---- characters */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Names and keys without padding. */
static bool in_word(char c)
{
	return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

/* Keys, also those a provider has shortened. */
static bool in_key(char c)
{
	return in_word(c) || c == '*';
}

/* RFC 6750's b64token and base64. */
static bool in_credential(char c)
{
	return in_key(c) || c == '~' || c == '+' || c == '/' || c == '=' || c == ':';
}

static size_t run(const struct scan *s, size_t from, bool (*in)(char))
{
	while (from < s->n && in(s->t[from]))
		from++;
	return from;
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* ---- keys known by how they begin */

/* A key anywhere in the word [at, end): behind its first character or one of - _ . */
static size_t key_in_word(const struct scan *s, size_t at, size_t end)
{
	size_t jwt = tp_mask_jwt(s->t, s->n, at);
	if (jwt != 0) {
		tp_mask_mark(s->marks, s->view, at, jwt);
		return jwt;
	}
	for (size_t i = at; i < end; i++) {
		if (i > at && is_alnum(s->t[i - 1]))
			continue;
		size_t found = tp_mask_form(s->t, s->n, i, s->foreign);
		if (found != 0) {
			tp_mask_mark(s->marks, s->view, i, found);
			return found;
		}
	}
	return 0;
}

/* ---- values of names */

/* The character at `i`, behind backslashes, if it is a quote; *ret_next is behind it. */
static char quote_at(const struct scan *s, size_t i, size_t *ret_next)
{
	while (i < s->n && s->t[i] == '\\')
		i++;
	if (i >= s->n || !is_quote(s->t[i]))
		return '\0';
	*ret_next = i + 1;
	return s->t[i];
}

/* What stands between a name and its value: `": "`, `=`, `\": \"`, `', b'`. */
struct lead {
	size_t value;
	char quote;   /* that opens the value; 0 = none */
	char mark;    /* : or = or , */
	bool escaped; /* the quote stood behind a backslash */
};

/* ('x-api-key', 'abc'), (b'x-api-key', b'abc'): how Python shows the fields of a head. */
static bool in_pair(const struct scan *s, size_t name)
{
	if (name < 2 || !is_quote(s->t[name - 1]))
		return false;
	return s->t[name - 2] == '(' || (name > 2 && s->t[name - 2] == 'b' && s->t[name - 3] == '(');
}

/* `at` and `i` are the ends of a name.  From there to its value; false when none follows. */
static bool find_value(const struct scan *s, size_t at, size_t i, struct lead *ret_lead)
{
	struct lead l = {0};
	bool pair = quote_at(s, i, &i) != '\0' && in_pair(s, at);
	if (i < s->n && s->t[i] == ']') /* headers[authorization] */
		i++;
	while (i < s->n && s->t[i] == ' ')
		i++;
	if (i >= s->n || (s->t[i] != ':' && s->t[i] != '=' && !(pair && s->t[i] == ',')))
		return false;
	l.mark = s->t[i++];
	while (i < s->n && (s->t[i] == ' ' || s->t[i] == '>' || s->t[i] == '=' || s->t[i] == '['))
		i++;
	if (i + 1 < s->n && s->t[i] == 'b' && is_quote(s->t[i + 1]))
		i++;
	l.escaped = i < s->n && s->t[i] == '\\';
	l.quote = quote_at(s, i, &i);
	if (l.mark == ',' && l.quote == '\0')
		return false;
	l.value = i;
	*ret_lead = l;
	return i < s->n;
}

/* Does the escape at `i` end a value that is not quoted? */
static bool ends_at_escape(const struct scan *s, size_t i)
{
	return i + 1 >= s->n || is_quote(s->t[i + 1]) || strchr("nrtu", s->t[i + 1]) != NULL;
}

static size_t value_end(const struct scan *s, const struct lead *l)
{
	size_t i = l->value;
	for (; i < s->n && s->t[i] != '\n' && s->t[i] != '\r'; i++) {
		char c = s->t[i];
		if (l->quote != '\0') {
			if (c == l->quote ||
			    (c == '\\' && l->escaped && i + 1 < s->n && s->t[i + 1] == l->quote))
				break;
			if (c == '\\' && i + 1 < s->n)
				i++;
			continue;
		}
		if (is_quote(c) || (c != '\0' && strchr(" \t,;&)]}<>", c) != NULL))
			break;
		if (c == '\\') {
			if (ends_at_escape(s, i))
				break;
			i++;
		}
	}
	return i < s->n ? i : s->n;
}

static struct tp_str piece(const struct scan *s, size_t from, size_t to)
{
	return (struct tp_str){s->t + from, to - from};
}

/* "token: could not be read": a sentence goes on where a value would stand. */
static bool is_prose(const struct scan *s, const struct lead *l, size_t end)
{
	if (l->quote != '\0' || l->mark != ':' || s->t[l->value - 1] != ' ')
		return false;
	for (size_t i = l->value; i < end; i++)
		if (s->t[i] < 'a' || s->t[i] > 'z')
			return false;
	return end + 1 < s->n && s->t[end] == ' ' && s->t[end + 1] >= 'a' && s->t[end + 1] <= 'z';
}

/* Behind the end of a cookie there may be another one. */
static size_t cookies_end(const struct scan *s, size_t end)
{
	for (;;) {
		size_t i = end;
		if (i >= s->n || s->t[i] != ';')
			return end;
		while (++i < s->n && s->t[i] == ' ')
			;
		size_t name = i;
		i = run(s, i, in_word);
		if (i == name || i >= s->n || s->t[i] != '=')
			return end;
		end = value_end(s, &(struct lead){.value = i + 1});
	}
}

/* `Bearer abc`, `Custom abc`: the credential is behind the scheme. */
static size_t auth_end(const struct scan *s, const struct lead *l, size_t end)
{
	if (l->quote != '\0' || end >= s->n || s->t[end] != ' ')
		return end;
	size_t second = run(s, end + 1, in_credential);
	struct tp_str word = piece(s, end + 1, second);
	return word.n >= SCHEME_VALUE_MIN && tp_mask_looks_made_up(word) ? second : end;
}

/* The word [at, end) is a name with a value that is a credential: masks it and returns its end. */
static size_t value_of_name(const struct scan *s, size_t at, size_t end)
{
	struct lead l;
	if (!find_value(s, at, end, &l))
		return 0;
	bool parameter = l.mark == '=' && at > 0 && (s->t[at - 1] == '?' || s->t[at - 1] == '&');
	struct tp_str name = piece(s, at, end);
	enum tp_mask_kind kind = parameter ? tp_mask_kind_of_parameter(name) : tp_mask_kind_of(name);
	if (kind == TP_MASK_KIND_NONE || (kind == TP_MASK_KIND_ID && !s->foreign))
		return 0;
	size_t stop = value_end(s, &l);
	if (kind == TP_MASK_KIND_WEAK && stop - l.value > WEAK_LOOK)
		stop = l.value + WEAK_LOOK;
	if (kind == TP_MASK_KIND_AUTH && tp_mask_is_scheme(piece(s, l.value, stop)) && stop < s->n &&
	    s->t[stop] == ' ') {
		l.value = stop + 1;
		stop = value_end(s, &l);
	}
	struct tp_str value = piece(s, l.value, stop);
	bool prose = (kind == TP_MASK_KIND_AUTH || kind == TP_MASK_KIND_TOKEN) && is_prose(s, &l, stop);
	if (value.n == 0 || prose || !tp_mask_value_is_secret(kind, value))
		return 0;
	if (kind == TP_MASK_KIND_COOKIE)
		stop = cookies_end(s, stop);
	else if (kind == TP_MASK_KIND_AUTH)
		stop = auth_end(s, &l, stop);
	else if (kind == TP_MASK_KIND_WEAK)
		stop = value_end(s, &l);
	tp_mask_mark(s->marks, s->view, l.value, stop);
	return stop;
}

/* ---- words before a credential or an id */

static size_t skip_any(const struct scan *s, size_t i, const char *these)
{
	while (i < s->n && s->t[i] != '\0' && strchr(these, s->t[i]) != NULL)
		i++;
	return i;
}

/* `Bearer abc`, `Basic dXNlcjpwYXNz` */
static size_t value_of_scheme(const struct scan *s, size_t at, size_t end)
{
	bool bearer = tp_str_ieq(piece(s, at, end), TP_STR("bearer"));
	if (!bearer && !tp_str_ieq(piece(s, at, end), TP_STR("basic")))
		return 0;
	size_t value = skip_any(s, end, " :=+'\"`<");
	if (value == end)
		return 0;
	size_t stop = run(s, value, in_credential);
	while (stop > value && (s->t[stop - 1] == '.' || s->t[stop - 1] == ':')) /* the end of a sentence */
		stop--;
	struct tp_str word = piece(s, value, stop);
	if (word.n < SCHEME_VALUE_MIN || tp_mask_is_plain_word(word))
		return 0;
	if (!bearer && !tp_mask_looks_made_up(word)) /* "basic functionality" */
		return 0;
	tp_mask_mark(s->marks, s->view, value, stop);
	return stop;
}

/* "organization `org_01abc`", "team 0000-...", "projects/example-project/locations" */
static size_t value_of_owner(const struct scan *s, size_t at, size_t end)
{
	struct tp_str word = piece(s, at, end);
	bool listed = tp_str_eq(word, TP_STR("projects")) && end < s->n && s->t[end] == '/';
	if (!listed && !tp_mask_is_owner(word))
		return 0;
	size_t value = listed ? end + 1 : skip_any(s, end, " :='\"`#/<(");
	size_t stop = run(s, value, in_word);
	while (stop > value && s->t[stop - 1] == '.')
		stop--;
	struct tp_str id = piece(s, value, stop);
	if (value == end || id.n == 0)
		return 0;
	if (!listed && (id.n < OWNER_VALUE_MIN || !tp_mask_looks_made_up(id)))
		return 0;
	tp_mask_mark(s->marks, s->view, value, stop);
	return stop;
}

/* "API key: 0123abcd...", "Incorrect API key provided: ..." */
static size_t value_of_key_phrase(const struct scan *s, size_t at, size_t end)
{
	static const char before[] = "key ";
	if (!tp_str_ieq(piece(s, at, end), TP_STR("provided")) || at < sizeof before - 1 ||
	    strncasecmp(s->t + at - (sizeof before - 1), before, sizeof before - 1) != 0)
		return 0;
	size_t value = skip_any(s, end, " :='\"`");
	size_t stop = run(s, value, in_credential);
	while (stop > value && s->t[stop - 1] == '.')
		stop--;
	if (value == end || !tp_mask_value_is_secret(TP_MASK_KIND_WEAK, piece(s, value, stop)))
		return 0;
	tp_mask_mark(s->marks, s->view, value, stop);
	return stop;
}

/* ---- the pass */

static size_t word(const struct scan *s, size_t at)
{
	size_t end = run(s, at, in_word), found;
	if (s->foreign && end == at + 1 && (found = tp_mask_windows_path(s->t, s->n, at)) != 0) {
		tp_mask_mark(s->marks, s->view, at, found);
		return found;
	}
	if ((found = key_in_word(s, at, end)) != 0 || (found = value_of_name(s, at, end)) != 0 ||
	    (found = value_of_scheme(s, at, end)) != 0 || (found = value_of_key_phrase(s, at, end)) != 0 ||
	    (s->foreign && (found = value_of_owner(s, at, end)) != 0))
		return found;
	return end;
}

/* A key with its middle starred out: xa***yz, ****0000.  What was before the stars is a word already passed.
 */
static size_t stars(const struct scan *s, size_t at, size_t passed)
{
	size_t end = at;
	while (end < s->n && s->t[end] == '*')
		end++;
	if (end - at < 3)
		return end;
	size_t from = at, to = run(s, end, in_key);
	while (from > passed && in_key(s->t[from - 1]))
		from--;
	if (from > 0 && (s->t[from - 1] == '\\' || s->t[from - 1] == '%')) /* the rest of an escape */
		from = at;
	while (to > end && s->t[to - 1] == '.')
		to--;
	if (to > end || from < at)
		tp_mask_mark(s->marks, s->view, from, to);
	return to;
}

/* scheme://user:password@host */
static size_t userinfo(const struct scan *s, size_t at)
{
	size_t begin = at + 3, end = 0;
	for (size_t i = begin; i < s->n; i++) {
		char c = s->t[i];
		if (c == '@')
			end = i;
		else if ((unsigned char)c <= ' ')
			break;
		else if (c == '/' || c == '?' || c == '#' || c == '"' || c == '<' || c == '>' || c == '\\')
			break;
	}
	if (end <= begin)
		return begin;
	tp_mask_mark(s->marks, s->view, begin, end);
	return end;
}

void tp_mask_match(const struct tp_mask_view *v, bool foreign, struct tp_mask_marks *m)
{
	struct scan s = {.view = v, .t = v->text, .n = v->n, .foreign = foreign, .marks = m};
	size_t i = 0, passed = 0; /* what is before `passed` was masked or ends a word */
	while (i < s.n && !m->failed) {
		char c = s.t[i];
		size_t found;
		if (is_alnum(c) || c == '_') {
			i = word(&s, i);
		} else if (c == '*') {
			i = passed = stars(&s, i, passed);
		} else if (c == ':' && s.n - i > 3 && s.t[i + 1] == '/' && s.t[i + 2] == '/') {
			i = passed = userinfo(&s, i);
		} else if (c == '/' && foreign && (found = tp_mask_unix_path(s.t, s.n, i)) != 0) {
			tp_mask_mark(m, v, i, found);
			i = passed = found;
		} else {
			i++;
		}
	}
}
