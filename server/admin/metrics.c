#include "server/admin/metrics.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/config/refresh.h"
#include "common/shm/breaker.h"
#include "common/shm/cooldown.h"
#include "common/shm/counters.h"
#include "common/shm/histogram.h"
#include "common/shm/ledger.h"
#include "common/shm/marks.h"
#include "common/shm/series.h"
#include "common/shm/slots.h"
#include "common/shm/token.h"
#include "server/admin/report.h"

static void add_head(struct tp_buf *out, const char *name, const char *type, const char *help)
{
	tp_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_whole(struct tp_buf *out, const char *name, const char *type, const char *help, int64_t value)
{
	add_head(out, name, type, help);
	tp_buf_printf(out, "%s %" PRId64 "\n", name, value);
}

/* Backslash, quote and line end are escaped; what is no ASCII could be half a character. */
static void add_label(struct tp_buf *out, const char *name, struct tp_str value)
{
	tp_buf_printf(out, "%s=\"", name);
	for (size_t i = 0; i < value.n; i++) {
		char c = value.p[i];
		if (c == '\n')
			tp_buf_add_str(out, TP_STR("\\n"));
		else if (c == '\\' || c == '"')
			tp_buf_printf(out, "\\%c", c);
		else
			tp_buf_add(out, (unsigned char)c < 0x80 ? &c : "?", 1);
	}
	tp_buf_add_str(out, TP_STR("\""));
}

/* ---- labelled numbers */

static void add_row(struct tp_buf *out, const char *name, const struct tp_metric_info *info,
		    const struct tp_series_row *row)
{
	tp_buf_add_str(out, tp_str_from(name));
	for (unsigned i = 0; i < row->n_values && i < info->n_labels; i++) {
		tp_buf_add_str(out, i == 0 ? TP_STR("{") : TP_STR(","));
		add_label(out, info->labels[i], row->values[i]);
	}
	tp_buf_printf(out, "} %" PRId64 "\n", row->sum);
}

/* `also`: the metric's other name, under which the very same readings are shown; or NULL. */
static void add_metric(struct tp_buf *out, const struct tp_region *r, enum tp_metric m, const char *also)
{
	const struct tp_metric_info *info = tp_metric_info(m);
	const char *type = info->gauge ? "gauge" : "counter";
	struct tp_buf other = {0};
	struct tp_series_row row;
	add_head(out, info->name, type, info->help);
	if (also != NULL)
		add_head(&other, also, type, info->help);
	for (uint32_t cursor = 0; tp_series_next(r, m, &cursor, &row);) {
		add_row(out, info->name, info, &row);
		if (also != NULL)
			add_row(&other, also, info, &row);
	}
	tp_buf_add_str(out, tp_buf_str(&other));
	out->failed = out->failed || other.failed;
	tp_buf_free(&other);
}

static void add_ratio(struct tp_buf *out, const struct tp_region *r)
{
	static const char *const names[] = {"turnpike_retry_success_ratio", "codex_retry_success_rate"};
	double ratio = tp_report_retry_ratio(r);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		add_head(out, names[i], "gauge",
			 "Part of the turns sent more than once that ended well; 1 while there is none.");
		tp_buf_printf(out, "%s %.9g\n", names[i], ratio);
	}
}

/* ---- histograms */

static void add_histogram(struct tp_buf *out, const struct tp_region *r, enum tp_histogram h)
{
	const char *name = tp_histogram_name(h);
	struct tp_histogram_sum sum;
	uint64_t below = 0;
	tp_histogram_read(r, h, &sum);
	add_head(out, name, "histogram", tp_histogram_help(h));
	for (unsigned i = 0; i < TP_HISTOGRAM_BUCKETS - 1; i++) {
		below += sum.counts[i];
		tp_buf_printf(out, "%s_bucket{le=\"%.9g\"} %" PRIu64 "\n", name,
			      (double)tp_histogram_bound_us(h, i) / 1e6, below);
	}
	tp_buf_printf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.9g\n%s_count %" PRIu64 "\n", name,
		      sum.count, name, (double)sum.sum_us / 1e6, name, sum.count);
}

/* ---- what is out of service, by provider */

static size_t provider_named(const struct tp_config *c, struct tp_str name, size_t limit)
{
	size_t i = 0;
	for (; i < c->n_providers; i++) {
		struct tp_str own = tp_str_from(c->providers[i].name);
		own.n = own.n < limit ? own.n : limit;
		if (tp_str_eq(own, name))
			break;
	}
	return i;
}

static void count_listed(const struct tp_region *r, const struct tp_config *c, unsigned *counts)
{
	const struct tp_breaker_policy any = {.failures = 1};
	struct tp_breaker_row row;
	for (uint32_t cursor = 0; tp_breaker_next(r, &any, &cursor, &row);)
		if (row.listed)
			counts[provider_named(c, tp_str_from(row.provider), TP_BREAKER_PROVIDER - 1)]++;
}

