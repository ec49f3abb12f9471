#include "common/http/json.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum state {
	ST_START,         /* nothing but white space so far; a byte order mark may come */
	ST_VALUE,         /* a value must come */
	ST_FIRST_ELEMENT, /* behind '[': a value or ']' */
	ST_MEMBER_VALUE,  /* a top-level member's value, already told to the caller */
	ST_FIRST_KEY,     /* behind '{': a key or '}' */
	ST_KEY,           /* behind ',' in an object: a key */
	ST_COLON,         /* behind a key */
	ST_COMMA,         /* behind a value: ',' or the closing bracket */
	ST_STRING,        /* inside quotes */
	ST_ESCAPE,        /* behind a backslash */
	ST_UNICODE,       /* behind \u; step = digits so far */
	ST_LITERAL,       /* step = letters so far */
	ST_NUMBER,        /* step = enum number */
	ST_DONE,          /* only white space may come */
	ST_BAD
};

enum number { NUM_MINUS, NUM_ZERO, NUM_INT, NUM_DOT, NUM_FRACTION, NUM_E, NUM_SIGN, NUM_EXPONENT };

enum keeping { KEEP_NOTHING, KEEP_KEY, KEEP_TEXT };

static const char bom[3] = {'\xef', '\xbb', '\xbf'};

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Depth 1 of an object: what is read here is told to the caller. */
static bool at_member(const struct tp_json *j)
{
	return j->depth == 1 && j->top_type == TP_JSON_OBJECT;
}

static bool in_object(const struct tp_json *j)
{
	unsigned level = j->depth - 1u;
	return (j->objects[level / 64] >> (level % 64) & 1) != 0;
}

/* ---- copies of keys and scalars ---- */

static void keep_front(char *to, uint16_t *n, bool *cut, size_t room, const char *bytes, size_t len)
{
	size_t fits = room - *n;
	if (*cut || len > fits) {
		*cut = true; /* what follows a lost piece must not be joined to the front */
		len = len < fits ? len : fits;
	}
	memcpy(to + *n, bytes, len);
	*n = (uint16_t)(*n + len);
}

static void keep(struct tp_json *j, const char *bytes, size_t n)
{
	if (j->keeping == KEEP_KEY && !j->key_cut)
		keep_front(j->key, &j->key_n, &j->key_cut, sizeof j->key, bytes, n);
	else if (j->keeping == KEEP_TEXT && !j->text_cut)
		keep_front(j->text, &j->text_n, &j->text_cut, sizeof j->text, bytes, n);
}

static void keep_code_point(struct tp_json *j, uint32_t c)
{
	char out[4];
	size_t n;
	if (c < 0x80) {
		out[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		n = 2;
	} else if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		n = 3;
	} else {
		out[0] = (char)(0xf0 | c >> 18);
		out[1] = (char)(0x80 | (c >> 12 & 0x3f));
		out[2] = (char)(0x80 | (c >> 6 & 0x3f));
		out[3] = (char)(0x80 | (c & 0x3f));
		n = 4;
	}
	keep(j, out, n);
}

/* A high surrogate without its low one stands alone: U+FFFD, as most parsers read it. */
static void flush_high(struct tp_json *j)
{
	if (j->high != 0)
		keep_code_point(j, 0xfffd);
	j->high = 0;
}

static void keep_unit(struct tp_json *j, uint16_t unit)
{
	if (unit >= 0xdc00 && unit <= 0xdfff && j->high != 0) {
		keep_code_point(j, 0x10000u + ((j->high - 0xd800u) << 10) + (unit - 0xdc00u));
		j->high = 0;
		return;
	}
	flush_high(j);
	if (unit >= 0xd800 && unit <= 0xdbff)
		j->high = unit;
	else if (unit >= 0xdc00 && unit <= 0xdfff)
		keep_code_point(j, 0xfffd);
	else
		keep_code_point(j, unit);
}

/* ---- values ---- */

static enum tp_json_event bad(struct tp_json *j)
{
	j->state = ST_BAD;
	return TP_JSON_BAD;
}

static enum tp_json_type type_of(char c)
{
	switch (c) {
	case '{': return TP_JSON_OBJECT;
	case '[': return TP_JSON_ARRAY;
	case '"': return TP_JSON_STRING;
	case 't': return TP_JSON_TRUE;
	case 'f': return TP_JSON_FALSE;
	case 'n': return TP_JSON_NULL;
	default: return is_digit(c) || c == '-' ? TP_JSON_NUMBER : TP_JSON_NONE;
	}
}

/* A value is complete; j->at is behind it. */
static enum tp_json_event value_done(struct tp_json *j)
{
	if (j->depth == 0) {
		j->state = ST_DONE;
		j->done = true;
		return TP_JSON_MORE;
	}
	j->state = ST_COMMA;
	if (!at_member(j))
		return TP_JSON_MORE;
	j->value_end = j->at;
	return TP_JSON_END;
}

static bool open_level(struct tp_json *j, bool object)
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
	j->state = object ? ST_FIRST_KEY : ST_FIRST_ELEMENT;
	return true;
}

