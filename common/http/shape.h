/*
 * The shape of a JSON text: keys, numbers, true, false and null, and the top-level "model" as they are; of
 * every other string its length only (design section 10, snapshots).
 *
 *     {"model":"m","messages":[{"role":"user","content":"tell me"}]}
 *     {"model":"m","messages":[{"role":"(4)","content":"(7)"}]}
 *
 * A key that does not look like one (long, escaped, not ASCII) is shown as its length, too.  What is shown is
 * JSON in any case: a text that is cut, is nested too deeply, or stops being JSON is closed where that
 * happened.  One pass over pieces of any size; no allocation but that of the output.
 */
#ifndef TP_HTTP_SHAPE_H
#define TP_HTTP_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

enum {
	TP_SHAPE_NEST_MAX = 64, /* deeper is not shown */
	TP_SHAPE_TEXT_MAX = 128 /* longer keys, models and numbers are not shown */
};

/* Zeroed to begin; the members are the shaper's. */
struct tp_shape {
	uint8_t state;
	uint8_t reading; /* what the string or word is */
	bool escaped, strange;
	bool stopped;    /* nothing more is looked at */
	bool comma;      /* one is owed before the next key or value */
	bool is_model;   /* the present member's key */
	uint8_t depth;   /* open levels */
	uint64_t level;  /* a bit for each of them: 1 = object */
	uint64_t length; /* of the present string, bytes as written */
	uint8_t text_n;
	char text[TP_SHAPE_TEXT_MAX];
};

/* False: it was JSON up to here at most; further pieces change nothing. */
bool tp_shape_feed(struct tp_shape *s, const char *bytes, size_t n, struct tp_buf *out);
/* Closes what is open. True: the text was whole, and JSON as far as this looked (a single value, balanced).
 * Nothing at all becomes null. */
bool tp_shape_finish(struct tp_shape *s, struct tp_buf *out);

#endif