/* What cools is called "codex/gpt-5" or "codex key 2": neither a slash nor a blank is in a provider's name.
 */
static void count_cooling(const struct tp_region *r, const struct tp_config *c, unsigned *counts)
{
	struct tp_cooldown_row row;
	uint64_t now = tp_clock_boot_ms();
	for (uint32_t cursor = 0; tp_cooldown_next(r, now, &cursor, &row);) {
		struct tp_str name = {row.text, strcspn(row.text, "/ ")};
		counts[provider_named(c, name, TP_COOLDOWN_NAME - 1)]++;
	}
}

static void add_by_provider(struct tp_buf *out, const struct tp_region *r, const struct tp_config *c,
			    const char *name, const char *help,
			    void (*count)(const struct tp_region *, const struct tp_config *, unsigned *))
{
	/* One more: what belongs to a provider that is not in the configuration any more. */
	unsigned *counts = calloc(c->n_providers + 1, sizeof *counts);
	if (counts == NULL) {
		out->failed = true;
		return;
	}
	count(r, c, counts);
	add_head(out, name, "gauge", help);
	for (size_t i = 0; i < c->n_providers; i++) {
		tp_buf_printf(out, "%s{", name);
		add_label(out, "provider", tp_str_from(c->providers[i].name));
		tp_buf_printf(out, "} %u\n", counts[i]);
	}
	free(counts);
}

/* Each key by its place in `keys`, as it is in the configuration now. */
static void add_keys_cooling(struct tp_buf *out, const struct tp_region *r, const struct tp_config *c)
{
	static const char name[] = "turnpike_key_cooling";
	const struct tp_str none = {NULL, 0};
	uint64_t now = tp_clock_boot_ms();
	add_head(out, name, "gauge", "1 while a key of the provider is left alone after a refusal.");
	for (size_t i = 0; i < c->n_providers; i++) {
		const struct tp_provider_conf *p = &c->providers[i];
		struct tp_str provider = tp_str_from(p->name);
		for (size_t k = 0; k < p->n_keys; k++) {
			struct tp_hash128 key =
				tp_cooldown_key(r, provider, tp_str_from(p->keys[k]), none).key;
			tp_buf_printf(out, "%s{", name);
			add_label(out, "provider", provider);
			tp_buf_printf(out, ",key=\"%zu\"} %d\n", k + 1, tp_cooldown_get(r, key, now, NULL));
		}
	}
}

/* Of each provider with `refresh` that has a token. */
static void add_tokens(struct tp_buf *out, const struct tp_region *r, const struct tp_config *c)
{
	static const char age_name[] = "turnpike_token_age_seconds",
			  left_name[] = "turnpike_token_left_seconds";
	uint64_t now = tp_clock_boot_ms(), got, expires;
	struct tp_buf age = {0}, left = {0};
	add_head(&age, age_name, "gauge", "Since the provider's access token was got.");
	add_head(&left, left_name, "gauge", "Until it expires, where that is known; 0 when it has.");
	for (size_t i = 0; i < c->n_providers; i++) {
		const struct tp_provider_conf *p = &c->providers[i];
		struct tp_str name = tp_str_from(p->name);
		if (!tp_refresh_is_set(p) || !tp_token_times(r, name, &got, &expires))
			continue;
		tp_buf_printf(&age, "%s{", age_name);
		add_label(&age, "provider", name);
		tp_buf_printf(&age, "} %.9g\n", now > got ? (double)(now - got) / 1e3 : 0);
		if (expires == 0)
			continue;
		tp_buf_printf(&left, "%s{", left_name);
		add_label(&left, "provider", name);
		tp_buf_printf(&left, "} %.9g\n", expires > now ? (double)(expires - now) / 1e3 : 0);
	}
	tp_buf_add_str(out, tp_buf_str(&age));
	tp_buf_add_str(out, tp_buf_str(&left));
	out->failed = out->failed || age.failed || left.failed;
	tp_buf_free(&age);
	tp_buf_free(&left);
}

/* ---- numbers without labels */

