/* The JSON scanner says the same wherever its input is cut, and accepts what jansson accepts. */
#include <jansson.h>
#include <stdlib.h>

#include "common/http/json.h"

/* A value that differs when anything the scanner told differs. */
static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	return h;
}

static uint64_t feed(struct tp_json *j, const char *bytes, size_t n, uint64_t h)
{
	char *piece = malloc(n > 0 ? n : 1);
	memcpy(piece, bytes, n);
	enum tp_json_event event;
	size_t at = 0, used;
	do {
		event = tp_json_feed(j, piece + at, n - at, &used);
		at += used;
		if (event == TP_JSON_KEY) {
			h = mix(h, j->key, j->key_n);
			h = mix(h, &j->key_end, sizeof j->key_end);
		} else if (event == TP_JSON_END) {
			h = mix(h, j->text, j->text_n);
			h = mix(h, &j->value_end, sizeof j->value_end);
		}
	} while (event != TP_JSON_MORE && event != TP_JSON_BAD);
	free(piece);
	return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct tp_json whole = {0}, cut = {0};
	uint64_t a = feed(&whole, text, size, 1), b = 1;
	size_t step = size > 2 ? 1 + data[0] % 7 : 1;
	for (size_t at = 0; at < size; at += step)
		b = feed(&cut, text + at, size - at < step ? size - at : step, b);
	bool json = tp_json_finish(&whole);
	if (size == 0)
		return 0;
	if (tp_json_finish(&cut) != json || (json && a != b))
		abort();
	if (memchr(text, 0, size) != NULL) /* jansson takes a NUL behind the text for its end */
		return 0;
	json_t *tree = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (tree != NULL && !json && !whole.too_deep)
		abort();
	json_decref(tree);
	return 0;
}
