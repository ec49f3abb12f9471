#include "server/admin/report.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/shm/counters.h"
#include "common/shm/ledger.h"
#include "common/shm/marks.h"
#include "common/shm/series.h"
#include "common/shm/slots.h"
#include "server/admin/listing.h"
#include "server/admin/open_list.h"

/* One failure spoils the whole: looked at once, at the end. */
struct report {
	const struct tp_region *table;
	json_t *root;
	bool failed;
};

static void put(struct report *r, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) != 0)
		r->failed = true;
}

static json_t *put_object(struct report *r, json_t *object, const char *key)
{
	put(r, object, key, json_object());
	return json_object_get(object, key);
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *seconds(uint64_t us)
{
	return json_real((double)us / 1e6);
}

/* ---- counters and gauges of the workers */

static void add_counters(struct report *r)
{
	json_t *counters = put_object(r, r->root, "counters");
	for (unsigned c = 0; c < TP_COUNT_TOTAL; c++)
		put(r, counters, tp_counter_name(c), number(tp_counter_sum(r->table, c)));
	json_t *gauges = put_object(r, r->root, "gauges");
	for (unsigned g = 0; g < TP_GAUGE_TOTAL; g++)
		put(r, gauges, tp_gauge_name(g), json_integer(tp_gauge_sum(r->table, g)));
}

static void add_instance(struct report *r)
{
	uint64_t started = tp_number_get(r->table, TP_NUMBER_STARTED_MS), now = tp_clock_boot_ms();
	put(r, r->root, "ledger_entries", number(tp_ledger_entries(r->table)));
	put(r, r->root, "config_generation", number(tp_number_get(r->table, TP_NUMBER_CONFIG_GENERATION)));
	put(r, r->root, "worker_restarts", number(tp_number_get(r->table, TP_NUMBER_WORKER_RESTARTS)));
	put(r, r->root, "log_lost", number(tp_number_get(r->table, TP_NUMBER_LOG_LOST)));
	put(r, r->root, "snapshots", number(tp_number_get(r->table, TP_NUMBER_SNAPSHOTS)));
	put(r, r->root, "snapshots_lost", number(tp_number_get(r->table, TP_NUMBER_SNAPSHOTS_LOST)));
	put(r, r->root, "alerts_lost", number(tp_number_get(r->table, TP_NUMBER_ALERTS_LOST)));
	put(r, r->root, "series_lost", number(tp_series_lost(r->table)));
	put(r, r->root, "uptime", number(started != 0 && now > started ? (now - started) / 1000 : 0));
}

static void add_workers(struct report *r)
{
	json_t *workers = json_array();
	uint64_t now = tp_clock_boot_ms();
	struct tp_slot_info w;
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++) {
		if (!tp_slot_describe(r->table, slot, &w))
			continue;
		json_t *row = json_pack(
			"{s:I, s:I, s:b, s:I, s:I}", "slot", (json_int_t)slot, "pid", (json_int_t)w.pid,
			"ready", w.ready, "age",
			(json_int_t)(now > w.started_ms ? now - w.started_ms : 0) / 1000, "heartbeat_age_ms",
			(json_int_t)(w.last_beat_ms != 0 && now > w.last_beat_ms ? now - w.last_beat_ms : 0));
		if (json_array_append_new(workers, row) != 0)
			r->failed = true;
	}
	put(r, r->root, "workers", workers);
}

/* ---- labelled numbers */

/* A value of a label as a key: terminated. */
struct label {
	char text[TP_SERIES_TEXT + 1];
};

static struct label label_of(struct tp_str value)
{
	struct label l;
	size_t n = value.n < TP_SERIES_TEXT ? value.n : TP_SERIES_TEXT;
	if (n > 0)
		memcpy(l.text, value.p, n);
	l.text[n] = '\0';
	return l;
}

/* The object under a key, made when it is new. */
static json_t *within(struct report *r, json_t *object, const char *key)
{
	json_t *there = json_object_get(object, key);
	return there != NULL ? there : put_object(r, object, key);
}

/* A metric with one label: { value of the label: sum }. */
static void add_by_label(struct report *r, const char *key, enum tp_metric m)
{
	json_t *object = put_object(r, r->root, key);
	struct tp_series_row row;
	for (uint32_t cursor = 0; tp_series_next(r->table, m, &cursor, &row);)
		put(r, object, label_of(row.values[0]).text, json_integer(row.sum));
}

static void add_outcomes(struct report *r)
{
	json_t *array = json_array();
	struct tp_series_row row;
	for (uint32_t cursor = 0; tp_series_next(r->table, TP_METRIC_TURNS, &cursor, &row);) {
		json_t *turn = json_pack("{s:o, s:o, s:o, s:I}", "route", tp_listing_text(row.values[0]),
					 "family", tp_listing_text(row.values[1]), "outcome",
					 tp_listing_text(row.values[2]), "turns", (json_int_t)row.sum);
		if (json_array_append_new(array, turn) != 0)
			r->failed = true;
	}
	put(r, r->root, "outcomes", array);
}

