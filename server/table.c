#include "server/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "server/admin/listing.h"

static const struct option options[] = {
	{"config", required_argument, NULL, 'c'},
	{"name", required_argument, NULL, 'n'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

bool tp_table_read_arguments(int argc, char **argv, struct tp_table_arguments *a)
{
	int c;
	while ((c = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (c) {
		case 'c': a->file = optarg; break;
		case 'n': a->name = optarg; break;
		case 'j': a->json = true; break;
		case 'h': a->show_help = true; break;
		default: return false;
		}
	}
	if (a->file != NULL && a->name != NULL) {
		(void)fprintf(stderr, "turnpike %s: -c and --name exclude each other\n", a->command);
		return false;
	}
	return true;
}

/* The caller frees it; NULL: said on standard error. */
static char *find_name(struct tp_table_arguments *a)
{
	a->policy = tp_listing_policy(NULL);
	if (a->file == NULL)
		return strdup(a->name != NULL ? a->name : "/turnpike");
	struct tp_buf errors = {0};
	struct tp_config *config = tp_config_load(a->file, &errors);
	char *name = config != NULL ? strdup(config->state.name) : NULL;
	if (config != NULL)
		a->policy = tp_listing_policy(config);
	else
		(void)fprintf(stderr, "%s", errors.len > 0 ? tp_buf_cstr(&errors) : "out of memory\n");
	tp_config_unref(config);
	tp_buf_free(&errors);
	return name;
}

struct tp_region *tp_table_open(struct tp_table_arguments *a, bool to_change)
{
	struct tp_buf why = {0};
	struct tp_region *r = NULL;
	char *name = find_name(a);
	if (name == NULL)
		return NULL;
	int error =
		to_change ? tp_region_open_existing(name, &why, &r) : tp_region_open_readonly(name, &why, &r);
	if (error != 0)
		(void)fprintf(stderr, "turnpike %s: cannot %s the table %s: %s\n", a->command,
			      to_change ? "change" : "read", name,
			      why.len > 0 ? tp_buf_cstr(&why) : strerror(-error));
	tp_buf_free(&why);
	free(name);
	return error == 0 ? r : NULL;
}
