/*
 * Content codings undone (RFC 9110 section 8.4): gzip (RFC 1952), deflate in its zlib form and the raw one
 * that some senders mean (RFC 1950, 1951), br (RFC 7932), zstd (RFC 8878).
 *
 * Streaming, into a buffer of the caller: however much a body claims to hold, memory stays what the coding's
 * window needs (gzip, deflate 40 KiB, zstd at most 8 MiB, br at most 16 MiB and never more than was decoded).
 */
#ifndef TP_HTTP_DECODE_H
#define TP_HTTP_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/http/head.h"

enum tp_coding {
	TP_CODING_NONE, /* absent, empty or identity */
	TP_CODING_GZIP,
	TP_CODING_DEFLATE,
	TP_CODING_BR,
	TP_CODING_ZSTD,
	TP_CODING_OTHER /* one that is not known, or several on top of each other */
};

/* The value of a Content-Encoding field; case is ignored, "identity" and empty elements count for nothing. */
enum tp_coding tp_coding_of(struct tp_str value);
/* The same over all Content-Encoding fields of a head. */
enum tp_coding tp_coding_of_head(const struct tp_head *h, const char *bytes);

enum {
	TP_DECODE_WINDOW_LOG = 23,         /* zstd: 8 MiB, what RFC 8878 section 3.1.1.1.2 asks of decoders */
	TP_DECODE_RATIO_MAX = 100,         /* decoded to coded bytes ... */
	TP_DECODE_RATIO_FREE = 1024 * 1024 /* ... once this much was decoded */
};

struct tp_decoder;

/*
 * output_max: decoded bytes that may come of it; UINT64_MAX = only the ratio bounds it.  NULL when out of
 * memory, and for NONE and OTHER, which nothing can be done about here.  The caller frees it.
 */
struct tp_decoder *tp_decoder_new(enum tp_coding coding, uint64_t output_max);
void tp_decoder_free(struct tp_decoder *d); /* NULL is ignored */

enum tp_decode {
	TP_DECODE_DATA, /* ret_n bytes (at least one) stand in out; call again with the rest of the input */
	TP_DECODE_MORE, /* all input is used, and all that it meant was handed out */
	TP_DECODE_BAD,  /* not this coding, or damaged; or out of memory */
	TP_DECODE_TOO_LARGE, /* more than output_max, above the ratio, or a window larger than allowed */
	TP_DECODE_TRAILING   /* the stream is whole, and behind it stand bytes that are no part of one */
};

/*
 * Uses coded bytes from the front of in[0..n) and writes at most `room` (at least 1) decoded bytes to out.
 * *ret_used and *ret_n are always written.  To be called until it does not return DATA, with n = 0 too: a
 * little input may mean much output.  What a sender flushed is handed out in the same round.  The last three
 * results stay, whatever is fed afterwards.  Before them all was handed out that precedes the fault (but for
 * br, whose library keeps back what it decoded of the same piece).
 *
 * Members of gzip and frames of zstd may follow each other (RFC 1952 section 2.2, RFC 8878 section 3).
 */
enum tp_decode tp_decoder_feed(struct tp_decoder *d, const char *in, size_t n, size_t *ret_used, char *out,
			       size_t room, size_t *ret_n);
/* At the end of the input: nothing of the stream is missing (also true when nothing at all was fed). */
bool tp_decoder_whole(const struct tp_decoder *d);

/*
 * A complete body at once.  True: *ret_out, empty before, holds what was meant, at most `max` bytes: the
 * body decoded, or as it is when the label lies (it begins as JSON and does not decode, as gateways do that
 * rebuild a body and leave the field) or coding is NONE.  Bytes behind a whole stream are left out.  False:
 * OTHER, damaged, cut, too large, or out of memory; *ret_out is empty.  The caller frees it.
 */
bool tp_decode_body(enum tp_coding coding, struct tp_str body, size_t max, struct tp_buf *ret_out);

/* Begins like JSON that nobody coded: '{' or '[' behind white space and a byte order mark. */
bool tp_decode_begins_as_json(struct tp_str body);

#endif
