#include "server/cmd_serve.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/config/secrets.h"
#include "server/load.h"
#include "server/master.h"

enum { MOST_LISTEN = 64 };

static const char help[] =
	"Usage: turnpike serve [-c FILE | --endpoint URL] [--listen ADDR]... [--fresh-state]\n"
	"\n"
	"Starts the server in the foreground. When it is ready, one line on standard output says where it\n"
	"listens; the log goes where the configuration says (standard error by default).\n"
	"\n"
	"  -c, --config FILE   the configuration (default: " TP_CONFIG_DEFAULT_FILE ")\n"
	"  --endpoint URL      serve one provider, without a file: https://api.openai.com/v1\n"
	"  --listen ADDR       listen here instead of where the configuration says: 127.0.0.1:8080,\n"
	"                      [::1]:8080, unix:/run/turnpike/http.sock; may be given several times\n"
	"  --fresh-state       forget all budgets and statistics of earlier runs\n"
	"  -h, --help          this text\n"
	"\n"
	"Signals: HUP takes over a changed configuration (see turnpike reload); USR1 opens the logs anew;\n"
	"USR2 replaces the binary by the one that is now where this one was started from; TERM, INT or\n"
	"QUIT stop accepting, let running requests finish for up to shutdown.drain, and exit 0; a second\n"
	"one ends everything at once.\n"
	"\n"
	"Exit status: 0 stopped as asked, 1 wrong configuration or the server could not start, 2 wrong "
	"usage.\n";

struct arguments {
	struct tp_load_options load;
	const char *listen[MOST_LISTEN];
	bool fresh_state, show_help;
};

static const struct option options[] = {
	{"config", required_argument, NULL, 'c'}, {"endpoint", required_argument, NULL, 'e'},
	{"listen", required_argument, NULL, 'l'}, {"fresh-state", no_argument, NULL, 'f'},
	{"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
};

/* False: wrong usage, said on standard error. */
static bool read_arguments(int argc, char **argv, struct arguments *a)
{
	int c;
	while ((c = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (c) {
		case 'c': a->load.file = optarg; break;
		case 'e': a->load.endpoint = optarg; break;
		case 'f': a->fresh_state = true; break;
		case 'h': a->show_help = true; break;
		case 'l':
			if (a->load.n_listen == MOST_LISTEN) {
				(void)fprintf(stderr, "turnpike serve: more than %d times --listen\n",
					      MOST_LISTEN);
				return false;
			}
			a->listen[a->load.n_listen++] = optarg;
			break;
		default: return false; /* getopt has said what is wrong */
		}
	}
	if (optind < argc) {
		(void)fprintf(stderr, "turnpike serve: what is \"%s\"?\n", argv[optind]);
		return false;
	}
	if (a->load.file != NULL && a->load.endpoint != NULL) {
		(void)fprintf(stderr, "turnpike serve: -c and --endpoint exclude each other\n");
		return false;
	}
	a->load.listen = a->listen;
	return true;
}

int tp_cmd_serve(int argc, char **argv)
{
	struct arguments a = {0};
	if (!read_arguments(argc, argv, &a)) {
		(void)fprintf(stderr, "Try: turnpike serve --help\n");
		return 2;
	}
	if (a.show_help) {
		(void)fputs(help, stdout);
		return 0;
	}
	struct tp_buf errors = {0};
	struct tp_config *config = tp_load_config(&a.load, &errors);
	if (config == NULL)
		(void)fprintf(stderr, "%s", errors.len > 0 ? tp_buf_cstr(&errors) : "out of memory\n");
	tp_buf_free(&errors);
	if (config == NULL)
		return 1;
	config->generation = 1;
	if (!tp_secrets_guard_log(config)) {
		(void)fputs("out of memory\n", stderr);
		tp_config_unref(config);
		return 1;
	}
	int status = tp_master_run(config, &a.load, a.fresh_state);
	(void)tp_secrets_guard_log(NULL);
	return status;
}
