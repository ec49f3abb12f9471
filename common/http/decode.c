#include "common/http/decode.h"

#include <stdlib.h>

#include <brotli/decode.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* ---- names */

static const struct {
	struct tp_str name;
	enum tp_coding coding;
} names[] = {
	{{"gzip", 4}, TP_CODING_GZIP},       {{"x-gzip", 6}, TP_CODING_GZIP}, /* RFC 9110 section 8.4.1.3 */
	{{"deflate", 7}, TP_CODING_DEFLATE}, {{"br", 2}, TP_CODING_BR},       {{"zstd", 4}, TP_CODING_ZSTD},
	{{"identity", 8}, TP_CODING_NONE},   {{"", 0}, TP_CODING_NONE},
};

static enum tp_coding one_coding(struct tp_str name)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (tp_str_ieq(name, names[i].name))
			return names[i].coding;
	return TP_CODING_OTHER;
}

/* One on top of another is nobody's practice, and undoing it would multiply the ratio of a bomb. */
static enum tp_coding on_top(enum tp_coding below, enum tp_coding above)
{
	if (below == TP_CODING_NONE)
		return above;
	return above == TP_CODING_NONE ? below : TP_CODING_OTHER;
}

enum tp_coding tp_coding_of(struct tp_str value)
{
	enum tp_coding coding = TP_CODING_NONE;
	while (value.n > 0) {
		const char *comma = memchr(value.p, ',', value.n);
		size_t n = comma != NULL ? (size_t)(comma - value.p) : value.n;
		coding = on_top(coding, one_coding(tp_str_trim((struct tp_str){value.p, n})));
		n += comma != NULL;
		value = (struct tp_str){value.p + n, value.n - n};
	}
	return coding;
}

enum tp_coding tp_coding_of_head(const struct tp_head *h, const char *bytes)
{
	enum tp_coding coding = TP_CODING_NONE;
	if (!tp_head_has(h, TP_FIELD_CONTENT_ENCODING))
		return coding;
	for (uint32_t i = 0; i < h->n_fields; i++)
		if (h->fields[i].id == TP_FIELD_CONTENT_ENCODING)
			coding = on_top(coding, tp_coding_of(tp_span_str(bytes, h->fields[i].value)));
	return coding;
}

/* ---- the libraries, made alike */

enum state {
	STATE_START,  /* nothing was fed */
	STATE_INSIDE, /* of a member, frame or stream */
	STATE_END     /* at the end of one: whole, unless another follows */
};

struct pieces {
	const char *in;
	size_t n, used;
	char *out;
	size_t room, got;
};

enum step { STEP_ON, STEP_END, STEP_BAD, STEP_TOO_LARGE };

struct tp_decoder {
	const struct library *library;
	enum state state;
	bool pending;          /* the room was full: more may come without further input */
	enum tp_decode failed; /* BAD, TOO_LARGE or TRAILING once that is so; DATA until then */
	uint64_t in, out, max;
	union {
		z_stream z;
		BrotliDecoderState *br;
		ZSTD_DStream *zstd;
	} with;
	size_t hint; /* zstd: bytes up to the end of the present block, and the header behind it */
};

struct library {
	enum tp_coding coding;
	/* Could a member, frame or stream begin with this byte? */
	bool (*begins)(unsigned char first);
	bool (*open)(struct tp_decoder *d, unsigned char first);
	/* Another begins behind the one that ended; NULL: the coding knows only one. */
	bool (*again)(struct tp_decoder *d);
	/* Decodes until input or room is used up, or one ends. */
	enum step (*step)(struct tp_decoder *d, struct pieces *p);
	void (*close)(struct tp_decoder *d);
};

static bool begins_gzip(unsigned char first)
{
	return first == 0x1f;
}

/* A frame, or one to be skipped. Older formats, which the library may know, begin with other bytes. */
static bool begins_zstd(unsigned char first)
{
	return first == 0x28 || (first & 0xf0) == 0x50;
}

static bool begins_any(unsigned char first)
{
	(void)first;
	return true;
}

static bool open_gzip(struct tp_decoder *d, unsigned char first)
{
	(void)first;
	return inflateInit2(&d->with.z, MAX_WBITS + 16) == Z_OK;
}

/*
 * zlib's form begins with method 8 and a window of at most 32 KiB.  Raw data does not: it would be a stored
 * block whose padding is not zero.
 */
static bool open_deflate(struct tp_decoder *d, unsigned char first)
{
	bool zlib = (first & 0x0f) == 8 && first >> 4 <= 7;
	return inflateInit2(&d->with.z, zlib ? MAX_WBITS : -MAX_WBITS) == Z_OK;
}

static bool again_gzip(struct tp_decoder *d)
{
	return inflateReset(&d->with.z) == Z_OK;
}

