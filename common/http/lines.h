/*
 * Field lines passed on: written as "name: value" and CRLF.  Those that stand so in the head they come from
 * are copied as they are, and together where they follow each other.
 */
#ifndef TP_HTTP_LINES_H
#define TP_HTTP_LINES_H

#include "common/base/buf.h"
#include "common/http/head.h"

/* Zeroed, with `out` and `bytes` set, to begin; ends with tp_lines_flush(). */
struct tp_lines {
	struct tp_buf *out;
	const char *bytes; /* the head's */
	uint32_t at, end;  /* lines of the head that are not written yet */
};

/* Writes what is pending: before anything else is written to `out`, and at the end. */
static inline void tp_lines_flush(struct tp_lines *l)
{
	tp_buf_add(l->out, l->bytes + l->at, l->end - l->at);
	l->at = l->end;
}

/* One field as a line. What stands in the head as it will be written is only noted, so that neighbours leave
 * in one copy. */
static inline void tp_lines_add(struct tp_lines *l, const struct tp_field *f)
{
	if (!f->plain) {
		tp_lines_flush(l);
		tp_buf_add_str(l->out, tp_span_str(l->bytes, f->name));
		tp_buf_add_str(l->out, TP_STR(": "));
		tp_buf_add_str(l->out, tp_span_str(l->bytes, f->value));
		tp_buf_add_str(l->out, TP_STR("\r\n"));
		return;
	}
	if (f->name.at != l->end) {
		tp_lines_flush(l);
		l->at = f->name.at;
	}
	l->end = f->value.at + f->value.n + 2;
}

#endif
