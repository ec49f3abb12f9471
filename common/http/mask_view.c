#include "common/http/mask_view.h"

#include <stdlib.h>
#include <string.h>

size_t tp_mask_view_start(const struct tp_mask_view *v, size_t from)
{
	return v->at != NULL ? v->at[from] : v->base + from;
}

size_t tp_mask_view_end(const struct tp_mask_view *v, size_t to)
{
	if (v->at == NULL)
		return v->base + to;
	/* One escape may stand for several bytes: up to the end of the one that holds the last. */
	while (to < v->n && v->at[to] == v->at[to - 1])
		to++;
	return v->at[to];
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `digits` hexadecimal digits at p; -1 when they are not. */
static int hex(const char *p, size_t left, size_t digits)
{
	int value = 0;
	if (left < digits)
		return -1;
	for (size_t i = 0; i < digits; i++) {
		int d = hex_digit(p[i]);
		if (d < 0)
			return -1;
		value = value * 16 + d;
	}
	return value;
}

/* UTF-8 of a unit of UTF-16.  Surrogates are taken one by one: nothing that is searched for has any. */
static size_t put_unit(unsigned unit, char out[3])
{
	if (unit < 0x80) {
		out[0] = (char)unit;
		return 1;
	}
	if (unit < 0x800) {
		out[0] = (char)(0xc0 | unit >> 6);
		out[1] = (char)(0x80 | (unit & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | unit >> 12);
	out[1] = (char)(0x80 | (unit >> 6 & 0x3f));
	out[2] = (char)(0x80 | (unit & 0x3f));
	return 3;
}

struct unit {
	size_t used;  /* bytes of the escape; 0: there is none */
	size_t bytes; /* what it stands for */
	char out[3];
};

static struct unit backslash(const char *p, size_t left)
{
	static const char plain[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	struct unit u = {0};
	if (left < 2)
		return u;
	const char *known = p[1] != '\0' ? strchr(plain, p[1]) : NULL;
	int code;
	if (known != NULL) {
		u = (struct unit){.used = 2, .bytes = 1, .out = {means[known - plain]}};
	} else if (p[1] == 'u' && (code = hex(p + 2, left - 2, 4)) >= 0) {
		u.used = 6;
		u.bytes = put_unit((unsigned)code, u.out);
	} else if (p[1] == 'x' && (code = hex(p + 2, left - 2, 2)) >= 0) { /* not JSON, but Python's repr() */
		u = (struct unit){.used = 4, .bytes = 1, .out = {(char)code}};
	}
	return u;
}

static struct unit percent(const char *p, size_t left)
{
	int code = left >= 3 ? hex(p + 1, left - 1, 2) : -1;
	if (code < 0)
		return (struct unit){0};
	return (struct unit){.used = 3, .bytes = 1, .out = {(char)code}};
}

static struct unit unit_at(const struct tp_mask_view *v, size_t i, unsigned undo)
{
	const char *p = v->text + i;
	if (*p == '\\' && (undo & TP_MASK_UNDO_BACKSLASH) != 0)
		return backslash(p, v->n - i);
	if (*p == '%' && (undo & TP_MASK_UNDO_PERCENT) != 0)
		return percent(p, v->n - i);
	return (struct unit){0};
}

static bool has_escapes(const struct tp_mask_view *v, unsigned undo)
{
	static const char marks[] = {'\\', '%'};
	static const unsigned bits[] = {TP_MASK_UNDO_BACKSLASH, TP_MASK_UNDO_PERCENT};
	for (size_t m = 0; m < sizeof marks; m++) {
		const char *p = v->text, *end = v->text + v->n;
		while ((undo & bits[m]) != 0 && p < end &&
		       (p = memchr(p, marks[m], (size_t)(end - p))) != NULL) {
			if (unit_at(v, (size_t)(p - v->text), undo).used > 0)
				return true;
			p++;
		}
	}
	return false;
}

bool tp_mask_view_undo(const struct tp_mask_view *from, unsigned undo, struct tp_mask_view *ret_view,
		       bool *ret_failed)
{
	if (from->n == 0 || !has_escapes(from, undo))
		return false;
	/* An escape is never shorter than what it stands for. */
	uint32_t *at = malloc((from->n + 1) * sizeof *at + from->n);
	if (at == NULL) {
		*ret_failed = true;
		return false;
	}
	char *text = (char *)(at + from->n + 1);
	size_t n = 0;
	for (size_t i = 0; i < from->n;) {
		struct unit u = unit_at(from, i, undo);
		if (u.used == 0)
			u = (struct unit){.used = 1, .bytes = 1, .out = {from->text[i]}};
		for (size_t b = 0; b < u.bytes; b++) {
			at[n] = (uint32_t)tp_mask_view_start(from, i);
			text[n++] = u.out[b];
		}
		i += u.used;
	}
	at[n] = (uint32_t)tp_mask_view_end(from, from->n);
	*ret_view = (struct tp_mask_view){.text = text, .n = n, .base = from->base, .at = at, .memory = at};
	return true;
}

void tp_mask_view_free(struct tp_mask_view *v)
{
	free(v->memory);
	*v = (struct tp_mask_view){0};
}
