/*
 * Incremental, strict JSON scanner (RFC 8259): one pass over pieces of any size, no allocation, no
 * tree.  It checks the whole text and tells the top-level members of an object: where key and
 * value lie, of which type the value is, and what short scalar values are.
 *
 * Allowed beyond the RFC: one UTF-8 byte order mark in front (providers send it).  Not
 * checked: that bytes above 0x7f are UTF-8, and that names are unique; bytes are passed on as they are, so
 * neither decides anything here.
 */
#ifndef TP_HTTP_JSON_H
#define TP_HTTP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"

enum {
	TP_JSON_NEST_MAX = 512, /* deeper than this: TP_JSON_BAD with too_deep set */
	TP_JSON_KEY_MAX = 64,   /* decoded bytes of a key that are kept */
	TP_JSON_TEXT_MAX = 256  /* decoded bytes of a scalar value that are kept */
};

enum tp_json_type {
	TP_JSON_NONE,
	TP_JSON_OBJECT,
	TP_JSON_ARRAY,
	TP_JSON_STRING,
	TP_JSON_NUMBER,
	TP_JSON_TRUE,
	TP_JSON_FALSE,
	TP_JSON_NULL
};

enum tp_json_event {
	TP_JSON_MORE,  /* all input used, nothing wrong so far */
	TP_JSON_KEY,   /* the key of a top-level member is complete: key_*, key */
	TP_JSON_VALUE, /* the next byte is the first of that member's value: value_start, type */
	TP_JSON_END,   /* the member's value is complete: value_end, and text for scalars.  A number
			* ends at the byte behind it, which is not used yet */
	TP_JSON_BAD    /* not JSON; stays so */
};

/* Zeroed to begin (`key` and `text` need not be).  About 0.5 KiB.  The members up to `type` may be read by
 * anybody; the rest is the scanner's. */
struct tp_json {
	uint64_t at;                     /* absolute offset of the next byte */
	uint64_t key_start, key_end;     /* with the quotes: [start, end) */
	uint64_t value_start, value_end; /* strings with their quotes */
	uint16_t key_n, text_n;
	uint16_t max_depth; /* deepest nesting so far; a scalar has 0, {} has 1 */
	bool key_cut;       /* key longer than TP_JSON_KEY_MAX; `key` is its front */
	bool text_cut;      /* string or number longer than TP_JSON_TEXT_MAX; `text` is its front */
	bool too_deep;
	bool done;        /* the top-level value is complete; only white space may follow */
	uint8_t top_type; /* enum tp_json_type of the whole text, TP_JSON_NONE before its first byte */
	uint8_t type;     /* enum tp_json_type of the present member's value (or of a top-level scalar) */

	bool ends_only; /* the caller's: set before the first byte, KEY and VALUE are not told */
	uint8_t state;
	uint8_t step;    /* place inside a literal, an escape or the byte order mark */
	uint8_t keeping; /* what the present string or number is copied to */
	bool in_key;
	uint16_t depth;
	uint16_t unit, high;                     /* \u escape in work; high surrogate before it */
	uint64_t objects[TP_JSON_NEST_MAX / 64]; /* a bit for each open level: 1 = object */
	char key[TP_JSON_KEY_MAX];
	char text[TP_JSON_TEXT_MAX];
};

/*
 * Uses bytes from the front of bytes[0..n) up to the next event; *ret_used is how many, always
 * written.  After an event other than MORE and BAD call again with the rest (it may be empty).
 */
enum tp_json_event tp_json_feed(struct tp_json *j, const char *bytes, size_t n, size_t *ret_used);

/* The input is over: true if it was exactly one JSON text (an unfinished top-level number ends here). */
bool tp_json_finish(struct tp_json *j);

/* Decoded key and scalar value of the present member; numbers and literals as written.  Borrowed from j. */
static inline struct tp_str tp_json_key(const struct tp_json *j)
{
	return (struct tp_str){j->key, j->key_n};
}

static inline struct tp_str tp_json_text(const struct tp_json *j)
{
	return (struct tp_str){j->text, j->text_n};
}

#endif
