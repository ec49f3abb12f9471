/* Lines of the access log: whatever strangers wrote, one line, and in the JSON form JSON. */
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "common/base/sink.h"
#include "common/http/access_line.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_line(const struct tp_access_line *line, enum tp_access_format format)
{
	struct tp_buf out = {0};
	tp_access_line_write(line, format, &out);
	FUZZ_CHECK(!out.failed && out.len > 0 && out.len <= TP_SINK_LINE_MAX);
	FUZZ_CHECK(memchr(out.data, '\n', out.len) == out.data + out.len - 1);
	for (size_t i = 0; i + 1 < out.len; i++)
		FUZZ_CHECK((unsigned char)out.data[i] >= ' ' && out.data[i] != 0x7f);
	if (format == TP_ACCESS_JSON) {
		json_t *tree = json_loadb(out.data, out.len, JSON_ALLOW_NUL, NULL);
		FUZZ_CHECK(tree != NULL);
		json_decref(tree);
	}
	tp_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_str s = {(const char *)data, size};
	size_t half = size / 2;
	const struct tp_access_line line = {.address = TP_STR("::1"),
					    .client = {s.p, half},
					    .id = TP_STR("1-2"),
					    .method = {s.p + half, size - half},
					    .target = s,
					    .referer = s,
					    .agent = s,
					    .minor = 1,
					    .status = 200,
					    .begun_ms = 1790000000000};
	write_line(&line, TP_ACCESS_JSON);
	write_line(&line, TP_ACCESS_COMBINED);
	return 0;
}
