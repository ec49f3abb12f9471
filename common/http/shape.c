#include "common/http/shape.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/str.h"

enum state {
	WANT_VALUE,
	WANT_FIRST_VALUE, /* or the end of an array */
	WANT_FIRST_KEY,   /* or the end of an object */
	WANT_KEY,
	WANT_COLON,
	WANT_NEXT, /* a comma, or the end of the level */
	IN_KEY,
	IN_STRING,
	IN_WORD, /* a number or a literal */
	DONE
};

/* ---- output */

static void add_separator(struct tp_shape *s, struct tp_buf *out)
{
	if (s->comma)
		tp_buf_add_str(out, TP_STR(","));
	s->comma = false;
}

static void add_length(const struct tp_shape *s, struct tp_buf *out)
{
	tp_buf_printf(out, "\"(%" PRIu64 ")\"", s->length);
}

static void add_text(const struct tp_shape *s, struct tp_buf *out)
{
	tp_buf_add_str(out, TP_STR("\""));
	tp_buf_add(out, s->text, s->text_n);
	tp_buf_add_str(out, TP_STR("\""));
}

/* ---- levels */

static bool in_object(const struct tp_shape *s)
{
	return s->depth > 0 && (s->level >> (s->depth - 1) & 1) != 0;
}

static void value_over(struct tp_shape *s)
{
	s->comma = s->depth > 0;
	s->is_model = false;
	s->state = s->depth > 0 ? WANT_NEXT : DONE;
}

static void open_level(struct tp_shape *s, bool object, struct tp_buf *out)
{
	tp_buf_add_str(out, object ? TP_STR("{") : TP_STR("["));
	uint64_t bit = UINT64_C(1) << s->depth++;
	s->level = object ? s->level | bit : s->level & ~bit;
	s->state = object ? WANT_FIRST_KEY : WANT_FIRST_VALUE;
	s->is_model = false;
}

static void close_level(struct tp_shape *s, struct tp_buf *out)
{
	tp_buf_add_str(out, in_object(s) ? TP_STR("}") : TP_STR("]"));
	s->depth--;
	value_over(s);
}

/* ---- strings */

static void begin_text(struct tp_shape *s, enum state state)
{
	s->state = (uint8_t)state;
	s->escaped = s->strange = false;
	s->length = 0;
	s->text_n = 0;
}

/* Plain ASCII is kept; what has an escape or more in it is not worth a decoder here. */
static void keep(struct tp_shape *s, char c)
{
	if (c == '\\' || (unsigned char)c >= 0x7f || (unsigned char)c < 0x20 ||
	    s->text_n == TP_SHAPE_TEXT_MAX)
		s->strange = true;
	else
		s->text[s->text_n++] = c;
}

static void end_string(struct tp_shape *s, struct tp_buf *out)
{
	static const char model[] = "model";
	if (s->state == IN_KEY) {
		s->is_model = s->depth == 1 && !s->strange && s->text_n == sizeof model - 1 &&
			      memcmp(s->text, model, s->text_n) == 0;
		if (s->strange)
			add_length(s, out);
		else
			add_text(s, out);
		s->state = WANT_COLON;
		return;
	}
	if (s->is_model && !s->strange)
		add_text(s, out);
	else
		add_length(s, out);
	value_over(s);
}

static bool string_byte(struct tp_shape *s, char c, struct tp_buf *out)
{
	if ((unsigned char)c < 0x20)
		return false;
	if (!s->escaped && c == '"') {
		end_string(s, out);
		return true;
	}
	s->length++;
	keep(s, c);
	s->escaped = !s->escaped && c == '\\';
	return true;
}

/* ---- numbers and literals */

static size_t digits(const char *p, size_t n)
{
	size_t i = 0;
	while (i < n && p[i] >= '0' && p[i] <= '9')
		i++;
	return i;
}

/* RFC 8259 section 6. */
static bool is_number(const char *p, size_t n)
{
	size_t at = n > 0 && p[0] == '-', d = digits(p + at, n - at);
	if (d == 0 || (d > 1 && p[at] == '0'))
		return false;
	at += d;
	if (at < n && p[at] == '.') {
		d = digits(p + at + 1, n - at - 1);
		if (d == 0)
			return false;
		at += d + 1;
	}
	if (at < n && (p[at] == 'e' || p[at] == 'E')) {
		at++;
		at += at < n && (p[at] == '+' || p[at] == '-');
		d = digits(p + at, n - at);
		if (d == 0)
			return false;
		at += d;
	}
	return at == n;
}

