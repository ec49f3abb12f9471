#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/request/request.h"

enum { HEAD_MAX = 1024 * 1024, BEGIN = 4096 };

static bool put(const char *bytes, size_t n)
{
	return fwrite(bytes, 1, n, stdout) == n;
}

static enum tp_request_progress put_body(struct tp_request_answer *a, const char *bytes, size_t n)
{
	size_t room = BEGIN - a->begin.len;
	if (a->head.status == 502)
		tp_buf_add(&a->begin, bytes, n < room ? n : room);
	return put(bytes, n) ? TP_REQUEST_MORE : TP_REQUEST_UNWRITABLE;
}

static enum tp_request_progress chunks(struct tp_request_answer *a, const char *bytes, size_t n)
{
	for (size_t at = 0;;) {
		const char *data;
		size_t used, size;
		enum tp_chunked_result r =
			tp_chunked_feed(&a->chunked, bytes + at, n - at, UINT64_MAX, &used, &data, &size);
		at += used;
		switch (r) {
		case TP_CHUNKED_MORE: return TP_REQUEST_MORE;
		case TP_CHUNKED_DONE: return TP_REQUEST_DONE;
		case TP_CHUNKED_BAD:
		case TP_CHUNKED_LARGE: return TP_REQUEST_BROKEN;
		case TP_CHUNKED_DATA:
			if (put_body(a, data, size) != TP_REQUEST_MORE)
				return TP_REQUEST_UNWRITABLE;
		}
	}
}

static enum tp_request_progress body(struct tp_request_answer *a, const char *bytes, size_t n)
{
	switch ((enum tp_framing)a->head.framing) {
	case TP_FRAMING_NONE: return TP_REQUEST_DONE;
	case TP_FRAMING_CHUNKED: return chunks(a, bytes, n);
	case TP_FRAMING_CLOSE: return put_body(a, bytes, n);
	case TP_FRAMING_LENGTH: break;
	}
	n = n < a->left ? n : (size_t)a->left;
	a->left -= n;
	if (put_body(a, bytes, n) != TP_REQUEST_MORE)
		return TP_REQUEST_UNWRITABLE;
	return a->left == 0 ? TP_REQUEST_DONE : TP_REQUEST_MORE;
}

static void begin_body(struct tp_request_answer *a)
{
	const struct tp_field *sends = tp_head_find_name(&a->head, a->in.data, TP_STR("x-turnpike-sends"));
	a->head_done = true;
	a->left = a->head.content_length;
	if (sends != NULL)
		a->sends = (unsigned)strtoul(a->in.data + sends->value.at, NULL, 10);
}

static enum tp_request_progress read_head(struct tp_request_answer *a)
{
	const char *reason;
	while (!a->head_done) {
		switch (tp_head_parse_answer(a->in.data, a->in.len, HEAD_MAX, a->head_request, &a->scanned,
					     &a->head, &reason)) {
		case TP_PARSE_MORE: return TP_REQUEST_MORE;
		case TP_PARSE_BAD: return TP_REQUEST_BROKEN;
		case TP_PARSE_OK: break;
		}
		if (a->head.status >= 200)
			begin_body(a);
		else
			tp_buf_consume(&a->in, a->head.size);
	}
	if (a->include && !put(a->in.data, a->head.size))
		return TP_REQUEST_UNWRITABLE;
	return body(a, a->in.data + a->head.size, a->in.len - a->head.size);
}

enum tp_request_progress tp_request_answer_feed(struct tp_request_answer *a, const char *bytes, size_t n)
{
	enum tp_request_progress p;
	if (a->head_done) {
		p = body(a, bytes, n);
	} else {
		tp_buf_add(&a->in, bytes, n);
		p = a->in.failed ? TP_REQUEST_BROKEN : read_head(a);
	}
	return fflush(stdout) == 0 ? p : TP_REQUEST_UNWRITABLE;
}

int tp_request_answer_status(struct tp_request_answer *a)
{
	const char *begin = tp_buf_cstr(&a->begin);
	if (a->head.status / 100 == 2)
		return TP_REQUEST_GOOD;
	return begin != NULL && strstr(begin, "\"upstream_unreachable\"") != NULL ? TP_REQUEST_UNREACHABLE
										  : TP_REQUEST_NOT_2XX;
}

void tp_request_answer_free(struct tp_request_answer *a)
{
	tp_buf_free(&a->in);
	tp_buf_free(&a->begin);
}
