/*
 * A client's request as it is kept until commit, so that it can be sent again: head and body byte for byte,
 * in the pieces they arrived in (design section 7).  Owned by its turn.
 */
#ifndef TP_WORKERS_REQUEST_H
#define TP_WORKERS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "common/http/decode.h"
#include "common/http/head.h"
#include "common/http/path.h"
#include "workers/core.h"

struct tp_segment {
	struct tp_segment *next;
	size_t len, size;
	char data[];
};

struct tp_request {
	struct tp_worker *worker;
	const struct tp_config *config; /* the turn's */
	struct tp_head *head;           /* owned, with its bytes behind it; NULL once released */
	char *bytes;                    /* the head as received */
	struct tp_str path;             /* of the target, without the query; inside `bytes` */
	enum tp_family family;

	struct tp_segment *first, *last; /* body received so far and not yet dropped */
	uint64_t received;               /* body bytes received */
	uint64_t dropped;     /* of them no longer held: they were sent and will not be sent again */
	uint64_t first_chunk; /* with chunk_out: bytes that were here when streaming began, not framed yet */
	bool complete;        /* the last body byte is here */
	bool replayable;      /* everything is held */
	bool decoded;   /* the body came compressed and is held plain: its coding is not told any more */
	bool chunk_out; /* streams through in chunks: what is added is framed, and `received` counts it so */
};

/* Copies the head (of which `head` and `bytes` are valid in this callback only). NULL when out of memory. */
struct tp_request *tp_request_new(struct tp_worker *w, const struct tp_config *config,
				  const struct tp_head *head, const char *bytes);
/* Room behind a held body, for the bytes that tp_request_add() is told of next: it then has nothing to copy.
 * At most as many as are still to come. NULL: none that would be worth it; read elsewhere. */
char *tp_request_room(struct tp_request *r, size_t *ret_n);
/* Adds body bytes, which may lie in that room; false when out of memory. */
bool tp_request_add(struct tp_request *r, const char *data, size_t n);
/* The last body byte was added. False when out of memory. */
bool tp_request_end(struct tp_request *r);
/* From now on the body streams through and is not kept; at least one byte was received. Without a length it
 * goes out in chunks: what is here is the first one, whose size line is the head's to write. */
void tp_request_stream(struct tp_request *r);
/* True while so many more bytes may be held within limits.replay_body and limits.replay_total. */
bool tp_request_may_hold(const struct tp_request *r, uint64_t more);
/* Up to `max` pieces of the body from offset `from` on; returns how many. */
int tp_request_pieces(const struct tp_request *r, uint64_t from, struct iovec *out, int max);
/* Puts `text` in the place of n bytes at `at` of a complete, held body. False when out of memory, or when
 * they are not there: then the body is as it was. */
bool tp_request_replace(struct tp_request *r, uint64_t at, uint64_t n, struct tp_str text);
enum tp_request_decoded {
	TP_REQUEST_DECODED,
	TP_REQUEST_BROKEN,    /* not this coding, or damaged */
	TP_REQUEST_TOO_LARGE, /* more than may be held, or than the ratio allows */
	TP_REQUEST_NO_MEMORY
};
/* What a client reads in the last case but one. */
#define TP_BODY_TOO_LARGE_DECODED                                                                            \
	"the compressed body holds more than Turnpike keeps, and its model has to be known: send it plain, " \
	"or less"
/* Decodes a complete, held body once and for all, unless it fails: then the body is as it was. */
enum tp_request_decoded tp_request_decode(struct tp_request *r, enum tp_coding coding);
/* Frees what lies wholly before `upto`: from now on the request cannot be sent again. */
void tp_request_drop(struct tp_request *r, uint64_t upto);
/* Frees the body and the head: nothing will be sent again (commit). */
void tp_request_release(struct tp_request *r);
/* Frees everything; NULL is ignored. */
void tp_request_free(struct tp_request *r);

/* A span of its head, borrowed until tp_request_release(). */
static inline struct tp_str tp_request_str(const struct tp_request *r, struct tp_span s)
{
	return tp_span_str(r->bytes, s);
}

/* Value of the first field with this id, or an empty string. */
struct tp_str tp_request_field(const struct tp_request *r, enum tp_field_id id);

#endif
