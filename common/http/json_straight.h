/*
 * Straight paths of the JSON scanner: whole tokens that lie in sight, without escapes at the top level.
 * They say the same as the states of json.c, which take over wherever a token is cut, escaped or wrong.
 * Used by common/http/json*.c only.
 */
#ifndef TP_HTTP_JSON_STRAIGHT_H
#define TP_HTTP_JSON_STRAIGHT_H

#include "common/http/json.h"
#include "common/http/json_run.h"

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

#endif
