/*
 * A listener without a socket: bytes come in pieces, a verdict comes out.  Each call of the parser gets
 * a copy of exactly what has come, so that a sanitizer sees each read beyond it.
 */
#ifndef TP_TESTS_HTTP1_LISTENER_H
#define TP_TESTS_HTTP1_LISTENER_H

#include <check.h>
#include <stdlib.h>

#include "common/http/chunked.h"
#include "common/http/head.h"

enum { LISTENER_ACCEPT = 0, LISTENER_MORE = 1 }; /* beside statuses */
enum { LISTENER_LIMIT_HEAD = 65536, LISTENER_LIMIT_BODY = 268435456 };

struct listener {
	struct tp_head head;
	struct tp_chunked chunked;
	const char *bytes;
	size_t scanned, used; /* used: bytes of the message so far */
	uint64_t body;
	bool have_head;
	int verdict;
	const char *reason;
};

static inline int listener_head(struct listener *l, size_t n)
{
	char *copy = malloc(n != 0 ? n : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, l->bytes, n);
	int status = -1;
	enum tp_parse got = tp_head_parse_request(copy, n, LISTENER_LIMIT_HEAD, LISTENER_LIMIT_BODY,
						  &l->scanned, &l->head, &status, &l->reason);
	free(copy);
	if (got == TP_PARSE_BAD)
		return status;
	l->have_head = got == TP_PARSE_OK;
	l->used = l->have_head ? l->head.size : 0;
	return l->have_head ? LISTENER_ACCEPT : LISTENER_MORE;
}

static inline int listener_chunked(struct listener *l, size_t n)
{
	for (;;) {
		size_t used, piece;
		const char *data;
		enum tp_chunked_result got = tp_chunked_feed(&l->chunked, l->bytes + l->used, n - l->used,
							     LISTENER_LIMIT_BODY, &used, &data, &piece);
		l->used += used;
		switch (got) {
		case TP_CHUNKED_DATA: l->body += piece; break;
		case TP_CHUNKED_MORE: ck_assert_uint_eq(l->used, n); return LISTENER_MORE;
		case TP_CHUNKED_DONE: return LISTENER_ACCEPT;
		case TP_CHUNKED_BAD: return 400;
		case TP_CHUNKED_LARGE: return 413;
		}
	}
}

/* All that has come is bytes[0..n). */
static inline int listener_feed(struct listener *l, const char *bytes, size_t n)
{
	if (l->verdict != LISTENER_MORE)
		return l->verdict;
	l->bytes = bytes;
	int v = l->have_head ? LISTENER_ACCEPT : listener_head(l, n);
	if (v == LISTENER_ACCEPT && l->head.framing == TP_FRAMING_CHUNKED) {
		v = listener_chunked(l, n);
	} else if (v == LISTENER_ACCEPT) {
		uint64_t length = l->head.framing == TP_FRAMING_LENGTH ? l->head.content_length : 0;
		v = n - l->head.size >= length ? LISTENER_ACCEPT : LISTENER_MORE;
		l->used = l->head.size + (size_t)length;
		l->body = length;
	}
	l->verdict = v;
	return v;
}

#endif
