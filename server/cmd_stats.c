#include "server/cmd_stats.h"

#include <stdio.h>

#include "server/admin/report.h"
#include "server/show.h"
#include "server/table.h"

static const char help[] = "Usage: turnpike stats [--json] [-c FILE | --name NAME]\n"
			   "\n"
			   "Prints the numbers of a server, summed over its workers, out of its shared "
			   "table. Nothing is changed,\n"
			   "and the server does not notice. Counters go on over restarts on the same boot.\n"
			   "\n"
			   "  -c, --config FILE   the server's configuration: its state.name is looked up\n"
			   "  --name NAME         state.name itself (default: /turnpike)\n"
			   "  --json              one JSON object, the same as GET /stats\n"
			   "  -h, --help          this text\n"
			   "\n"
			   "Exit status: 0, 1 no such table or not readable, 2 wrong usage.\n";

/* The counters and gauges by their bare names, as they are looked for; the rest under the names of JSON. */
static void print_text(json_t *report)
{
	const char *key;
	json_t *value;
	tp_show_lines("", json_object_get(report, "counters"));
	(void)printf("\n");
	tp_show_lines("", json_object_get(report, "gauges"));
	(void)printf("\n");
	json_object_foreach(report, key, value)
	{
		if (strcmp(key, "counters") != 0 && strcmp(key, "gauges") != 0)
			tp_show_lines(key, value);
	}
}

static int print_report(const struct tp_region *r, const struct tp_table_arguments *a)
{
	json_t *report = tp_report_make(r, &a->policy);
	if (report == NULL) {
		(void)fprintf(stderr, "turnpike stats: out of memory\n");
		return 1;
	}
	if (a->json)
		tp_show_json(report);
	else
		print_text(report);
	json_decref(report);
	return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : 1;
}

int tp_cmd_stats(int argc, char **argv)
{
	struct tp_table_arguments a = {.command = "stats"};
	bool good = tp_table_read_arguments(argc, argv, &a);
	if (good && optind < argc && !a.show_help) {
		(void)fprintf(stderr, "turnpike stats: what is \"%s\"?\n", argv[optind]);
		good = false;
	}
	if (!good) {
		(void)fprintf(stderr, "Try: turnpike stats --help\n");
		return 2;
	}
	if (a.show_help) {
		(void)fputs(help, stdout);
		return 0;
	}
	struct tp_region *r = tp_table_open(&a, false);
	int status = r != NULL ? print_report(r, &a) : 1;
	tp_region_close(r);
	return status;
}
