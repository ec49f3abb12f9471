#include "common/http/json_straight.h"

#include "common/http/json_tokens.h"

/* ---- whole tokens: behind their last byte, or NULL where json.c has to look ---- */

/* p: behind the opening quote. */
static const char *plain_string_end(const char *p, const char *end)
{
	p = tp_json_plain_end(p, end);
	return p < end && *p == '"' ? p + 1 : NULL;
}

/* With escapes, for strings that nobody reads. */
static inline const char *string_end(const char *p, const char *end)
{
	while (p != NULL) {
		p = tp_json_plain_end(p, end);
		if (p == end)
			return NULL;
		if (*p == '"')
			return p + 1;
		p = *p == '\\' ? tp_json_escape_end(p, end) : NULL;
	}
	return NULL;
}

/* ---- inside a member's value: nothing is told or copied, only the grammar counts ---- */

static inline const char *scalar_end(const char *p, const char *end)
{
	if (*p == '"')
		return string_end(p + 1, end);
	return tp_json_is_digit(*p) || *p == '-' ? tp_json_number_end(p, end) : tp_json_literal_end(p, end);
}

static const char *skim_value(struct tp_json *j, const char *p, const char *end)
{
	if (*p == '{' || *p == '[')
		return j->depth < TP_JSON_NEST_MAX && tp_json_open_level(j, *p == '{') ? p + 1 : NULL;
	p = scalar_end(p, end);
	if (p != NULL)
		j->state = TP_JSON_ST_COMMA;
	return p;
}

/* A key; with what stands directly behind it, the colon and the value. */
static const char *skim_key(struct tp_json *j, const char *p, const char *end)
{
	p = *p == '"' ? string_end(p + 1, end) : NULL;
	if (p == NULL)
		return NULL;
	j->state = TP_JSON_ST_COLON;
	if (p == end || *p != ':')
		return p;
	j->state = TP_JSON_ST_VALUE;
	if (++p == end)
		return p;
	const char *next = skim_value(j, p, end);
	return next != NULL ? next : p;
}

/* The bracket that closes the whole value is left to who tells the caller. */
static const char *skim_close(struct tp_json *j, const char *p)
{
	unsigned whole = j->top_type == TP_JSON_OBJECT ? 2 : 1;
	if (j->depth == whole || (*p == '}') != tp_json_in_object(j))
		return NULL;
	j->depth--;
	j->state = TP_JSON_ST_COMMA;
	return p + 1;
}

/* Behind a value; a comma takes along what stands directly behind it. */
static const char *skim_comma(struct tp_json *j, const char *p, const char *end)
{
	if (*p == '}' || *p == ']')
		return skim_close(j, p);
	if (*p != ',')
		return NULL;
	bool object = tp_json_in_object(j);
	j->state = object ? TP_JSON_ST_KEY : TP_JSON_ST_VALUE;
	if (++p == end)
		return p;
	const char *next = object ? skim_key(j, p, end) : skim_value(j, p, end);
	return next != NULL ? next : p;
}

static const char *skim_token(struct tp_json *j, const char *p, const char *end)
{
	switch (j->state) {
	case TP_JSON_ST_COMMA: return skim_comma(j, p, end);
	case TP_JSON_ST_FIRST_KEY: return *p == '}' ? skim_close(j, p) : skim_key(j, p, end);
	case TP_JSON_ST_KEY: return skim_key(j, p, end);
	case TP_JSON_ST_FIRST_ELEMENT: return *p == ']' ? skim_close(j, p) : skim_value(j, p, end);
	case TP_JSON_ST_VALUE: return skim_value(j, p, end);
	default: break;
	}
	if (*p != ':')
		return NULL;
	j->state = TP_JSON_ST_VALUE;
	return p + 1;
}

static const char *skim(struct tp_json *j, const char *p, const char *end)
{
	while ((p = tp_json_skip_space(p, end)) < end) {
		const char *next = skim_token(j, p, end);
		if (next == NULL)
			break;
		p = next;
	}
	return p;
}

/* ---- members of the top level ---- */

struct cursor {
	const char *start; /* where j->at stands */
	const char *p, *end;
};

static uint64_t offset(const struct tp_json *j, const struct cursor *c, const char *p)
{
	return j->at + (uint64_t)(p - c->start);
}

/* `readable`: bytes that may be read at `from`.  Both places have room for 16, and most names are shorter. */
static void copy_front(char *to, const char *from, size_t n, size_t readable)
{
	if (n <= 16 && readable >= 16)
		memcpy(to, from, 16);
	else
		memcpy(to, from, n);
}

