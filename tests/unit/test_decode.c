/* Content codings undone: however the input is cut, however small the room, whatever is wrong with it. */
#include <stdlib.h>

#include <zlib.h>
#include <zstd.h>

#include "common/http/decode.h"
#include "tests/unit/suite.h"

#define TEXT "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"

/* ---- coded bytes: made by the libraries, br (whose encoder is no dependency) written down */

static const unsigned char br_text[] = {
	0x1b, 0x3b, 0x00, 0x80, 0x8c, 0xd3, 0x15, 0xf3, 0x23, 0x84, 0x75, 0xaf, 0x45, 0xf6, 0xbe,
	0x9e, 0xa6, 0x0e, 0x4b, 0x9f, 0x63, 0x1c, 0xe0, 0x80, 0x7c, 0x8d, 0xdb, 0x2d, 0xe3, 0xad,
	0x01, 0x1d, 0x32, 0x13, 0x73, 0x12, 0x60, 0x40, 0x0a, 0xe5, 0x5f, 0x8d, 0xe6, 0xb0, 0x79};
/* 4 MiB of 'a' */
static const unsigned char br_bomb[] = {0x9b, 0xff, 0xff, 0x3f, 0xf8, 0x25, 0xc2,
					0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x07};

static void zlib_into(struct tp_buf *out, struct tp_str text, int window, int flush)
{
	z_stream z = {0};
	ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY), Z_OK);
	ck_assert(tp_buf_reserve(out, text.n + 1024));
	z.next_in = (Bytef *)(uintptr_t)text.p;
	z.avail_in = (uInt)text.n;
	z.next_out = (Bytef *)(out->data + out->len);
	z.avail_out = (uInt)(out->size - out->len);
	int r = deflate(&z, flush);
	ck_assert(r == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) && z.avail_in == 0);
	out->len = out->size - z.avail_out;
	(void)deflateEnd(&z);
}

static void zstd_into(struct tp_buf *out, struct tp_str text, int window_log)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	ck_assert_ptr_nonnull(c);
	ck_assert(!ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window_log)));
	ck_assert(!ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0)));
	ck_assert(tp_buf_reserve(out, ZSTD_compressBound(text.n)));
	/* as a stream, so that the frame tells its window and not its size */
	ZSTD_inBuffer in = {text.p, text.n, 0};
	ZSTD_outBuffer to = {out->data, out->size, out->len};
	ck_assert_uint_eq(ZSTD_compressStream2(c, &to, &in, ZSTD_e_flush), 0);
	ck_assert_uint_eq(ZSTD_compressStream2(c, &to, &in, ZSTD_e_end), 0);
	out->len = to.pos;
	(void)ZSTD_freeCCtx(c);
}

enum form { GZIP, ZLIB, RAW, BR, ZSTD, FORMS };

static const enum tp_coding form_coding[] = {TP_CODING_GZIP, TP_CODING_DEFLATE, TP_CODING_DEFLATE,
					     TP_CODING_BR, TP_CODING_ZSTD};

/* `text` in a form; br knows TEXT only. */
static void code(enum form f, struct tp_str text, struct tp_buf *out)
{
	switch (f) {
	case GZIP: zlib_into(out, text, MAX_WBITS + 16, Z_FINISH); break;
	case ZLIB: zlib_into(out, text, MAX_WBITS, Z_FINISH); break;
	case RAW: zlib_into(out, text, -MAX_WBITS, Z_FINISH); break;
	case ZSTD: zstd_into(out, text, 20); break;
	default: tp_buf_add(out, br_text, sizeof br_text); break;
	}
}

/* ---- decoding in pieces of `step` bytes into a room of `room` */

struct outcome {
	struct tp_buf out;
	enum tp_decode last;
	bool whole;
	size_t used;
};

static struct outcome decode(enum tp_coding c, struct tp_str in, size_t step, size_t room, uint64_t max)
{
	struct outcome o = {.last = TP_DECODE_MORE};
	struct tp_decoder *d = tp_decoder_new(c, max);
	char *to = malloc(room);
	ck_assert(d != NULL && to != NULL);
	size_t at = 0;
	while (at < in.n && o.last == TP_DECODE_MORE) {
		size_t n = step < in.n - at ? step : in.n - at;
		/* an allocation of its own, so that a sanitizer sees a read beyond the piece */
		char *piece = malloc(n);
		ck_assert_ptr_nonnull(piece);
		memcpy(piece, in.p + at, n);
		size_t done = 0, used, got;
		do {
			o.last = tp_decoder_feed(d, piece + done, n - done, &used, to, room, &got);
			/* no ck_assert(), which notes each place that it has seen: a million times here */
			if (used > n - done || got > room || (got > 0) != (o.last == TP_DECODE_DATA))
				ck_abort_msg("%zu of %zu used, %zu got: %d", used, n - done, got,
					     (int)o.last);
			tp_buf_add(&o.out, to, got);
			done += used;
		} while (o.last == TP_DECODE_DATA);
		o.used += done;
		if (o.last == TP_DECODE_MORE)
			ck_assert_uint_eq(done, n);
		at += n;
		free(piece);
	}
	o.whole = tp_decoder_whole(d);
	free(to);
	tp_decoder_free(d);
	return o;
}

