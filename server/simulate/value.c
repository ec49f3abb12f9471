#include "server/simulate/value.h"

#include "common/config/units.h"

enum { HOUR_MS = 3600000 };

bool tp_sim_next_part(struct tp_str *rest, char separator, struct tp_str *ret_part)
{
	const char *end;

	if (rest->p == NULL)
		return false;
	end = rest->n > 0 ? memchr(rest->p, separator, rest->n) : NULL;
	if (end == NULL) {
		*ret_part = *rest;
		*rest = (struct tp_str){NULL, 0};
		return true;
	}
	*ret_part = (struct tp_str){rest->p, (size_t)(end - rest->p)};
	*rest = (struct tp_str){end + 1, rest->n - ret_part->n - 1};
	return true;
}

bool tp_sim_read_number(struct tp_str s, uint32_t max, uint32_t *ret)
{
	uint64_t v;

	if (tp_parse_count(s, &v) != NULL || v > max)
		return false;
	*ret = (uint32_t)v;
	return true;
}

bool tp_sim_read_duration(struct tp_str s, uint32_t *ret_ms)
{
	uint64_t v;

	if (tp_parse_duration(s, &v) != NULL || v > HOUR_MS)
		return false;
	*ret_ms = (uint32_t)v;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool tp_sim_decode(struct tp_str s, char *out, size_t size, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		int c = (unsigned char)s.p[i];

		if (c == '%') {
			int hi, lo;

			if (s.n - i < 3 || (hi = hex_digit(s.p[i + 1])) < 0 ||
			    (lo = hex_digit(s.p[i + 2])) < 0)
				return false;
			c = hi * 16 + lo;
			i += 2;
		}
		if (c < 0x20 || c == 0x7f || n == size)
			return false;
		out[n++] = (char)c;
	}
	*ret_n = n;
	return true;
}