/* At the first key, or behind a value.  False: json.c has to look. */
static bool member_key(struct tp_json *j, struct cursor *c)
{
	const char *p = tp_json_skip_space(c->p, c->end);
	if (j->state == TP_JSON_ST_COMMA) {
		if (p == c->end || *p != ',')
			return false;
		p = tp_json_skip_space(p + 1, c->end);
	}
	const char *next = p < c->end && *p == '"' ? plain_string_end(p + 1, c->end) : NULL;
	size_t n = next != NULL ? (size_t)(next - p) - 2 : 0;
	if (next == NULL || n > sizeof j->key)
		return false;
	copy_front(j->key, p + 1, n, (size_t)(c->end - p) - 1);
	j->key_n = (uint16_t)n;
	j->key_cut = false;
	j->key_start = offset(j, c, p);
	j->key_end = j->key_start + n + 2;
	j->state = TP_JSON_ST_COLON;
	c->p = next;
	return true;
}

static bool member_colon(struct tp_json *j, struct cursor *c)
{
	const char *p = tp_json_skip_space(c->p, c->end);
	if (p == c->end || *p != ':')
		return false;
	p = tp_json_skip_space(p + 1, c->end);
	enum tp_json_type type = p < c->end ? tp_json_type_of(*p) : TP_JSON_NONE;
	if (type == TP_JSON_NONE)
		return false;
	j->type = (uint8_t)type;
	j->value_start = offset(j, c, p);
	j->text_n = 0;
	j->text_cut = false;
	j->state = TP_JSON_ST_MEMBER_VALUE;
	c->p = p;
	return true;
}

/* True: it is complete.  Of objects and lists only the bracket is used. */
static bool member_value(struct tp_json *j, struct cursor *c)
{
	bool string = j->type == TP_JSON_STRING;
	const char *text = string ? c->p + 1 : c->p, *next;
	if (j->type == TP_JSON_OBJECT || j->type == TP_JSON_ARRAY) {
		(void)tp_json_open_level(j, j->type == TP_JSON_OBJECT);
		c->p++;
		return false;
	}
	next = string ? plain_string_end(text, c->end) : scalar_end(text, c->end);
	if (next == NULL)
		return false;
	size_t n = (size_t)(next - text) - string;
	j->text_cut = n > sizeof j->text;
	j->text_n = (uint16_t)(j->text_cut ? sizeof j->text : n);
	copy_front(j->text, text, j->text_n, (size_t)(c->end - text));
	j->value_end = offset(j, c, next);
	j->state = TP_JSON_ST_COMMA;
	c->p = next;
	return true;
}

static enum tp_json_event member(struct tp_json *j, struct cursor *c)
{
	if (j->state == TP_JSON_ST_COMMA || j->state == TP_JSON_ST_FIRST_KEY) {
		if (!member_key(j, c))
			return TP_JSON_MORE;
		if (!j->ends_only)
			return TP_JSON_KEY;
	}
	if (j->state == TP_JSON_ST_COLON) {
		if (!member_colon(j, c))
			return TP_JSON_MORE;
		if (!j->ends_only)
			return TP_JSON_VALUE;
	}
	if (j->state == TP_JSON_ST_MEMBER_VALUE && c->p < c->end && member_value(j, c))
		return TP_JSON_END;
	return TP_JSON_MORE;
}

/* At the bracket that closes a member's value. */
static bool member_closes(struct tp_json *j, struct cursor *c)
{
	if (c->p == c->end || j->depth != 2 || j->top_type != TP_JSON_OBJECT)
		return false;
	bool object = tp_json_in_object(j);
	if (*c->p != (object ? '}' : ']'))
		return false;
	if (j->state != TP_JSON_ST_COMMA &&
	    j->state != (object ? TP_JSON_ST_FIRST_KEY : TP_JSON_ST_FIRST_ELEMENT))
		return false;
	j->depth--;
	j->state = TP_JSON_ST_COMMA;
	c->p++;
	j->value_end = offset(j, c, c->p);
	return true;
}

enum tp_json_event tp_json_straight(struct tp_json *j, const char *bytes, size_t n, size_t *ret_used)
{
	struct cursor c = {.start = bytes, .p = bytes, .end = bytes + n};
	enum tp_json_event event = TP_JSON_MORE;
	if (tp_json_at_member(j))
		event = member(j, &c);
	if (event == TP_JSON_MORE && !tp_json_at_member(j)) {
		c.p = skim(j, c.p, c.end);
		if (member_closes(j, &c))
			event = TP_JSON_END;
	}
	*ret_used = (size_t)(c.p - bytes);
	j->at += *ret_used;
	return event;
}
