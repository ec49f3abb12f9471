/*
 * A provider's answer body out of its framing (RFC 9112 section 6), where it lies.
 */
#ifndef TP_WORKERS_UNFRAME_H
#define TP_WORKERS_UNFRAME_H

#include "common/http/chunked.h"
#include "common/http/head.h"

struct tp_unframe {
	uint8_t framing; /* enum tp_framing */
	bool excess;     /* bytes came behind the end that nobody asked for */
	uint64_t left;   /* of a body with a length */
	struct tp_chunked chunked;
};

void tp_unframe_begin(struct tp_unframe *u, const struct tp_head *head);
/* The next bytes: *data and *n become those of the body among them, moved together; *end is set behind the
 * last one (never where only the end of the connection tells it).  False: the framing is broken, behind those
 * that *data and *n tell. */
bool tp_unframe(struct tp_unframe *u, char **data, size_t *n, bool *end);

#endif
