#include "common/http/json.h"

#include "common/http/json_straight.h"

enum number { NUM_MINUS, NUM_ZERO, NUM_INT, NUM_DOT, NUM_FRACTION, NUM_E, NUM_SIGN, NUM_EXPONENT };

enum keeping { KEEP_NOTHING, KEEP_KEY, KEEP_TEXT };

static const char bom[3] = {'\xef', '\xbb', '\xbf'};

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
	j->state = TP_JSON_ST_BAD;
	return TP_JSON_BAD;
}

/* A value is complete; j->at is behind it. */
static enum tp_json_event value_done(struct tp_json *j)
{
	if (j->depth == 0) {
		j->state = TP_JSON_ST_DONE;
		j->done = true;
		return TP_JSON_MORE;
	}
	j->state = TP_JSON_ST_COMMA;
	if (!tp_json_at_member(j))
		return TP_JSON_MORE;
	j->value_end = j->at;
	return TP_JSON_END;
}

/* First byte of a value, not white space.  It is used, save when the caller is told of a member first. */
static enum tp_json_event begin_value(struct tp_json *j, char c, bool *ret_used)
{
	enum tp_json_type type = tp_json_type_of(c);
	*ret_used = false;
	if (type == TP_JSON_NONE)
		return bad(j);
	bool member = tp_json_at_member(j);
	if (j->depth == 0)
		j->top_type = (uint8_t)type;
	if (member || j->depth == 0) {
		j->type = (uint8_t)type;
		j->value_start = j->at;
		j->text_n = 0;
		j->text_cut = false;
	}
	if (member && j->state != TP_JSON_ST_MEMBER_VALUE) {
		j->state = TP_JSON_ST_MEMBER_VALUE;
		return TP_JSON_VALUE;
	}
	*ret_used = true;
	j->keeping = member || j->depth == 0 ? KEEP_TEXT : KEEP_NOTHING;
	j->in_key = false;
	if (type == TP_JSON_OBJECT || type == TP_JSON_ARRAY)
		return tp_json_open_level(j, type == TP_JSON_OBJECT) ? TP_JSON_MORE : bad(j);
	if (type == TP_JSON_STRING) {
		j->state = TP_JSON_ST_STRING;
		return TP_JSON_MORE;
	}
	keep(j, &c, 1);
	j->state = type == TP_JSON_NUMBER ? TP_JSON_ST_NUMBER : TP_JSON_ST_LITERAL;
	j->step = 1;
	j->unit = (uint16_t)type; /* which literal: members inside values do not change j->type */
	if (type == TP_JSON_NUMBER)
		j->step = c == '-' ? NUM_MINUS : c == '0' ? NUM_ZERO : NUM_INT;
	return TP_JSON_MORE;
}

static enum tp_json_event close_level(struct tp_json *j, char c)
{
	if ((c == '}') != tp_json_in_object(j))
		return bad(j);
	j->depth--;
	j->at++;
	return value_done(j);
}

static void begin_key(struct tp_json *j)
{
	bool member = tp_json_at_member(j);
	j->state = TP_JSON_ST_STRING;
	j->in_key = true;
	j->keeping = member ? KEEP_KEY : KEEP_NOTHING;
	if (member) {
		j->key_start = j->at;
		j->key_n = 0;
		j->key_cut = false;
	}
}

/* ---- strings ---- */

static enum tp_json_event string_done(struct tp_json *j)
{
	flush_high(j);
	if (!j->in_key)
		return value_done(j);
	j->in_key = false;
	j->state = TP_JSON_ST_COLON;
	if (!tp_json_at_member(j))
		return TP_JSON_MORE;
	j->key_end = j->at;
	return TP_JSON_KEY;
}

static enum tp_json_event in_string(struct tp_json *j, const char *p, size_t n, size_t *ret_used)
{
	size_t run = (size_t)(tp_json_plain_end(p, p + n) - p);
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
	j->state = TP_JSON_ST_ESCAPE;
	return TP_JSON_MORE;
}

static enum tp_json_event in_escape(struct tp_json *j, char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	j->at++;
	if (c == 'u') {
		j->state = TP_JSON_ST_UNICODE;
		j->step = 0;
		j->unit = 0;
		return TP_JSON_MORE;
	}
	const char *found = memchr(from, c, sizeof from - 1);
	if (found == NULL)
		return bad(j);
	flush_high(j);
	keep(j, &to[found - from], 1);
	j->state = TP_JSON_ST_STRING;
	return TP_JSON_MORE;
}

