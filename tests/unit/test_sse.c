/* The event stream scanner: the same events wherever the stream is cut, and no memory between them. */
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/http/sse.h"
#include "tests/unit/suite.h"

/* Events as "name|data|status;" - "-" for no data, "~" behind what is cut - and "." where a border is after
 * them. */
static void write_event(struct tp_buf *out, const struct tp_sse *s)
{
	struct tp_sse_event e = tp_sse_event(s);
	tp_buf_printf(out, "%.*s%s|", (int)e.name.n, e.name.n ? e.name.p : "", e.name_cut ? "~" : "");
	for (size_t i = 0; i < e.data.n; i++)
		tp_buf_add(out, e.data.p[i] == '\n' ? "/" : e.data.p + i, 1);
	tp_buf_printf(out, "%s%s|", e.data.p == NULL ? "-" : "", e.data_cut ? "~" : "");
	if (e.http_status != 0)
		tp_buf_printf(out, "%d", e.http_status);
	tp_buf_add_str(out, TP_STR(";"));
}

static void feed(struct tp_sse *s, const char *bytes, size_t n, struct tp_buf *out)
{
	char *piece = malloc(n > 0 ? n : 1); /* of just this size, for the sanitizer */
	memcpy(piece, bytes, n);
	size_t at = 0, used;
	while (tp_sse_feed(s, piece + at, n - at, &used) == TP_SSE_EVENT) {
		at += used;
		write_event(out, s);
		ck_assert(tp_sse_at_border(s));
	}
	ck_assert_uint_eq(at + used, n);
	free(piece);
}

static void scan(struct tp_str text, size_t a, size_t b, uint32_t keep, struct tp_buf *out)
{
	struct tp_sse s = {.keep_max = keep};
	feed(&s, text.p, a, out);
	feed(&s, text.p + a, b - a, out);
	feed(&s, text.p + b, text.n - b, out);
	if (tp_sse_finish(&s) == TP_SSE_EVENT)
		write_event(out, &s);
	ck_assert(tp_sse_at_border(&s));
	tp_sse_free(&s);
}

static const struct {
	const char *stream, *events;
} streams[] = {
	{"data: a\n\ndata: b\n\n", "|a|;|b|;"},
	{"data: a\r\n\r\ndata: b\r\n\r\n", "|a|;|b|;"},
	{"data: a\r\rdata: b\r\r", "|a|;|b|;"},
	{"data: a\r\n\ndata: b\n\r\ndata: c\n\rdata: d\r\r\n", "|a|;|b|;|c|;|d|;"},
	{"data:a\n\n", "|a|;"},
	{"data:  a \n\n", "| a |;"},
	{"event: e\ndata: a\ndata:b\ndata\ndata: c\n\n", "e|a/b//c|;"},
	{"data:\n\n", "||;"},
	{"data\n\n", "||;"},
	{"data:\ndata: x\n\n", "|/x|;"},
	{"data: a", "|a|;"},
	{"data: a\n", "|a|;"},
	{"data: a\r", "|a|;"},
	{"event: x\ndata: a", "x|a|;"},
	{"\xef\xbb\xbf"
	 "data: a\n\n",
	 "|a|;"},
	{"\xef\xbb\xbf"
	 ": hi\n\ndata: a\n\n",
	 "|-|;|a|;"},
	{"\xef\xbb\xbf\n\ndata: a\n\n", "|a|;"},
	{"data: a\n\n\xef\xbb\xbf"
	 "data: b\n\n",
	 "|a|;|-|;"}, /* no mark there: an unknown field */
	{": keep-alive\n\n: x\n\ndata: a\n\n", "|-|;|-|;|a|;"},
	{": a\n: b\ndata: c\n\n", "|c|;"},
	{"retry: 3000\n\nid: 5\ndata: a\n\n", "|-|;|a|;"},
	{"event: a\nevent: b\ndata: c\n\n", "b|c|;"},
	{"event: a\n\ndata: b\n\n", "a|-|;|b|;"}, /* a name is not carried over */
	{"id:1\nevent:error\n:HTTP_STATUS/429\ndata:{\"code\":\"T\"}\n\ndata: b\n\n",
	 "error|{\"code\":\"T\"}|429;|b|;"},
	{":HTTP_STATUS/42x\n:HTTP_STATUS/4290\n: HTTP_STATUS/429\ndata:b\n\n", "|b|;"},
	{"error: {\"code\":500}\n\n", "error|{\"code\":500}|;"}, /* old llama.cpp */
	{"dat: a\ndataa: b\n data: c\nDATA: d\ndatabasefieldname1: x\n\n", "|-|;"},
	{"data: a\n\n\n\n\r\n\r\rdata: b\n\n", "|a|;|b|;"},
	{"data: {\"x\":\"\xe4\xb8\xad\xf0\x9f\x98\x80\"}\n\n", "|{\"x\":\"\xe4\xb8\xad\xf0\x9f\x98\x80\"}|;"},
	{"event: response.reasoning_summary_text.delta\ndata: 0123456789abcdef0123456789abcdef\n\n",
	 "response.reasoning_summary_text.delta|0123456789abcdef0123456789abcdef|;"},
	{"event: 0123456789012345678901234567890123456789012345678\ndata: a\n\nevent: b\ndata: c\n\n",
	 "012345678901234567890123456789012345678901234567~|a|;b|c|;"},
	{"", ""},
	{"\n\n\r\n", ""},
};

START_TEST(same_events_at_every_cut)
{
	struct tp_str text = tp_str_from(streams[_i].stream);
	for (size_t a = 0; a <= text.n; a++)
		for (size_t b = a; b <= text.n; b++) {
			struct tp_buf out = {0};
			scan(text, a, b, 1000, &out);
			ck_assert_msg(strcmp(tp_buf_cstr(&out), streams[_i].events) == 0,
				      "%s\ncut at %zu %zu: %s", text.p, a, b, tp_buf_cstr(&out));
			tp_buf_free(&out);
		}
}
END_TEST

