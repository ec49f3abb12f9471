/* turnpike serve: the server, in the foreground. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/config/secrets.h"
#include "server/commands.h"
#include "server/load.h"
#include "server/master.h"

enum { MOST_LISTEN = 64 };

struct arguments {
	struct tp_load_options load;
	const char *listen[MOST_LISTEN];
	bool fresh_state;
};

/* -1: go on; else the exit status. */
static int read_arguments(int argc, char **argv, struct arguments *a)
{
	struct tp_options o = tp_options_begin(argc, argv);
	int flag;
	while ((flag = tp_options_next(&o)) != TP_FLAG_END) {
		switch (flag) {
		case TP_FLAG_CONFIG: a->load.file = optarg; break;
		case TP_FLAG_ENDPOINT: a->load.endpoint = optarg; break;
		case TP_FLAG_ENV_FILE: a->load.env_file = optarg; break;
		case TP_FLAG_FRESH_STATE: a->fresh_state = true; break;
		case TP_FLAG_LISTEN:
			if (a->load.n_listen == MOST_LISTEN)
				return tp_options_wrong(&o, "more than %d times --listen", MOST_LISTEN);
			a->listen[a->load.n_listen++] = optarg;
			break;
		case TP_FLAG_HELP: return 0;
		default: return 2;
		}
	}
	if (!tp_options_operands(&o, 0))
		return 2;
	if ((a->load.file != NULL) + (a->load.endpoint != NULL) + (a->load.env_file != NULL) > 1)
		return tp_options_wrong(&o, "-c, --endpoint and --env-file exclude each other");
	a->load.listen = a->listen;
	tp_load_choose(&a->load);
	return -1;
}

/* The file of variables is all there is: what it names is made. */
static void make_snapshot_folder(const struct arguments *a, const struct tp_config *c)
{
	if ((a->load.environment || a->load.env_file != NULL) && c->snapshots.directory != NULL &&
	    mkdir(c->snapshots.directory, 0700) != 0 && errno != EEXIST)
		(void)fprintf(stderr, "turnpike serve: cannot make the folder %s: %s\n",
			      c->snapshots.directory, strerror(errno));
}

int tp_cmd_serve(int argc, char **argv)
{
	struct arguments a = {0};
	int status = read_arguments(argc, argv, &a);
	if (status >= 0)
		return status;
	struct tp_buf errors = {0};
	struct tp_config *config = tp_load_config(&a.load, &errors);
	tp_load_tell(&errors, config != NULL);
	if (config == NULL)
		return 1;
	make_snapshot_folder(&a, config);
	config->generation = 1;
	if (!tp_secrets_guard_log(config)) {
		(void)fputs("out of memory\n", stderr);
		tp_config_unref(config);
		return 1;
	}
	status = tp_master_run(config, &a.load, a.fresh_state);
	(void)tp_secrets_guard_log(NULL);
	return status;
}
