/* The shape of JSON: no text of a person in it, and JSON whatever came. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/shape.h"
#include "tests/unit/suite.h"

static bool shape_of(const char *text, size_t n, size_t step, struct tp_buf *out)
{
	struct tp_shape s = {0};
	for (size_t at = 0; at < n; at += step)
		(void)tp_shape_feed(&s, text + at, n - at < step ? n - at : step, out);
	return tp_shape_finish(&s, out);
}

static const struct {
	const char *text, *shape;
	bool whole;
} rows[] = {
	{"{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"tell me\"}],\"n\":1.5e3}",
	 "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"(4)\",\"content\":\"(7)\"}],\"n\":1.5e3}", true},
	{" [ true , false , null , -0.5 , \"\" ] ", "[true,false,null,-0.5,\"(0)\"]", true},
	{"{}", "{}", true},
	{"[]", "[]", true},
	{"[[],{}]", "[[],{}]", true},
	{"\"text\"", "\"(4)\"", true},
	{"17", "17", true},
	{"", "null", false},
	/* only the top-level model is one */
	{"{\"a\":{\"model\":\"secret\"}}", "{\"a\":{\"model\":\"(6)\"}}", true},
	{"{\"model\":{\"a\":\"secret\"}}", "{\"model\":{\"a\":\"(6)\"}}", true},
	{"{\"model\":[\"secret\"]}", "{\"model\":[\"(6)\"]}", true},
	{"{\"mod\\u0065l\":\"secret\"}", "{\"(10)\":\"(6)\"}", true},
	{"{\"model\":\"se\\u0063ret\"}", "{\"model\":\"(11)\"}", true},
	/* quotes and backslashes inside strings */
	{"[\"a\\\"b\",\"\\\\\",\"c\"]", "[\"(4)\",\"(2)\",\"(1)\"]", true},
	{"{\"a\\\"b\":1}", "{\"(4)\":1}", true},
	{"{\"k\xc3\xa9y\":1}", "{\"(4)\":1}", true},
	/* cut anywhere */
	{"{\"a\":\"tell m", "{\"a\":\"(6)\"}", false},
	{"{\"a\":", "{\"a\":null}", false},
	{"{\"a\"", "{\"a\":null}", false},
	{"{\"a", "{\"(1)\":null}", false},
	{"{\"a\":1,", "{\"a\":1}", false},
	{"[1,", "[1]", false},
	{"[1,tr", "[1,null]", false},
	{"[12", "[12]", false},
	{"[{\"a\":[", "[{\"a\":[]}]", false},
	/* not JSON */
	{"prompt=tell+me", "null", false},
	{"hello", "null", false},
	{"{\"a\":tell me}", "{\"a\":null}", false},
	{"{\"a\" \"b\"}", "{\"a\":null}", false},
	{"{a:1}", "{}", false},
	{"[1 2]", "[1]", false},
	{"[01]", "[null]", false},
	{"[1}", "[1]", false},
	{"{} secret", "{}", false},
	{"[\"a\nb\"]", "[\"(1)\"]", false},
};

START_TEST(a_shape)
{
	size_t n = strlen(rows[_i].text);
	for (size_t step = 1; step <= (n > 0 ? n : 1); step++) {
		struct tp_buf out = {0};
		bool whole = shape_of(rows[_i].text, n, step, &out);
		ck_assert_str_eq(tp_buf_cstr(&out), rows[_i].shape);
		ck_assert_int_eq(whole, rows[_i].whole);
		tp_buf_free(&out);
	}
}
END_TEST

/* A text of everything, cut behind each byte, with each byte put out of place: JSON, and no word of it. */
START_TEST(whatever_came_the_shape_is_json)
{
	static const char text[] = "{\"model\":\"m\",\"list\":[1,-2.5e+7,true,{\"k\":\"PROMPT \\\" "
				   "\\u0041\"},[[]],null],\"x\":\"PROMPT\"}";
	static const char odd[] = "{}[]\":,\\ 0e.-t\x01\xff";
	for (size_t n = 0; n < sizeof text; n++)
		for (size_t k = 0; k < sizeof odd; k++) {
			char damaged[sizeof text];
			struct tp_buf out = {0};
			memcpy(damaged, text, sizeof text);
			if (k < sizeof odd - 1 && n < sizeof text - 1)
				damaged[n] = odd[k];
			size_t length = k < sizeof odd - 1 ? sizeof text - 1 : n;
			(void)shape_of(damaged, length, 3, &out);
			json_t *tree = json_loadb(out.data, out.len, JSON_DECODE_ANY, NULL);
			ck_assert_msg(tree != NULL, "%s -> %s", damaged, tp_buf_cstr(&out));
			json_decref(tree);
			if (k == sizeof odd - 1)
				ck_assert_ptr_null(strstr(tp_buf_cstr(&out), "PROMPT"));
			tp_buf_free(&out);
		}
}
END_TEST

START_TEST(deep_nesting_is_closed)
{
	struct tp_shape s = {0};
	struct tp_buf out = {0};
	static const char *const levels[][2] = {{"[", "{\"a\":"}, {"[1,", "[2,"}};
	for (int i = 0; i < 1000; i++) {
		const char *level = levels[_i][i % 2];
		(void)tp_shape_feed(&s, level, strlen(level), &out);
	}
	ck_assert(!tp_shape_finish(&s, &out));
	json_t *tree = json_loadb(out.data, out.len, 0, NULL);
	ck_assert_ptr_nonnull(tree);
	json_decref(tree);
	tp_buf_free(&out);
}
END_TEST

TP_TESTS(shape)
{
	tcase_add_loop_test(t, a_shape, 0, sizeof rows / sizeof rows[0]);
	tcase_add_test(t, whatever_came_the_shape_is_json);
	tcase_add_loop_test(t, deep_nesting_is_closed, 0, 2);
}
