/* Chunked coding: data, end and faults are the same however the bytes were cut. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/http/chunked.h"
#include "tests/unit/suite.h"

enum { LIMIT = 1000 };

struct outcome {
	enum tp_chunked_result result;
	size_t used;
	struct tp_buf data; /* owned */
};

/* Feeds pieces that end at `first`, then every `step` bytes; each from memory of its own size. */
static struct outcome feed(struct tp_str text, bool lenient, uint64_t limit, size_t first, size_t step)
{
	struct tp_chunked c = {.lenient = lenient};
	struct outcome o = {.result = TP_CHUNKED_MORE};
	size_t end = first < text.n ? first : text.n;
	while (o.result == TP_CHUNKED_MORE || o.result == TP_CHUNKED_DATA) {
		size_t n = end - o.used, used = SIZE_MAX, data_n;
		char *piece = malloc(n != 0 ? n : 1);
		const char *data;
		ck_assert_ptr_nonnull(piece);
		memcpy(piece, text.p + o.used, n);
		o.result = tp_chunked_feed(&c, piece, n, limit, &used, &data, &data_n);
		ck_assert_uint_le(used, n);
		o.used += used;
		if (o.result == TP_CHUNKED_DATA) {
			ck_assert(data_n > 0 && data >= piece && data + data_n <= piece + used);
			tp_buf_add(&o.data, data, data_n);
		}
		free(piece);
		if (o.result != TP_CHUNKED_MORE)
			continue;
		ck_assert_uint_eq(used, n);
		if (end == text.n)
			break;
		end = step < text.n - end ? end + step : text.n;
	}
	ck_assert_uint_eq(c.total, o.data.len);
	return o;
}

static const struct {
	const char *text;
	enum tp_chunked_result strict, lenient;
	const char *data; /* what comes before the end or the fault */
	size_t behind;    /* bytes that are not part of the message, with DONE */
} rows[] = {
#define BOTH(result) TP_CHUNKED_##result, TP_CHUNKED_##result
	{"0\r\n\r\n", BOTH(DONE), "", 0},
	{"2\r\n{}\r\n0\r\n\r\nGET", BOTH(DONE), "{}", 3},
	{"a\r\n0123456789\r\nB\r\nabcdefghijk\r\n0\r\n\r\n", BOTH(DONE), "0123456789abcdefghijk", 0},
	{"0000000000000002\r\n\r\n\r\n00\r\n\r\n", BOTH(DONE), "\r\n", 0},
	{"2;a;b=c;d=\"e;f\"\t\r\n{}\r\n0;z\r\n\r\n", BOTH(DONE), "{}", 0},
	{"0\r\nA: b\r\nC:\r\n\r\n", BOTH(DONE), "", 0},
	{"2\r\n{}\r\n0\r\n", BOTH(MORE), "{}", 0},
	{"2\r\n{", BOTH(MORE), "{", 0},
	{"", BOTH(MORE), "", 0},
	/* line ends */
	{"2\n{}\n0\n\n.", TP_CHUNKED_BAD, TP_CHUNKED_DONE, "{}", 1},
	{"2;x\n{}\r\n0\r\nA: b\n\n", TP_CHUNKED_BAD, TP_CHUNKED_DONE, "{}", 0},
	{"2\r{}\r\n0\r\n\r\n", BOTH(BAD), "", 0},
	{"2\r\r\n{}\r\n0\r\n\r\n", BOTH(BAD), "", 0},
	{"2\r\n{}0\r\n\r\n", BOTH(BAD), "{}", 0},
	{"2\r\n{}\r0\r\n\r\n", BOTH(BAD), "{}", 0},
	{"2\r\n{}\r\n\r\n0\r\n\r\n", BOTH(BAD), "{}", 0},
	{"0\r\n\rX", BOTH(BAD), "", 0},
	{"0\r\nA: b\rC: d\r\n\r\n", BOTH(BAD), "", 0},
	/* sizes */
	{"\r\n", BOTH(BAD), "", 0},
	{";x\r\n", BOTH(BAD), "", 0},
	{" 2\r\n{}", BOTH(BAD), "", 0},
	{"2 \r\n{}", BOTH(BAD), "", 0},
	{"2 ;x\r\n{}", BOTH(BAD), "", 0},
	{"-2\r\n{}", BOTH(BAD), "", 0},
	{"0x2\r\n{}", BOTH(BAD), "", 0},
	{"2g\r\n{}", BOTH(BAD), "", 0},
	{"00000000000000002\r\n{}", BOTH(BAD), "", 0},
	{"3e9\r\n", BOTH(LARGE), "", 0}, /* 1001 */
	{"3e9", BOTH(MORE), "", 0},
	{"3e9 ", BOTH(BAD), "", 0},
	{"ffffffffffffffff\r\n", BOTH(LARGE), "", 0},
	{"2\r\n{}\r\n3e7\r\n", BOTH(LARGE), "{}", 0}, /* 2 + 999 */
	{"2\r\n{}\r\n3e6\r\n", BOTH(MORE), "{}", 0},  /* 2 + 998 */
	/* what is dropped is checked as well */
	{"2;a\x01\r\n{}", BOTH(BAD), "", 0},
	{"2;a\x7f\r\n{}", BOTH(BAD), "", 0},
	{"0\r\n: b\r\n\r\n", BOTH(BAD), "", 0},
	{"0\r\nA : b\r\n\r\n", BOTH(BAD), "", 0},
	{"0\r\nA\r\n\r\n", BOTH(BAD), "", 0},
	{"0\r\n A: b\r\n\r\n", BOTH(BAD), "", 0},
	{"0\r\nA: b\r\n c\r\n\r\n", BOTH(BAD), "", 0},
	{"0\r\nA: \x02\r\n\r\n", BOTH(BAD), "", 0},
};

