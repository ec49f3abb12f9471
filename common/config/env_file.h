/*
 * Files of NAME=VALUE lines, as Docker, systemd and shells know them: a byte order mark, CRLF, comments,
 * `export`, single quotes (all as it is) and double quotes (\n \t \" \\ \$).  Nothing is expanded.
 */
#ifndef TP_CONFIG_ENV_FILE_H
#define TP_CONFIG_ENV_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"

struct tp_env_variable {
	char *name, *value; /* owned */
	unsigned line;      /* from 1; 0 = it is in no file */
};

struct tp_env {
	struct tp_env_variable *list;
	size_t n;
};

/* Every mistake is appended to errors as "file:line: message\n"; then false.  Free in any case. */
bool tp_env_parse(const char *file, struct tp_str text, struct tp_env *ret_env, struct tp_buf *errors);
/* Adds one that is in no file; copied. False: out of memory. */
bool tp_env_add(struct tp_env *e, struct tp_str name, struct tp_str value, unsigned line);
/* NULL: it is not set. One that is set to nothing counts as not set. */
const struct tp_env_variable *tp_env_find(const struct tp_env *e, const char *name);
/* Wipes the values; safe on a zeroed struct. */
void tp_env_free(struct tp_env *e);

#endif
