/* The growing buffer: adding, printing, JSON escapes, failure. */
#include <stdlib.h>

#include "common/base/buf.h"
#include "tests/unit/suite.h"

static void holds(const struct tp_buf *b, struct tp_str want)
{
	ck_assert_msg(tp_str_eq(tp_buf_str(b), want), "\"%.*s\" instead of \"%.*s\"", (int)b->len, b->data,
		      (int)want.n, want.p);
	ck_assert(!b->failed);
}

START_TEST(begins_empty_and_grows)
{
	struct tp_buf b = {0};
	ck_assert_str_eq(tp_buf_cstr(&b), "");
	ck_assert_uint_eq(b.len, 0);
	struct tp_buf large = {0};
	for (int i = 0; i < 10000; i++)
		tp_buf_add(&large, "0123456789", 10);
	ck_assert_uint_eq(large.len, 100000);
	ck_assert_uint_lt(large.size, 400000);
	for (size_t i = 0; i < large.len; i++)
		ck_assert_int_eq(large.data[i], '0' + (int)(i % 10));
	tp_buf_free(&large);
	tp_buf_free(&b);
	tp_buf_free(NULL);
	ck_assert(large.data == NULL && large.size == 0 && large.len == 0);
}
END_TEST

START_TEST(adds_nothing_from_nothing)
{
	struct tp_buf b = {0};
	tp_buf_add(&b, NULL, 0);
	tp_buf_add_str(&b, (struct tp_str){0});
	tp_buf_add_json(&b, (struct tp_str){0});
	tp_buf_printf(&b, "%s", "");
	holds(&b, TP_STR(""));
	ck_assert_ptr_null(b.data);
}
END_TEST

START_TEST(numbers_and_formats)
{
	struct tp_buf b = {0};
	tp_buf_add_uint(&b, 0);
	tp_buf_add(&b, " ", 1);
	tp_buf_add_uint(&b, 10);
	tp_buf_add(&b, " ", 1);
	tp_buf_add_uint(&b, UINT64_MAX);
	tp_buf_printf(&b, " %s-%03d", "x", 7);
	holds(&b, TP_STR("0 10 18446744073709551615 x-007"));
	tp_buf_free(&b);
	/* each length around the first allocation: the terminator of printf must fit, but not count */
	for (int n = 250; n < 262; n++) {
		tp_buf_printf(&b, "%*d", n, 7);
		ck_assert_uint_eq(b.len, (size_t)n);
		ck_assert_int_eq(b.data[n - 1], '7');
		ck_assert_uint_eq(strlen(tp_buf_cstr(&b)), (size_t)n);
		tp_buf_free(&b);
	}
}
END_TEST

static const struct {
	const char *bytes;
	size_t n;
	const char *json;
} escapes[] = {
#define ROW(bytes, json)                                                                                     \
	{                                                                                                    \
		bytes, sizeof(bytes) - 1, json                                                               \
	}
	ROW("plain /text/", "plain /text/"),
	ROW("\"\\", "\\\"\\\\"),
	ROW("a\nb\rc\td", "a\\nb\\u000dc\\u0009d"),
	ROW("\0\x01\x1f\x7f", "\\u0000\\u0001\\u001f\\u007f"),
	/* two, three and four bytes: first and last of each */
	ROW("\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf"),
	ROW("\xe0\xa0\x80\xef\xbf\xbf", "\xe0\xa0\x80\xef\xbf\xbf"),
	ROW("\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"),
	ROW("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
#define BAD "\xef\xbf\xbd"
	ROW("\x80", BAD),                                 /* no first byte */
	ROW("\xc0\xaf", BAD BAD),                         /* overlong, 2 */
	ROW("\xc1\xbf", BAD BAD),                         /* overlong, 2 */
	ROW("\xe0\x9f\xbf", BAD BAD BAD),                 /* overlong, 3 */
	ROW("\xf0\x8f\xbf\xbf", BAD BAD BAD BAD),         /* overlong, 4 */
	ROW("\xed\xa0\x80", BAD BAD BAD),                 /* surrogate */
	ROW("\xf4\x90\x80\x80", BAD BAD BAD BAD),         /* above U+10FFFF */
	ROW("\xf5\x80\x80\x80\xff", BAD BAD BAD BAD BAD), /* never */
	ROW("\xc3", BAD),                                 /* cut short */
	ROW("\xe2\x82", BAD BAD),
	ROW("\xf0\x9f\x98", BAD BAD BAD),
	ROW("\xc3(", BAD "("),
	ROW("\xe2\x82(", BAD BAD "("),
	ROW("\xe2\"\x82", BAD "\\\"" BAD),
};

START_TEST(json_escapes)
{
	/* an allocation of its own, so that a sanitizer sees a read beyond a cut sequence */
	char *bytes = malloc(escapes[_i].n);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, escapes[_i].bytes, escapes[_i].n);
	struct tp_buf b = {0};
	tp_buf_add_json(&b, (struct tp_str){bytes, escapes[_i].n});
	holds(&b, tp_str_from(escapes[_i].json));
	tp_buf_free(&b);
	free(bytes);
}
END_TEST

