#include "server/commands.h"

#include <getopt.h>
#include <stdio.h>

#include "common/config/config.h"

static void print_usage(FILE *to)
{
	(void)fprintf(to,
		      "Usage: turnpike check [-c FILE]\n"
		      "Checks a configuration and tells every mistake with line and column.\n\n"
		      "  -c, --config FILE  the configuration (default %s)\n"
		      "  -h, --help         this text\n",
		      TP_CONFIG_DEFAULT_FILE);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static int check(const char *file)
{
	struct tp_buf errors = {0};
	struct tp_config *c = tp_config_load(file, &errors);
	if (c == NULL) {
		(void)fwrite(errors.data, 1, errors.len, stderr);
		tp_buf_free(&errors);
		return 1;
	}
	(void)printf("%s: good: %zu listener%s, %zu provider%s, %zu route%s\n", file, c->n_listeners,
		     plural(c->n_listeners), c->n_providers, plural(c->n_providers), c->n_routes,
		     plural(c->n_routes));
	tp_buf_free(&errors);
	tp_config_unref(c);
	return 0;
}

int tp_cmd_check(int argc, char **argv)
{
	static const struct option options[] = {{"config", required_argument, NULL, 'c'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	const char *file = TP_CONFIG_DEFAULT_FILE;
	int option;
	optind = 0; /* getopt may have run over the global options before */
	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		if (option == 'c') {
			file = optarg;
		} else if (option == 'h') {
			print_usage(stdout);
			return 0;
		} else {
			print_usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		(void)fprintf(stderr, "turnpike check: `%s` is not expected: name the file with -c\n",
			      argv[optind]);
		return 2;
	}
	return check(file);
}
