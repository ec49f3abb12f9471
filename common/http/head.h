/*
 * HTTP/1.1 heads (RFC 9112): strict for requests, a little forgiving for answers of
 * providers (design section 7).  Pure functions over bytes: no allocation, no state
 * beyond the structs given, no I/O.
 *
 * Field names and values are offsets into the head's own bytes (struct tp_span), so a
 * parsed head stays valid when its bytes move as a whole.
 */
#ifndef TP_HTTP_HEAD_H
#define TP_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"

enum { TP_HEAD_FIELDS_MAX = 128 }; /* more fields than this: 431 (answers: broken head) */

struct tp_span {
	uint32_t at, n;
};

/* Known field names, found by a table at parse time so that nothing downstream compares strings. */
enum tp_field_id {
	TP_FIELD_OTHER = 0,
	TP_FIELD_HOST,
	TP_FIELD_CONNECTION,
	TP_FIELD_KEEP_ALIVE,
	TP_FIELD_PROXY_CONNECTION,
	TP_FIELD_PROXY_AUTHORIZATION,
	TP_FIELD_PROXY_AUTHENTICATE,
	TP_FIELD_TE,
	TP_FIELD_TRAILER,
	TP_FIELD_TRANSFER_ENCODING,
	TP_FIELD_UPGRADE,
	TP_FIELD_CONTENT_LENGTH,
	TP_FIELD_CONTENT_TYPE,
	TP_FIELD_CONTENT_ENCODING,
	TP_FIELD_ACCEPT_ENCODING,
	TP_FIELD_EXPECT,
	TP_FIELD_DATE,
	TP_FIELD_SERVER,
	TP_FIELD_ORIGIN,
	TP_FIELD_AUTHORIZATION,
	TP_FIELD_X_API_KEY,
	TP_FIELD_API_KEY,
	TP_FIELD_X_GOOG_API_KEY,
	TP_FIELD_COOKIE,
	TP_FIELD_RETRY_AFTER,
	TP_FIELD_RETRY_AFTER_MS,
	TP_FIELD_X_SHOULD_RETRY,
	TP_FIELD_IDEMPOTENCY_KEY,
	TP_FIELD_X_CODEX_REQUEST_ID,
	TP_FIELD_X_CODEX_TURN_METADATA,
	TP_FIELD_X_CODEX_STATUS,
	TP_FIELD_X_CODEX_SYSTEM_LOAD,
	TP_FIELD_X_CODEX_MODEL_CAPACITY,
	TP_FIELD_X_STAINLESS_RETRY_COUNT,
	TP_FIELD_X_TURNPIKE_LOGICAL_ID,
	TP_FIELD_X_TURNPIKE_MAX_SENDS,
	TP_FIELD_X_TURNPIKE_DEADLINE,
	TP_FIELD_X_TURNPIKE_OTHER, /* any other x-turnpike-*: never passed on */
	TP_FIELD_COUNT
};
_Static_assert(TP_FIELD_COUNT <= 64, "sets of ids are words");

struct tp_field {
	struct tp_span name, value; /* value without the blanks around it */
	uint8_t id;                 /* enum tp_field_id */
	bool plain;                 /* written "name: value" and CRLF */
	bool underscore;            /* one stands in its name: some servers read it as '-' */
	bool connection_named;      /* listed in Connection: ends here like a hop-by-hop field */
};

enum tp_framing { TP_FRAMING_NONE, TP_FRAMING_LENGTH, TP_FRAMING_CHUNKED, TP_FRAMING_CLOSE };

