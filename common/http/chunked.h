/*
 * Incremental chunked coding (RFC 9112 section 7.1): extensions and trailers are read, checked
 * and dropped.  One struct per message, zeroed to begin; no allocation.
 */
#ifndef TP_HTTP_CHUNKED_H
#define TP_HTTP_CHUNKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_chunked {
	uint64_t left;     /* bytes of the present chunk still to come */
	uint64_t total;    /* data bytes so far */
	uint32_t overhead; /* bytes of extension and trailer so far, bounded */
	uint8_t state;
	uint8_t digits;
	bool lenient; /* answers: bare LF accepted as line end */
};

enum tp_chunked_result {
	TP_CHUNKED_MORE,  /* all input used, the message goes on */
	TP_CHUNKED_DATA,  /* *ret_data is a piece of body inside the input; call again with the rest */
	TP_CHUNKED_DONE,  /* the last byte of the message was used; what follows is not part of it */
	TP_CHUNKED_BAD,   /* framing broken: 400 */
	TP_CHUNKED_LARGE, /* a chunk, or the sum, above `limit`: 413 */
};

/*
 * Uses bytes from the front of bytes[0..n); *ret_used is how many, always written.
 * ret_data / ret_n are written with TP_CHUNKED_DATA only.  limit = most data bytes in all.
 */
enum tp_chunked_result tp_chunked_feed(struct tp_chunked *c, const char *bytes, size_t n, uint64_t limit,
				       size_t *ret_used, const char **ret_data, size_t *ret_n);

/* Writes the size line of a chunk of n bytes ("1f\r\n"), at most 18 bytes; returns its length. */
size_t tp_chunk_line(char out[18], size_t n);

#endif
