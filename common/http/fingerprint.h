/*
 * The fingerprint of a request (design section 3.1) and the facts that its JSON body tells,
 * taken in one pass as the body arrives.
 *
 * The body counts without the top-level members client_metadata, stream and stream_options, and without
 * the white space and commas between top-level members: what clients change between two sends of one logical
 * request.  Not JSON, no object, or nested deeper than 64: byte for byte.
 */
#ifndef TP_HTTP_FINGERPRINT_H
#define TP_HTTP_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/siphash.h"
#include "common/base/str.h"

enum {
	TP_FINGERPRINT_DEPTH = 64,
	TP_MODEL_MAX = 256 /* decoded bytes of a model name that are kept; longer: model_cut */
};

enum tp_flag {
	TP_FLAG_ABSENT,
	TP_FLAG_FALSE,
	TP_FLAG_TRUE,
	TP_FLAG_OTHER /* present, no boolean (null too) */
};

/* What the body says; all zero when it is no JSON object.  Of a repeated member the last one counts. */
struct tp_request_facts {
	bool object;         /* the body is one JSON object */
	bool model_present;  /* `model` is a string */
	bool model_repeated; /* `model` occurs more than once: replacing one of them is not enough */
	bool repeated;       /* any member named in this struct occurs more than once */
	bool model_cut;      /* longer than TP_MODEL_MAX */
	uint8_t stream;      /* enum tp_flag */
	uint8_t store;       /* enum tp_flag */
	bool continues;      /* previous_response_id or conversation is present and not null, or
			      * background is present and neither false nor null */
	bool tools_present;  /* `tools` is present and not null */
	uint64_t model_at;   /* offset and length of the model's bytes inside its quotes, as written, */
	uint64_t model_n;    /*   for replacement byte by byte */
	uint64_t tools_at;   /* offset and length of the value of `tools` */
	uint64_t tools_n;
	uint16_t model_text_n;
	char model[TP_MODEL_MAX]; /* decoded, not terminated */
};

/* Opaque, about 1.7 KiB on the heap: to be kept only while a body arrives. */
struct tp_fingerprint;

/* How a body counts: only its end shows which way is the right one. */
enum tp_fingerprint_way {
	TP_FINGERPRINT_MEMBERS, /* to begin with: an object of moderate depth, by what counts of it */
	TP_FINGERPRINT_BYTES    /* anything else, byte for byte */
};

/* NULL when out of memory.  The caller frees it with tp_fingerprint_free(). */
struct tp_fingerprint *tp_fingerprint_new(void);
/*
 * Begins a body; what was fed before is forgotten, so that one object serves many bodies.  seed: the table's.
 * target: as in the request line; its path without the query counts.  turn_id: from tp_turn_id(), or empty.
 */
void tp_fingerprint_begin(struct tp_fingerprint *f, enum tp_fingerprint_way way, const uint8_t seed[16],
			  struct tp_str method, struct tp_str target, struct tp_str turn_id);
/*
 * A piece of the (decoded) body, of any size.  False: it does not count by its members.  Then begin again
 * with TP_FINGERPRINT_BYTES and feed it from its first byte; that way is never refused.
 */
bool tp_fingerprint_feed(struct tp_fingerprint *f, const char *bytes, size_t n);
/*
 * The body is complete.  Either out-parameter may be NULL.  To be called once for each begin.  False, as from
 * tp_fingerprint_feed(): neither is written.
 */
bool tp_fingerprint_finish(struct tp_fingerprint *f, struct tp_hash128 *ret_hash,
			   struct tp_request_facts *ret_facts);
void tp_fingerprint_free(struct tp_fingerprint *f); /* NULL is ignored */

/*
 * turn_id of an x-codex-turn-metadata header (a JSON object).  Copied, decoded, into out; its length
 * is returned, 0 when there is none, when it is no string or empty, or when the value is no JSON object or
 * the id is longer than out.
 */
enum { TP_TURN_ID_MAX = 128 };
size_t tp_turn_id(struct tp_str header_value, char out[TP_TURN_ID_MAX]);

/*
 * Self-contained (design section 4, ambiguous_replays): store is false, nothing is continued or runs in the
 * background, and every tool is the client's own: type "function", "custom" or "local_shell", or without a
 * type.  `body` is the complete body the facts were taken from.
 */
bool tp_request_self_contained(const struct tp_request_facts *facts, struct tp_str body);

#endif