struct tp_head {
	uint32_t size; /* bytes of the head, with its final empty line and a skipped leading one */
	uint32_t n_fields;
	uint8_t minor;                 /* 0 or 1 of HTTP/1.x */
	uint8_t framing;               /* enum tp_framing */
	bool keep_alive;               /* what version and Connection amount to */
	bool upgrade;                  /* Connection names "upgrade" and Upgrade is present */
	bool expect_continue;          /* requests: Expect: 100-continue */
	uint16_t status;               /* answers */
	uint64_t content_length;       /* with TP_FRAMING_LENGTH */
	struct tp_span method, target; /* requests; target in origin form, or "*"; an absolute
					* form is cut down to its path and query ("/" if empty) */
	struct tp_span authority;      /* requests: Host's value ({0,0} in 1.0 without one) */
	struct tp_span reason;         /* answers; may be empty */
	uint64_t seen;                 /* bit 1 << id of each field id that is present */
	uint8_t first[TP_FIELD_COUNT]; /* of those ids: the index of the first such field */
	struct tp_field fields[TP_HEAD_FIELDS_MAX];
};

enum tp_parse {
	TP_PARSE_OK,   /* ret_head is written */
	TP_PARSE_MORE, /* no complete head yet, nothing wrong so far */
	TP_PARSE_BAD,  /* requests: ret_status (400 413 414 431 501) says how to refuse */
};

/* The parsers use *ret_head as their workspace: it means something after TP_PARSE_OK only, and of
 * `fields` only the first n_fields are written at all. */

/*
 * Parses a request head at the start of bytes[0..n).  `scanned` (in/out, zero it for a new
 * head) remembers how far an earlier call looked for the end, so that a head that
 * arrives byte by byte costs linear time; it is zero again after OK and BAD.  Faults of a line are
 * reported as soon as the line is complete, faults between lines (no Host, two lengths, too many
 * fields) once the head is: the result is the same however the bytes were cut.
 * limit_head: bytes a head may take (limits.header): longer is 414 while still in the
 * request line, else 431.  limit_body: a Content-Length above it is 413.
 * ret_reason: static text, for the log and the error answer.
 */
enum tp_parse tp_head_parse_request(const char *bytes, size_t n, size_t limit_head, uint64_t limit_body,
				    size_t *scanned, struct tp_head *ret_head, int *ret_status,
				    const char **ret_reason);

/*
 * Parses an answer head.  Forgiving where providers are sloppy: no reason phrase, HTTP/1.0,
 * bare LF line ends.  Strict where it matters: status 100-599, lengths, field names, both length and
 * chunked = chunked and keep_alive false; several different lengths = BAD.  `head_request`: the answer
 * belongs to a HEAD request and so has no body; 1xx, 204, 304 have none either.  An answer with no
 * framing is TP_FRAMING_CLOSE.  On BAD ret_reason says why.
 */
enum tp_parse tp_head_parse_answer(const char *bytes, size_t n, size_t limit_head, bool head_request,
				   size_t *scanned, struct tp_head *ret_head, const char **ret_reason);

/*
 * A copy of a parsed head with its bytes behind it, in one block: tp_head_free() frees both.  *ret_bytes
 * points to the copied bytes.  NULL when out of memory.
 */
struct tp_head *tp_head_copy(const struct tp_head *h, const char *bytes, char **ret_bytes);
/* Of a copy; NULL is ignored. */
void tp_head_free(struct tp_head *copy);

/* The span of the bytes that the head was parsed from; borrowed from them. */
static inline struct tp_str tp_span_str(const char *bytes, struct tp_span s)
{
	return (struct tp_str){bytes + s.at, s.n};
}

/* Is there a field with this id?  One bit test, for heads that were parsed. */
static inline bool tp_head_has(const struct tp_head *h, enum tp_field_id id)
{
	return (h->seen >> id & 1) != 0;
}
/* First field with this id; NULL when absent. */
const struct tp_field *tp_head_find(const struct tp_head *h, enum tp_field_id id);
/* First field with this name (case ignored), for configured names; NULL when absent. */
const struct tp_field *tp_head_find_name(const struct tp_head *h, const char *bytes, struct tp_str name);
/* Hop-by-hop, named by Connection, framing, Host, Expect, x-turnpike-*: written anew or dropped
 * by whoever forwards the head, both ways. Upgrade and its Connection are hop-by-hop too. */
bool tp_field_ends_here(const struct tp_field *f);
/* A bit for each id that ends here by itself, whatever Connection names. */
uint64_t tp_ids_end_here(void);

#endif
