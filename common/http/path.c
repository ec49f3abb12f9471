#include "common/http/path.h"

static const struct {
	const char *name;
	struct tp_str end; /* of the path; empty: none */
} families[TP_FAMILY_COUNT] = {
	[TP_FAMILY_PLAIN] = {"plain", {NULL, 0}},
	[TP_FAMILY_CHAT] = {"chat", {"/chat/completions", 17}},
	[TP_FAMILY_RESPONSES] = {"responses", {"/responses", 10}},
	[TP_FAMILY_MESSAGES] = {"messages", {"/messages", 9}},
};

const char *tp_family_name(enum tp_family f)
{
	return families[f].name;
}

enum tp_family tp_family_of(struct tp_str target)
{
	struct tp_str path = tp_path_only(target);
	for (int f = TP_FAMILY_CHAT; f < TP_FAMILY_COUNT; f++)
		if (tp_str_ends(path, families[f].end))
			return (enum tp_family)f;
	return TP_FAMILY_PLAIN;
}

struct tp_str tp_path_only(struct tp_str target)
{
	const char *query = target.n != 0 ? memchr(target.p, '?', target.n) : NULL;
	return query == NULL ? target : (struct tp_str){target.p, (size_t)(query - target.p)};
}

/* The character at p, with its percent-encoding taken off where it is one that matters here. */
static char decoded(const char *p, size_t left, size_t *ret_n)
{
	static const struct {
		char code[2], meaning;
	} codes[] = {{"2e", '.'}, {"2f", '/'}, {"5c", '\\'}, {"3b", ';'}};
	if (*p == '%' && left >= 3)
		for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
			if (p[1] == codes[i].code[0] && (p[2] | 0x20) == (codes[i].code[1] | 0x20)) {
				*ret_n = 3;
				return codes[i].meaning;
			}
	*ret_n = 1;
	return *p;
}

/*
 * A backslash counts as a slash, and what follows ';' in a segment does not count: some servers
 * behind a proxy read "..\" and "..;x" as "..".
 */
bool tp_path_has_dots(struct tp_str target)
{
	struct tp_str path = tp_path_only(target);
	if (path.n == 0 || (memchr(path.p, '.', path.n) == NULL && memchr(path.p, '%', path.n) == NULL))
		return false;
	size_t dots = 0, others = 0, n = 0;
	bool parameters = false;
	for (size_t i = 0; i < path.n; i += n) {
		char c = decoded(path.p + i, path.n - i, &n);
		if (c == '/' || c == '\\') {
			if (others == 0 && (dots == 1 || dots == 2))
				return true;
			dots = others = 0;
			parameters = false;
		} else if (c == ';') {
			parameters = true;
		} else if (!parameters) {
			*(c == '.' ? &dots : &others) += 1;
		}
	}
	return others == 0 && (dots == 1 || dots == 2);
}

bool tp_path_under(struct tp_str path, struct tp_str prefix)
{
	if (!tp_str_starts(path, prefix))
		return false;
	if (path.n == prefix.n || prefix.n == 0 || prefix.p[prefix.n - 1] == '/')
		return true;
	return path.p[prefix.n] == '/' || path.p[prefix.n] == '?';
}
