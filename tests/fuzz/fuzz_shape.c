/* The shape is JSON whatever came, the same wherever it was cut, and whole JSON has a whole shape. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/json.h"
#include "common/http/shape.h"

static bool shape_of(const char *text, size_t n, size_t step, struct tp_buf *out)
{
	struct tp_shape s = {0};
	for (size_t at = 0; at < n; at += step)
		(void)tp_shape_feed(&s, text + at, n - at < step ? n - at : step, out);
	return tp_shape_finish(&s, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_buf a = {0}, b = {0};
	bool whole = shape_of((const char *)data, size, size > 0 ? size : 1, &a);
	if (shape_of((const char *)data, size, size > 2 ? 1 + data[0] % 7 : 1, &b) != whole)
		abort();
	if (a.len != b.len || memcmp(a.data, b.data, a.len) != 0)
		abort();
	struct tp_json check = {.ends_only = true}; /* jansson refuses numbers that no double holds */
	size_t used;
	for (size_t at = 0; at < a.len; at += used)
		if (tp_json_feed(&check, a.data + at, a.len - at, &used) == TP_JSON_BAD)
			abort();
	if (!tp_json_finish(&check))
		abort();
	json_t *input = json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (input != NULL && !whole && memchr(data, 0, size) == NULL && size < 2 * TP_SHAPE_NEST_MAX)
		abort();
	json_decref(input);
	tp_buf_free(&a);
	tp_buf_free(&b);
	return 0;
}