/* First byte of a value, not white space.  It is used, save when the caller is told of a member first. */
static enum tp_json_event begin_value(struct tp_json *j, char c, bool *ret_used)
{
	enum tp_json_type type = type_of(c);
	*ret_used = false;
	if (type == TP_JSON_NONE)
		return bad(j);
	bool member = at_member(j);
	if (j->depth == 0)
		j->top_type = (uint8_t)type;
	if (member || j->depth == 0) {
		j->type = (uint8_t)type;
		j->value_start = j->at;
		j->text_n = 0;
		j->text_cut = false;
	}
	if (member && j->state != ST_MEMBER_VALUE) {
		j->state = ST_MEMBER_VALUE;
		return TP_JSON_VALUE;
	}
	*ret_used = true;
	j->keeping = member || j->depth == 0 ? KEEP_TEXT : KEEP_NOTHING;
	j->in_key = false;
	if (type == TP_JSON_OBJECT || type == TP_JSON_ARRAY)
		return open_level(j, type == TP_JSON_OBJECT) ? TP_JSON_MORE : bad(j);
	if (type == TP_JSON_STRING) {
		j->state = ST_STRING;
		return TP_JSON_MORE;
	}
	keep(j, &c, 1);
	j->state = type == TP_JSON_NUMBER ? ST_NUMBER : ST_LITERAL;
	j->step = 1;
	j->unit = (uint16_t)type; /* which literal: members inside values do not change j->type */
	if (type == TP_JSON_NUMBER)
		j->step = c == '-' ? NUM_MINUS : c == '0' ? NUM_ZERO : NUM_INT;
	return TP_JSON_MORE;
}

static enum tp_json_event close_level(struct tp_json *j, char c)
{
	if ((c == '}') != in_object(j))
		return bad(j);
	j->depth--;
	j->at++;
	return value_done(j);
}

static void begin_key(struct tp_json *j)
{
	bool member = at_member(j);
	j->state = ST_STRING;
	j->in_key = true;
	j->keeping = member ? KEEP_KEY : KEEP_NOTHING;
	if (member) {
		j->key_start = j->at;
		j->key_n = 0;
		j->key_cut = false;
	}
}

/* ---- strings ---- */

/* Bytes up to the first quote, backslash or control character. */
static size_t plain_run(const char *p, size_t n)
{
	size_t i = 0;
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
	for (; n - i >= 16; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
		hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
		unsigned mask = (unsigned)_mm_movemask_epi8(hit);
		if (mask != 0)
			return i + (size_t)__builtin_ctz(mask);
	}
#endif
	while (i < n && p[i] != '"' && p[i] != '\\' && (unsigned char)p[i] >= 0x20)
		i++;
	return i;
}

static enum tp_json_event string_done(struct tp_json *j)
{
	flush_high(j);
	if (!j->in_key)
		return value_done(j);
	j->in_key = false;
	j->state = ST_COLON;
	if (!at_member(j))
		return TP_JSON_MORE;
	j->key_end = j->at;
	return TP_JSON_KEY;
}

static enum tp_json_event in_string(struct tp_json *j, const char *p, size_t n, size_t *ret_used)
{
	size_t run = plain_run(p, n);
	if (run > 0 && j->keeping != KEEP_NOTHING) {
		flush_high(j);
		keep(j, p, run);
	}
	j->at += run;
	*ret_used = run;
	if (run == n)
		return TP_JSON_MORE;
	if (p[run] != '"' && p[run] != '\\')
		return bad(j);
	j->at++;
	++*ret_used;
	if (p[run] == '"')
		return string_done(j);
	j->state = ST_ESCAPE;
	return TP_JSON_MORE;
}

static enum tp_json_event in_escape(struct tp_json *j, char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	j->at++;
	if (c == 'u') {
		j->state = ST_UNICODE;
		j->step = 0;
		j->unit = 0;
		return TP_JSON_MORE;
	}
	const char *found = memchr(from, c, sizeof from - 1);
	if (found == NULL)
		return bad(j);
	flush_high(j);
	keep(j, &to[found - from], 1);
	j->state = ST_STRING;
	return TP_JSON_MORE;
}

static enum tp_json_event in_unicode(struct tp_json *j, char c)
{
	unsigned digit;
	if (is_digit(c))
		digit = (unsigned)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		digit = (unsigned)((c | 0x20) - 'a') + 10;
	else
		return bad(j);
	j->at++;
	j->unit = (uint16_t)((unsigned)j->unit << 4 | digit);
	if (++j->step == 4) {
		if (j->keeping != KEEP_NOTHING)
			keep_unit(j, j->unit);
		j->state = ST_STRING;
	}
	return TP_JSON_MORE;
}

/* ---- literals and numbers ---- */

static enum tp_json_event in_literal(struct tp_json *j, char c)
{
	const char *word = j->unit == TP_JSON_TRUE ? "true" : j->unit == TP_JSON_FALSE ? "false" : "null";
	if (c != word[j->step])
		return bad(j);
	keep(j, &c, 1);
	j->at++;
	if (word[++j->step] != '\0')
		return TP_JSON_MORE;
	return value_done(j);
}

