/* Lines of the access log: what tools read, whatever strangers send. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/sink.h"
#include "common/http/access_line.h"
#include "tests/unit/suite.h"

static struct tp_access_line plain(void)
{
	return (struct tp_access_line){
		.address = TP_STR("192.0.2.1"),
		.client = TP_STR("ann"),
		.id = TP_STR("0123456789abcdef00000000"),
		.method = TP_STR("POST"),
		.target = TP_STR("/v1/responses"),
		.agent = TP_STR("codex/1.0"),
		.minor = 1,
		.status = 200,
		.bytes = 17,
		.received = 4,
		.begun_ms = INT64_C(1796030401007),
		.took_ms = 12,
	};
}

static const char *written(const struct tp_access_line *line, enum tp_access_format format,
			   struct tp_buf *out)
{
	tp_buf_free(out);
	tp_access_line_write(line, format, out);
	return tp_buf_cstr(out);
}

START_TEST(combined)
{
	struct tp_buf out = {0};
	struct tp_access_line line = plain();
	ck_assert_str_eq(
		written(&line, TP_ACCESS_COMBINED, &out),
		"192.0.2.1 - ann [30/Nov/2026:09:20:01 +0000] \"POST /v1/responses HTTP/1.1\" 200 17 \"-\" "
		"\"codex/1.0\"\n");
	line.client = TP_STR("ann lee");
	line.target = TP_STR("/\"\\\x1b[2K\xc3\xa9");
	line.status = 0;
	ck_assert_str_eq(written(&line, TP_ACCESS_COMBINED, &out),
			 "192.0.2.1 - ann_lee [30/Nov/2026:09:20:01 +0000] \"POST "
			 "/\\\"\\\\\\x1b[2K\\xc3\\xa9 HTTP/1.1\" 499 17 \"-\" \"codex/1.0\"\n");
	line.method = TP_STR("");
	line.target = TP_STR("nonsense");
	line.status = 400;
	ck_assert_ptr_nonnull(strstr(written(&line, TP_ACCESS_COMBINED, &out), "] \"nonsense\" 400 17 "));
	tp_buf_free(&out);
}
END_TEST

START_TEST(json)
{
	struct tp_buf out = {0};
	struct tp_access_line line = plain();
	ck_assert_str_eq(written(&line, TP_ACCESS_JSON, &out),
			 "{\"time\":\"2026-11-30T09:20:01.007Z\",\"id\":\"0123456789abcdef00000000\","
			 "\"address\":\"192.0.2.1\","
			 "\"client\":\"ann\",\"method\":\"POST\",\"target\":\"/v1/"
			 "responses\",\"protocol\":\"HTTP/1.1\","
			 "\"status\":200,\"bytes\":17,\"received\":4,\"ms\":12,\"referer\":\"\",\"agent\":"
			 "\"codex/1.0\"}\n");
	tp_buf_free(&out);
}
END_TEST

/* However long and odd: one line, one piece of a pipe, and JSON. */
START_TEST(bounded)
{
	char *odd = malloc(70000);
	ck_assert_ptr_nonnull(odd);
	for (int c = 1; c < 256; c += 6) {
		struct tp_buf out = {0};
		struct tp_access_line line = plain();
		memset(odd, c, 70000);
		struct tp_str text = {odd, 70000};
		line.address = line.client = line.id = line.method = line.target = line.referer = line.agent =
			text;
		for (int format = 0; format < 2; format++) {
			(void)written(&line, format == 0 ? TP_ACCESS_JSON : TP_ACCESS_COMBINED, &out);
			ck_assert_uint_le(out.len, TP_SINK_LINE_MAX);
			ck_assert_ptr_eq(memchr(out.data, '\n', out.len), out.data + out.len - 1);
			json_t *tree = format == 0 ? json_loadb(out.data, out.len, 0, NULL) : NULL;
			ck_assert(format == 1 || tree != NULL);
			json_decref(tree);
		}
		tp_buf_free(&out);
	}
	free(odd);
}
END_TEST

TP_TESTS(access_line)
{
	tcase_add_test(t, combined);
	tcase_add_test(t, json);
	tcase_add_test(t, bounded);
}