/* Numbers of a provider under its name, each metric under `key`. */
static void add_of_providers(struct report *r, json_t *providers, const char *key, enum tp_metric m)
{
	struct tp_series_row row;
	for (uint32_t cursor = 0; tp_series_next(r->table, m, &cursor, &row);)
		put(r, within(r, providers, label_of(row.values[0]).text), key, json_integer(row.sum));
}

static void add_providers(struct report *r)
{
	json_t *providers = put_object(r, r->root, "providers");
	struct tp_series_row row;
	for (uint32_t cursor = 0; tp_series_next(r->table, TP_METRIC_SENDS, &cursor, &row);) {
		json_t *provider = within(r, providers, label_of(row.values[0]).text);
		put(r, within(r, provider, "sends"), label_of(row.values[1]).text, json_integer(row.sum));
	}
	for (uint32_t cursor = 0; tp_series_next(r->table, TP_METRIC_KEY_SENDS, &cursor, &row);) {
		json_t *provider = within(r, providers, label_of(row.values[0]).text);
		put(r, within(r, provider, "key_sends"), label_of(row.values[1]).text, json_integer(row.sum));
	}
	add_of_providers(r, providers, "possibly_billed", TP_METRIC_POSSIBLY_BILLED);
	add_of_providers(r, providers, "inflight", TP_METRIC_INFLIGHT);
	add_of_providers(r, providers, "queued", TP_METRIC_QUEUED);
}

double tp_report_retry_ratio(const struct tp_region *r)
{
	int64_t good = tp_metric_sum(r, TP_METRIC_RETRIED_TURNS, 0, TP_STR("success"));
	int64_t bad = tp_metric_sum(r, TP_METRIC_RETRIED_TURNS, 0, TP_STR("failure"));
	return good + bad > 0 ? (double)good / (double)(good + bad) : 1;
}

/* ---- histograms */

double tp_report_quantile(enum tp_histogram h, const struct tp_histogram_sum *sum, double quantile)
{
	double rank = quantile * (double)sum->count, below = 0, low = 0;
	for (unsigned i = 0; i < TP_HISTOGRAM_BUCKETS; i++) {
		double here = (double)sum->counts[i];
		if (i == TP_HISTOGRAM_BUCKETS - 1 && here > 0)
			return low; /* no upper bound to spread to */
		double high = (double)tp_histogram_bound_us(h, i) / 1e6;
		if (here > 0 && below + here >= rank)
			return low + (high - low) * (rank - below) / here;
		below += here;
		low = high;
	}
	return 0;
}

static void add_histograms(struct report *r)
{
	json_t *histograms = put_object(r, r->root, "histograms");
	for (unsigned h = 0; h < TP_HISTOGRAM_COUNT; h++) {
		struct tp_histogram_sum sum;
		tp_histogram_read(r->table, h, &sum);
		json_t *one = put_object(r, histograms, tp_histogram_name(h));
		put(r, one, "count", number(sum.count));
		put(r, one, "sum", seconds(sum.sum_us));
		put(r, one, "p50", json_real(tp_report_quantile(h, &sum, 0.5)));
		put(r, one, "p95", json_real(tp_report_quantile(h, &sum, 0.95)));
	}
}

json_t *tp_report_make(const struct tp_region *table, const struct tp_breaker_policy *p)
{
	struct report r = {.table = table, .root = json_object()};
	add_counters(&r);
	add_instance(&r);
	add_workers(&r);
	add_outcomes(&r);
	add_providers(&r);
	add_by_label(&r, "refusals", TP_METRIC_REFUSALS);
	add_by_label(&r, "retries", TP_METRIC_RETRY_ATTEMPTS);
	add_by_label(&r, "retried_turns", TP_METRIC_RETRIED_TURNS);
	put(&r, r.root, "retry_success_ratio", json_real(tp_report_retry_ratio(table)));
	add_by_label(&r, "hops", TP_METRIC_HOPS);
	add_by_label(&r, "alerts", TP_METRIC_ALERTS);
	add_histograms(&r);
	put(&r, r.root, "blacklist", tp_listing_blacklist(table, p));
	put(&r, r.root, "failing", tp_listing_failing(table, p));
	put(&r, r.root, "cooldowns", tp_listing_cooldowns(table));
	put(&r, r.root, "open_turns", tp_open_list(table));
	if (r.failed) {
		json_decref(r.root);
		return NULL;
	}
	return r.root;
}

bool tp_report_write(const struct tp_region *r, const struct tp_breaker_policy *p, struct tp_buf *out)
{
	return tp_report_text(tp_report_make(r, p), out);
}

bool tp_report_text(json_t *tree, struct tp_buf *out)
{
	char *text = tree != NULL ? json_dumps(tree, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
	json_decref(tree);
	if (text == NULL) {
		out->failed = true;
		return false;
	}
	tp_buf_add_str(out, tp_str_from(text));
	tp_buf_add_str(out, TP_STR("\n"));
	free(text);
	return !out->failed;
}
