/* One line of the access log, in Apache's combined format or as a JSON object (design section 10). */
#ifndef TP_HTTP_ACCESS_LINE_H
#define TP_HTTP_ACCESS_LINE_H

#include <stdint.h>

#include "common/base/buf.h"

enum tp_access_format { TP_ACCESS_JSON, TP_ACCESS_COMBINED };

/* Texts are borrowed, from strangers, and without secrets already; empty = not known. */
struct tp_access_line {
	struct tp_str address; /* of the client */
	struct tp_str client;  /* its name in the configuration */
	struct tp_str id;      /* X-Turnpike-Request-Id */
	struct tp_str method;  /* empty: the head could not be read, and target is its first line */
	struct tp_str target;
	struct tp_str referer, agent;
	int minor;      /* HTTP/1.x */
	int status;     /* 0: the client left before there was one */
	uint64_t bytes; /* of the answer's body, as written */
	uint64_t received;
	int64_t begun_ms; /* wall clock */
	uint64_t took_ms;
};

/* Adds the line with its end. Controls, quotes and backslashes are escaped; texts that are long are cut, so
 * that it fits into TP_SINK_LINE_MAX. */
void tp_access_line_write(const struct tp_access_line *line, enum tp_access_format format,
			  struct tp_buf *out);

#endif
