/* Objects in one piece: what is listed is what the scanner of json.h tells, and what it has to look at
 * itself. */
#include "common/http/json_members.h"

#include <check.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "suite.h"

/* What json.h says of the text. Members in `out`; their number, or -1: no JSON. */
static int scanned(struct tp_str text, struct tp_json_member *out, uint16_t *ret_depth, struct tp_buf *bytes)
{
	struct tp_json j = {0};
	size_t at = 0, used;
	int n = 0;
	enum tp_json_event e;
	tp_buf_reserve(bytes, TP_JSON_MEMBERS_MAX * (TP_JSON_KEY_MAX + TP_JSON_TEXT_MAX));
	while ((e = tp_json_feed(&j, text.p + at, text.n - at, &used)) != TP_JSON_MORE && e != TP_JSON_BAD) {
		at += used;
		if (e != TP_JSON_END)
			continue;
		struct tp_json_member m = tp_json_member_of(&j);
		/* the scanner's texts last until its next event */
		struct tp_str *borrowed[] = {&m.key, &m.text};
		for (int i = 0; i < 2; i++) {
			size_t from = bytes->len;
			tp_buf_add_str(bytes, *borrowed[i]);
			borrowed[i]->p = bytes->data + from;
		}
		out[n++] = m;
	}
	*ret_depth = j.max_depth;
	return tp_json_finish(&j) ? n : -1;
}

static void same_member(struct tp_str text, const struct tp_json_member *a, const struct tp_json_member *b)
{
	bool same = tp_str_eq(a->key, b->key) && a->key_cut == b->key_cut && a->key_start == b->key_start &&
		    a->key_end == b->key_end && a->value_start == b->value_start &&
		    a->value_end == b->value_end && a->type == b->type;
	/* one with escapes in it says so, and is read by the scanner */
	if (same && !tp_json_member_escaped(a))
		same = tp_str_eq(a->text, b->text) && a->text_cut == b->text_cut;
	ck_assert_msg(same, "%.*s: %.*s differs from %.*s", (int)text.n, text.p, (int)a->key.n, a->key.p,
		      (int)b->key.n, b->key.p);
}

/* Taken: as many members as `want`, each as json.h tells it. */
static void taken(struct tp_str text, int want)
{
	/* A copy of just this size, so that the sanitizer sees a read beyond the text. */
	char *copy = malloc(text.n > 0 ? text.n : 1);
	memcpy(copy, text.p, text.n);
	struct tp_str exact = {copy, text.n};
	struct tp_json_member members[TP_JSON_MEMBERS_MAX], told[TP_JSON_MEMBERS_MAX + 1];
	struct tp_buf bytes = {0};
	uint16_t depth = 0, told_depth = 0;
	int n = tp_json_members(exact, members, &depth);
	ck_assert_msg(n == want, "%.*s: %d members instead of %d", (int)text.n, text.p, n, want);
	ck_assert_int_eq(scanned(exact, told, &told_depth, &bytes), want);
	ck_assert_uint_eq(depth, told_depth);
	for (int i = 0; i < n; i++)
		same_member(text, &members[i], &told[i]);
	tp_buf_free(&bytes);
	free(copy);
}

static void left(struct tp_str text)
{
	char *copy = malloc(text.n > 0 ? text.n : 1);
	memcpy(copy, text.p, text.n);
	struct tp_json_member members[TP_JSON_MEMBERS_MAX];
	uint16_t depth = 77;
	int n = tp_json_members((struct tp_str){copy, text.n}, members, &depth);
	ck_assert_msg(n == -1, "%.*s: taken with %d members", (int)text.n, text.p, n);
	ck_assert_uint_eq(depth, 77);
	free(copy);
}

