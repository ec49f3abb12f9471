/* The JSON scanner: what is JSON, what its top-level members are, at every place the input may be cut. */
#include <jansson.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/http/json.h"
#include "tests/unit/suite.h"

/* ---- the scan, written down ---- */

static void write_event(struct tp_buf *out, enum tp_json_event event, const struct tp_json *j)
{
	static const char *const types[] = {"none",   "object", "array", "string",
					    "number", "true",   "false", "null"};
	struct tp_str key = tp_json_key(j), text = tp_json_text(j);
	switch (event) {
	case TP_JSON_KEY:
		tp_buf_printf(out, "%.*s%s[%d,%d)=", (int)key.n, key.n ? key.p : "", j->key_cut ? "~" : "",
			      (int)j->key_start, (int)j->key_end);
		break;
	case TP_JSON_VALUE: tp_buf_printf(out, "%s@%d", types[j->type], (int)j->value_start); break;
	case TP_JSON_END:
		tp_buf_printf(out, "-%d", (int)j->value_end);
		if (j->type >= TP_JSON_STRING)
			tp_buf_printf(out, "<%.*s%s>", (int)text.n, text.n ? text.p : "",
				      j->text_cut ? "~" : "");
		tp_buf_add_str(out, TP_STR(" "));
		break;
	default: break;
	}
}

static bool feed(struct tp_json *j, const char *bytes, size_t n, struct tp_buf *out)
{
	/* A copy of just this size, so that the sanitizer sees a read beyond the piece. */
	char *piece = malloc(n > 0 ? n : 1);
	memcpy(piece, bytes, n);
	size_t at = 0, used;
	enum tp_json_event event;
	do {
		event = tp_json_feed(j, piece + at, n - at, &used);
		at += used;
		ck_assert_uint_le(at, n);
		write_event(out, event, j);
	} while (event != TP_JSON_MORE && event != TP_JSON_BAD);
	free(piece);
	ck_assert(event == TP_JSON_BAD || at == n);
	return event != TP_JSON_BAD;
}

/* Scans text cut at a and b; the caller frees *out. */
static bool scan(struct tp_str text, size_t a, size_t b, struct tp_buf *out)
{
	struct tp_json j = {0};
	return feed(&j, text.p, a, out) && feed(&j, text.p + a, b - a, out) &&
	       feed(&j, text.p + b, text.n - b, out) && tp_json_finish(&j);
}

static void check_all_cuts(struct tp_str text, bool valid, const char *events)
{
	size_t step = text.n < 200 ? 1 : text.n / 97;
	for (size_t a = 0; a <= text.n; a += step) {
		size_t b = a + 1 < text.n ? a + 1 : a;
		struct tp_buf out = {0};
		ck_assert_msg(scan(text, a, b, &out) == valid, "%.*s cut at %zu: should be %s", (int)text.n,
			      text.p, a, valid ? "JSON" : "none");
		if (events != NULL)
			ck_assert_str_eq(tp_buf_cstr(&out), events);
		tp_buf_free(&out);
	}
}

/* ---- tables ---- */

static const struct {
	const char *text, *events;
} members[] = {
	{"{}", ""},
	{" {\"a\" : 1 , \"b\":\"x\"} ", "a[2,5)=number@8-9<1> b[12,15)=string@16-19<x> "},
	{"{\"a\":-1.5e+3}", "a[1,4)=number@5-12<-1.5e+3> "},
	{"{\"a\":true,\"b\":false,\"c\":null}",
	 "a[1,4)=true@5-9<true> b[10,13)=false@14-19<false> c[20,23)=null@24-28<null> "},
	{"{\"a\":{\"b\":\"c\"},\"d\":[1,{\"e\":2}]}", "a[1,4)=object@5-14 d[15,18)=array@19-30 "},
	{"{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "a[1,4)=string@5-23<\"\\/\b\f\n\r\t> "},
	{"{\"\\u0061\\u00e9\":\"\\u20ac\\ud83d\\ude00\"}",
	 "a\xc3\xa9[1,15)=string@16-36<\xe2\x82\xac\xf0\x9f\x98\x80> "},
	{"{\"a\":\"\\ud83dx\\ude00\\ud83d\"}", "a[1,4)=string@5-26<\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd> "},
	{"{\"a\":\"\\ud83d\\ud83d\\ude00\\ud83d\\n\"}",
	 "a[1,4)=string@5-33<\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd\n> "},
	{"{\"\":\"\"}", "[1,3)=string@4-6<> "},
	{"\xef\xbb\xbf {\"a\":0}", "a[5,8)=number@9-10<0> "},
	{"{\"a\":{},\"b\":[],\"c\":[[],{}]}", "a[1,4)=object@5-7 b[8,11)=array@12-14 c[15,18)=array@19-26 "},
	{"{\"a\": [ {\"b\\n\" : [ \"\\u00e9\\\\\" , -0.5e-7 , true ] , \"c\":null} , 0 ] , \"d\" : 1 }",
	 "a[1,4)=array@6-66 d[69,72)=number@75-76<1> "},
	{"[{\"a\":1}]", ""},
	{"{\"a\":[{\"model\":1}],\"a\":2}", "a[1,4)=array@5-18 a[19,22)=number@23-24<2> "},
	{"{\"k\":\"0123456789abcdef0123456789abcdef0123456789\\n0123456789abcdef\"}",
	 "k[1,4)=string@5-67<0123456789abcdef0123456789abcdef0123456789\n0123456789abcdef> "},
};

