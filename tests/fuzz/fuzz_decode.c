/*
 * Content codings: the result does not depend on how the input is cut or how small the room is, limits hold,
 * and what was coded comes back.  The first byte says what the rest is: 'g' 'd' 'b' 'z' bytes in that coding
 * (gzip, deflate, br, zstd), 'x' the same for br in hexadecimal (for seeds that are text); 'G' 'D' 'R' 'Z'
 * text to be coded first (R: raw deflate) and then changed at the place that the second byte names, by the
 * third.
 */
#include <stdint.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "common/base/buf.h"
#include "common/http/decode.h"
#include "tests/fuzz/fuzz_check.h"

enum { LIMIT = 64 * 1024 };

struct outcome {
	struct tp_buf out; /* owned */
	enum tp_decode last;
	bool whole;
};

static struct outcome decode(enum tp_coding c, struct tp_str in, size_t step, size_t room)
{
	struct outcome o = {.last = TP_DECODE_MORE};
	struct tp_decoder *d = tp_decoder_new(c, LIMIT);
	FUZZ_CHECK(d != NULL && tp_decoder_whole(d));
	for (size_t at = 0; at < in.n && o.last == TP_DECODE_MORE;) {
		size_t n = step < in.n - at ? step : in.n - at, done = 0;
		do {
			size_t used = SIZE_MAX, got = SIZE_MAX;
			FUZZ_CHECK(tp_buf_reserve(&o.out, room));
			o.last = tp_decoder_feed(d, in.p + at + done, n - done, &used, o.out.data + o.out.len,
						 room, &got);
			FUZZ_CHECK(used <= n - done && got <= room);
			FUZZ_CHECK((got > 0) == (o.last == TP_DECODE_DATA));
			o.out.len += got;
			done += used;
		} while (o.last == TP_DECODE_DATA);
		FUZZ_CHECK(o.last != TP_DECODE_MORE || done == n);
		at += n;
	}
	FUZZ_CHECK(o.out.len <= LIMIT);
	o.whole = tp_decoder_whole(d);
	FUZZ_CHECK(!o.whole || o.last == TP_DECODE_MORE || o.last == TP_DECODE_TRAILING);
	tp_decoder_free(d);
	return o;
}

/* A fault may be told sooner or later; what is whole is whole however it came. */
static void same(const struct outcome *a, const struct outcome *b)
{
	FUZZ_CHECK(a->whole == b->whole);
	if (a->whole)
		FUZZ_CHECK(a->last == b->last && tp_str_eq(tp_buf_str(&a->out), tp_buf_str(&b->out)));
}

static void check(enum tp_coding c, struct tp_str in, const struct tp_str *want)
{
	struct outcome one = decode(c, in, SIZE_MAX, LIMIT + 1);
	struct outcome bytes = decode(c, in, 1, 3);
	struct outcome odd = decode(c, in, 11, 1000);
	same(&one, &bytes);
	same(&one, &odd);
	if (want != NULL)
		FUZZ_CHECK(one.whole && tp_str_eq(tp_buf_str(&one.out), *want));
	struct tp_buf body = {0};
	if (tp_decode_body(c, in, LIMIT, &body))
		FUZZ_CHECK(tp_str_eq(tp_buf_str(&body), one.whole ? tp_buf_str(&one.out) : in));
	else
		FUZZ_CHECK(!one.whole && body.data == NULL);
	tp_buf_free(&body);
	tp_buf_free(&one.out);
	tp_buf_free(&bytes.out);
	tp_buf_free(&odd.out);
}

static void compress_zlib(struct tp_str text, int window, struct tp_buf *out)
{
	z_stream z = {0};
	FUZZ_CHECK(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	FUZZ_CHECK(tp_buf_reserve(out, deflateBound(&z, (uLong)text.n)));
	z.next_in = (Bytef *)(uintptr_t)text.p;
	z.avail_in = (uInt)text.n;
	z.next_out = (Bytef *)out->data;
	z.avail_out = (uInt)out->size;
	FUZZ_CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	out->len = out->size - z.avail_out;
	(void)deflateEnd(&z);
}

static void compress_zstd(struct tp_str text, struct tp_buf *out)
{
	FUZZ_CHECK(tp_buf_reserve(out, ZSTD_compressBound(text.n)));
	out->len = ZSTD_compress(out->data, out->size, text.p, text.n, 1);
	FUZZ_CHECK(!ZSTD_isError(out->len));
}

static void round_trip(uint8_t how, struct tp_str text, uint8_t at, uint8_t change)
{
	struct tp_buf in = {0};
	enum tp_coding c = how == 'G' ? TP_CODING_GZIP : how == 'Z' ? TP_CODING_ZSTD : TP_CODING_DEFLATE;
	if (how == 'Z')
		compress_zstd(text, &in);
	else
		compress_zlib(text, how == 'G' ? MAX_WBITS + 16 : how == 'D' ? MAX_WBITS : -MAX_WBITS, &in);
	check(c, tp_buf_str(&in), &text);
	in.data[at % in.len] = (char)(in.data[at % in.len] ^ change);
	check(c, tp_buf_str(&in), change == 0 ? &text : NULL);
	tp_buf_free(&in);
}

static void from_hex(struct tp_str hex, struct tp_buf *out)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i + 1 < hex.n; i += 2) {
		const char *high = memchr(digits, hex.p[i], 16), *low = memchr(digits, hex.p[i + 1], 16);
		if (high == NULL || low == NULL)
			return;
		char byte = (char)((high - digits) * 16 + (low - digits));
		tp_buf_add(out, &byte, 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3 || size > LIMIT)
		return 0;
	struct tp_str rest = {(const char *)data + 1, size - 1};
	struct tp_buf bytes = {0};
	(void)tp_coding_of(rest);
	switch (data[0]) {
	case 'g': check(TP_CODING_GZIP, rest, NULL); break;
	case 'd': check(TP_CODING_DEFLATE, rest, NULL); break;
	case 'b': check(TP_CODING_BR, rest, NULL); break;
	case 'z': check(TP_CODING_ZSTD, rest, NULL); break;
	case 'x':
		from_hex(rest, &bytes);
		check(TP_CODING_BR, tp_buf_str(&bytes), NULL);
		break;
	case 'G':
	case 'D':
	case 'R':
	case 'Z': round_trip(data[0], (struct tp_str){rest.p + 2, rest.n - 2}, data[1], data[2]); break;
	default: break;
	}
	tp_buf_free(&bytes);
	return 0;
}