static void decodes_to(enum tp_coding c, struct tp_str in, struct tp_str want, enum tp_decode last)
{
	static const size_t sizes[] = {1, 2, 3, 7, 64, 65536};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
			if ((in.n / sizes[i] + 1) * (want.n / sizes[j] + 1) > rounds_of(100000000))
				continue;
			struct outcome o = decode(c, in, sizes[i], sizes[j], UINT64_MAX);
			ck_assert_msg(tp_str_eq(tp_buf_str(&o.out), want),
				      "coding %d in pieces of %zu into %zu: %zu bytes, not %zu", (int)c,
				      sizes[i], sizes[j], o.out.len, want.n);
			ck_assert_int_eq(o.last, last);
			ck_assert(o.whole);
			tp_buf_free(&o.out);
		}
	}
}

/* ---- names */

static const struct {
	const char *value;
	enum tp_coding coding;
} values[] = {
	{"", TP_CODING_NONE},
	{"identity", TP_CODING_NONE},
	{" , identity,,", TP_CODING_NONE},
	{"gzip", TP_CODING_GZIP},
	{"GZip", TP_CODING_GZIP},
	{"x-gzip", TP_CODING_GZIP},
	{"deflate", TP_CODING_DEFLATE},
	{"br", TP_CODING_BR},
	{"BR", TP_CODING_BR},
	{"zstd", TP_CODING_ZSTD},
	{"\t zstd ", TP_CODING_ZSTD},
	{"identity, gzip", TP_CODING_GZIP},
	{"gzip,", TP_CODING_GZIP},
	{"gzip, gzip", TP_CODING_OTHER},
	{"gzip, br", TP_CODING_OTHER},
	{"lz4", TP_CODING_OTHER},
	{"lz4, identity", TP_CODING_OTHER},
	{"gzip;q=1", TP_CODING_OTHER},
	{"gzi", TP_CODING_OTHER},
	{"gzipp", TP_CODING_OTHER},
	{"compress", TP_CODING_OTHER},
	{"*", TP_CODING_OTHER},
};

START_TEST(names)
{
	ck_assert_msg(tp_coding_of(tp_str_from(values[_i].value)) == values[_i].coding, "\"%s\" is %d",
		      values[_i].value, (int)tp_coding_of(tp_str_from(values[_i].value)));
}
END_TEST

static const struct {
	const char *fields;
	enum tp_coding coding;
} heads[] = {
	{"", TP_CODING_NONE},
	{"accept-encoding: gzip\r\n", TP_CODING_NONE},
	{"Content-Encoding: br\r\n", TP_CODING_BR},
	{"content-encoding: identity\r\nContent-Encoding: zstd\r\n", TP_CODING_ZSTD},
	{"content-encoding: gzip\r\ncontent-encoding: gzip\r\n", TP_CODING_OTHER},
};

START_TEST(names_in_heads)
{
	struct tp_buf bytes = {0};
	tp_buf_printf(&bytes, "HTTP/1.1 200 OK\r\n%s\r\n", heads[_i].fields);
	static struct tp_head h;
	size_t scanned = 0;
	const char *why;
	ck_assert_int_eq(tp_head_parse_answer(bytes.data, bytes.len, 8192, false, &scanned, &h, &why),
			 TP_PARSE_OK);
	ck_assert_int_eq(tp_coding_of_head(&h, bytes.data), heads[_i].coding);
	tp_buf_free(&bytes);
}
END_TEST

START_TEST(nothing_to_decode_with)
{
	ck_assert_ptr_null(tp_decoder_new(TP_CODING_NONE, 1));
	ck_assert_ptr_null(tp_decoder_new(TP_CODING_OTHER, 1));
	tp_decoder_free(NULL);
	struct tp_decoder *d = tp_decoder_new(TP_CODING_GZIP, 1);
	ck_assert(tp_decoder_whole(d)); /* nothing was fed, nothing is missing */
	tp_decoder_free(d);
}
END_TEST