static void row_is(int i, bool lenient, size_t first, size_t step)
{
	enum tp_chunked_result want = lenient ? rows[i].lenient : rows[i].strict;
	struct tp_str text = tp_str_from(rows[i].text);
	struct outcome o = feed(text, lenient, LIMIT, first, step);
	ck_assert_msg(o.result == want, "row %d (lenient %d, first %zu, step %zu): %d instead of %d", i,
		      lenient, first, step, o.result, want);
	/* the row's data is that of its longer run */
	bool ends_early = !lenient && rows[i].strict != rows[i].lenient;
	if (!ends_early)
		ck_assert_msg(tp_str_eq(tp_buf_str(&o.data), tp_str_from(rows[i].data)), "row %d: \"%.*s\"",
			      i, (int)o.data.len, o.data.data);
	if (want == TP_CHUNKED_DONE)
		ck_assert_uint_eq(o.used, text.n - rows[i].behind);
	tp_buf_free(&o.data);
}

START_TEST(every_cut)
{
	for (int lenient = 0; lenient < 2; lenient++) {
		row_is(_i, lenient != 0, SIZE_MAX, SIZE_MAX);
		row_is(_i, lenient != 0, 0, 1);
		for (size_t cut = 0; cut < strlen(rows[_i].text); cut++)
			row_is(_i, lenient != 0, cut, SIZE_MAX);
	}
}
END_TEST

START_TEST(nothing_follows_the_end)
{
	static const struct {
		const char *text;
		enum tp_chunked_result end;
	} ends[] = {{"0\r\n\r\n", TP_CHUNKED_DONE}, {"x", TP_CHUNKED_BAD}, {"fff\r\n", TP_CHUNKED_LARGE}};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct tp_chunked c = {0};
		size_t used, n;
		const char *data;
		ck_assert_int_eq(
			tp_chunked_feed(&c, ends[i].text, strlen(ends[i].text), LIMIT, &used, &data, &n),
			ends[i].end);
		ck_assert_int_eq(tp_chunked_feed(&c, "0\r\n\r\n", 5, LIMIT, &used, &data, &n), ends[i].end);
		ck_assert_uint_eq(used, 0);
	}
}
END_TEST

/* `n` of `fill` between `before` and `after`. */
static enum tp_chunked_result filled(const char *before, char fill, size_t n, const char *after,
				     uint64_t limit)
{
	struct tp_buf b = {0};
	tp_buf_add_str(&b, tp_str_from(before));
	for (size_t i = 0; i < n; i++)
		tp_buf_add(&b, &fill, 1);
	tp_buf_add_str(&b, tp_str_from(after));
	struct outcome o = feed(tp_buf_str(&b), false, limit, SIZE_MAX, SIZE_MAX);
	tp_buf_free(&o.data);
	tp_buf_free(&b);
	return o.result;
}

START_TEST(overhead_is_bounded)
{
	ck_assert_int_eq(filled("0;", 'x', 16383, "\r\n\r\n", LIMIT), TP_CHUNKED_DONE);
	ck_assert_int_eq(filled("0;", 'x', 16384, "\r\n\r\n", LIMIT), TP_CHUNKED_BAD);
	ck_assert_int_eq(filled("0\r\nA:", 'x', 16382, "\r\n\r\n", LIMIT), TP_CHUNKED_DONE);
	ck_assert_int_eq(filled("0\r\nA:", 'x', 16383, "\r\n\r\n", LIMIT), TP_CHUNKED_BAD);
	ck_assert_int_eq(filled("0\r\n", 'x', 16385, ":\r\n\r\n", LIMIT), TP_CHUNKED_BAD);
}
END_TEST

/* Many chunks that each carry a signature: the share grows with the data. */
START_TEST(overhead_may_grow_with_the_data)
{
	struct tp_buf b = {0};
	for (int i = 0; i < 1000; i++) {
		tp_buf_printf(&b, "2000;chunk-signature=%064d\r\n", i);
		ck_assert(tp_buf_reserve(&b, 0x2000));
		memset(b.data + b.len, 'd', 0x2000);
		b.len += 0x2000;
		tp_buf_add_str(&b, TP_STR("\r\n"));
	}
	tp_buf_add_str(&b, TP_STR("0\r\n\r\n"));
	struct outcome o = feed(tp_buf_str(&b), false, UINT64_MAX, 1, 70000);
	ck_assert_int_eq(o.result, TP_CHUNKED_DONE);
	ck_assert_uint_eq(o.data.len, 1000 * 0x2000);
	tp_buf_free(&o.data);
	tp_buf_free(&b);
}
END_TEST

START_TEST(sum_does_not_wrap)
{
	struct tp_chunked c = {0};
	const char *data;
	size_t used, n;
	const char first[] = "1\r\nx\r\nffffffffffffffff\r\n";
	ck_assert_int_eq(tp_chunked_feed(&c, first, sizeof first - 1, UINT64_MAX, &used, &data, &n),
			 TP_CHUNKED_DATA);
	ck_assert_int_eq(
		tp_chunked_feed(&c, first + used, sizeof first - 1 - used, UINT64_MAX, &used, &data, &n),
		TP_CHUNKED_LARGE);
}
END_TEST

TP_TESTS(chunked)
{
	tcase_add_loop_test(t, every_cut, 0, sizeof rows / sizeof *rows);
	tcase_add_test(t, nothing_follows_the_end);
	tcase_add_test(t, overhead_is_bounded);
	tcase_add_test(t, overhead_may_grow_with_the_data);
	tcase_add_test(t, sum_does_not_wrap);
}
