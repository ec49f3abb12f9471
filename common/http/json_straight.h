/*
 * Straight paths of the JSON scanner: whole tokens that lie in sight, without escapes at the top level.
 * They say the same as the states of json.c, which take over wherever a token is cut, escaped or wrong.
 * Used by common/http/json*.c only.
 */
#ifndef TP_HTTP_JSON_STRAIGHT_H
#define TP_HTTP_JSON_STRAIGHT_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "common/http/json.h"

enum tp_json_state {
	TP_JSON_ST_START,         /* nothing but white space so far; a byte order mark may come */
	TP_JSON_ST_VALUE,         /* a value must come */
	TP_JSON_ST_FIRST_ELEMENT, /* behind '[': a value or ']' */
	TP_JSON_ST_MEMBER_VALUE,  /* a top-level member's value, already told to the caller */
	TP_JSON_ST_FIRST_KEY,     /* behind '{': a key or '}' */
	TP_JSON_ST_KEY,           /* behind ',' in an object: a key */
	TP_JSON_ST_COLON,         /* behind a key */
	TP_JSON_ST_COMMA,         /* behind a value: ',' or the closing bracket */
	TP_JSON_ST_STRING,        /* inside quotes */
	TP_JSON_ST_ESCAPE,        /* behind a backslash */
	TP_JSON_ST_UNICODE,       /* behind \u; step = digits so far */
	TP_JSON_ST_LITERAL,       /* step = letters so far */
	TP_JSON_ST_NUMBER,        /* step = the part of it */
	TP_JSON_ST_DONE,          /* only white space may come */
	TP_JSON_ST_BAD
};

/*
 * Uses whole tokens from the front of bytes[0..n), n > 0: up to the next event, or (TP_JSON_MORE) to where
 * json.c has to look.  Only between tokens, inside an object or a list.
 */
enum tp_json_event tp_json_straight(struct tp_json *j, const char *bytes, size_t n, size_t *ret_used);

/* Inside an object or a list, and not inside a token: where tp_json_straight() may begin. */
static inline bool tp_json_between_tokens(const struct tp_json *j)
{
	return j->depth > 0 && j->state >= TP_JSON_ST_VALUE && j->state <= TP_JSON_ST_COMMA;
}

/* JSON's four, and no other. */
static inline bool tp_json_is_space(char c)
{
	return (unsigned char)c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
}

static inline bool tp_json_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Depth 1 of an object: what is read here is told to the caller. */
static inline bool tp_json_at_member(const struct tp_json *j)
{
	return j->depth == 1 && j->top_type == TP_JSON_OBJECT;
}

/* The innermost open one is an object, else a list. depth > 0. */
static inline bool tp_json_in_object(const struct tp_json *j)
{
	unsigned level = j->depth - 1u;
	return (j->objects[level / 64] >> (level % 64) & 1) != 0;
}

/* TP_JSON_NONE: no value begins with it. */
static inline enum tp_json_type tp_json_type_of(char c)
{
	switch (c) {
	case '{': return TP_JSON_OBJECT;
	case '[': return TP_JSON_ARRAY;
	case '"': return TP_JSON_STRING;
	case 't': return TP_JSON_TRUE;
	case 'f': return TP_JSON_FALSE;
	case 'n': return TP_JSON_NULL;
	default: return tp_json_is_digit(c) || c == '-' ? TP_JSON_NUMBER : TP_JSON_NONE;
	}
}

/* False, and too_deep set: that was one level too many. */
static inline bool tp_json_open_level(struct tp_json *j, bool object)
{
	if (j->depth == TP_JSON_NEST_MAX) {
		j->too_deep = true;
		return false;
	}
	uint64_t bit = (uint64_t)1 << (j->depth % 64);
	if (object)
		j->objects[j->depth / 64] |= bit;
	else
		j->objects[j->depth / 64] &= ~bit;
	j->depth++;
	if (j->depth > j->max_depth)
		j->max_depth = j->depth;
	j->state = object ? TP_JSON_ST_FIRST_KEY : TP_JSON_ST_FIRST_ELEMENT;
	return true;
}

#ifdef __SSE2__
/* Bit i: p[i] is a quote, a backslash or a control character. */
static inline unsigned tp_json_no_plain16(const char *p)
{
	/* With bit 1 turned over, control characters stay below 0x20, and the quote is 0x20 itself. */
	const __m128i bit1 = _mm_set1_epi8(2), most = _mm_set1_epi8(0x20), slash = _mm_set1_epi8('\\');
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i x = _mm_xor_si128(v, bit1);
	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(x, most), x), _mm_cmpeq_epi8(v, slash)));
}
#endif

/* Bytes up to the first quote, backslash or control character. */
static inline size_t tp_json_plain_run(const char *p, size_t n)
{
	size_t i = 0;
#ifdef __SSE2__
	for (; n - i >= 16; i += 16) {
		unsigned mask = tp_json_no_plain16(p + i);
		if (mask != 0)
			return i + (size_t)__builtin_ctz(mask);
	}
#endif
	while (i < n && p[i] != '"' && p[i] != '\\' && (unsigned char)p[i] >= 0x20)
		i++;
	return i;
}

#endif
