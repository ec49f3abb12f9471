#include "common/http/keep_alive.h"

#include <string.h>

enum { MOST_S = 100000 };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct tp_str trim(struct tp_str s)
{
	while (s.n > 0 && is_blank(s.p[0]))
		s = (struct tp_str){s.p + 1, s.n - 1};
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* The text in front of `c`, which is cut off with it; all of it when there is none. */
static struct tp_str cut(struct tp_str *s, char c)
{
	const char *at = s->n > 0 ? memchr(s->p, c, s->n) : NULL;
	struct tp_str front = {s->p, at != NULL ? (size_t)(at - s->p) : s->n};
	size_t used = front.n + (at != NULL);
	*s = (struct tp_str){used > 0 ? s->p + used : s->p, s->n - used};
	return trim(front);
}

static uint64_t seconds_of(struct tp_str text)
{
	uint64_t s = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return 0;
		s = s * 10 + (uint64_t)(text.p[i] - '0');
		s = s < MOST_S ? s : MOST_S;
	}
	return s;
}

uint64_t tp_keep_alive_ms(struct tp_str value, uint64_t ms)
{
	while (value.n > 0) {
		struct tp_str parameter = cut(&value, ',');
		struct tp_str name = cut(&parameter, '=');
		if (!tp_str_ieq(name, TP_STR("timeout")))
			continue;
		uint64_t s = seconds_of(trim(parameter));
		uint64_t told = s > 1 ? (s - 1) * 1000 : 0;
		return told < ms ? told : ms;
	}
	return ms;
}