static const struct {
	const char *in, *out; /* NULL: it is fine as it is */
} utf8[] = {
	{"", NULL},
	{"plain", NULL},
	{"\xc3\xbc \xe4\xbd\xa0 \xf0\x9f\xa6\xa9", NULL},
	{"\xb7", "\xef\xbf\xbd"},
	{"a\xfe"
	 "b",
	 "a\xef\xbf\xbd"
	 "b"},
	{"\xc3\xbc\xb7\xfe\xc3\xbc", "\xc3\xbc\xef\xbf\xbd\xef\xbf\xbd\xc3\xbc"},
	{"cut \xe4\xbd", "cut \xef\xbf\xbd\xef\xbf\xbd"},
	{"overlong \xc0\xaf", "overlong \xef\xbf\xbd\xef\xbf\xbd"},
	{"half a pair \xed\xa0\x80", "half a pair \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
};

START_TEST(utf8_is_mended)
{
	struct tp_buf b = {0};
	bool mended = tp_buf_add_utf8(&b, tp_str_from(utf8[_i].in));
	ck_assert_int_eq(mended, utf8[_i].out != NULL);
	ck_assert_str_eq(tp_buf_cstr(&b), mended ? utf8[_i].out : "");
	tp_buf_free(&b);
}
END_TEST

START_TEST(consumes_from_the_front)
{
	struct tp_buf b = {0};
	tp_buf_consume(&b, 5);
	tp_buf_add_str(&b, TP_STR("abcdef"));
	tp_buf_consume(&b, 0);
	tp_buf_consume(&b, 2);
	holds(&b, TP_STR("cdef"));
	tp_buf_add_str(&b, TP_STR("gh"));
	holds(&b, TP_STR("cdefgh"));
	tp_buf_consume(&b, 7);
	holds(&b, TP_STR(""));
	ck_assert_ptr_nonnull(b.data);
	tp_buf_free(&b);
}
END_TEST

START_TEST(no_memory_is_remembered)
{
	struct tp_buf b = {0};
	tp_buf_add_str(&b, TP_STR("kept"));
	ck_assert_str_eq(tp_buf_reason(&b), "kept");
	ck_assert(!tp_buf_reserve(&b, SIZE_MAX - 8));
	ck_assert(b.failed);
	tp_buf_add_str(&b, TP_STR("!"));
	ck_assert_ptr_null(tp_buf_cstr(&b));
	ck_assert_str_eq(tp_buf_reason(&b), "out of memory"); /* not half a reason */
	ck_assert(memcmp(b.data, "kept", 4) == 0);
	tp_buf_free(&b);
	ck_assert(!b.failed);
	ck_assert_str_eq(tp_buf_reason(&b), "out of memory"); /* no room for its first byte */
	tp_buf_free(&b);
}
END_TEST

TP_TESTS(buf)
{
	tcase_add_test(t, begins_empty_and_grows);
	tcase_add_test(t, adds_nothing_from_nothing);
	tcase_add_test(t, numbers_and_formats);
	tcase_add_loop_test(t, json_escapes, 0, sizeof escapes / sizeof *escapes);
	tcase_add_loop_test(t, utf8_is_mended, 0, sizeof utf8 / sizeof *utf8);
	tcase_add_test(t, consumes_from_the_front);
	tcase_add_test(t, no_memory_is_remembered);
}
