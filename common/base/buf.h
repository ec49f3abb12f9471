/*
 * A growing byte buffer, owned by whoever embeds it.  Zeroed is the empty
 * buffer; nothing is allocated until something is added.
 *
 * Running out of memory sets `failed` and drops what was to be added: callers
 * may append a whole message and look once at the end.
 */
#ifndef TP_BASE_BUF_H
#define TP_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"

struct tp_buf {
	char *data;  /* owned; NULL while capacity is 0 */
	size_t len;  /* bytes in use */
	size_t size; /* bytes allocated */
	bool failed; /* an allocation failed since the last tp_buf_free() */
};

/* tp_buf_reserve() where more memory is needed. */
bool tp_buf_grow(struct tp_buf *b, size_t more);

/* Room for `more` bytes behind len; false (and failed set) when there is none. */
static inline bool tp_buf_reserve(struct tp_buf *b, size_t more)
{
	return b->size - b->len >= more || tp_buf_grow(b, more);
}

/* Inline: heads are written in some hundred small pieces, most of them literals. */
static inline void tp_buf_add(struct tp_buf *b, const void *bytes, size_t n)
{
	if (n == 0 || !tp_buf_reserve(b, n))
		return;
	memcpy(b->data + b->len, bytes, n);
	b->len += n;
}

/* `s` must not lie in the buffer itself. */
static inline void tp_buf_add_str(struct tp_buf *b, struct tp_str s)
{
	tp_buf_add(b, s.p, s.n);
}

/* In decimal; as printf() would. What does not fit into memory sets `failed`, as everywhere here. */
void tp_buf_add_uint(struct tp_buf *b, uint64_t decimal);
void tp_buf_printf(struct tp_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tp_buf_vprintf(struct tp_buf *b, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
/* `s` as the inside of a JSON string: quotes, backslashes, controls escaped; bytes that are no
 * UTF-8 become U+FFFD. No quotes are put around it. */
void tp_buf_add_json(struct tp_buf *b, struct tp_str s);
/* False: all of `s` is UTF-8, nothing was added, use `s`. True: it was added with U+FFFD for each byte that
 * is none. */
bool tp_buf_add_utf8(struct tp_buf *b, struct tp_str s);

/* Cuts `n` bytes off the front. */
void tp_buf_consume(struct tp_buf *b, size_t n);
/* Terminates (outside len) and returns the bytes; "" when empty; NULL when failed. */
const char *tp_buf_cstr(struct tp_buf *b);
/* The same of a text that says why something failed: "out of memory" when there was no room for it. */
const char *tp_buf_reason(struct tp_buf *b);
static inline struct tp_str tp_buf_str(const struct tp_buf *b)
{
	return (struct tp_str){b->data, b->len};
}

/* Frees the bytes and zeroes the struct; NULL is ignored. */
void tp_buf_free(struct tp_buf *b);

#endif