START_TEST(objects_are_listed)
{
	static const struct {
		int n;
		struct tp_str text;
	} rows[] = {
		{0, TP_STR("{}")},
		{0, TP_STR(" \r\n\t{ \n } \t")},
		{1, TP_STR("{\"a\":1}")},
		{1, TP_STR("{\"\":\"\"}")},
		{2, TP_STR("{\"a\":1,\"a\":2}")},
		{8, TP_STR("{\"s\":\"text\",\"n\":-0.5e+10,\"z\":0,\"t\":true,\"f\":false,\"u\":null,"
			   "\"o\":{\"a\":[1,{}]},\"l\":[]}")},
		{3, TP_STR(" { \"a\" : [ 1 , \"x\" ] , \"b\" : { \"c\" : null } , \"d\" : -1 } ")},
		{1, TP_STR("{\"a\":\"with \\\" and \\\\ and \\u00e4\\ud83d\\ude00\"}")},
		{1, TP_STR("{\"a\":\"\xc3\xa4\xf0\x9f\x98\x80\"}")},
		{1, TP_STR("{\"a\":[[[[[[1]]],2]],{\"b\":{\"c\":{}}}]}")},
		{2,
		 TP_STR("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a longer text, of "
			"more than one step of sixteen bytes; \\n and escapes in it\"}]}")},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		taken(rows[i].text, rows[i].n);
}
END_TEST

/* No objects, not JSON, or a key that would have to be decoded. */
START_TEST(others_are_left)
{
	static const struct tp_str rows[] = {
		TP_STR(""),
		TP_STR(" "),
		TP_STR("{"),
		TP_STR("}"),
		TP_STR("[]"),
		TP_STR("\"a\""),
		TP_STR("1"),
		TP_STR("null"),
		TP_STR("{}{}"),
		TP_STR("{} x}"),
		TP_STR("{\"a\"}"),
		TP_STR("{\"a\":}"),
		TP_STR("{\"a\" 1}"),
		TP_STR("{a:1}"),
		TP_STR("{\"a\":1,}"),
		TP_STR("{,\"a\":1}"),
		TP_STR("{\"a\":1 \"b\":2}"),
		TP_STR("{\"a\":1;\"b\":2}"),
		TP_STR("{\"a\":[1,]}"),
		TP_STR("{\"a\":[1}"),
		TP_STR("{\"a\":[1 2]}"),
		TP_STR("{\"a\":{\"b\"}}"),
		TP_STR("{\"a\":{1:2}}"),
		TP_STR("{\"a\":{\"b\":1]}"),
		TP_STR("{\"a\":01}"),
		TP_STR("{\"a\":1.}"),
		TP_STR("{\"a\":-}"),
		TP_STR("{\"a\":1e}"),
		TP_STR("{\"a\":+1}"),
		TP_STR("{\"a\":tru}"),
		TP_STR("{\"a\":True}"),
		TP_STR("{\"a\":nulls}"),
		TP_STR("{\"a\":\"x}"),
		TP_STR("{\"a\":\"x\\\"}"),
		TP_STR("{\"a\":\"x\ny\"}"),
		TP_STR("{\"a\":\"\\x\"}"),
		TP_STR("{\"a\":\"\\u12g4\"}"),
		TP_STR("{\"a\":\"a text that goes on for more than sixteen bytes\x01\"}"),
		TP_STR("{\"a\\u0062\":1}"),
		TP_STR("{\"a\nb\":1}"),
		TP_STR("{\"a"),
		TP_STR("{\"a\":1}\0"),
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		left(rows[i]);
}
END_TEST

/* A text that was cut is never taken, wherever the cut is; neither is one with a byte behind it. */
START_TEST(cut_anywhere)
{
	static const struct tp_str text = TP_STR(
		"{\"model\":\"m-1\",\"messages\":[{\"role\":\"user\",\"content\":\"a \\\"text\\\" of some "
		"length\"}],\"stream\":true,\"temperature\":-0.25e-3,\"stop\":null}");
	taken(text, 5);
	for (size_t n = 0; n < text.n; n++)
		left((struct tp_str){text.p, n});
	static const char behind[] = "x,}]\"1";
	char longer[256];
	memcpy(longer, text.p, text.n);
	for (size_t i = 0; i < sizeof behind - 1; i++) {
		longer[text.n] = behind[i];
		left((struct tp_str){longer, text.n + 1});
	}
}
END_TEST

/* Strings of each length around the steps of sixteen bytes, plain and with something to stop at. */
START_TEST(strings_of_each_length)
{
	char text[128];
	for (size_t n = 0; n <= 70; n++) {
		memcpy(text, "{\"k\":\"", 6);
		memset(text + 6, 'x', n);
		memcpy(text + 6 + n, "\"}", 2);
		struct tp_str whole = {text, n + 8};
		taken(whole, 1);
		for (size_t at = 0; at < n; at++) {
			text[6 + at] = '\x1f';
			left(whole);
			text[6 + at] = '"';
			left(whole);
			text[6 + at] = 'x';
		}
		for (size_t at = 0; at + 1 < n; at++) {
			memcpy(text + 6 + at, "\\n", 2);
			taken(whole, 1);
			memcpy(text + 6 + at, "xx", 2);
		}
	}
}
END_TEST

START_TEST(long_keys_and_texts_are_cut)
{
	for (size_t n = TP_JSON_KEY_MAX - 1; n <= TP_JSON_KEY_MAX + 1; n++) {
		struct tp_buf b = {0};
		tp_buf_printf(&b, "{\"%0*d\":1}", (int)n, 0);
		taken(tp_buf_str(&b), 1);
		tp_buf_free(&b);
	}
	for (size_t n = TP_JSON_TEXT_MAX - 1; n <= TP_JSON_TEXT_MAX + 1; n++) {
		struct tp_buf b = {0};
		tp_buf_printf(&b, "{\"a\":\"%0*d\",\"b\":1%0*d}", (int)n, 0, (int)n - 1, 0);
		taken(tp_buf_str(&b), 2);
		tp_buf_free(&b);
	}
}
END_TEST

static void add_members(struct tp_buf *b, int n)
{
	tp_buf_add_str(b, TP_STR("{"));
	for (int i = 0; i < n; i++)
		tp_buf_printf(b, "%s\"k%d\":[%d]", i > 0 ? "," : "", i, i);
	tp_buf_add_str(b, TP_STR("}"));
}

static void add_nested(struct tp_buf *b, int depth, const char *open, const char *close)
{
	tp_buf_add_str(b, TP_STR("{\"a\":"));
	for (int i = 1; i < depth; i++)
		tp_buf_printf(b, "%s", open);
	tp_buf_add_str(b, TP_STR("0"));
	for (int i = 1; i < depth; i++)
		tp_buf_printf(b, "%s", close);
	tp_buf_add_str(b, TP_STR("}"));
}

START_TEST(bounds)
{
	static const int over[] = {0, 1};
	for (int i = 0; i < 2; i++) {
		struct tp_buf members = {0}, arrays = {0}, objects = {0};
		add_members(&members, TP_JSON_MEMBERS_MAX + over[i]);
		add_nested(&arrays, TP_JSON_MEMBERS_NEST_MAX + over[i], "[", "]");
		add_nested(&objects, TP_JSON_MEMBERS_NEST_MAX + over[i], "{\"b\":", "}");
		if (over[i]) {
			left(tp_buf_str(&members));
			left(tp_buf_str(&arrays));
			left(tp_buf_str(&objects));
		} else {
			taken(tp_buf_str(&members), TP_JSON_MEMBERS_MAX);
			taken(tp_buf_str(&arrays), 1);
			taken(tp_buf_str(&objects), 1);
		}
		tp_buf_free(&members);
		tp_buf_free(&arrays);
		tp_buf_free(&objects);
	}
}
END_TEST

START_TEST(escaped_says_that_there_is_something_to_decode)
{
	static const struct {
		bool escaped;
		struct tp_str text;
	} rows[] = {{false, TP_STR("{\"a\":\"plain\"}")},
		    {false, TP_STR("{\"a\":\"\"}")},
		    {false, TP_STR("{\"a\":1}")},
		    {false, TP_STR("{\"a\":[\"\\n\"]}")},
		    {true, TP_STR("{\"a\":\"\\n\"}")}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tp_json_member members[TP_JSON_MEMBERS_MAX];
		uint16_t depth;
		ck_assert_int_eq(tp_json_members(rows[i].text, members, &depth), 1);
		ck_assert(tp_json_member_escaped(&members[0]) == rows[i].escaped);
	}
}
END_TEST

TP_TESTS(json_members)
{
	tcase_add_test(t, objects_are_listed);
	tcase_add_test(t, others_are_left);
	tcase_add_test(t, cut_anywhere);
	tcase_add_test(t, strings_of_each_length);
	tcase_add_test(t, long_keys_and_texts_are_cut);
	tcase_add_test(t, bounds);
	tcase_add_test(t, escaped_says_that_there_is_something_to_decode);
}
