/* What turnpike top shows: two reports of a server, as text. */
#ifndef TP_SERVER_TOP_VIEW_H
#define TP_SERVER_TOP_VIEW_H

#include <jansson.h>

#include "common/base/buf.h"

/* Stands first in a line that is a heading. */
enum { TP_TOP_HEADING = 1 };

/*
 * Appends lines, each ended by \n.  `now` and `before` are reports of tp_report_make(), `seconds` apart;
 * before NULL: nothing is said per second.  `name` is that of the table.
 */
void tp_top_view(const char *name, const json_t *now, const json_t *before, double seconds,
		 struct tp_buf *out);

#endif