static bool number_may_end(const struct tp_json *j)
{
	return j->step == NUM_ZERO || j->step == NUM_INT || j->step == NUM_FRACTION ||
	       j->step == NUM_EXPONENT;
}

/* The part of a number that `c` leads to, -1 if it cannot go on with it. */
static int number_next(enum number now, char c)
{
	bool digit = is_digit(c), e = c == 'e' || c == 'E';
	switch (now) {
	case NUM_MINUS: return c == '0' ? NUM_ZERO : digit ? NUM_INT : -1;
	case NUM_ZERO: return c == '.' ? NUM_DOT : e ? NUM_E : -1;
	case NUM_INT: return digit ? NUM_INT : c == '.' ? NUM_DOT : e ? NUM_E : -1;
	case NUM_DOT: return digit ? NUM_FRACTION : -1;
	case NUM_FRACTION: return digit ? NUM_FRACTION : e ? NUM_E : -1;
	case NUM_E: return digit ? NUM_EXPONENT : c == '+' || c == '-' ? NUM_SIGN : -1;
	case NUM_SIGN:
	case NUM_EXPONENT: return digit ? NUM_EXPONENT : -1;
	}
	return -1;
}

static enum tp_json_event in_number(struct tp_json *j, const char *p, size_t n, size_t *ret_used)
{
	size_t i = 0;
	while (i < n) {
		int next = number_next((enum number)j->step, p[i]);
		if (next < 0)
			break;
		j->step = (uint8_t)next;
		i++;
	}
	keep(j, p, i);
	j->at += i;
	*ret_used = i;
	if (i == n)
		return TP_JSON_MORE;
	return number_may_end(j) ? value_done(j)
				 : bad(j); /* the byte behind it is judged by the next state */
}

/* ---- between the tokens ---- */

/* ST_START: a byte order mark may stand in front of everything. */
static enum tp_json_event at_start(struct tp_json *j, char c, bool *ret_used)
{
	if (j->step == 0 && c != bom[0]) {
		j->state = ST_VALUE;
		*ret_used = false;
		return TP_JSON_MORE;
	}
	*ret_used = true;
	if (c != bom[j->step])
		return bad(j);
	j->at++;
	if (++j->step == sizeof bom)
		j->state = ST_VALUE;
	return TP_JSON_MORE;
}

/* One byte that is no white space, outside strings, literals and numbers. */
static enum tp_json_event at_token(struct tp_json *j, char c, bool *ret_used)
{
	enum tp_json_event event;
	*ret_used = true;
	switch (j->state) {
	case ST_FIRST_ELEMENT:
		if (c == ']')
			return close_level(j, c);
		break;
	case ST_FIRST_KEY:
		if (c == '}')
			return close_level(j, c);
		/* fall through */
	case ST_KEY:
		if (c != '"')
			return bad(j);
		begin_key(j);
		j->at++;
		return TP_JSON_MORE;
	case ST_COLON:
		if (c != ':')
			return bad(j);
		j->state = ST_VALUE;
		j->at++;
		return TP_JSON_MORE;
	case ST_COMMA:
		if (c == '}' || c == ']')
			return close_level(j, c);
		if (c != ',')
			return bad(j);
		j->state = in_object(j) ? ST_KEY : ST_VALUE;
		j->at++;
		return TP_JSON_MORE;
	case ST_DONE: return bad(j);
	default: break;
	}
	event = begin_value(j, c, ret_used);
	j->at += *ret_used;
	return event;
}

static enum tp_json_event step(struct tp_json *j, const char *p, size_t n, size_t *ret_used)
{
	*ret_used = 1;
	switch (j->state) {
	case ST_STRING: return in_string(j, p, n, ret_used);
	case ST_ESCAPE: return in_escape(j, *p);
	case ST_UNICODE: return in_unicode(j, *p);
	case ST_LITERAL: return in_literal(j, *p);
	case ST_NUMBER: return in_number(j, p, n, ret_used);
	case ST_BAD: *ret_used = 0; return TP_JSON_BAD;
	default: break;
	}
	bool used;
	enum tp_json_event event;
	if (j->state == ST_START) {
		event = at_start(j, *p, &used);
	} else if (is_space(*p)) {
		size_t run = 1;
		while (run < n && is_space(p[run]))
			run++;
		j->at += run;
		*ret_used = run;
		return TP_JSON_MORE;
	} else {
		event = at_token(j, *p, &used);
	}
	*ret_used = used;
	return event;
}

enum tp_json_event tp_json_feed(struct tp_json *j, const char *bytes, size_t n, size_t *ret_used)
{
	enum tp_json_event event = j->state == ST_BAD ? TP_JSON_BAD : TP_JSON_MORE;
	size_t i = 0;
	while (i < n && event == TP_JSON_MORE) {
		size_t used;
		event = step(j, bytes + i, n - i, &used);
		i += used;
	}
	*ret_used = i;
	return event;
}

bool tp_json_finish(struct tp_json *j)
{
	if (j->state == ST_NUMBER && j->depth == 0 && number_may_end(j))
		value_done(j);
	return j->state == ST_DONE;
}
