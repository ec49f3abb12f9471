#include "common/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/block.h"

/* The buffer's bytes in memory of `want` bytes; what they were in is given back. NULL: as it was. */
static char *resize(const struct tp_buf *b, size_t want)
{
	if (b->size > TP_BLOCK_MAX)
		return realloc(b->data, want);
	char *data = tp_block_new(want);
	if (data == NULL)
		return NULL;
	if (b->len > 0)
		memcpy(data, b->data, b->len);
	tp_block_free(b->data, b->size);
	return data;
}

bool tp_buf_grow(struct tp_buf *b, size_t more)
{
	size_t want = b->size != 0 ? b->size : 256;
	while (want - b->len < more) {
		if (want > SIZE_MAX / 2) {
			b->failed = true;
			return false;
		}
		want *= 2;
	}
	char *data = resize(b, want);
	if (data == NULL) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->size = want;
	return true;
}

void tp_buf_add_uint(struct tp_buf *b, uint64_t decimal)
{
	size_t n = 1;
	for (uint64_t rest = decimal; rest >= 10; rest /= 10)
		n++;
	if (!tp_buf_reserve(b, n))
		return;
	b->len += n;
	/* In their place at once: digits that were just stored one by one are slow to be read together. */
	char *p = b->data + b->len;
	for (; n > 0; n--, decimal /= 10)
		*--p = (char)('0' + decimal % 10);
}

void tp_buf_vprintf(struct tp_buf *b, const char *format, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, format, ap);
	if (n > 0 && tp_buf_reserve(b, (size_t)n + 1)) {
		(void)vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void tp_buf_printf(struct tp_buf *b, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	tp_buf_vprintf(b, format, ap);
	va_end(ap);
}

/* Length of the valid UTF-8 sequence at s (RFC 3629, no surrogates, no overlong forms); 0 = none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	if (s[0] < 0x80)
		return 1;
	size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || n < len)
		return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

void tp_buf_add_json(struct tp_buf *b, struct tp_str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0;
	while (i < s.n) {
		size_t len = utf8_length(p + i, s.n - i);
		if (len == 0) {
			tp_buf_add(b, "\xef\xbf\xbd", 3);
			i++;
		} else if (p[i] == '"' || p[i] == '\\') {
			char pair[2] = {'\\', (char)p[i]};
			tp_buf_add(b, pair, 2);
			i++;
		} else if (p[i] == '\n') {
			tp_buf_add(b, "\\n", 2);
			i++;
		} else if (p[i] < 0x20 || p[i] == 0x7f) {
			tp_buf_printf(b, "\\u%04x", p[i]);
			i++;
		} else {
			tp_buf_add(b, p + i, len);
			i += len;
		}
	}
}

bool tp_buf_add_utf8(struct tp_buf *b, struct tp_str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t good = 0; /* up to here it is in `b`, or nothing had to be changed yet */
	bool mended = false;
	for (size_t i = 0; i < s.n;) {
		size_t len = utf8_length(p + i, s.n - i);
		if (len == 0) {
			tp_buf_add(b, p + good, i - good);
			tp_buf_add(b, "\xef\xbf\xbd", 3);
			good = i + 1;
			mended = true;
		}
		i += len == 0 ? 1 : len;
	}
	if (mended)
		tp_buf_add(b, p + good, s.n - good);
	return mended;
}

void tp_buf_consume(struct tp_buf *b, size_t n)
{
	if (n >= b->len) {
		b->len = 0;
		return;
	}
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
}

const char *tp_buf_cstr(struct tp_buf *b)
{
	if (!tp_buf_reserve(b, 1) || b->failed)
		return NULL;
	b->data[b->len] = '\0';
	return b->data;
}

const char *tp_buf_reason(struct tp_buf *b)
{
	const char *text = b->len > 0 ? tp_buf_cstr(b) : NULL;
	return text != NULL ? text : "out of memory";
}

void tp_buf_free(struct tp_buf *b)
{
	if (b == NULL)
		return;
	tp_block_free(b->data, b->size);
	*b = (struct tp_buf){0};
}