static enum tp_json_event in_unicode(struct tp_json *j, char c)
{
	unsigned digit;
	if (tp_json_is_digit(c))
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
		j->state = TP_JSON_ST_STRING;
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
	bool digit = tp_json_is_digit(c), e = c == 'e' || c == 'E';
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

/* TP_JSON_ST_START: a byte order mark may stand in front of everything. */
static enum tp_json_event at_start(struct tp_json *j, char c, bool *ret_used)
{
	if (j->step == 0 && c != bom[0]) {
		j->state = TP_JSON_ST_VALUE;
		*ret_used = false;
		return TP_JSON_MORE;
	}
	*ret_used = true;
	if (c != bom[j->step])
		return bad(j);
	j->at++;
	if (++j->step == sizeof bom)
		j->state = TP_JSON_ST_VALUE;
	return TP_JSON_MORE;
}

/* One byte that is no white space, outside strings, literals and numbers. */
static enum tp_json_event at_token(struct tp_json *j, char c, bool *ret_used)
{
	enum tp_json_event event;
	*ret_used = true;
	switch (j->state) {
	case TP_JSON_ST_FIRST_ELEMENT:
		if (c == ']')
			return close_level(j, c);
		break;
	case TP_JSON_ST_FIRST_KEY:
		if (c == '}')
			return close_level(j, c);
		/* fall through */
	case TP_JSON_ST_KEY:
		if (c != '"')
			return bad(j);
		begin_key(j);
		j->at++;
		return TP_JSON_MORE;
	case TP_JSON_ST_COLON:
		if (c != ':')
			return bad(j);
		j->state = TP_JSON_ST_VALUE;
		j->at++;
		return TP_JSON_MORE;
	case TP_JSON_ST_COMMA:
		if (c == '}' || c == ']')
			return close_level(j, c);
		if (c != ',')
			return bad(j);
		j->state = tp_json_in_object(j) ? TP_JSON_ST_KEY : TP_JSON_ST_VALUE;
		j->at++;
		return TP_JSON_MORE;
	case TP_JSON_ST_DONE: return bad(j);
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
	case TP_JSON_ST_STRING: return in_string(j, p, n, ret_used);
	case TP_JSON_ST_ESCAPE: return in_escape(j, *p);
	case TP_JSON_ST_UNICODE: return in_unicode(j, *p);
	case TP_JSON_ST_LITERAL: return in_literal(j, *p);
	case TP_JSON_ST_NUMBER: return in_number(j, p, n, ret_used);
	case TP_JSON_ST_BAD: *ret_used = 0; return TP_JSON_BAD;
	default: break;
	}
	bool used;
	enum tp_json_event event;
	if (j->state == TP_JSON_ST_START) {
		event = at_start(j, *p, &used);
	} else if (tp_json_is_space(*p)) {
		size_t run = 1;
		while (run < n && tp_json_is_space(p[run]))
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

/* Byte by byte, or along the straight paths, up to an event. */
static enum tp_json_event feed(struct tp_json *j, const char *bytes, size_t n, size_t *ret_used)
{
	enum tp_json_event event = j->state == TP_JSON_ST_BAD ? TP_JSON_BAD : TP_JSON_MORE;
	size_t i = 0, used;
	while (i < n && event == TP_JSON_MORE) {
		if (tp_json_between_tokens(j)) {
			event = tp_json_straight(j, bytes + i, n - i, &used);
			i += used;
			if (event != TP_JSON_MORE || i == n)
				break;
		}
		event = step(j, bytes + i, n - i, &used);
		i += used;
		if (j->ends_only && (event == TP_JSON_KEY || event == TP_JSON_VALUE))
			event = TP_JSON_MORE;
	}
	*ret_used = i;
	return event;
}

enum tp_json_event tp_json_feed(struct tp_json *j, const char *bytes, size_t n, size_t *ret_used)
{
	if (n == 0 || !tp_json_between_tokens(j))
		return feed(j, bytes, n, ret_used);
	enum tp_json_event event = tp_json_straight(j, bytes, n, ret_used);
	size_t used = *ret_used;
	if (event != TP_JSON_MORE || used == n)
		return event;
	event = feed(j, bytes + used, n - used, ret_used);
	*ret_used += used;
	return event;
}

bool tp_json_finish(struct tp_json *j)
{
	if (j->state == TP_JSON_ST_NUMBER && j->depth == 0 && number_may_end(j))
		value_done(j);
	return j->state == TP_JSON_ST_DONE;
}