START_TEST(byte_by_byte)
{
	struct tp_str text = tp_str_from(streams[_i].stream);
	struct tp_sse s = {.keep_max = 1000};
	struct tp_buf out = {0};
	for (size_t i = 0; i < text.n; i++)
		feed(&s, text.p + i, 1, &out);
	if (tp_sse_finish(&s) == TP_SSE_EVENT)
		write_event(&out, &s);
	ck_assert_str_eq(tp_buf_cstr(&out), streams[_i].events);
	tp_sse_free(&s);
	tp_buf_free(&out);
}
END_TEST

START_TEST(only_the_front_is_kept)
{
	struct tp_buf out = {0};
	scan(TP_STR("data: 0123456789\n\ndata: a\n\n"), 10, 12, 8, &out);
	ck_assert_str_eq(tp_buf_cstr(&out), "|01234567~|;|a|;");
	tp_buf_free(&out);
	scan(TP_STR("data: 01234567\n\n"), 10, 12, 8, &out);
	ck_assert_str_eq(tp_buf_cstr(&out), "|01234567|;");
	tp_buf_free(&out);
	scan(TP_STR("data: 0123\ndata: 4567\ndata: 89\n\n"), 32, 32, 8, &out);
	ck_assert_str_eq(tp_buf_cstr(&out), "|0123/456~|;");
	tp_buf_free(&out);
	scan(TP_STR("data: 0123456789\n\n"), 18, 18, 0, &out); /* in one piece: nothing has to be kept */
	ck_assert_str_eq(tp_buf_cstr(&out), "|0123456789|;");
	tp_buf_free(&out);
}
END_TEST

START_TEST(a_line_of_8_MiB)
{
	static char piece[16384];
	memset(piece, 'x', sizeof piece);
	struct tp_sse s = {.keep_max = TP_SSE_KEEP_COMMITTED};
	struct tp_buf out = {0};
	feed(&s, "data: ", 6, &out);
	for (int i = 0; i < 512; i++)
		feed(&s, piece, sizeof piece, &out);
	ck_assert_uint_le(s.gathered.size, 2 * TP_SSE_KEEP_COMMITTED);
	ck_assert(!tp_sse_at_border(&s));
	size_t used;
	ck_assert_int_eq(tp_sse_feed(&s, "\n\n", 2, &used), TP_SSE_EVENT);
	ck_assert_uint_eq(tp_sse_event(&s).data.n, TP_SSE_KEEP_COMMITTED);
	ck_assert(tp_sse_event(&s).data_cut);
	ck_assert_int_eq(tp_sse_feed(&s, "", 0, &used), TP_SSE_MORE);
	ck_assert_ptr_null(s.gathered.data); /* nothing is held between events */
	feed(&s, "data: a\n\n", 9, &out);
	ck_assert_str_eq(tp_buf_cstr(&out), "|a|;");
	ck_assert_uint_eq(s.events, 2);
	tp_sse_free(&s);
	tp_buf_free(&out);
}
END_TEST

/* Where bytes of our own may be put into the stream. */
static const struct {
	const char *stream;
	bool border;
} borders[] = {
	{"", true},
	{"d", false},
	{"data: a", false},
	{"data: a\n", false},
	{"data: a\n\n", true},
	{"data: a\r\n\r", true},
	{": comment", false},
	{": comment\n", true},
	{": comment\n\n", true},
	{"data: a\n: comment\n", false},
	{"event: x\n", false},
	{"\n\n\n", true},
	{"data: a\n\n: c\n", true},
};

START_TEST(borders_between_events)
{
	struct tp_sse s = {.keep_max = 100};
	struct tp_buf out = {0};
	feed(&s, borders[_i].stream, strlen(borders[_i].stream), &out);
	ck_assert_msg(tp_sse_at_border(&s) == borders[_i].border, "%s", borders[_i].stream);
	tp_sse_free(&s);
	tp_buf_free(&out);
}
END_TEST

static const struct {
	const char *stream;
	bool foreign;
} kinds[] = {
	{"{\"error\":1}", true},
	{"[{}]", true},
	{"\n\n  {\"a\":1}", true},
	{"\xef\xbb\xbf{}", true},
	{"<!doctype html>", true},
	{"data: {}\n\n", false},
	{": x\n\n{", false},
	{"event: a\n", false},
	{"", false},
	{"\n\n", false},
};

START_TEST(json_or_html_instead)
{
	size_t n = strlen(kinds[_i].stream);
	for (size_t cut = 0; cut <= n; cut++) {
		struct tp_sse s = {.keep_max = 100};
		struct tp_buf out = {0};
		feed(&s, kinds[_i].stream, cut, &out);
		feed(&s, kinds[_i].stream + cut, n - cut, &out);
		ck_assert_msg(s.foreign == kinds[_i].foreign, "%s", kinds[_i].stream);
		tp_sse_free(&s);
		tp_buf_free(&out);
	}
}
END_TEST

#define LENGTH(table) ((int)(sizeof(table) / sizeof(table)[0]))

TP_TESTS(sse)
{
	tcase_add_loop_test(t, same_events_at_every_cut, 0, LENGTH(streams));
	tcase_add_loop_test(t, byte_by_byte, 0, LENGTH(streams));
	tcase_add_test(t, only_the_front_is_kept);
	tcase_add_test(t, a_line_of_8_MiB);
	tcase_add_loop_test(t, borders_between_events, 0, LENGTH(borders));
	tcase_add_loop_test(t, json_or_html_instead, 0, LENGTH(kinds));
}