START_TEST(top_level_members)
{
	check_all_cuts(tp_str_from(members[_i].text), true, members[_i].events);
}
END_TEST

/* Only END is told, and it tells of key and value what KEY and VALUE would have told. */
START_TEST(ends_only)
{
	struct tp_str text = tp_str_from(members[_i].text);
	for (size_t cut = 0; cut <= text.n; cut++) {
		struct tp_json j = {.ends_only = true};
		struct tp_buf out = {0};
		size_t at = 0, used;
		while (at < text.n) {
			size_t end = at < cut ? cut : text.n;
			enum tp_json_event event = tp_json_feed(&j, text.p + at, end - at, &used);
			at += used;
			ck_assert(event == TP_JSON_END || (event == TP_JSON_MORE && at == end));
			if (event == TP_JSON_END) {
				write_event(&out, TP_JSON_KEY, &j);
				write_event(&out, TP_JSON_VALUE, &j);
				write_event(&out, TP_JSON_END, &j);
			}
		}
		ck_assert(tp_json_finish(&j));
		ck_assert_str_eq(tp_buf_cstr(&out), members[_i].events);
		tp_buf_free(&out);
	}
}
END_TEST

static const char *const valid[] = {
	"null",
	"true",
	" false ",
	"0",
	"-0",
	"1.0",
	"1e5",
	"1E-05",
	"123456789012345678901234567890",
	"\"\"",
	"[]",
	"[ ]",
	"{ }",
	"[1,2,[3,[]],{}]",
	"\t\r\n[]\n",
	"\"\\u0000\"",
	"\"\x7f\"",
	"{\"a\":1,\"a\":1}",
	"\xef\xbb\xbf[]",
	"[\"0123456789abcde\\\"0123456789abcdef\",\"0123456789abcdef\"]",
};

static const char *const invalid[] = {
	"{\"a\":{\"b\":1]}",
	"{\"a\":[1}}",
	"{\"a\":[1,]}",
	"{\"a\":{\"b\":1,}}",
	"{\"a\":[01]}",
	"{\"a\":[1.]}",
	"{\"a\":[1e]}",
	"{\"a\":[-]}",
	"{\"a\":[nul]}",
	"{\"a\":[truefalse]}",
	"{\"a\":{\"b\" 1}}",
	"{\"a\":{\"b\"::1}}",
	"{\"a\":{1:1}}",
	"{\"a\":[\"\\x\"]}",
	"{\"a\":[\"\\u12g4\"]}",
	"{\"a\":[\"\n\"]}",
	"{\"a\":[1 2]}",
	"{\"a\":1]",
	"[{\"a\":1]",
	"[1}",
	"",
	" ",
	"\xef\xbb\xbf",
	"\xef\xbb{}",
	"\xbf{}",
	" \xef\xbb\xbf{}",
	"{",
	"}",
	"[",
	"]",
	"[1,]",
	"[,1]",
	"{,}",
	"{\"a\"}",
	"{\"a\":}",
	"{\"a\":1,}",
	"{a:1}",
	"{'a':1}",
	"{\"a\":1 \"b\":2}",
	"[1 2]",
	"[}",
	"{]",
	"[{]}",
	"{\"a\":[}",
	"nul",
	"nulll",
	"True",
	"NaN",
	"Infinity",
	"-",
	"+1",
	"01",
	"-01",
	"1.",
	".5",
	"1e",
	"1e+",
	"1.e1",
	"0x10",
	"1_0",
	"\"",
	"\"a",
	"\"\\\"",
	"\"\\x\"",
	"\"\\u12\"",
	"\"\\u12g4\"",
	"\"a\nb\"",
	"\"a\tb\"",
	"{} {}",
	"{}x",
	"[]]",
	"1 2",
	"null,",
	"/* c */ {}",
	"{\"a\":1}//",
	"<html>",
	"data: {}",
	"{\"a\":tru}",
	"{\"a\":1.}",
	"[\"0123456789abcdef\x01\"]",
	"[1}",
	"{\"a\":1]",
	"{1:2}",
	"{null:1}",
	"[\"a\":1]",
	"\"a\"\"b\"",
	"--1",
	"1e5.2",
};

START_TEST(valid_text)
{
	check_all_cuts(tp_str_from(valid[_i]), true, NULL);
}
END_TEST