static bool end_word(struct tp_shape *s, struct tp_buf *out)
{
	struct tp_str word = {s->text, s->text_n};
	bool good = !s->strange && (tp_str_eq(word, TP_STR("true")) || tp_str_eq(word, TP_STR("false")) ||
				    tp_str_eq(word, TP_STR("null")) || is_number(word.p, word.n));
	if (!good)
		return false;
	tp_buf_add_str(out, word);
	value_over(s);
	return true;
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
	       c == 'E';
}

/* ---- one byte between strings and words */

static bool value_byte(struct tp_shape *s, char c, struct tp_buf *out)
{
	if (c == ']' && s->state == WANT_FIRST_VALUE) {
		close_level(s, out);
		return true;
	}
	bool level = c == '{' || c == '[';
	if (level ? s->depth == TP_SHAPE_NEST_MAX : c != '"' && !is_word_byte(c))
		return false;
	add_separator(s, out);
	if (level) {
		open_level(s, c == '{', out);
		return true;
	}
	begin_text(s, c == '"' ? IN_STRING : IN_WORD);
	if (c != '"')
		keep(s, c);
	return true;
}

static bool key_byte(struct tp_shape *s, char c, struct tp_buf *out)
{
	if (c == '}' && s->state == WANT_FIRST_KEY) {
		close_level(s, out);
		return true;
	}
	if (c != '"')
		return false;
	add_separator(s, out);
	begin_text(s, IN_KEY);
	return true;
}

static bool next_byte(struct tp_shape *s, char c, struct tp_buf *out)
{
	if (c == ',') {
		s->state = in_object(s) ? WANT_KEY : WANT_VALUE;
		return true;
	}
	if (c != (in_object(s) ? '}' : ']'))
		return false;
	close_level(s, out);
	return true;
}

static bool take(struct tp_shape *s, char c, struct tp_buf *out)
{
	if (s->state == IN_KEY || s->state == IN_STRING)
		return string_byte(s, c, out);
	if (s->state == IN_WORD) {
		if (is_word_byte(c)) {
			keep(s, c);
			return true;
		}
		if (!end_word(s, out))
			return false;
	}
	if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		return true;
	switch ((enum state)s->state) {
	case WANT_VALUE:
	case WANT_FIRST_VALUE: return value_byte(s, c, out);
	case WANT_KEY:
	case WANT_FIRST_KEY: return key_byte(s, c, out);
	case WANT_COLON:
		if (c != ':')
			return false;
		tp_buf_add_str(out, TP_STR(":"));
		s->state = WANT_VALUE;
		return true;
	case WANT_NEXT: return next_byte(s, c, out);
	default: return false;
	}
}

bool tp_shape_feed(struct tp_shape *s, const char *bytes, size_t n, struct tp_buf *out)
{
	for (size_t i = 0; i < n && !s->stopped; i++)
		s->stopped = !take(s, bytes[i], out);
	return !s->stopped;
}

/* ---- the end */

/* What is half there becomes something whole. False: it was not whole. */
static bool end_half(struct tp_shape *s, struct tp_buf *out)
{
	switch ((enum state)s->state) {
	case IN_KEY:
		add_length(s, out);
		tp_buf_add_str(out, TP_STR(":null"));
		return false;
	case WANT_COLON: tp_buf_add_str(out, TP_STR(":null")); return false;
	case IN_STRING: add_length(s, out); return false;
	case IN_WORD:
		if (!s->stopped && end_word(s, out))
			return true;
		tp_buf_add_str(out, TP_STR("null"));
		return false;
	case WANT_VALUE:
		/* Behind a colon, or at the very beginning; behind a comma nothing is owed. */
		if (in_object(s) || s->depth == 0)
			tp_buf_add_str(out, TP_STR("null"));
		return false;
	default: return !s->stopped;
	}
}

bool tp_shape_finish(struct tp_shape *s, struct tp_buf *out)
{
	bool whole = end_half(s, out) && s->depth == 0;
	while (s->depth > 0)
		close_level(s, out);
	s->stopped = true;
	return whole;
}