static uInt zlib_size(size_t n)
{
	return n < UINT32_MAX ? (uInt)n : UINT32_MAX;
}

static enum step step_zlib(struct tp_decoder *d, struct pieces *p)
{
	z_stream *z = &d->with.z;
	uInt in = zlib_size(p->n - p->used), room = zlib_size(p->room - p->got);
	z->next_in = (Bytef *)(uintptr_t)(p->in + p->used);
	z->avail_in = in;
	z->next_out = (Bytef *)(p->out + p->got);
	z->avail_out = room;
	int r = inflate(z, Z_SYNC_FLUSH);
	p->used += in - z->avail_in;
	p->got += room - z->avail_out;
	if (r == Z_STREAM_END)
		return STEP_END;
	return r == Z_OK || r == Z_BUF_ERROR ? STEP_ON : STEP_BAD;
}

static void close_zlib(struct tp_decoder *d)
{
	(void)inflateEnd(&d->with.z);
}

static bool open_br(struct tp_decoder *d, unsigned char first)
{
	(void)first;
	d->with.br = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	return d->with.br != NULL;
}

static enum step step_br(struct tp_decoder *d, struct pieces *p)
{
	size_t in = p->n - p->used, room = p->room - p->got;
	const uint8_t *next_in = (const uint8_t *)p->in + p->used;
	uint8_t *next_out = (uint8_t *)p->out + p->got;
	BrotliDecoderResult r =
		BrotliDecoderDecompressStream(d->with.br, &in, &next_in, &room, &next_out, NULL);
	p->used = p->n - in;
	p->got = p->room - room;
	if (r == BROTLI_DECODER_RESULT_SUCCESS)
		return STEP_END;
	return r == BROTLI_DECODER_RESULT_ERROR ? STEP_BAD : STEP_ON;
}

static void close_br(struct tp_decoder *d)
{
	BrotliDecoderDestroyInstance(d->with.br);
}

enum { BLOCK_HEADER = 3, FRAME_BEGINS = 5 }; /* RFC 8878 sections 3.1.1.2, 3.1.1 */

static bool open_zstd(struct tp_decoder *d, unsigned char first)
{
	(void)first;
	d->with.zstd = ZSTD_createDStream();
	if (d->with.zstd == NULL)
		return false;
	d->hint = FRAME_BEGINS;
	size_t r = ZSTD_DCtx_setParameter(d->with.zstd, ZSTD_d_windowLogMax, TP_DECODE_WINDOW_LOG);
	if (!ZSTD_isError(r))
		return true;
	(void)ZSTD_freeDStream(d->with.zstd);
	return false;
}

/* The library goes on with the next frame by itself. */
static bool again_zstd(struct tp_decoder *d)
{
	(void)d;
	return true;
}

static enum step step_zstd(struct tp_decoder *d, struct pieces *p)
{
	/* One block at a time: on damage the library forgets what the same call decoded before it. */
	size_t block = d->hint > BLOCK_HEADER ? d->hint - BLOCK_HEADER : d->hint;
	size_t n = p->n - p->used < block ? p->n : p->used + block;
	ZSTD_inBuffer in = {p->in, n, p->used};
	ZSTD_outBuffer out = {p->out, p->room, p->got};
	size_t r = ZSTD_decompressStream(d->with.zstd, &out, &in);
	p->used = in.pos;
	p->got = out.pos;
	if (!ZSTD_isError(r)) {
		d->hint = r != 0 ? r : FRAME_BEGINS;
		return r == 0 ? STEP_END : STEP_ON;
	}
	return ZSTD_getErrorCode(r) == ZSTD_error_frameParameter_windowTooLarge ? STEP_TOO_LARGE : STEP_BAD;
}

static void close_zstd(struct tp_decoder *d)
{
	(void)ZSTD_freeDStream(d->with.zstd);
}

static const struct library libraries[] = {
	{TP_CODING_GZIP, begins_gzip, open_gzip, again_gzip, step_zlib, close_zlib},
	{TP_CODING_DEFLATE, begins_any, open_deflate, NULL, step_zlib, close_zlib},
	{TP_CODING_BR, begins_any, open_br, NULL, step_br, close_br},
	{TP_CODING_ZSTD, begins_zstd, open_zstd, again_zstd, step_zstd, close_zstd},
};

/* ---- the decoder */

struct tp_decoder *tp_decoder_new(enum tp_coding coding, uint64_t output_max)
{
	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
		if (libraries[i].coding != coding)
			continue;
		struct tp_decoder *d = calloc(1, sizeof *d);
		if (d == NULL)
			return NULL;
		d->library = &libraries[i];
		d->max = output_max;
		return d;
	}
	return NULL;
}

void tp_decoder_free(struct tp_decoder *d)
{
	if (d == NULL)
		return;
	if (d->state != STATE_START)
		d->library->close(d);
	free(d);
}