static const struct {
	enum tp_counter counter;
	const char *name, *help;
} counters[] = {
	{TP_COUNT_CONNECTIONS, "turnpike_connections_total", "Connections of clients that were accepted."},
	{TP_COUNT_GIVEN_BACK, "turnpike_given_back_total", "Charges returned: the send wrote nothing."},
	{TP_COUNT_FROM_MEMORY, "turnpike_from_memory_total",
	 "Turns answered without a send, as an earlier one of the logical request had ended."},
	{TP_COUNT_LEDGER_FULL, "turnpike_ledger_full_total", "Turns that found no room in the ledger."},
	{TP_COUNT_BYTES_IN, "turnpike_received_bytes_total", "Bytes from clients."},
	{TP_COUNT_BYTES_OUT, "turnpike_sent_bytes_total", "Bytes to clients."},
	{TP_COUNT_TLS_HANDSHAKES, "turnpike_tls_handshakes_total",
	 "TLS handshakes of clients that were done."},
	{TP_COUNT_TLS_RESUMED, "turnpike_tls_resumed_total", "Those that resumed a session."},
	{TP_COUNT_TLS_FAILED, "turnpike_tls_failed_total",
	 "TLS handshakes of clients that were refused, broken off or too slow."},
	{TP_COUNT_PROVIDER_TLS, "turnpike_provider_tls_handshakes_total",
	 "TLS handshakes with providers that were done."},
	{TP_COUNT_PROVIDER_TLS_RESUMED, "turnpike_provider_tls_resumed_total",
	 "Those that resumed a session."},
};

static const struct {
	enum tp_gauge gauge;
	const char *name, *help;
} gauges[] = {
	{TP_GAUGE_CLIENTS, "turnpike_client_connections", "Open connections of clients."},
	{TP_GAUGE_TURNS, "turnpike_turns_in_progress", "Turns in progress."},
	{TP_GAUGE_SENDS, "turnpike_sends_in_progress", "Sends in progress."},
	{TP_GAUGE_WAITING, "turnpike_turns_waiting", "Turns in a wait before their next send."},
	{TP_GAUGE_POOLED, "turnpike_pooled_connections", "Idle connections to providers."},
};

static unsigned workers_ready(const struct tp_region *r)
{
	unsigned n = 0;
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++)
		n += tp_slot_ready(r, slot);
	return n;
}

static void add_plain(struct tp_buf *out, const struct tp_region *r)
{
	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
		add_whole(out, counters[i].name, "counter", counters[i].help,
			  (int64_t)tp_counter_sum(r, counters[i].counter));
	for (size_t i = 0; i < sizeof gauges / sizeof gauges[0]; i++)
		add_whole(out, gauges[i].name, "gauge", gauges[i].help, tp_gauge_sum(r, gauges[i].gauge));
	add_whole(out, "turnpike_ledger_entries", "gauge", "Logical requests that are remembered.",
		  tp_ledger_entries(r));
	add_whole(out, "turnpike_workers_ready", "gauge", "Workers that serve.", workers_ready(r));
	add_whole(out, "turnpike_worker_restarts_total", "counter", "Workers that were replaced.",
		  (int64_t)tp_number_get(r, TP_NUMBER_WORKER_RESTARTS));
	add_whole(out, "turnpike_config_generation", "gauge",
		  "Configurations taken over since the server began.",
		  (int64_t)tp_number_get(r, TP_NUMBER_CONFIG_GENERATION));
	add_whole(out, "turnpike_log_lost_total", "counter",
		  "Lines of the log and the access log that could not be written.",
		  (int64_t)tp_number_get(r, TP_NUMBER_LOG_LOST));
	add_whole(out, "turnpike_snapshots_total", "counter", "Snapshots of failed turns that were written.",
		  (int64_t)tp_number_get(r, TP_NUMBER_SNAPSHOTS));
	add_whole(out, "turnpike_snapshots_lost_total", "counter", "Snapshots that could not be written.",
		  (int64_t)tp_number_get(r, TP_NUMBER_SNAPSHOTS_LOST));
	add_whole(out, "turnpike_alerts_lost_total", "counter",
		  "Alerts whose command could not be run, failed, or took too long.",
		  (int64_t)tp_number_get(r, TP_NUMBER_ALERTS_LOST));
	add_whole(out, "turnpike_series_lost_total", "counter",
		  "Labelled numbers that found no room in the table.", (int64_t)tp_series_lost(r));
}

bool tp_metrics_write(const struct tp_region *r, const struct tp_config *config, struct tp_buf *out)
{
	for (unsigned m = 0; m < TP_METRIC_COUNT; m++)
		add_metric(out, r, m, m == TP_METRIC_RETRY_ATTEMPTS ? "codex_retry_attempts_total" : NULL);
	add_ratio(out, r);
	for (unsigned h = 0; h < TP_HISTOGRAM_COUNT; h++)
		add_histogram(out, r, h);
	add_by_provider(out, r, config, "turnpike_blacklisted", "URLs of the provider that are blacklisted.",
			count_listed);
	add_by_provider(out, r, config, "turnpike_cooling", "Targets and keys of the provider that cool.",
			count_cooling);
	add_keys_cooling(out, r, config);
	add_tokens(out, r, config);
	add_plain(out, r);
	return !out->failed;
}
