/* Lists of models: what was there stays byte for byte, and a list of JSON stays JSON. */
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "common/http/model_list.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tp_str names[] = {{"fast", 4}, {"turnpike/gpt", 12}};

/* Is `list` what is left when something was put into `out` at one place? */
static bool one_piece_added(struct tp_str list, struct tp_str out)
{
	size_t front = 0, back = 0;
	while (front < list.n && list.p[front] == out.p[front])
		front++;
	while (back < list.n - front && list.p[list.n - 1 - back] == out.p[out.n - 1 - back])
		back++;
	return front + back == list.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_str list = {(const char *)data, size};
	struct tp_buf out = {0};
	bool added = tp_model_list_add(list, names, 2, &out);
	FUZZ_CHECK(added || out.len == 0);
	if (!added)
		return 0;
	struct tp_str shown = tp_buf_str(&out);
	FUZZ_CHECK(shown.n > list.n && one_piece_added(list, shown));
	json_t *before = json_loadb(list.p, list.n, JSON_ALLOW_NUL, NULL);
	json_t *after = json_loadb(shown.p, shown.n, JSON_ALLOW_NUL, NULL);
	FUZZ_CHECK(before == NULL || after != NULL);
	json_decref(before);
	json_decref(after);
	tp_buf_free(&out);
	return 0;
}