START_TEST(invalid_text)
{
	check_all_cuts(tp_str_from(invalid[_i]), false, NULL);
}
END_TEST

/* The same verdict as an independent parser. */
START_TEST(agrees_with_jansson)
{
	static const char *const bits[] = {"{",    "}", "[",    "]",    ",",    ":", "\"a\"",
					   "\"\"", "1", "-2.5", "true", "null", " "};
	enum { BITS = sizeof bits / sizeof bits[0] };
	uint32_t random = 12345;
	unsigned good = 0;
	for (int round = 0; round < 60000; round++) {
		struct tp_buf text = {0}, out = {0};
		for (int i = 0; i < 2 + round % 8; i++) {
			random = random * 1664525u + 1013904223u;
			tp_buf_add_str(&text, tp_str_from(bits[(random >> 16) % BITS]));
		}
		json_t *tree = json_loadb(text.data, text.len, JSON_DECODE_ANY, NULL);
		bool json = scan(tp_buf_str(&text), text.len / 2, text.len / 2, &out);
		ck_assert_msg(json == (tree != NULL), "%s", tp_buf_cstr(&text));
		good += json;
		json_decref(tree);
		tp_buf_free(&text);
		tp_buf_free(&out);
	}
	ck_assert_uint_gt(good, 500); /* both sides of the question were asked */
}
END_TEST

static bool scan_nested(int depth, struct tp_json *j)
{
	struct tp_buf text = {0};
	for (int i = 0; i < depth; i++)
		tp_buf_add_str(&text, i % 3 == 2 ? TP_STR("{\"k\":") : TP_STR("["));
	tp_buf_add_str(&text, TP_STR("1"));
	for (int i = depth - 1; i >= 0; i--)
		tp_buf_add_str(&text, i % 3 == 2 ? TP_STR("}") : TP_STR("]"));
	struct tp_buf out = {0};
	memset(j, 0, sizeof *j);
	bool good = feed(j, text.data, text.len, &out) && tp_json_finish(j);
	tp_buf_free(&text);
	tp_buf_free(&out);
	return good;
}

START_TEST(depth)
{
	struct tp_json j;
	static const int fine[] = {1, 2, 63, 64, 65, 128, TP_JSON_NEST_MAX};
	for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
		ck_assert(scan_nested(fine[i], &j));
		ck_assert_int_eq(j.max_depth, fine[i]);
		ck_assert(!j.too_deep);
	}
	ck_assert(!scan_nested(TP_JSON_NEST_MAX + 1, &j));
	ck_assert(j.too_deep);
}
END_TEST

/* Long keys and values are cut, their offsets are not, and nothing is written beyond the struct. */
START_TEST(long_scalars)
{
	for (int n = 250; n < 262; n++) {
		struct tp_buf text = {0}, out = {0};
		tp_buf_printf(&text, "{\"%0*d\":\"%0*d\\u20ac\"}", n - 190, 7, n, 7);
		struct tp_json j = {0};
		size_t used;
		ck_assert_int_eq(tp_json_feed(&j, text.data, text.len, &used), TP_JSON_KEY);
		ck_assert_uint_eq(j.key_n, (size_t)(n - 190 < 64 ? n - 190 : 64));
		ck_assert(j.key_cut == (n - 190 > 64));
		size_t at = used;
		ck_assert_int_eq(tp_json_feed(&j, text.data + at, text.len - at, &used), TP_JSON_VALUE);
		at += used;
		ck_assert_int_eq(tp_json_feed(&j, text.data + at, text.len - at, &used), TP_JSON_END);
		ck_assert(j.text_cut == (n + 3 > TP_JSON_TEXT_MAX));
		ck_assert_uint_eq(j.value_end - j.value_start, (uint64_t)n + 8);
		tp_buf_free(&text);
		tp_buf_free(&out);
	}
}
END_TEST

START_TEST(stays_bad)
{
	struct tp_json j = {0};
	size_t used;
	ck_assert_int_eq(tp_json_feed(&j, "{x", 2, &used), TP_JSON_BAD);
	ck_assert_int_eq(tp_json_feed(&j, "{}", 2, &used), TP_JSON_BAD);
	ck_assert_uint_eq(used, 0);
	ck_assert_int_eq(tp_json_feed(&j, "", 0, &used), TP_JSON_BAD);
	ck_assert(!tp_json_finish(&j));
}
END_TEST

TP_TESTS(json)
{
	tcase_add_loop_test(t, top_level_members, 0, sizeof members / sizeof members[0]);
	tcase_add_loop_test(t, ends_only, 0, sizeof members / sizeof members[0]);
	tcase_add_loop_test(t, valid_text, 0, sizeof valid / sizeof valid[0]);
	tcase_add_loop_test(t, invalid_text, 0, sizeof invalid / sizeof invalid[0]);
	tcase_add_test(t, agrees_with_jansson);
	tcase_add_test(t, depth);
	tcase_add_test(t, long_scalars);
	tcase_add_test(t, stays_bad);
}
