/* Event streams: the same events wherever the stream is cut, and no answer makes the inspection fail. */
#include <stdlib.h>

#include "common/http/answer.h"
#include "common/http/sse.h"
#include "common/http/sse_front.h"

static uint64_t mix(uint64_t h, struct tp_str s)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
	return h * 31 + s.n;
}

static uint64_t look(const struct tp_sse *s, uint64_t h)
{
	struct tp_sse_event e = tp_sse_event(s);
	struct tp_answer_error error;
	for (int family = 0; family < TP_FAMILY_COUNT; family++) {
		(void)tp_answer_event((enum tp_family)family, &e, &error);
		(void)tp_answer_event_committed((enum tp_family)family, &e, &error);
	}
	return mix(mix(h, e.name), e.data) + (unsigned)e.http_status;
}

static uint64_t run(const char *bytes, size_t n, size_t step)
{
	struct tp_sse s = {.keep_max = TP_SSE_KEEP_PRELUDE};
	uint64_t h = 1;
	for (size_t at = 0; at < n; at += step) {
		size_t piece = n - at < step ? n - at : step, used, from = 0;
		char *copy = malloc(piece);
		memcpy(copy, bytes + at, piece);
		while (tp_sse_feed(&s, copy + from, piece - from, &used) == TP_SSE_EVENT) {
			h = look(&s, h);
			from += used;
		}
		free(copy);
	}
	if (tp_sse_finish(&s) == TP_SSE_EVENT)
		h = look(&s, h);
	tp_sse_free(&s);
	return h;
}

/* What its first bytes told stays true whatever follows, and little is enough. */
static void front(const char *bytes, size_t n)
{
	enum { SOON = 1100 };
	enum tp_sse_front whole = tp_sse_front((struct tp_str){bytes, n});
	for (size_t i = 0; i < n && i < SOON; i++) {
		enum tp_sse_front f = tp_sse_front((struct tp_str){bytes, i});
		if (f != TP_SSE_FRONT_UNSURE && f != whole)
			abort();
	}
	if (n >= SOON && whole == TP_SSE_FRONT_UNSURE)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	if (size == 0 || size > TP_SSE_KEEP_PRELUDE)
		return 0;
	front(bytes, size);
	uint64_t whole = run(bytes, size, size);
	if (run(bytes, size, 1) != whole || run(bytes, size, 1 + data[0] % 13) != whole)
		abort();
	for (int family = 0; family < TP_FAMILY_COUNT; family++) {
		struct tp_answer_error error;
		(void)tp_answer_body((enum tp_family)family, (struct tp_str){bytes, size}, &error);
	}
	return 0;
}
