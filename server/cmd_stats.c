#include "server/cmd_stats.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/config/config.h"
#include "common/shm/counters.h"
#include "common/shm/ledger.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

static const char help[] = "Usage: turnpike stats [--json] [-c FILE | --name NAME]\n"
			   "\n"
			   "Prints the counters of a server, summed over its workers, out of its shared "
			   "table. Nothing is changed,\n"
			   "and the server does not notice. Counters go on over restarts on the same boot.\n"
			   "\n"
			   "  -c, --config FILE   the server's configuration: its state.name is looked up\n"
			   "  --name NAME         state.name itself (default: /turnpike)\n"
			   "  --json              one JSON object\n"
			   "  -h, --help          this text\n"
			   "\n"
			   "Exit status: 0, 1 no such table or not readable, 2 wrong usage.\n";

struct arguments {
	const char *file, *name;
	bool json, show_help;
};

static const struct option options[] = {
	{"config", required_argument, NULL, 'c'},
	{"name", required_argument, NULL, 'n'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static bool read_arguments(int argc, char **argv, struct arguments *a)
{
	int c;
	while ((c = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (c) {
		case 'c': a->file = optarg; break;
		case 'n': a->name = optarg; break;
		case 'j': a->json = true; break;
		case 'h': a->show_help = true; break;
		default: return false;
		}
	}
	if (optind < argc) {
		(void)fprintf(stderr, "turnpike stats: what is \"%s\"?\n", argv[optind]);
		return false;
	}
	if (a->file != NULL && a->name != NULL) {
		(void)fprintf(stderr, "turnpike stats: -c and --name exclude each other\n");
		return false;
	}
	return true;
}

/* The caller frees it; NULL: said on standard error. */
static char *find_name(const struct arguments *a)
{
	if (a->file == NULL)
		return strdup(a->name != NULL ? a->name : "/turnpike");
	struct tp_buf errors = {0};
	struct tp_config *config = tp_config_load(a->file, &errors);
	char *name = config != NULL ? strdup(config->state.name) : NULL;
	if (config == NULL)
		(void)fprintf(stderr, "%s", errors.len > 0 ? tp_buf_cstr(&errors) : "out of memory\n");
	tp_config_unref(config);
	tp_buf_free(&errors);
	return name;
}

/* A slot is ready from its worker's word until the master reaps it. */
static unsigned count_ready(const struct tp_region *r)
{
	unsigned n = 0;
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++)
		n += tp_slot_ready(r, slot);
	return n;
}

static uint64_t beat_age(const struct tp_region *r, unsigned slot)
{
	uint64_t beat = tp_slot_last_beat(r, slot), now = tp_clock_boot_ms();
	return now > beat ? now - beat : 0;
}

static void print_text(const struct tp_region *r)
{
	for (unsigned c = 0; c < TP_COUNT_TOTAL; c++)
		(void)printf("%-44s %" PRIu64 "\n", tp_counter_name(c), tp_counter_sum(r, c));
	(void)printf("\n");
	for (unsigned g = 0; g < TP_GAUGE_TOTAL; g++)
		(void)printf("%-44s %" PRId64 "\n", tp_gauge_name(g), tp_gauge_sum(r, g));
	(void)printf("%-44s %" PRIu32 "\n", "ledger_entries", tp_ledger_entries(r));
	(void)printf("%-44s %u\n", "workers", count_ready(r));
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++)
		if (tp_slot_ready(r, slot))
			(void)printf("  worker %-35u last heartbeat %" PRIu64 " ms ago\n", slot,
				     beat_age(r, slot));
}

static void print_json(const struct tp_region *r)
{
	(void)printf("{\"counters\":{");
	for (unsigned c = 0; c < TP_COUNT_TOTAL; c++)
		(void)printf("%s\"%s\":%" PRIu64, c > 0 ? "," : "", tp_counter_name(c), tp_counter_sum(r, c));
	(void)printf("},\"gauges\":{");
	for (unsigned g = 0; g < TP_GAUGE_TOTAL; g++)
		(void)printf("%s\"%s\":%" PRId64, g > 0 ? "," : "", tp_gauge_name(g), tp_gauge_sum(r, g));
	(void)printf("},\"ledger_entries\":%" PRIu32 ",\"workers\":[", tp_ledger_entries(r));
	const char *comma = "";
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++) {
		if (!tp_slot_ready(r, slot))
			continue;
		(void)printf("%s{\"slot\":%u,\"heartbeat_age_ms\":%" PRIu64 "}", comma, slot,
			     beat_age(r, slot));
		comma = ",";
	}
	(void)printf("]}\n");
}

static int print_table(const char *name, bool json)
{
	struct tp_buf why = {0};
	struct tp_region *r;
	int error = tp_region_open_readonly(name, &why, &r);
	if (error != 0)
		(void)fprintf(stderr, "turnpike stats: cannot read the table %s: %s\n", name,
			      why.len > 0 ? tp_buf_cstr(&why) : strerror(-error));
	tp_buf_free(&why);
	if (error != 0)
		return 1;
	if (json)
		print_json(r);
	else
		print_text(r);
	tp_region_close(r);
	return fflush(stdout) == 0 ? 0 : 1;
}

int tp_cmd_stats(int argc, char **argv)
{
	struct arguments a = {0};
	if (!read_arguments(argc, argv, &a)) {
		(void)fprintf(stderr, "Try: turnpike stats --help\n");
		return 2;
	}
	if (a.show_help) {
		(void)fputs(help, stdout);
		return 0;
	}
	char *name = find_name(&a);
	int status = name != NULL ? print_table(name, a.json) : 1;
	free(name);
	return status;
}
