/*
 * The configuration of a server: a file, variables, or an endpoint given on the command line, and addresses
 * that replace the file's.
 */
#ifndef TP_SERVER_LOAD_H
#define TP_SERVER_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "common/config/config.h"

struct tp_load_options {
	const char *file;          /* NULL = TP_CONFIG_DEFAULT_FILE, unless there is an endpoint */
	const char *env_file;      /* NAME=VALUE lines, instead of a file; NULL = none */
	bool environment;          /* the same variables of the environment, instead of a file */
	const char *endpoint;      /* URL of the only provider, instead of a file; NULL = none */
	const char *const *listen; /* replace the section `listen`; n_listen 0 = keep it */
	size_t n_listen;
};

/* Nothing is named, the default file does not exist, and the environment has what is needed: o->environment
 * is set.  Once, before the first tp_load_config(): later the same is loaded again. */
void tp_load_choose(struct tp_load_options *o);
/* One reference for the caller, or NULL with at least one line in errors ("where: message\n"). Lines in
 * errors beside a configuration are warnings. */
struct tp_config *tp_load_config(const struct tp_load_options *o, struct tp_buf *errors);
/* The file it is read from, as it was named; NULL = from none. */
const char *tp_load_file(const struct tp_load_options *o);
/* Writes those lines to standard error, and frees them. `loaded`: there was a configuration. */
void tp_load_tell(struct tp_buf *errors, bool loaded);

#endif