/* ---- what is right */

START_TEST(any_cut)
{
	struct tp_buf in = {0};
	code((enum form)_i, TP_STR(TEXT), &in);
	decodes_to(form_coding[_i], tp_buf_str(&in), TP_STR(TEXT), TP_DECODE_MORE);
	tp_buf_free(&in);
}
END_TEST

/* More than any window and any buffer inside the libraries. */
START_TEST(large)
{
	static const enum form forms[] = {GZIP, ZLIB, RAW, ZSTD};
	enum form form = forms[_i];
	struct tp_buf text = {0}, in = {0};
	for (unsigned i = 0, x = 1; text.len < 140000; i++, x = x * 1664525 + 1013904223)
		tp_buf_printf(&text, "data: {\"n\":%u,\"x\":%u}\n\n", i, x);
	code(form, tp_buf_str(&text), &in);
	decodes_to(form_coding[form], tp_buf_str(&in), tp_buf_str(&text), TP_DECODE_MORE);
	tp_buf_free(&in);
	tp_buf_free(&text);
}
END_TEST

START_TEST(members_follow_each_other)
{
	static const enum form forms[] = {GZIP, ZSTD};
	struct tp_buf in = {0};
	code(forms[_i], TP_STR("one,"), &in);
	code(forms[_i], TP_STR(""), &in);
	if (forms[_i] == ZSTD) /* a frame to be skipped */
		tp_buf_add(&in, "\x51\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
	code(forms[_i], TP_STR("two"), &in);
	decodes_to(form_coding[forms[_i]], tp_buf_str(&in), TP_STR("one,two"), TP_DECODE_MORE);
	tp_buf_free(&in);
}
END_TEST

/* A sender that flushes after each event: what it flushed is there at once. */
START_TEST(what_was_flushed_comes_at_once)
{
	static const char br[] = "\x0b\x07\x80"
				 "data: {\"a\":1}\n\n",
			  br_2[] = "\x70\x00\x80\x5f\x52\x41\xa6\xaf\x44\x01\x26\x04\x58\x63";
	char out[64];
	size_t used, n;
	struct tp_decoder *d = tp_decoder_new(TP_CODING_BR, UINT64_MAX);
	ck_assert_int_eq(tp_decoder_feed(d, br, sizeof br - 1, &used, out, sizeof out, &n), TP_DECODE_DATA);
	ck_assert(tp_str_eq((struct tp_str){out, n}, TP_STR("data: {\"a\":1}\n\n")));
	ck_assert_int_eq(tp_decoder_feed(d, br_2, sizeof br_2 - 1, &used, out, sizeof out, &n),
			 TP_DECODE_DATA);
	ck_assert(tp_str_eq((struct tp_str){out, n}, TP_STR("data: {\"a\":2}\n\n")));
	ck_assert_int_eq(tp_decoder_feed(d, br_2, 0, &used, out, sizeof out, &n), TP_DECODE_MORE);
	ck_assert(!tp_decoder_whole(d));
	tp_decoder_free(d);

	struct tp_buf in = {0};
	zlib_into(&in, TP_STR("data: 1\n\n"), MAX_WBITS + 16, Z_SYNC_FLUSH);
	struct outcome o = decode(TP_CODING_GZIP, tp_buf_str(&in), 65536, 64, UINT64_MAX);
	ck_assert(tp_str_eq(tp_buf_str(&o.out), TP_STR("data: 1\n\n")) && !o.whole);
	tp_buf_free(&o.out);
	tp_buf_free(&in);
}
END_TEST

/* ---- what is wrong */

START_TEST(every_truncation_is_seen)
{
	struct tp_buf in = {0};
	code((enum form)_i, TP_STR(TEXT), &in);
	for (size_t n = 1; n < in.len; n++) {
		struct outcome o = decode(form_coding[_i], (struct tp_str){in.data, n}, 5, 16, UINT64_MAX);
		ck_assert_msg(!o.whole && o.last == TP_DECODE_MORE, "cut at %zu of %zu", n, in.len);
		tp_buf_free(&o.out);
		struct tp_buf out = {0};
		ck_assert(!tp_decode_body(form_coding[_i], (struct tp_str){in.data, n}, 4096, &out) &&
			  out.data == NULL);
	}
	tp_buf_free(&in);
}
END_TEST

START_TEST(what_stands_behind_is_told)
{
	struct tp_buf in = {0}, out = {0};
	code((enum form)_i, TP_STR(TEXT), &in);
	tp_buf_add(&in, "\0{}", 3);
	decodes_to(form_coding[_i], tp_buf_str(&in), TP_STR(TEXT), TP_DECODE_TRAILING);
	ck_assert(tp_decode_body(form_coding[_i], tp_buf_str(&in), 4096, &out));
	ck_assert(tp_str_eq(tp_buf_str(&out), TP_STR(TEXT)));
	tp_buf_free(&out);
	tp_buf_free(&in);
}
END_TEST

/* The forms that end with a sum of what they decode to. */
START_TEST(damage_is_seen)
{
	struct tp_buf in = {0};
	code((enum form)_i, TP_STR(TEXT), &in);
	for (size_t at = in.len / 2; at < in.len; at++) {
		in.data[at] ^= 0x10;
		struct outcome o = decode(form_coding[_i], tp_buf_str(&in), 9, 64, UINT64_MAX);
		ck_assert_msg(!o.whole, "a changed byte at %zu of %zu", at, in.len);
		tp_buf_free(&o.out);
		in.data[at] ^= 0x10;
	}
	tp_buf_free(&in);
}
END_TEST

/* What stands in front of damage is handed out, also when both come in one piece. */
START_TEST(what_precedes_damage_comes)
{
	static const enum form forms[] = {GZIP, ZLIB, RAW, ZSTD};
	enum form f = forms[_i];
	struct tp_buf in = {0};
	if (f == ZSTD) {
		zstd_into(&in, TP_STR(TEXT), 20);
		in.len -= 3; /* the last block, which is empty: what was flushed stays */
	} else {
		zlib_into(&in, TP_STR(TEXT),
			  f == GZIP   ? MAX_WBITS + 16
			  : f == ZLIB ? MAX_WBITS
				      : -MAX_WBITS,
			  Z_SYNC_FLUSH);
	}
	tp_buf_add(&in, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	struct outcome o = decode(form_coding[f], tp_buf_str(&in), 4096, 4096, UINT64_MAX);
	ck_assert_int_eq(o.last, TP_DECODE_BAD);
	ck_assert_msg(tp_str_eq(tp_buf_str(&o.out), TP_STR(TEXT)), "%zu bytes", o.out.len);
	tp_buf_free(&o.out);
	tp_buf_free(&in);
}
END_TEST

START_TEST(failure_stays)
{
	struct tp_decoder *d = tp_decoder_new(TP_CODING_GZIP, UINT64_MAX);
	char out[64];
	size_t used, n;
	struct tp_buf in = {0};
	code(GZIP, TP_STR(TEXT), &in);
	ck_assert_int_eq(tp_decoder_feed(d, "no", 2, &used, out, sizeof out, &n), TP_DECODE_BAD);
	ck_assert_int_eq(tp_decoder_feed(d, in.data, in.len, &used, out, sizeof out, &n), TP_DECODE_BAD);
	ck_assert(used == 0 && n == 0 && !tp_decoder_whole(d));
	tp_decoder_free(d);
	tp_buf_free(&in);
}
END_TEST

/* ---- bombs */

static void is_a_bomb(enum tp_coding c, struct tp_str in, uint64_t max, size_t most)
{
	struct outcome o = decode(c, in, 4096, 16384, max);
	ck_assert_int_eq(o.last, TP_DECODE_TOO_LARGE);
	ck_assert_msg(o.out.len <= most, "%zu bytes came of it", o.out.len);
	ck_assert(!o.whole);
	tp_buf_free(&o.out);
	ck_assert(!tp_decode_body(c, in, most, &o.out) && o.out.data == NULL);
}

START_TEST(bombs_stop)
{
	struct tp_buf zeros = {0}, in = {0};
	size_t n = rounds_of(16 << 20);
	ck_assert(tp_buf_reserve(&zeros, n));
	memset(zeros.data, 'a', n);
	zeros.len = n;
	if (_i == BR)
		tp_buf_add(&in, br_bomb, sizeof br_bomb);
	else
		code((enum form)_i, tp_buf_str(&zeros), &in);
	ck_assert_uint_lt(in.len, 40000);
	/* by its ratio: nothing beyond the free MiB that the input read so far does not pay for */
	is_a_bomb(form_coding[_i], tp_buf_str(&in), UINT64_MAX, (1 << 20) + 100 * in.len + 16384);
	/* by its size, also below what the ratio leaves free */
	is_a_bomb(form_coding[_i], tp_buf_str(&in), 100000, 100000);
	tp_buf_free(&in);
	tp_buf_free(&zeros);
}
END_TEST

START_TEST(exactly_the_limit_is_allowed)
{
	struct tp_buf in = {0}, out = {0};
	size_t n = sizeof TEXT - 1;
	code((enum form)_i, TP_STR(TEXT), &in);
	ck_assert(tp_decode_body(form_coding[_i], tp_buf_str(&in), n, &out) && out.len == n);
	tp_buf_free(&out);
	ck_assert(!tp_decode_body(form_coding[_i], tp_buf_str(&in), n - 1, &out));
	tp_buf_free(&in);
}
END_TEST

START_TEST(windows_are_bounded)
{
	struct tp_buf in = {0};
	zstd_into(&in, TP_STR(TEXT), TP_DECODE_WINDOW_LOG);
	decodes_to(TP_CODING_ZSTD, tp_buf_str(&in), TP_STR(TEXT), TP_DECODE_MORE);
	tp_buf_free(&in);
	zstd_into(&in, TP_STR(TEXT), TP_DECODE_WINDOW_LOG + 1);
	struct outcome o = decode(TP_CODING_ZSTD, tp_buf_str(&in), 4096, 64, UINT64_MAX);
	ck_assert(o.last == TP_DECODE_TOO_LARGE && o.out.len == 0);
	tp_buf_free(&in);
}
END_TEST

/* ---- whole bodies whose label lies */

static const struct {
	const char *body;
	bool as_it_is;
} lies[] = {
	{"{\"error\":{\"message\":\"bad gateway\"}}", true},
	{" \r\n\t[]", true},
	{"\xef\xbb\xbf{}", true},
	{"{", true},
	{"<html>", false},
	{"bad gateway", false},
	{"   ", false},
	{"\xef\xbb\xbf", false},
};

START_TEST(labels_that_lie)
{
	for (int c = TP_CODING_GZIP; c <= TP_CODING_ZSTD; c++) {
		struct tp_buf out = {0};
		struct tp_str body = tp_str_from(lies[_i].body);
		ck_assert_msg(tp_decode_body((enum tp_coding)c, body, 4096, &out) == lies[_i].as_it_is,
			      "coding %d: \"%s\"", c, lies[_i].body);
		if (lies[_i].as_it_is)
			ck_assert(tp_str_eq(tp_buf_str(&out), body));
		else
			ck_assert_ptr_null(out.data);
		tp_buf_free(&out);
	}
}
END_TEST

START_TEST(bodies_without_a_coding)
{
	struct tp_buf out = {0};
	ck_assert(tp_decode_body(TP_CODING_NONE, TP_STR("text"), 4, &out));
	ck_assert(tp_str_eq(tp_buf_str(&out), TP_STR("text")));
	tp_buf_free(&out);
	ck_assert(!tp_decode_body(TP_CODING_NONE, TP_STR("text"), 3, &out));
	ck_assert(!tp_decode_body(TP_CODING_OTHER, TP_STR("{}"), 100, &out));
	ck_assert(!tp_decode_body(TP_CODING_GZIP, TP_STR("{\"long\":1}"), 3, &out));
	ck_assert(tp_decode_body(TP_CODING_GZIP, TP_STR(""), 100, &out)); /* of nothing, nothing is missing */
	ck_assert(out.data == NULL && !out.failed);
}
END_TEST

TP_TESTS(decode)
{
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, names, 0, sizeof values / sizeof *values);
	tcase_add_loop_test(t, names_in_heads, 0, sizeof heads / sizeof *heads);
	tcase_add_test(t, nothing_to_decode_with);
	tcase_add_loop_test(t, any_cut, 0, FORMS);
	tcase_add_loop_test(t, large, 0, 4);
	tcase_add_loop_test(t, members_follow_each_other, 0, 2);
	tcase_add_test(t, what_was_flushed_comes_at_once);
	tcase_add_loop_test(t, every_truncation_is_seen, 0, FORMS);
	tcase_add_loop_test(t, what_stands_behind_is_told, 0, FORMS);
	tcase_add_loop_test(t, damage_is_seen, GZIP, RAW);
	tcase_add_loop_test(t, what_precedes_damage_comes, 0, 4);
	tcase_add_test(t, failure_stays);
	tcase_add_loop_test(t, bombs_stop, 0, FORMS);
	tcase_add_loop_test(t, exactly_the_limit_is_allowed, 0, FORMS);
	tcase_add_test(t, windows_are_bounded);
	tcase_add_loop_test(t, labels_that_lie, 0, sizeof lies / sizeof *lies);
	tcase_add_test(t, bodies_without_a_coding);
}
