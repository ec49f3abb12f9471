/* turnpike top: a server at work, out of its shared table. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/config/units.h"
#include "server/admin/report.h"
#include "server/commands.h"
#include "server/table.h"
#include "server/terminal.h"
#include "server/top/screen.h"
#include "server/top/view.h"

enum { EVERY_MS = 1000, LEAST_MS = 100, MOST_MS = 3600 * 1000 };

struct top {
	const char *name;
	struct tp_breaker_policy policy;
	json_t *before, *now;
	uint64_t before_ms, now_ms;
};

/* Opened anew each time: a server that starts again may have made a fresh table. False: `why` says it. */
static bool look(struct top *t, struct tp_buf *why)
{
	struct tp_region *r = NULL;
	if (tp_region_open_readonly(t->name, why, &r) != 0)
		return false;
	json_decref(t->before);
	t->before = t->now;
	t->before_ms = t->now_ms;
	t->now = tp_report_make(r, &t->policy);
	t->now_ms = tp_clock_boot_ms();
	tp_region_close(r);
	return t->now != NULL;
}

static void view(struct top *t, struct tp_buf *out)
{
	struct tp_buf why = {0};
	if (look(t, &why)) {
		tp_top_view(t->name, t->now, t->before, (double)(t->now_ms - t->before_ms) / 1000, out);
	} else {
		const char *text = why.len > 0 ? tp_buf_cstr(&why) : NULL;
		tp_buf_printf(out, "%cturnpike %s\n\nno numbers: %s\n", TP_TOP_HEADING, t->name,
			      text != NULL ? text : "out of memory");
	}
	tp_buf_free(&why);
}

static void watch(struct top *t, uint32_t every_ms)
{
	struct tp_buf lines = {0};
	enum tp_top_event e = TP_TOP_TIME;
	uint64_t next = 0;
	tp_top_screen_begin();
	while (e != TP_TOP_QUIT) {
		uint64_t now = tp_clock_boot_ms();
		if (now >= next) {
			tp_buf_free(&lines);
			view(t, &lines);
			next = now + every_ms;
		}
		tp_top_screen_draw(&lines);
		e = tp_top_screen_wait((uint32_t)(next - now));
	}
	tp_buf_free(&lines);
	tp_top_screen_end();
}

/* Two looks, for what is told per second. */
static int print_once(struct top *t, uint32_t every_ms)
{
	struct tp_buf lines = {0}, why = {0};
	bool good = look(t, &why);
	if (good) {
		(void)usleep(every_ms * 1000);
		view(t, &lines);
	} else {
		(void)fprintf(stderr, "turnpike top: cannot read the table %s: %s\n", t->name,
			      why.len > 0 ? tp_buf_cstr(&why) : "out of memory");
	}
	for (size_t i = 0; i < lines.len; i++)
		if (lines.data[i] != TP_TOP_HEADING)
			(void)fputc(lines.data[i], stdout);
	tp_buf_free(&lines);
	tp_buf_free(&why);
	return good ? 0 : 1;
}

int tp_cmd_top(int argc, char **argv)
{
	struct tp_table_arguments a = {0};
	struct tp_options o = tp_options_begin(argc, argv);
	uint64_t every_ms = EVERY_MS;
	int status = tp_table_read_arguments(&o, &a);
	if (status >= 0)
		return status;
	if (!tp_options_operands(&o, 0))
		return 2;
	const char *bad = a.every != NULL ? tp_parse_duration(tp_str_from(a.every), &every_ms) : NULL;
	if (bad != NULL)
		return tp_options_wrong(&o, "--every: `%s` %s", a.every, bad);
	if (every_ms < LEAST_MS || every_ms > MOST_MS)
		return tp_options_wrong(&o, "--every: from 100ms to 1h");
	char *name = tp_table_name(&a);
	if (name == NULL)
		return 1;
	struct top t = {.name = name, .policy = a.policy};
	status = 0;
	if (a.once || !tp_terminal(stdout))
		status = print_once(&t, (uint32_t)every_ms);
	else
		watch(&t, (uint32_t)every_ms);
	json_decref(t.before);
	json_decref(t.now);
	free(name);
	return status;
}
