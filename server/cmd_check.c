#include "server/commands.h"

#include <getopt.h>
#include <stdio.h>

#include "common/config/config.h"
#include "common/config/families.h"

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

static void print_targets(const struct tp_config *c, const struct tp_combo_conf *combo, uint32_t which)
{
	const char *between = "";
	for (size_t i = 0; i < combo->n_targets; i++) {
		if ((which >> i & 1) == 0)
			continue;
		(void)printf("%s%s/%s", between, c->providers[combo->targets[i].provider].name,
			     combo->targets[i].model);
		between = ", ";
	}
}

/* Which requests a combo can serve: of which family, by which of its targets. */
static void print_combo(const struct tp_config *c, const struct tp_combo_conf *combo)
{
	const uint32_t all = (UINT32_C(1) << combo->n_targets) - 1;
	const char *between = ": ";
	(void)printf("combo %s", combo->name);
	for (enum tp_family f = TP_FAMILY_CHAT; f < TP_FAMILY_COUNT; f++) {
		uint32_t speak = tp_combo_speaks(c, combo, f);
		(void)printf("%s%s: ", between, tp_family_name(f));
		between = "; ";
		if (speak == all || speak == 0)
			(void)printf(speak == 0 ? "none" : "all targets");
		else
			print_targets(c, combo, speak);
	}
	(void)printf("\n");
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
	for (size_t i = 0; i < c->n_combos; i++)
		print_combo(c, &c->combos[i]);
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
