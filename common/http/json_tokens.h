/*
 * Whole tokens of JSON that lie in sight: each function returns what is behind the token's last byte, or NULL
 * where the token is cut or wrong, which json.c then tells apart.  Used by common/http/json*.c only.
 */
#ifndef TP_HTTP_JSON_TOKENS_H
#define TP_HTTP_JSON_TOKENS_H

#include <string.h>

#include "common/http/chars.h"
#include "common/http/json_straight.h"

/* p: at a backslash. */
static inline const char *tp_json_escape_end(const char *p, const char *end)
{
	if (end - p < 2)
		return NULL;
	switch (p[1]) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't': return p + 2;
	case 'u':
		if (end - p < 6)
			return NULL;
		for (int i = 2; i < 6; i++)
			if (!tp_char_is(p[i], TP_CHAR_HEX))
				return NULL;
		return p + 6;
	default: return NULL;
	}
}

/* Behind the digits at `p`, which may be none. */
static inline const char *tp_json_digits_end(const char *p, const char *end)
{
	while (p < end && tp_json_is_digit(*p))
		p++;
	return p;
}

/* A number shows its end by the byte behind it only, which must be in sight. */
static inline const char *tp_json_number_end(const char *p, const char *end)
{
	if (*p == '-')
		p++;
	const char *digits = p;
	p = tp_json_digits_end(p, end);
	if (p == digits || (*digits == '0' && p > digits + 1))
		return NULL;
	if (p < end && *p == '.') {
		digits = ++p;
		p = tp_json_digits_end(p, end);
		if (p == digits)
			return NULL;
	}
	if (p < end && (*p | 0x20) == 'e') {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		digits = p;
		p = tp_json_digits_end(p, end);
		if (p == digits)
			return NULL;
	}
	return p < end ? p : NULL;
}

/* Behind null, true or false; NULL: none of them, or fewer than five bytes are in sight. */
static inline const char *tp_json_literal_end(const char *p, const char *end)
{
	if (end - p < 5)
		return NULL;
	if (memcmp(p, "null", 4) == 0 || memcmp(p, "true", 4) == 0)
		return p + 4;
	return memcmp(p, "false", 5) == 0 ? p + 5 : NULL;
}

/* The first byte that is no white space, or `end`. */
static inline const char *tp_json_skip_space(const char *p, const char *end)
{
	while (p < end && tp_json_is_space(*p))
		p++;
	return p;
}

#endif
