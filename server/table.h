/*
 * Which shared table a command of the command line means: -c FILE or --name NAME.
 */
#ifndef TP_SERVER_TABLE_H
#define TP_SERVER_TABLE_H

#include <getopt.h>
#include <stdbool.h>

#include "common/shm/breaker.h"
#include "common/shm/region.h"

struct tp_table_arguments {
	const char *command; /* for messages: "stats" */
	const char *file, *name;
	bool json, show_help;
	struct tp_breaker_policy policy; /* set by tp_table_open(): see tp_listing_policy() */
};

/* Reads -c, --name, --json, --help, in any place; what is left stands behind optind. False: wrong usage, said
 * on standard error. a->command is set by the caller. */
bool tp_table_read_arguments(int argc, char **argv, struct tp_table_arguments *a);
/* NULL: said on standard error. The caller closes it. */
struct tp_region *tp_table_open(struct tp_table_arguments *a, bool to_change);

#endif
