/*
 * What is wrong with a configuration file: collected while it is read, so that all mistakes are told at
 * once, and told in the order of the file whatever order the checks ran in.
 */
#ifndef TP_CONFIG_ERRORS_H
#define TP_CONFIG_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"

struct tp_config_error {
	unsigned line, column; /* from 1; line 0 = the file as a whole */
	char *text;            /* owned */
};

/* Zeroed is the empty collection. */
struct tp_config_errors {
	struct tp_config_error *list; /* owned */
	size_t n, size;
	bool no_memory; /* an allocation failed: the result cannot be trusted */
};

/* Adds one message. Control characters of quoted file content are shown as '?', so that a file cannot forge
 * lines of the report. */
void tp_config_errors_add(struct tp_config_errors *e, unsigned line, unsigned column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* True when there is something to tell. */
bool tp_config_errors_any(const struct tp_config_errors *e);
/* Appends "name:line:column: text\n" ("name: text\n" without a place) for each, sorted by place. */
void tp_config_errors_write(struct tp_config_errors *e, const char *name, struct tp_buf *out);
/* Frees what is inside and empties it; NULL is ignored. */
void tp_config_errors_free(struct tp_config_errors *e);

#endif
