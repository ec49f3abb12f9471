/*
 * A configuration out of a few variables instead of YAML (design section 10): they are written as YAML and
 * go through the same table, so nothing is checked or filled in twice.
 */
#ifndef TP_CONFIG_ENV_H
#define TP_CONFIG_ENV_H

#include "common/config/config.h"
#include "common/config/env_file.h"

/*
 * `file` NULL: the environment of the process.  Mistakes are appended to errors as "file:line: NAME:
 * message\n"
 * ("environment: NAME: ..."); then NULL.  With a configuration there may be warnings in it: names that are
 * nearly one that is known.
 */
struct tp_config *tp_env_load(const char *file, struct tp_buf *errors);
/* The same with a file's bytes. */
struct tp_config *tp_env_load_text(const char *file, struct tp_str text, struct tp_buf *errors);
/* Is there what the environment alone needs? */
bool tp_env_present(void);

#endif