bool tp_decoder_whole(const struct tp_decoder *d)
{
	if (d->failed == TP_DECODE_BAD || d->failed == TP_DECODE_TOO_LARGE)
		return false;
	return d->state != STATE_INSIDE;
}

/* Moves into a member, frame or stream that begins with this byte; false when none can (d->failed says why).
 */
static bool enter(struct tp_decoder *d, unsigned char first)
{
	const struct library *l = d->library;
	if (d->state == STATE_END && (l->again == NULL || !l->begins(first))) {
		d->failed = TP_DECODE_TRAILING;
		return false;
	}
	if (!l->begins(first) || (d->state == STATE_START ? !l->open(d, first) : !l->again(d))) {
		d->failed = TP_DECODE_BAD;
		return false;
	}
	d->state = STATE_INSIDE;
	return true;
}

/* Never hands out more than max bytes, and stops where the output can only be a bomb. */
static void check_limits(struct tp_decoder *d, struct pieces *p)
{
	if (d->out > d->max) {
		p->got -= (size_t)(d->out - d->max);
		d->out = d->max;
		d->failed = TP_DECODE_TOO_LARGE;
	} else if (d->out > TP_DECODE_RATIO_FREE && d->out / TP_DECODE_RATIO_MAX > d->in) {
		d->failed = TP_DECODE_TOO_LARGE;
	}
}

/* One call of the library; false when there is no point in another. */
static bool advance(struct tp_decoder *d, struct pieces *p)
{
	size_t used = p->used, got = p->got;
	enum step step = d->library->step(d, p);
	d->in += p->used - used;
	d->out += p->got - got;
	switch (step) {
	case STEP_ON: break;
	case STEP_END: d->state = STATE_END; break;
	case STEP_BAD: d->failed = TP_DECODE_BAD; break;
	case STEP_TOO_LARGE: d->failed = TP_DECODE_TOO_LARGE; break;
	}
	d->pending = p->got == p->room;
	check_limits(d, p);
	bool moved = p->used > used || p->got > got || step == STEP_END;
	if (!moved && p->used < p->n && d->failed == TP_DECODE_DATA)
		d->failed = TP_DECODE_BAD; /* a library that stands still would be asked for ever */
	return moved && d->failed == TP_DECODE_DATA;
}

enum tp_decode tp_decoder_feed(struct tp_decoder *d, const char *in, size_t n, size_t *ret_used, char *out,
			       size_t room, size_t *ret_n)
{
	struct pieces p = {.in = in, .n = n, .out = out, .room = room};
	while (d->failed == TP_DECODE_DATA && p.got < room && (p.used < n || d->pending)) {
		if (d->state != STATE_INSIDE && (p.used == n || !enter(d, (unsigned char)in[p.used])))
			break;
		if (!advance(d, &p))
			break;
	}
	*ret_used = p.used;
	*ret_n = p.got;
	if (p.got > 0)
		return TP_DECODE_DATA;
	return d->failed != TP_DECODE_DATA ? d->failed : TP_DECODE_MORE;
}

/* ---- whole bodies */

bool tp_decode_begins_as_json(struct tp_str body)
{
	size_t i = body.n >= 3 && memcmp(body.p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	while (i < body.n &&
	       (body.p[i] == ' ' || body.p[i] == '\t' || body.p[i] == '\r' || body.p[i] == '\n'))
		i++;
	return i < body.n && (body.p[i] == '{' || body.p[i] == '[');
}

static bool decode_all(struct tp_decoder *d, struct tp_str body, struct tp_buf *out)
{
	enum { STEP = 4096 };
	size_t at = 0, used, n;
	enum tp_decode r;
	do {
		if (!tp_buf_reserve(out, STEP))
			return false;
		r = tp_decoder_feed(d, body.p + at, body.n - at, &used, out->data + out->len, STEP, &n);
		at += used;
		out->len += n;
	} while (r == TP_DECODE_DATA);
	return (r == TP_DECODE_MORE || r == TP_DECODE_TRAILING) && tp_decoder_whole(d);
}

bool tp_decode_body(enum tp_coding coding, struct tp_str body, size_t max, struct tp_buf *ret_out)
{
	bool as_it_is = coding == TP_CODING_NONE || body.n == 0;
	if (!as_it_is) {
		struct tp_decoder *d = tp_decoder_new(coding, max);
		bool decoded = d != NULL && decode_all(d, body, ret_out);
		tp_decoder_free(d);
		if (decoded)
			return true;
		tp_buf_free(ret_out);
		as_it_is = d != NULL && tp_decode_begins_as_json(body);
	}
	if (!as_it_is || body.n > max)
		return false;
	tp_buf_add_str(ret_out, body);
	bool added = !ret_out->failed;
	if (!added)
		tp_buf_free(ret_out);
	return added;
}
