/* Chunked coding: data, end and faults do not depend on how the bytes were cut; strict is a part of lenient.
 */
#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/http/chunked.h"
#include "tests/fuzz/fuzz_check.h"

enum { LIMIT = 4096 };

struct outcome {
	enum tp_chunked_result result;
	size_t used;
	struct tp_buf data; /* owned */
};

static struct outcome feed(const uint8_t *bytes, size_t size, size_t step, bool lenient)
{
	struct tp_chunked c = {.lenient = lenient};
	struct outcome o = {.result = TP_CHUNKED_MORE};
	size_t end = step < size ? step : size;
	for (;;) {
		size_t used = SIZE_MAX, n = 0;
		const char *data = NULL, *at = (const char *)bytes + o.used;
		o.result = tp_chunked_feed(&c, at, end - o.used, LIMIT, &used, &data, &n);
		FUZZ_CHECK(used <= end - o.used);
		o.used += used;
		if (o.result == TP_CHUNKED_DATA) {
			FUZZ_CHECK(n > 0 && data >= at && data + n == at + used);
			tp_buf_add(&o.data, data, n);
			continue;
		}
		if (o.result == TP_CHUNKED_MORE)
			FUZZ_CHECK(o.used == end);
		if (o.result != TP_CHUNKED_MORE || end == size)
			break;
		end = step < size - end ? end + step : size;
	}
	FUZZ_CHECK(o.data.len == c.total && c.total <= LIMIT && !o.data.failed);
	return o;
}

static void same(const struct outcome *a, const struct outcome *b)
{
	FUZZ_CHECK(a->result == b->result && a->used == b->used);
	FUZZ_CHECK(tp_str_eq(tp_buf_str(&a->data), tp_buf_str(&b->data)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome outcomes[2][3];
	for (int lenient = 0; lenient < 2; lenient++) {
		struct outcome *o = outcomes[lenient];
		o[0] = feed(data, size, SIZE_MAX, lenient != 0);
		o[1] = feed(data, size, 1, lenient != 0);
		o[2] = feed(data, size, 7, lenient != 0);
		same(&o[0], &o[1]);
		same(&o[0], &o[2]);
	}
	if (outcomes[0][0].result != TP_CHUNKED_BAD)
		same(&outcomes[0][0], &outcomes[1][0]);
	for (int i = 0; i < 6; i++)
		tp_buf_free(&outcomes[i / 3][i % 3].data);
	return 0;
}
