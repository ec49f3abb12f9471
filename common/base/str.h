/*
 * A borrowed piece of bytes: pointer and length, not terminated, never freed
 * through this struct.  Who owns the bytes, and for how long they stay, is said
 * by whoever hands one out.
 */
#ifndef TP_BASE_STR_H
#define TP_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct tp_str {
	const char *p;
	size_t n;
};

/* A literal as a struct tp_str. */
#define TP_STR(literal) ((struct tp_str){(literal), sizeof(literal) - 1})
/* The same as an initializer, for static tables. */
#define TP_NAME(literal)                                                                                     \
	{                                                                                                    \
		(literal), sizeof(literal) - 1                                                               \
	}

/* Borrows a terminated text; NULL is the empty one. */
static inline struct tp_str tp_str_from(const char *terminated)
{
	return (struct tp_str){terminated, terminated != NULL ? strlen(terminated) : 0};
}

/* The same bytes; two empty ones are equal wherever they point. */
static inline bool tp_str_eq(struct tp_str a, struct tp_str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* ASCII case is ignored; for header names and codings. */
static inline bool tp_str_ieq(struct tp_str a, struct tp_str b)
{
	if (a.n != b.n)
		return false;
	/* Most names differ in their first letter already: then there is no call. */
	return a.n == 0 || (((a.p[0] ^ b.p[0]) & ~0x20) == 0 && strncasecmp(a.p, b.p, a.n) == 0);
}

/* Whether it is one of these n names, in any case. */
static inline bool tp_str_is_one_of(struct tp_str name, const struct tp_str *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tp_str_ieq(name, names[i]))
			return true;
	return false;
}

/* Byte for byte, case included; each text begins and ends with the empty one. */
static inline bool tp_str_starts(struct tp_str s, struct tp_str prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool tp_str_ends(struct tp_str s, struct tp_str suffix)
{
	return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* Blanks and tabs cut from both ends. */
static inline struct tp_str tp_str_trim(struct tp_str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

#endif
