/*
 * Incremental scanner of event streams (WHATWG HTML section 9.2): it tells where events end and
 * what they hold, and never alters a byte.  LF, CRLF and bare CR, a byte order mark, no blank behind the
 * colon, several data lines, lines of any length.
 *
 * Memory: data of an event that lies in one piece is pointed to, not copied; else the first
 * keep_max bytes of it are gathered until the event ends.  Between events nothing is held
 * beside the struct (under 200 bytes).
 */
#ifndef TP_HTTP_SSE_H
#define TP_HTTP_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"

enum {
	TP_SSE_KEEP_PRELUDE = 64 * 1024,  /* keep_max while nothing is committed, at least */
	TP_SSE_KEEP_COMMITTED = 4 * 1024, /* keep_max afterwards */
	TP_SSE_NAME_MAX = 48              /* bytes of an event's name that are kept */
};

/* Zeroed to begin, then keep_max set; it may be changed at any time. */
struct tp_sse {
	struct tp_buf gathered; /* data of an event that came in several pieces or lines */
	const char *span;       /* data inside the present piece, not copied */
	size_t span_n;
	uint32_t keep_max;
	uint32_t events;      /* events that carried data, so far */
	uint16_t http_status; /* comment ":HTTP_STATUS/429" (DashScope) of the present event; 0 = none */
	bool foreign; /* the stream begins with '{', '[' or '<': JSON or HTML under a wrong content type */

	uint8_t state;
	uint8_t field;
	uint8_t line_n;
	uint8_t name_n;
	bool started;    /* a byte that is no white space and no byte order mark was seen */
	bool past_first; /* the first line is over: no byte order mark any more */
	bool open;       /* inside a line or an event: not at a border */
	bool lines;      /* a line stands since the last empty one */
	bool fields;     /* one that is no comment */
	bool skip_lf;    /* the last byte was a CR: an LF now belongs to it */
	bool data_seen;
	bool data_cut;
	bool name_cut;
	bool reported;              /* the event's fields are to be forgotten at the next feed */
	char line[16];              /* front of the present line: field name, or comment */
	char name[TP_SSE_NAME_MAX]; /* front of the event's name */
};

enum tp_sse_result {
	TP_SSE_MORE, /* all input used */
	TP_SSE_EVENT /* the used bytes end with an empty line that ends an event, or a block of comments */
};

/* What tp_sse_event() tells; borrowed from the scanner and the piece that was fed: valid until the next
 * call for this scanner, or until the piece moves. */
struct tp_sse_event {
	struct tp_str name; /* empty when the event has none */
	struct tp_str
		data;  /* lines joined by LF; NULL pointer when the event has none (comments, retry, id) */
	bool data_cut; /* only the front: the event is longer than keep_max, or memory is short */
	bool name_cut;
	int http_status; /* DashScope's comment; 0 = none */
};

/*
 * Uses bytes from the front of bytes[0..n) up to the end of the next event; *ret_used, always written.
 * After EVENT read tp_sse_event(), then call again with the rest.
 */
enum tp_sse_result tp_sse_feed(struct tp_sse *s, const char *bytes, size_t n, size_t *ret_used);
/* The stream is over.  EVENT if a last event stands there without its empty line. */
enum tp_sse_result tp_sse_finish(struct tp_sse *s);
/* The event that was just reported. */
struct tp_sse_event tp_sse_event(const struct tp_sse *s);
/* True between events: other bytes may be put into the stream here. */
static inline bool tp_sse_at_border(const struct tp_sse *s)
{
	return !s->open;
}
/* Frees what was gathered; the struct may be zeroed and used again. */
void tp_sse_free(struct tp_sse *s);

#endif
