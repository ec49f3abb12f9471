/* Inside of env.c: the variables as YAML. */
#ifndef TP_CONFIG_ENV_WRITE_H
#define TP_CONFIG_ENV_WRITE_H

#include "common/config/env_file.h"

enum { TP_ENV_LINES_MAX = 64 };

/* The YAML, and which variable each of its lines is made of. */
struct tp_env_writer {
	const char *file;
	const struct tp_env *env;
	struct tp_buf yaml;
	const struct tp_env_variable *of[TP_ENV_LINES_MAX + 1]; /* by line, from 1 */
	unsigned lines;
	struct tp_buf *errors;
	bool wrong;
};

/* A message about a variable (NULL: about all), of n bytes. */
void tp_env_say(const struct tp_env_writer *w, const struct tp_env_variable *v, const char *message,
		size_t n);
/* The same; nothing can come of it any more. */
void tp_env_refuse(struct tp_env_writer *w, const struct tp_env_variable *v, const char *message);
/* All of it; values that YAML has no word for are refused here, the others by the table. */
void tp_env_write(struct tp_env_writer *w);

#endif
