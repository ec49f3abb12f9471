/* turnpike blacklist, turnpike cooldown: what is out of service, and giving it back. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/shm/breaker.h"
#include "server/admin/listing.h"
#include "server/commands.h"
#include "server/show.h"
#include "server/table.h"

/* ---- blacklist */

static uint32_t clear_blacklist(struct tp_region *r, const char *url)
{
	return tp_breaker_clear(r, url);
}

/* ---- cooldown */

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
	const char *command, *nothing;
	json_t *(*list)(const struct tp_region *r, const struct tp_breaker_policy *p);
	void (*show)(const json_t *row, struct tp_buf *line);
	uint32_t (*clear)(struct tp_region *r, const char *what);
	int clear_operands; /* at most, behind "clear" */
} blacklist = {"blacklist",    "nothing is blacklisted", tp_listing_blacklist,
	       tp_show_listed, clear_blacklist,          1},
  cooldown = {"cooldown", "nothing cools", list_cooldowns, tp_show_cooling, clear_cooldowns, 0};

static void print_row(const struct listing *l, const json_t *row)
{
	struct tp_buf line = {0};
	l->show(row, &line);
	const char *text = tp_buf_cstr(&line);
	(void)printf("%s\n", text != NULL ? text : "out of memory");
	tp_buf_free(&line);
}

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
		json_array_foreach(rows, i, row) print_row(l, row);
	json_decref(rows);
	return 0;
}

static int clear(const struct listing *l, struct tp_table_arguments *a, const char *what)
{
	struct tp_region *r = tp_table_open(a, true);
	if (r == NULL)
		return 1;
	unsigned n = l->clear(r, what);
	tp_region_close(r);
	(void)printf(a->json ? "{\"cleared\":%u}\n" : "%u cleared\n", n);
	return 0;
}

static int run(const struct listing *l, int argc, char **argv)
{
	struct tp_table_arguments a = {0};
	struct tp_options o = tp_options_begin(argc, argv);
	int status = tp_table_read_arguments(&o, &a);
	if (status >= 0)
		return status;
	const char *verb = optind < argc ? argv[optind] : "list";
	bool clears = strcmp(verb, "clear") == 0;
	if (!clears && strcmp(verb, "list") != 0)
		return tp_options_wrong(&o, "what is \"%s\"?", verb);
	if (!tp_options_operands(&o, 1 + (clears ? l->clear_operands : 0)))
		return 2;
	return clears ? clear(l, &a, argc - optind > 1 ? argv[optind + 1] : NULL) : list(l, &a);
}

int tp_cmd_blacklist(int argc, char **argv)
{
	return run(&blacklist, argc, argv);
}

int tp_cmd_cooldown(int argc, char **argv)
{
	return run(&cooldown, argc, argv);
}
