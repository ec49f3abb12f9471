#include "common/http/json_members.h"

#include "common/http/json_tokens.h"

/* The text without the white space around it: from '{' to '}'. */
struct walk {
	const char *begin, *end;
	unsigned deepest;
};

static const char *bracket_end(struct walk *w, const char *p, unsigned depth);

/* As tp_json_plain_end(); near the end of the text its last 16 bytes are looked at, so that no byte is looked
 * at alone. */
static inline const char *plain_end(const struct walk *w, const char *p)
{
#ifdef __SSE2__
	const char *from = p;
	while (w->end - p >= 16) {
		unsigned hits = tp_json_no_plain16(p);
		if (hits != 0)
			return p + __builtin_ctz(hits);
		p += 16;
		if (p - from == TP_JSON_SHORT_RUN)
			p = tp_json_long_run(p, w->end);
	}
	if (w->end - w->begin >= 16 && p < w->end) {
		unsigned hits = tp_json_no_plain16(w->end - 16) >> (16 - (w->end - p));
		return hits != 0 ? p + __builtin_ctz(hits) : w->end;
	}
#endif
	return tp_json_plain_end(p, w->end);
}

/* p: behind the opening quote. */
static inline const char *string_end(const struct walk *w, const char *p)
{
	while (p != NULL) {
		p = plain_end(w, p);
		if (p == w->end)
			return NULL;
		if (*p == '"')
			return p + 1;
		p = *p == '\\' ? tp_json_escape_end(p, w->end) : NULL;
	}
	return NULL;
}

/* At the next byte that is no white space; NULL: there is none. The text is hardly ever spaced out. */
static inline const char *next_token(const struct walk *w, const char *p)
{
	if (p == NULL)
		return NULL;
	if (p < w->end && tp_json_is_space(*p))
		p = tp_json_skip_space(p, w->end);
	return p < w->end ? p : NULL;
}

/* p: behind a key. At the value. */
static inline const char *behind_colon(const struct walk *w, const char *p)
{
	p = next_token(w, p);
	return p != NULL && *p == ':' ? next_token(w, p + 1) : NULL;
}

/* p: at its first byte; depth: of what it stands in. Only brackets cost a call. */
static inline const char *value_end(struct walk *w, const char *p, unsigned depth)
{
	switch (*p) {
	case '"': return string_end(w, p + 1);
	case '{':
	case '[': return bracket_end(w, p, depth + 1);
	default: break;
	}
	return tp_json_is_digit(*p) || *p == '-' ? tp_json_number_end(p, w->end)
						 : tp_json_literal_end(p, w->end);
}

/* p: at the quote of a key. Behind its value. */
static inline const char *pair_end(struct walk *w, const char *p, unsigned depth)
{
	if (*p != '"')
		return NULL;
	p = behind_colon(w, string_end(w, p + 1));
	return p != NULL ? value_end(w, p, depth) : NULL;
}

/* p: at the opening bracket; depth: of what is inside. */
static const char *bracket_end(struct walk *w, const char *p, unsigned depth)
{
	bool object = *p == '{';
	char close = object ? '}' : ']';
	if (depth > TP_JSON_MEMBERS_NEST_MAX)
		return NULL;
	if (depth > w->deepest)
		w->deepest = depth;
	p = next_token(w, p + 1);
	if (p != NULL && *p == close)
		return p + 1;
	while (p != NULL) {
		p = next_token(w, object ? pair_end(w, p, depth) : value_end(w, p, depth));
		if (p == NULL)
			return NULL;
		if (*p == close)
			return p + 1;
		p = *p == ',' ? next_token(w, p + 1) : NULL;
	}
	return NULL;
}

/* ---- the top level */

/* A key with escapes would have to be decoded. */
static const char *read_key(const struct walk *w, const char *p, struct tp_json_member *m)
{
	const char *end = *p == '"' ? plain_end(w, p + 1) : w->end;
	if (end == w->end || *end != '"')
		return NULL;
	m->key = (struct tp_str){p + 1, (size_t)(end - p) - 1};
	m->key_cut = m->key.n > TP_JSON_KEY_MAX;
	if (m->key_cut)
		m->key.n = TP_JSON_KEY_MAX;
	return end + 1;
}

static void note_value(struct tp_json_member *m, const char *p, const char *end)
{
	m->type = (uint8_t)tp_json_type_of(*p);
	m->text = (struct tp_str){p, (size_t)(end - p)};
	m->raw = m->type == TP_JSON_STRING;
	if (m->raw)
		m->text = (struct tp_str){p + 1, m->text.n - 2};
	else if (m->type == TP_JSON_OBJECT || m->type == TP_JSON_ARRAY)
		m->text.n = 0;
	m->text_cut = m->text.n > TP_JSON_TEXT_MAX;
	if (m->text_cut)
		m->text.n = TP_JSON_TEXT_MAX;
}

/* p: at the member. Behind its value. */
static const char *read_member(struct walk *w, const char *from, const char *p, struct tp_json_member *m)
{
	const char *key_end = read_key(w, p, m);
	const char *value = behind_colon(w, key_end);
	const char *end = value != NULL ? value_end(w, value, 1) : NULL;
	if (end == NULL)
		return NULL;
	note_value(m, value, end);
	m->key_start = (uint64_t)(p - from);
	m->key_end = (uint64_t)(key_end - from);
	m->value_start = (uint64_t)(value - from);
	m->value_end = (uint64_t)(end - from);
	return end;
}

static bool trim(struct tp_str text, struct walk *w)
{
	const char *p = text.p, *end = text.p + text.n;
	while (end > p && tp_json_is_space(end[-1]))
		end--;
	p = tp_json_skip_space(p, end);
	*w = (struct walk){p, end, 1};
	return end - p >= 2 && *p == '{' && end[-1] == '}';
}

int tp_json_members(struct tp_str text, struct tp_json_member out[TP_JSON_MEMBERS_MAX], uint16_t *ret_depth)
{
	struct walk w;
	if (text.n == 0 || !trim(text, &w))
		return -1;
	int n = 0;
	const char *p = next_token(&w, w.begin + 1);
	bool closed = p != NULL && *p == '}';
	while (p != NULL && !closed) {
		if (n == TP_JSON_MEMBERS_MAX)
			return -1;
		p = next_token(&w, read_member(&w, text.p, p, &out[n++]));
		closed = p != NULL && *p == '}';
		if (p != NULL && !closed)
			p = *p == ',' ? next_token(&w, p + 1) : NULL;
	}
	if (!closed || p + 1 != w.end)
		return -1;
	*ret_depth = (uint16_t)w.deepest;
	return n;
}
