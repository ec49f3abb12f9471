#include "common/config/env_file.h"

#include <stdlib.h>
#include <string.h>

struct line {
	const char *file;
	unsigned number;
	struct tp_str rest; /* of it */
	struct tp_buf *errors;
};

static bool complain(const struct line *l, const char *what)
{
	tp_buf_printf(l->errors, "%s:%u: %s\n", l->file, l->number, what);
	return false;
}

static void skip(struct line *l, size_t n)
{
	l->rest.p += n;
	l->rest.n -= n;
}

static bool is_name_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

static bool read_name(struct line *l, struct tp_str *ret_name)
{
	struct tp_str export = TP_STR("export");
	if (tp_str_starts(l->rest, export) && l->rest.n > export.n &&
	    (l->rest.p[export.n] == ' ' || l->rest.p[export.n] == '\t')) {
		skip(l, export.n);
		l->rest = tp_str_trim(l->rest);
	}
	size_t n = 0;
	while (n < l->rest.n && is_name_char(l->rest.p[n], n == 0))
		n++;
	*ret_name = (struct tp_str){l->rest.p, n};
	skip(l, n);
	l->rest = tp_str_trim(l->rest);
	if (n == 0 || l->rest.n == 0 || l->rest.p[0] != '=')
		return complain(l, "is not of the form NAME=VALUE");
	skip(l, 1);
	l->rest = tp_str_trim(l->rest);
	return true;
}

/* What a backslash and this character stand for inside double quotes. */
static void add_escaped(struct tp_buf *out, char c)
{
	static const char plain[] = "\"\\$`";
	if (c == 'n')
		tp_buf_add_str(out, TP_STR("\n"));
	else if (c == 't')
		tp_buf_add_str(out, TP_STR("\t"));
	else if (memchr(plain, c, sizeof plain - 1) != NULL)
		tp_buf_add(out, &c, 1);
	else
		tp_buf_add(out, (const char[]){'\\', c}, 2);
}

static bool read_quoted(struct line *l, struct tp_buf *value)
{
	char quote = l->rest.p[0];
	size_t i = 1;
	for (; i < l->rest.n && l->rest.p[i] != quote; i++) {
		if (quote == '"' && l->rest.p[i] == '\\' && i + 1 < l->rest.n)
			add_escaped(value, l->rest.p[++i]);
		else
			tp_buf_add(value, &l->rest.p[i], 1);
	}
	if (i >= l->rest.n)
		return complain(l, "the quote is not closed on this line");
	skip(l, i + 1);
	l->rest = tp_str_trim(l->rest);
	return l->rest.n == 0 || l->rest.p[0] == '#' ||
	       complain(l, "something stands behind the closing quote");
}

/* A comment needs a blank before it: # may be part of a key. */
static void read_plain(struct line *l, struct tp_buf *value)
{
	size_t n = 0;
	while (n < l->rest.n &&
	       (l->rest.p[n] != '#' || (n > 0 && l->rest.p[n - 1] != ' ' && l->rest.p[n - 1] != '\t')))
		n++;
	tp_buf_add_str(value, tp_str_trim((struct tp_str){l->rest.p, n}));
}

static bool read_value(struct line *l, struct tp_buf *value)
{
	if (l->rest.n > 0 && (l->rest.p[0] == '"' || l->rest.p[0] == '\''))
		return read_quoted(l, value);
	read_plain(l, value);
	return true;
}

static const struct tp_env_variable *find(const struct tp_env *e, struct tp_str name)
{
	for (size_t i = 0; i < e->n; i++)
		if (tp_str_eq(tp_str_from(e->list[i].name), name))
			return &e->list[i];
	return NULL;
}

bool tp_env_add(struct tp_env *e, struct tp_str name, struct tp_str value, unsigned line)
{
	struct tp_env_variable *list = reallocarray(e->list, e->n + 1, sizeof e->list[0]);
	if (list == NULL)
		return false;
	e->list = list;
	struct tp_env_variable v = {strndup(name.p, name.n), strndup(value.n > 0 ? value.p : "", value.n),
				    line};
	if (v.name == NULL || v.value == NULL) {
		free(v.name);
		free(v.value);
		return false;
	}
	e->list[e->n++] = v;
	return true;
}

static bool take(struct tp_env *e, struct line *l, struct tp_str name, const struct tp_buf *value)
{
	const struct tp_env_variable *earlier = find(e, name);
	if (earlier != NULL) {
		tp_buf_printf(l->errors, "%s:%u: %s was set on line %u already\n", l->file, l->number,
			      earlier->name, earlier->line);
		return false;
	}
	return (!value->failed && tp_env_add(e, name, tp_buf_str(value), l->number)) ||
	       complain(l, "out of memory");
}

static bool read_line(struct tp_env *e, struct line *l)
{
	struct tp_str name;
	struct tp_buf value = {0};
	l->rest = tp_str_trim(l->rest);
	if (l->rest.n == 0 || l->rest.p[0] == '#')
		return true;
	if (memchr(l->rest.p, '\0', l->rest.n) != NULL)
		return complain(l, "there is a byte 0 in it");
	bool good = read_name(l, &name) && read_value(l, &value) && take(e, l, name, &value);
	if (value.data != NULL)
		explicit_bzero(value.data, value.size);
	tp_buf_free(&value);
	return good;
}

bool tp_env_parse(const char *file, struct tp_str text, struct tp_env *ret_env, struct tp_buf *errors)
{
	struct line l = {.file = file, .errors = errors};
	bool good = true;
	*ret_env = (struct tp_env){0};
	size_t at = tp_str_starts(text, TP_STR("\xef\xbb\xbf")) ? 3 : 0;
	while (at < text.n) {
		const char *end = memchr(text.p + at, '\n', text.n - at);
		size_t n = end != NULL ? (size_t)(end - text.p) - at : text.n - at;
		l.number++;
		l.rest = (struct tp_str){text.p + at, n};
		if (n > 0 && l.rest.p[n - 1] == '\r')
			l.rest.n--;
		good = read_line(ret_env, &l) && good;
		at += n + 1;
	}
	return good;
}

const struct tp_env_variable *tp_env_find(const struct tp_env *e, const char *name)
{
	const struct tp_env_variable *v = find(e, tp_str_from(name));
	return v != NULL && v->value[0] != '\0' ? v : NULL;
}

void tp_env_free(struct tp_env *e)
{
	for (size_t i = 0; i < e->n; i++) {
		explicit_bzero(e->list[i].value, strlen(e->list[i].value));
		free(e->list[i].name);
		free(e->list[i].value);
	}
	free(e->list);
	*e = (struct tp_env){0};
}
