#include <stdio.h>
#include <string.h>

#include "server/admin/report.h"
#include "server/show.h"
#include "server/table.h"

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
	return 0;
}

int tp_cmd_stats(int argc, char **argv)
{
	struct tp_table_arguments a = {0};
	struct tp_options o = tp_options_begin(argc, argv);
	int status = tp_table_read_arguments(&o, &a);
	if (status >= 0)
		return status;
	if (!tp_options_operands(&o, 0))
		return 2;
	struct tp_region *r = tp_table_open(&a, false);
	status = r != NULL ? print_report(r, &a) : 1;
	tp_region_close(r);
	return status;
}
