/*
 * Which shared table a command of the command line means: -c FILE or --name NAME.
 */
#ifndef TP_SERVER_TABLE_H
#define TP_SERVER_TABLE_H

#include <stdbool.h>

#include "common/shm/breaker.h"
#include "common/shm/region.h"
#include "server/commands.h"

struct tp_table_arguments {
	const char *command; /* for messages: "stats" */
	const char *file, *name;
	bool json, once;
	const char *every;               /* as written, or NULL */
	struct tp_breaker_policy policy; /* set by tp_table_name(): see tp_listing_policy() */
};

/* Reads the options that commands about a table have; what is left stands behind optind. -1: go on; else the
 * exit status: all is said. */
int tp_table_read_arguments(struct tp_options *o, struct tp_table_arguments *a);
/* Its name; the caller frees it. NULL: said on standard error. */
char *tp_table_name(struct tp_table_arguments *a);
/* NULL: said on standard error. The caller closes it. */
struct tp_region *tp_table_open(struct tp_table_arguments *a, bool to_change);

#endif
