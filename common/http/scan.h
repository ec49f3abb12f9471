/*
 * What the request and the answer parser share: lines of a head, and what the framing and
 * connection fields amount to.  Used by common/http/ only.
 *
 * One pass over the bytes, no state between calls but `scanned`.  A fault inside a line
 * counts only once the line is complete, and faults that concern several lines (a missing Host, two
 * lengths) only once the head is: so the verdict does not depend on how the bytes were cut.
 */
#ifndef TP_HTTP_SCAN_H
#define TP_HTTP_SCAN_H

#include "common/http/head.h"

enum tp_step {
	TP_STEP_LINE, /* a line was used */
	TP_STEP_END,  /* the empty line was used */
	TP_STEP_MORE, /* the line is not complete */
	TP_STEP_BAD,  /* status and reason are set */
};

struct tp_scan {
	const char *bytes, *at, *end; /* end: what has come, cut at the limit */
	struct tp_head *head;
	bool lenient;      /* answers: bare LF ends a line */
	uint32_t lines;    /* fields seen, also those that have no room */
	uint64_t repeated; /* as tp_head.seen, for fields that came more than once */
	uint32_t lengths;  /* answers: values of Content-Length */
	bool lengths_differ;
	struct tp_str absolute; /* requests: authority of an absolute target; p NULL = none */
	int status;             /* with TP_STEP_BAD, requests */
	const char *reason;     /* with TP_STEP_BAD: static */
	/* Reads the first line of the head, at `bytes`, and moves `at` behind it. */
	enum tp_step (*first_line)(struct tp_scan *s);
	/* The line-local part of what a field means, for ids in the set `meant`: TP_STEP_LINE or TP_STEP_BAD.
	 */
	uint64_t meant;
	enum tp_step (*known_field)(struct tp_scan *s, const struct tp_field *f);
};

/* Runs over the lines: TP_STEP_END when the head is complete, with head's fields, size and seen written.
 * Keeps `scanned` as tp_head_parse_request() says. */
enum tp_step tp_scan_head(struct tp_scan *s, size_t n, size_t limit, size_t *scanned);
/* TP_STEP_BAD with this status and reason. */
enum tp_step tp_scan_bad(struct tp_scan *s, int status, const char *reason);
/* A byte at `p` does not fit: TP_STEP_BAD if its line is complete, else TP_STEP_MORE. */
enum tp_step tp_scan_fault(struct tp_scan *s, const char *p, const char *reason);
/* `p` past the end of a line that ends there; NULL when no line end stands there. */
const char *tp_scan_line_end(const struct tp_scan *s, const char *p);

/* First byte in [p, end) that is not TP_CHAR_VALUE; end if there is none. */
const char *tp_scan_value(const char *p, const char *end);
/* The same for TP_CHAR_TARGET. */
const char *tp_scan_target(const char *p, const char *end);

/* Cuts the next comma-separated element, trimmed, off `rest`; false when none is left. */
bool tp_scan_element(struct tp_str *rest, struct tp_str *ret_element);

enum tp_digits { TP_DIGITS_OK, TP_DIGITS_NONE, TP_DIGITS_HUGE };
/* Decimal digits and nothing else; HUGE = above 2^64 - 1. */
enum tp_digits tp_scan_digits(struct tp_str text, uint64_t *ret_value);

/* All Transfer-Encoding lines of a head, joined. */
struct tp_codings {
	uint32_t chunked, identity, other, empty; /* how many elements */
	bool chunked_last;
};
/* By the fields that tp_scan has seen; no line: all zero. */
void tp_scan_codings(const struct tp_scan *s, struct tp_codings *ret_codings);

/* Connection, Upgrade and the version: sets keep_alive and upgrade, marks the named fields.
 * False: more options than any honest peer sends. */
bool tp_scan_connection(struct tp_scan *s);

/* The field stands in the head more than once. */
static inline bool tp_scan_repeated(const struct tp_scan *s, enum tp_field_id id)
{
	return (s->repeated >> id & 1) != 0;
}

#endif
