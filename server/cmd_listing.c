/* turnpike blacklist, turnpike cooldown: what is out of service, and giving it back. */
#include <stdio.h>
#include <string.h>

#include "common/shm/breaker.h"
#include "server/admin/listing.h"
#include "server/commands.h"
#include "server/show.h"
#include "server/table.h"

#define OPTIONS_HELP                                                                                         \
	"  -c, --config FILE   the server's configuration: its state.name is looked up\n"                    \
	"  --name NAME         state.name itself (default: /turnpike)\n"                                     \
	"  --json              JSON instead of lines\n"                                                      \
	"  -h, --help          this text\n"                                                                  \
	"\n"                                                                                                 \
	"Exit status: 0, 1 no such table, or not allowed to use it, 2 wrong usage.\n"

static const char blacklist_help[] =
	"Usage: turnpike blacklist [list | clear [URL]] [--json] [-c FILE | --name NAME]\n"
	"\n"
	"list shows the URLs that failed too often in a row and get no requests for now: why, since when, "
	"and\n"
	"when the next probe may pass. clear forgets all of them and what counts towards them, or those of "
	"one\n"
	"URL as list shows it; the next request is then sent. It works on a running server at once.\n"
	"\n" OPTIONS_HELP;

static const char cooldown_help[] =
	"Usage: turnpike cooldown [list | clear] [--json] [-c FILE | --name NAME]\n"
	"\n"
	"list shows the targets and keys that are left alone for now, as a provider told or after a "
	"failure,\n"
	"and the waits that all requests for a model share; clear ends all of these. It works on a running\n"
	"server at once.\n"
	"\n" OPTIONS_HELP;

/* ---- blacklist */

static const char *text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static double number_of(const json_t *row, const char *key)
{
	return json_number_value(json_object_get(row, key));
}

static void print_listed(const json_t *row)
{
	(void)printf("%s%s (%s): listed for %.0f s after %s, ", text_of(row, "url"),
		     json_is_true(json_object_get(row, "whole_base")) ? " and all below" : "",
		     text_of(row, "provider"), number_of(row, "listed_for"),
		     strcmp(text_of(row, "why"), "connection") == 0 ? "connection failures"
								    : "error answers");
	if (json_is_true(json_object_get(row, "probing")))
		(void)printf("a probe is under way\n");
	else
		(void)printf("next probe in %.0f s\n", number_of(row, "next_probe_in"));
}

static uint32_t clear_blacklist(struct tp_region *r, const char *url)
{
	return tp_breaker_clear(r, url);
}

/* ---- cooldown */

static void print_cooling(const json_t *row)
{
	if (strcmp(text_of(row, "kind"), "wait") == 0) {
		(void)printf("%s: %.0f s left, a wait that its requests share%s\n", text_of(row, "name"),
			     number_of(row, "left"),
			     number_of(row, "left") > 0 ? "" : "; they are being let go");
		return;
	}
	(void)printf("%s: %.0f s left%s%s\n", text_of(row, "name"), number_of(row, "left"),
		     json_is_true(json_object_get(row, "told")) ? ", as the provider told" : "",
		     json_is_true(json_object_get(row, "probing")) ? ", a probe is under way" : "");
}

static json_t *list_cooldowns(const struct tp_region *r, const struct tp_breaker_policy *p)
{
	(void)p;
	return tp_listing_cooldowns(r);
}

static uint32_t clear_cooldowns(struct tp_region *r, const char *none)
{
	(void)none;
	return tp_listing_clear_cooldowns(r);
}

/* ---- both */

static const struct listing {
	const char *command, *help, *nothing;
	json_t *(*list)(const struct tp_region *r, const struct tp_breaker_policy *p);
	void (*print)(const json_t *row);
	uint32_t (*clear)(struct tp_region *r, const char *what);
	int clear_operands; /* at most, behind "clear" */
} blacklist = {"blacklist",
	       blacklist_help,
	       "nothing is blacklisted",
	       tp_listing_blacklist,
	       print_listed,
	       clear_blacklist,
	       1},
  cooldown = {"cooldown", cooldown_help, "nothing cools", list_cooldowns, print_cooling, clear_cooldowns, 0};

static int list(const struct listing *l, struct tp_table_arguments *a)
{
	struct tp_region *r = tp_table_open(a, false);
	json_t *rows = r != NULL ? l->list(r, &a->policy) : NULL, *row;
	size_t i;
	tp_region_close(r);
	if (r == NULL)
		return 1;
	if (rows == NULL) {
		(void)fprintf(stderr, "turnpike %s: out of memory\n", l->command);
		return 1;
	}
	if (a->json)
		tp_show_json(rows);
	else if (json_array_size(rows) == 0)
		(void)printf("%s\n", l->nothing);
	else
		json_array_foreach(rows, i, row) l->print(row);
	json_decref(rows);
	return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : 1;
}

static int clear(const struct listing *l, struct tp_table_arguments *a, const char *what)
{
	struct tp_region *r = tp_table_open(a, true);
	if (r == NULL)
		return 1;
	unsigned n = l->clear(r, what);
	tp_region_close(r);
	(void)printf(a->json ? "{\"cleared\":%u}\n" : "%u cleared\n", n);
	return fflush(stdout) == 0 ? 0 : 1;
}

static int run(const struct listing *l, int argc, char **argv)
{
	struct tp_table_arguments a = {.command = l->command};
	bool good = tp_table_read_arguments(argc, argv, &a);
	if (good && a.show_help) {
		(void)fputs(l->help, stdout);
		return 0;
	}
	int operands = argc - optind;
	const char *verb = operands > 0 ? argv[optind] : "list";
	bool clears = strcmp(verb, "clear") == 0;
	if (good && !clears && strcmp(verb, "list") != 0) {
		(void)fprintf(stderr, "turnpike %s: what is \"%s\"?\n", l->command, verb);
		good = false;
	} else if (good && operands > 1 + (clears ? l->clear_operands : 0)) {
		(void)fprintf(stderr, "turnpike %s: what is \"%s\"?\n", l->command, argv[argc - 1]);
		good = false;
	}
	if (!good) {
		(void)fprintf(stderr, "Try: turnpike %s --help\n", l->command);
		return 2;
	}
	return clears ? clear(l, &a, operands > 1 ? argv[optind + 1] : NULL) : list(l, &a);
}

int tp_cmd_blacklist(int argc, char **argv)
{
	return run(&blacklist, argc, argv);
}

int tp_cmd_cooldown(int argc, char **argv)
{
	return run(&cooldown, argc, argv);
}
