/* turnpike check: a configuration, and with --connect its providers. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/config/families.h"
#include "server/commands.h"
#include "server/engine.h"
#include "server/load.h"

enum { PATIENCE_MS = 30000 }; /* connecting (10s by default) and the answer (10s at most), and some more */

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

static void print_answer(const struct tp_config *c, const struct tp_notice *n)
{
	for (size_t i = 0; i < c->n_providers; i++)
		if (strcmp(c->providers[i].name, n->provider) == 0)
			(void)printf("%s (%s): %s%s\n", n->provider, c->providers[i].base,
				     n->good ? "good: "
				     : c->providers[i].health_path == NULL
					     ? "unreachable, check URL and network: "
					     : "its health path does not answer 200: ",
				     n->words);
	(void)fflush(stdout);
}

/* How many did not answer well. */
static size_t wait_answers(const struct tp_config *c, struct tp_engine *e)
{
	uint64_t now, until = tp_clock_boot_ms() + PATIENCE_MS;
	size_t answered = 0, good = 0;
	while (answered < c->n_providers && (now = tp_clock_boot_ms()) < until) {
		struct tp_notice n;
		struct pollfd p = {.fd = e->notices_fd, .events = POLLIN};
		if (poll(&p, 1, (int)(until - now)) < 0 && errno != EINTR)
			break;
		int got = tp_engine_notice(e, &n);
		if (got < 0)
			break;
		if (got == 0 || n.kind != TP_NOTICE_CHECKED)
			continue;
		print_answer(c, &n);
		answered++;
		good += n.good;
	}
	if (answered < c->n_providers)
		(void)fprintf(stderr, "turnpike check: %zu provider%s not asked to the end\n",
			      c->n_providers - answered, plural(c->n_providers - answered));
	return c->n_providers - good;
}

/* Provider by provider, as they answer; the worker's own check at its start does it. */
static int ask_providers(struct tp_config *c)
{
	struct tp_engine engine;
	c->ask_at_start = true;
	int error = tp_engine_start(c, -1, -1, TP_LOG_ERROR, &engine);
	if (error != 0) {
		(void)fprintf(stderr, "turnpike check: cannot start: %s\n", strerror(-error));
		return 1;
	}
	size_t bad = wait_answers(c, &engine);
	tp_engine_stop(&engine);
	return bad == 0 ? 0 : 1;
}

static const char *source(const struct tp_load_options *o)
{
	return o->environment        ? "environment"
	       : o->env_file != NULL ? o->env_file
	       : o->file != NULL     ? o->file
				     : TP_CONFIG_DEFAULT_FILE;
}

static int check(const struct tp_load_options *o, bool connect)
{
	struct tp_buf errors = {0};
	struct tp_config *c = tp_load_config(o, &errors);
	tp_load_tell(&errors, c != NULL);
	if (c == NULL)
		return 1;
	(void)printf("%s: good: %zu listener%s, %zu provider%s, %zu route%s\n", source(o), c->n_listeners,
		     plural(c->n_listeners), c->n_providers, plural(c->n_providers), c->n_routes,
		     plural(c->n_routes));
	for (size_t i = 0; i < c->n_combos; i++)
		print_combo(c, &c->combos[i]);
	int status = connect ? ask_providers(c) : 0;
	tp_config_unref(c);
	return status;
}

int tp_cmd_check(int argc, char **argv)
{
	struct tp_options o = tp_options_begin(argc, argv);
	struct tp_load_options load = {0};
	bool connect = false;
	int flag;
	while ((flag = tp_options_next(&o)) != TP_FLAG_END) {
		switch (flag) {
		case TP_FLAG_CONFIG: load.file = optarg; break;
		case TP_FLAG_ENV_FILE: load.env_file = optarg; break;
		case TP_FLAG_CONNECT: connect = true; break;
		case TP_FLAG_HELP: return 0;
		default: return 2;
		}
	}
	if (optind < argc)
		return tp_options_wrong(&o, "`%s` is not expected: name the file with -c", argv[optind]);
	if (load.file != NULL && load.env_file != NULL)
		return tp_options_wrong(&o, "-c and --env-file exclude each other");
	tp_load_choose(&load);
	return check(&load, connect);
}
