/*
 * Request heads: the result does not depend on how the bytes were cut, an accepted head holds what it
 * promises, and it means the same when it is written anew.
 */
#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"
#include "tests/fuzz/fuzz_head.h"

enum { LIMIT_HEAD = 2048, LIMIT_BODY = 1 << 20 };

struct outcome {
	enum tp_parse result;
	int status;
	struct tp_head head;
};

/* Pieces that end at `first`, then every `step` bytes; from memory that ends where they end. */
static void parse(const uint8_t *data, size_t size, size_t first, size_t step, struct outcome *o)
{
	size_t end = first < size ? first : size, scanned = 0;
	const char *reason = NULL;
	o->status = 0;
	for (;;) {
		char *copy = malloc(end + 1);
		FUZZ_CHECK(copy != NULL);
		char *bytes = copy + 1; /* also unaligned */
		if (end != 0)
			memcpy(bytes, data, end);
		o->result = tp_head_parse_request(bytes, end, LIMIT_HEAD, LIMIT_BODY, &scanned, &o->head,
						  &o->status, &reason);
		free(copy);
		if (o->result != TP_PARSE_MORE || end == size)
			return;
		end = step < size - end ? end + step : size;
	}
}

static void agrees(const struct outcome *a, const struct outcome *b)
{
	FUZZ_CHECK(a->result == b->result && a->status == b->status);
	if (a->result != TP_PARSE_OK)
		return;
	const struct tp_head *x = &a->head, *y = &b->head;
	FUZZ_CHECK(x->size == y->size && x->n_fields == y->n_fields && x->minor == y->minor);
	FUZZ_CHECK(x->framing == y->framing && x->content_length == y->content_length);
	FUZZ_CHECK(x->keep_alive == y->keep_alive && x->upgrade == y->upgrade);
	FUZZ_CHECK(x->expect_continue == y->expect_continue && x->seen == y->seen);
}

/* The head as a proxy would write it: nothing of it may be read in another way. */
static void survives_writing(const uint8_t *data, const struct outcome *o)
{
	const char *bytes = (const char *)data;
	const struct tp_head *h = &o->head;
	struct tp_buf b = {0};
	tp_buf_add_str(&b, tp_span_str(bytes, h->method));
	tp_buf_add(&b, " ", 1);
	tp_buf_add_str(&b, tp_span_str(bytes, h->target));
	tp_buf_printf(&b, " HTTP/1.%u\r\n", h->minor);
	for (uint32_t i = 0; i < h->n_fields; i++) {
		tp_buf_add_str(&b, tp_span_str(bytes, h->fields[i].name));
		tp_buf_add(&b, ": ", 2);
		tp_buf_add_str(&b, tp_span_str(bytes, h->fields[i].value));
		tp_buf_add(&b, "\r\n", 2);
	}
	tp_buf_add(&b, "\r\n", 2);
	/* a blank behind each colon can make it longer than what came */
	if (b.len <= LIMIT_HEAD) {
		static struct outcome again;
		parse((const uint8_t *)b.data, b.len, SIZE_MAX, 1, &again);
		again.head.size = h->size;
		agrees(o, &again);
	}
	tp_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct outcome whole, cut;
	if (size > 4096)
		return 0;
	parse(data, size, SIZE_MAX, 1, &whole);
	size_t where = size != 0 ? data[size / 2] * size / 256 : 0;
	parse(data, size, where, SIZE_MAX, &cut);
	agrees(&whole, &cut);
	parse(data, size, 1, size < 512 ? 1 : 61, &cut);
	agrees(&whole, &cut);
	if (whole.result == TP_PARSE_BAD)
		FUZZ_CHECK(whole.status == 400 || whole.status == 413 || whole.status == 414 ||
			   whole.status == 431 || whole.status == 501);
	if (whole.result != TP_PARSE_OK)
		return 0;
	const struct tp_head *h = &whole.head;
	fuzz_head_holds(h, (const char *)data, size);
	fuzz_span_holds(h, (const char *)data, h->method, TP_CHAR_TOKEN);
	fuzz_span_holds(h, (const char *)data, h->target, TP_CHAR_TARGET);
	FUZZ_CHECK(h->target.n > 0 && (data[h->target.at] == '/' || data[h->target.at] == '*'));
	FUZZ_CHECK(h->framing != TP_FRAMING_CLOSE && h->content_length <= LIMIT_BODY);
	FUZZ_CHECK(!tp_head_has(h, TP_FIELD_TRANSFER_ENCODING) || !tp_head_has(h, TP_FIELD_CONTENT_LENGTH));
	survives_writing(data, &whole);
	return 0;
}
