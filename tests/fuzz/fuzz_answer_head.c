/* Answer heads: the result does not depend on how the bytes were cut; an accepted head holds what it
 * promises. */
#include <stdint.h>
#include <string.h>

#include "tests/fuzz/fuzz_head.h"

enum { LIMIT_HEAD = 2048 };

static enum tp_parse parse(const uint8_t *data, size_t size, size_t first, size_t step, bool head_request,
			   struct tp_head *h)
{
	size_t end = first < size ? first : size, scanned = 0;
	for (;;) {
		char *copy = malloc(end + 1);
		FUZZ_CHECK(copy != NULL);
		if (end != 0)
			memcpy(copy + 1, data, end);
		const char *reason = NULL;
		enum tp_parse got =
			tp_head_parse_answer(copy + 1, end, LIMIT_HEAD, head_request, &scanned, h, &reason);
		FUZZ_CHECK((got == TP_PARSE_BAD) == (reason != NULL));
		free(copy);
		if (got != TP_PARSE_MORE || end == size)
			return got;
		end = step < size - end ? end + step : size;
	}
}

static void accepted(const struct tp_head *h, const uint8_t *data, size_t size)
{
	fuzz_head_holds(h, (const char *)data, size);
	fuzz_span_holds(h, (const char *)data, h->reason, TP_CHAR_VALUE);
	FUZZ_CHECK(h->status >= 100 && h->status <= 599);
	bool empty = h->status < 200 || h->status == 204 || h->status == 304;
	FUZZ_CHECK((h->framing == TP_FRAMING_NONE) == empty);
	FUZZ_CHECK(h->framing != TP_FRAMING_CLOSE || !h->keep_alive);
	if (h->framing == TP_FRAMING_CHUNKED)
		FUZZ_CHECK(!h->keep_alive || !tp_head_has(h, TP_FIELD_CONTENT_LENGTH));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tp_head whole, cut;
	if (size > 4096)
		return 0;
	enum tp_parse result = parse(data, size, SIZE_MAX, 1, false, &whole);
	size_t where = size != 0 ? data[size / 2] * size / 256 : 0;
	FUZZ_CHECK(parse(data, size, where, SIZE_MAX, false, &cut) == result);
	FUZZ_CHECK(parse(data, size, 1, size < 512 ? 1 : 61, false, &cut) == result);
	/* As an answer to HEAD or CONNECT the same, but without a body. */
	FUZZ_CHECK(parse(data, size, where, SIZE_MAX, true, &whole) == result);
	FUZZ_CHECK(result != TP_PARSE_OK || whole.framing == TP_FRAMING_NONE);
	FUZZ_CHECK(parse(data, size, SIZE_MAX, 1, false, &whole) == result);
	if (result != TP_PARSE_OK)
		return 0;
	FUZZ_CHECK(whole.size == cut.size && whole.n_fields == cut.n_fields && whole.framing == cut.framing &&
		   whole.content_length == cut.content_length && whole.keep_alive == cut.keep_alive);
	accepted(&whole, data, size);
	return 0;
}
