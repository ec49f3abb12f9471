#include "server/table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"
#include "server/admin/listing.h"
#include "server/load.h"

int tp_table_read_arguments(struct tp_options *o, struct tp_table_arguments *a)
{
	int flag;
	a->command = o->command->name;
	while ((flag = tp_options_next(o)) != TP_FLAG_END) {
		switch (flag) {
		case TP_FLAG_CONFIG: a->file = optarg; break;
		case TP_FLAG_NAME: a->name = optarg; break;
		case TP_FLAG_JSON: a->json = true; break;
		case TP_FLAG_ONCE: a->once = true; break;
		case TP_FLAG_EVERY: a->every = optarg; break;
		case TP_FLAG_HELP: return 0;
		default: return 2;
		}
	}
	if (a->file != NULL && a->name != NULL)
		return tp_options_wrong(o, "-c and --name exclude each other");
	return -1;
}

char *tp_table_name(struct tp_table_arguments *a)
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
		tp_load_tell(&errors, false);
	tp_config_unref(config);
	tp_buf_free(&errors);
	return name;
}

struct tp_region *tp_table_open(struct tp_table_arguments *a, bool to_change)
{
	struct tp_buf why = {0};
	struct tp_region *r = NULL;
	char *name = tp_table_name(a);
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
