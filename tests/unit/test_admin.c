/* What the admin endpoints show and who may see it, over a table filled by hand. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/shm/breaker.h"
#include "common/shm/cooldown.h"
#include "common/shm/counters.h"
#include "common/shm/histogram.h"
#include "common/shm/marks.h"
#include "common/shm/series.h"
#include "server/admin/access.h"
#include "server/admin/endpoints.h"
#include "server/admin/metrics.h"
#include "server/admin/report.h"

#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

static const struct tp_breaker_policy reported = {.failures = 10, .window_ms = 300000, .duration_ms = 600000};
static struct tp_stamp worker;
static struct tp_config *config;
static struct tp_buf out;

static const char yaml[] =
	"listen: 127.0.0.1:0\n"
	"hosts: [ proxy.example.com ]\n"
	"origins: [ \"http://console.example.com\" ]\n"
	"admin: { listen: [ 127.0.0.1:9, \"unix:/tmp/x\", \"192.0.2.1:9\" ], token: s3cret }\n"
	"providers:\n"
	"  one: { url: \"http://127.0.0.1:1/v1\" }\n"
	"  two: { url: \"http://127.0.0.1:2/v1\" }\n"
	"routes: [ { path: /, provider: one } ]\n";

static void setup(void)
{
	struct tp_buf errors = {0};
	open_region();
	worker = tp_slot_assign(region, 3);
	config = tp_config_parse("test", TP_STR(yaml), &errors);
	ck_assert_msg(config != NULL, "%s", tp_buf_cstr(&errors));
	tp_buf_free(&errors);
}

static void teardown(void)
{
	tp_region_close(region);
	tp_config_unref(config);
	tp_buf_free(&out);
}

static tp_series_id series(enum tp_metric m, const char *a, const char *b, const char *c)
{
	const struct tp_str v[] = {tp_str_from(a), tp_str_from(b), tp_str_from(c)};
	tp_series_id id = tp_series_open(region, worker, m, v);
	ck_assert_uint_ne(id, TP_SERIES_NONE);
	return id;
}

static void count(enum tp_metric m, const char *a, const char *b, const char *c, int64_t n)
{
	tp_series_add(region, worker.slot, series(m, a, b, c), n);
}

/* Lists a URL below a provider's base. */
static void list_url(const char *provider, const char *base)
{
	const struct tp_breaker_policy policy = {.failures = 1, .window_ms = 60000, .duration_ms = 60000};
	uint64_t now = tp_clock_boot_ms(), wait;
	struct tp_breaker_url url =
		tp_breaker_url(region, tp_str_from(provider), tp_str_from(base), TP_STR("/chat/completions"));
	for (int i = 0; i < 2; i++) {
		struct tp_breaker_pass pass = {0};
		ck_assert_int_eq(tp_breaker_ask(region, worker, &url, &policy, now, &pass, &wait),
				 TP_BREAKER_PASS);
		(void)tp_breaker_report(&pass, TP_BREAKER_FAILURE_STATUS, now);
	}
}

/* ---- metrics */

static const char *metrics(void)
{
	tp_buf_free(&out);
	ck_assert(tp_metrics_write(region, config, &out));
	return tp_buf_cstr(&out);
}

static void expect_line(const char *text, const char *line)
{
	char whole[300];
	(void)snprintf(whole, sizeof whole, "\n%s\n", line);
	ck_assert_msg(strstr(text, whole) != NULL, "no line %s in:\n%.3000s", line, text);
}

START_TEST(every_metric_of_the_contract)
{
	static const char *const names[] = {"turnpike_turns_total counter",
					    "turnpike_sends_total counter",
					    "turnpike_retry_attempts_total counter",
					    "turnpike_retry_success_ratio gauge",
					    "turnpike_refusals_total counter",
					    "turnpike_possibly_billed_total counter",
					    "turnpike_hops_total counter",
					    "turnpike_blacklisted gauge",
					    "turnpike_cooling gauge",
					    "turnpike_inflight gauge",
					    "turnpike_queued gauge",
					    "turnpike_wait_seconds histogram",
					    "turnpike_first_byte_seconds histogram",
					    "turnpike_turn_seconds histogram",
					    "turnpike_overhead_seconds histogram",
					    "turnpike_ledger_entries gauge",
					    "turnpike_worker_restarts_total counter",
					    "turnpike_config_generation gauge",
					    "turnpike_alerts_total counter",
					    "codex_retry_attempts_total counter",
					    "codex_retry_success_rate gauge"};
	const char *text = metrics();
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char line[100];
		(void)snprintf(line, sizeof line, "# TYPE %s", names[i]);
		expect_line(text, line);
	}
}
END_TEST

/* As design 11 has them: dashboards rely on these. */
START_TEST(labels_of_the_contract)
{
	static const struct {
		const char *metric, *labels[3];
	} rows[] = {
		{"turnpike_turns_total", {"route", "family", "outcome"}},
		{"turnpike_sends_total", {"provider", "class"}},
		{"turnpike_retry_attempts_total", {"reason"}},
		{"turnpike_refusals_total", {"code"}},
		{"turnpike_possibly_billed_total", {"provider"}},
		{"turnpike_hops_total", {"combo"}},
		{"turnpike_inflight", {"provider"}},
		{"turnpike_queued", {"provider"}},
		{"turnpike_alerts_total", {"kind"}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tp_metric_info *info = NULL;
		for (unsigned m = 0; m < TP_METRIC_COUNT && info == NULL; m++)
			if (strcmp(tp_metric_info((enum tp_metric)m)->name, rows[i].metric) == 0)
				info = tp_metric_info((enum tp_metric)m);
		ck_assert_msg(info != NULL, "no %s", rows[i].metric);
		unsigned n = 0;
		for (; n < 3 && rows[i].labels[n] != NULL; n++)
			ck_assert(n < info->n_labels && strcmp(info->labels[n], rows[i].labels[n]) == 0);
		ck_assert_uint_eq(info->n_labels, n);
	}
}
END_TEST

START_TEST(labelled_numbers)
{
	count(TP_METRIC_TURNS, "/v1", "chat", "ok", 7);
	count(TP_METRIC_SENDS, "one", "initial", NULL, 9);
	count(TP_METRIC_RETRY_ATTEMPTS, "transient", NULL, NULL, 4);
	count(TP_METRIC_HOPS, "a\"b\\c", NULL, NULL, 1);
	count(TP_METRIC_INFLIGHT, "two", NULL, NULL, 2);
	const char *text = metrics();
	expect_line(text, "turnpike_turns_total{route=\"/v1\",family=\"chat\",outcome=\"ok\"} 7");
	expect_line(text, "turnpike_sends_total{provider=\"one\",class=\"initial\"} 9");
	expect_line(text, "turnpike_retry_attempts_total{reason=\"transient\"} 4");
	expect_line(text, "codex_retry_attempts_total{reason=\"transient\"} 4");
	expect_line(text, "turnpike_hops_total{combo=\"a\\\"b\\\\c\"} 1");
	expect_line(text, "turnpike_inflight{provider=\"two\"} 2");
}
END_TEST

START_TEST(ratio_of_retried_turns)
{
	expect_line(metrics(), "turnpike_retry_success_ratio 1");
	count(TP_METRIC_RETRIED_TURNS, "success", NULL, NULL, 3);
	count(TP_METRIC_RETRIED_TURNS, "failure", NULL, NULL, 1);
	expect_line(metrics(), "turnpike_retry_success_ratio 0.75");
	expect_line(metrics(), "codex_retry_success_rate 0.75");
}
END_TEST

START_TEST(histograms_are_cumulated)
{
	tp_histogram_add(region, worker.slot, TP_HISTOGRAM_WAIT, 40 * 1000);
	tp_histogram_add(region, worker.slot, TP_HISTOGRAM_WAIT, 200 * 1000);
	tp_histogram_add(region, worker.slot, TP_HISTOGRAM_WAIT, UINT64_C(1000) * 1000 * 1000);
	const char *text = metrics();
	expect_line(text, "turnpike_wait_seconds_bucket{le=\"0.05\"} 1");
	expect_line(text, "turnpike_wait_seconds_bucket{le=\"0.1\"} 1");
	expect_line(text, "turnpike_wait_seconds_bucket{le=\"0.25\"} 2");
	expect_line(text, "turnpike_wait_seconds_bucket{le=\"300\"} 2");
	expect_line(text, "turnpike_wait_seconds_bucket{le=\"+Inf\"} 3");
	expect_line(text, "turnpike_wait_seconds_sum 1000.24");
	expect_line(text, "turnpike_wait_seconds_count 3");
	expect_line(text, "turnpike_turn_seconds_count 0");
}
END_TEST

START_TEST(out_of_service_by_provider)
{
	uint64_t now = tp_clock_boot_ms();
	expect_line(metrics(), "turnpike_blacklisted{provider=\"one\"} 0");
	list_url("one", "http://127.0.0.1:1/v1");
	list_url("gone", "http://127.0.0.1:9/v1");
	struct tp_cooldown_name target =
		tp_cooldown_target(region, TP_STR("two"), TP_STR("m"), TP_STR("two/m"));
	struct tp_cooldown_name key =
		tp_cooldown_key(region, TP_STR("two"), TP_STR("k"), TP_STR("two key 1"));
	struct tp_cooldown c = {.until_ms = now + 60000, .told = true, .cause = 1};
	(void)tp_cooldown_set(region, worker, &target, c, now);
	(void)tp_cooldown_set(region, worker, &key, c, now);
	const char *text = metrics();
	expect_line(text, "turnpike_blacklisted{provider=\"one\"} 1");
	expect_line(text, "turnpike_blacklisted{provider=\"two\"} 0");
	expect_line(text, "turnpike_cooling{provider=\"one\"} 0");
	expect_line(text, "turnpike_cooling{provider=\"two\"} 2");
	ck_assert_ptr_null(strstr(text, "gone"));
}
END_TEST

/* ---- the report */

START_TEST(report_has_all_sums)
{
	count(TP_METRIC_TURNS, "/v1", "chat", "ok", 7);
	count(TP_METRIC_SENDS, "one", "initial", NULL, 9);
	count(TP_METRIC_SENDS, "one", "overload", NULL, 2);
	count(TP_METRIC_POSSIBLY_BILLED, "one", NULL, NULL, 1);
	count(TP_METRIC_REFUSALS, "upstream_no_response", NULL, NULL, 5);
	tp_count(region, worker.slot, TP_COUNT_TURNS, 12);
	tp_number_set(region, TP_NUMBER_CONFIG_GENERATION, 4);
	list_url("one", "http://127.0.0.1:1/v1");
	json_t *r = tp_report_make(region, &reported);
	const char *provider;
	json_int_t turns, initial, overload, billed, refusals, outcome, generation;
	ck_assert_int_eq(
		json_unpack(r, "{s:{s:I}, s:{s:{s:{s:I, s:I}, s:I}}, s:{s:I}, s:[{s:I}], s:I, s:[{s:s}]}",
			    "counters", "turns", &turns, "providers", "one", "sends", "initial", &initial,
			    "overload", &overload, "possibly_billed", &billed, "refusals",
			    "upstream_no_response", &refusals, "outcomes", "turns", &outcome,
			    "config_generation", &generation, "blacklist", "provider", &provider),
		0);
	ck_assert_int_eq(turns, 12);
	ck_assert_int_eq(initial, 9);
	ck_assert_int_eq(overload, 2);
	ck_assert_int_eq(billed, 1);
	ck_assert_int_eq(refusals, 5);
	ck_assert_int_eq(outcome, 7);
	ck_assert_int_eq(generation, 4);
	ck_assert_str_eq(provider, "one");
	json_decref(r);
}
END_TEST

/* A model's name comes from clients: cut inside a character it must not spoil the whole report. */
START_TEST(report_survives_broken_text)
{
	uint64_t now = tp_clock_boot_ms();
	struct tp_cooldown_name bad =
		tp_cooldown_target(region, TP_STR("one"), TP_STR("x"), TP_STR("one/\xe4\xbd"));
	struct tp_cooldown c = {.until_ms = now + 60000};
	(void)tp_cooldown_set(region, worker, &bad, c, now);
	ck_assert(tp_report_write(region, &reported, &out));
	json_t *r = json_loads(tp_buf_cstr(&out), 0, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(r, "cooldowns")), 1);
	json_decref(r);
}
END_TEST

START_TEST(quantiles)
{
	struct tp_histogram_sum sum = {0};
	ck_assert(tp_report_quantile(TP_HISTOGRAM_WAIT, &sum, 0.5) <= 0);
	sum.counts[0] = 10;
	sum.count = 10;
	double first = (double)tp_histogram_bound_us(TP_HISTOGRAM_WAIT, 0) / 1e6;
	ck_assert_double_eq_tol(tp_report_quantile(TP_HISTOGRAM_WAIT, &sum, 0.5), first / 2, 1e-9);
	sum.counts[TP_HISTOGRAM_BUCKETS - 1] = 10;
	sum.count = 20;
	double last = (double)tp_histogram_bound_us(TP_HISTOGRAM_WAIT, TP_HISTOGRAM_BUCKETS - 2) / 1e6;
	ck_assert_double_eq_tol(tp_report_quantile(TP_HISTOGRAM_WAIT, &sum, 0.5), first, 1e-9);
	ck_assert_double_eq_tol(tp_report_quantile(TP_HISTOGRAM_WAIT, &sum, 0.95), last, 1e-9);
}
END_TEST

/* ---- access */

enum { TCP, UNIX, REMOTE };

static const struct {
	int listener;
	bool token; /* is configured */
	const char *request, *headers;
	int status;
} accesses[] = {
	{TCP, false, "GET /stats", "Host: 127.0.0.1:9", 0},
	{TCP, false, "HEAD /stats", "Host: LOCALHOST", 0},
	{TCP, false, "GET /stats", "Host: [::1]:9", 0},
	{TCP, false, "GET /stats", "Host: 10.1.2.3", 0},
	{TCP, false, "GET /stats", "Host: proxy.example.com:9", 0},
	{TCP, false, "GET /stats", "Host: rebound.example.net", 403},
	{TCP, false, "GET /stats", "Host: 127.0.0.1.example.net", 403},
	{TCP, false, "POST /blacklist/clear", "Host: 127.0.0.1", 403},
	{TCP, false, "DELETE /stats", "Host: 127.0.0.1", 403},
	{TCP, true, "GET /stats", "Host: 127.0.0.1", 0},
	{TCP, true, "GET /stats", "Host: rebound.example.net", 403},
	{TCP, true, "GET /stats", "Host: rebound.example.net\r\nAuthorization: Bearer s3cret", 0},
	{TCP, true, "POST /blacklist/clear", "Host: 127.0.0.1", 401},
	{TCP, true, "POST /blacklist/clear", "Host: 127.0.0.1\r\nAuthorization: Bearer s3cret", 0},
	{TCP, true, "POST /blacklist/clear", "Host: 127.0.0.1\r\nAuthorization: bearer s3cret", 0},
	{TCP, true, "POST /blacklist/clear", "Host: 127.0.0.1\r\nAuthorization: Bearer s3cre", 401},
	{TCP, true, "POST /blacklist/clear", "Host: 127.0.0.1\r\nAuthorization: Bearer s3crets3cret", 401},
	{TCP, true, "POST /blacklist/clear", "Host: 127.0.0.1\r\nAuthorization: Bearer ", 401},
	{TCP, true, "POST /blacklist/clear", "Host: 127.0.0.1\r\nAuthorization: Basic s3cret", 401},
	{TCP, true, "POST /x",
	 "Host: 127.0.0.1\r\nAuthorization: Bearer s3cret\r\nOrigin: http://evil.example.net", 403},
	{TCP, true, "POST /x", "Host: 127.0.0.1\r\nAuthorization: Bearer s3cret\r\nOrigin: null", 403},
	{TCP, true, "POST /x",
	 "Host: 127.0.0.1:9\r\nAuthorization: Bearer s3cret\r\nOrigin: http://127.0.0.1:9", 0},
	{TCP, true, "POST /x",
	 "Host: 127.0.0.1:9\r\nAuthorization: Bearer s3cret\r\nOrigin: http://127.0.0.1:8", 403},
	{TCP, true, "POST /x",
	 "Host: 127.0.0.1\r\nAuthorization: Bearer s3cret\r\nOrigin: http://console.example.com", 0},
	{REMOTE, true, "GET /stats", "Host: 192.0.2.1:9", 401},
	{REMOTE, true, "GET /stats", "Host: 192.0.2.1:9\r\nAuthorization: Bearer s3cret", 0},
	{REMOTE, true, "GET /", "Host: 192.0.2.1:9", 0},
	{REMOTE, true, "GET /?x", "Host: 192.0.2.1:9", 401},
	{REMOTE, true, "POST /", "Host: 192.0.2.1:9", 401},
	{REMOTE, true, "GET /", "Host: rebound.example.net", 403},
	{TCP, true, "POST /x",
	 "Host: 127.0.0.1:9\r\nAuthorization: Bearer s3cret\r\nSec-Fetch-Site: same-origin", 0},
	{TCP, true, "POST /x",
	 "Host: 127.0.0.1:9\r\nAuthorization: Bearer s3cret\r\nSec-Fetch-Site: same-site", 403},
	{UNIX, false, "POST /blacklist/clear", "Host: whatever", 0},
	{UNIX, false, "POST /x", "Host: 127.0.0.1:9\r\nOrigin: http://127.0.0.1:9", 0},
	{UNIX, false, "POST /x", "Host: 127.0.0.1:9\r\nOrigin: http://127.0.0.1:8", 403},
	{UNIX, false, "POST /x", "Host: 127.0.0.1:9\r\nOrigin: null", 403},
	{UNIX, false, "POST /x", "Host: 127.0.0.1:9\r\nSec-Fetch-Site: cross-site", 403},
	{UNIX, false, "GET /stats", "Host: 127.0.0.1:9\r\nSec-Fetch-Site: none", 0},
	{UNIX, false, "GET /stats", "Host: rebound.example.net\r\nSec-Fetch-Site: same-origin", 403},
};

START_TEST(who_may_do_what)
{
	static struct tp_head head;
	char text[300];
	size_t scanned = 0;
	int status;
	const char *why;
	(void)snprintf(text, sizeof text, "%s HTTP/1.1\r\n%s\r\n\r\n", accesses[_i].request,
		       accesses[_i].headers);
	ck_assert_int_eq(
		tp_head_parse_request(text, strlen(text), 4096, 4096, &scanned, &head, &status, &why),
		TP_PARSE_OK);
	char *token = config->admin.token;
	if (!accesses[_i].token)
		config->admin.token = NULL;
	struct tp_admin_access a =
		tp_admin_access_check(config, &config->admin.listeners[accesses[_i].listener], text, &head);
	config->admin.token = token;
	ck_assert_msg(a.status == accesses[_i].status, "%s: %d", text, a.status);
	ck_assert((a.why == NULL) == (a.status == 0));
}
END_TEST

/* ---- endpoints */

static int ask(bool draining, const char *method, const char *path, const char *query, const char *body)
{
	static const uint8_t slots[] = {3};
	const struct tp_admin_view view = {
		.config = config, .region = region, .slots = slots, .n_slots = 1, .draining = draining};
	const struct tp_admin_question q = {.method = tp_str_from(method),
					    .path = tp_str_from(path),
					    .query = tp_str_from(query),
					    .body = tp_str_from(body)};
	struct tp_admin_answer a;
	tp_admin_answer(&view, &q, &a);
	ck_assert(!a.body.failed && a.type != NULL);
	ck_assert((a.allow != NULL) == (a.status == 405));
	tp_buf_free(&out);
	out = a.body;
	return a.status;
}

START_TEST(readiness)
{
	tp_slot_set_ready(region, 4, true); /* of somebody else: an orphan */
	ck_assert_int_eq(ask(false, "GET", "/readyz", "", ""), 503);
	tp_slot_set_ready(region, 3, true);
	ck_assert_int_eq(ask(false, "GET", "/readyz", "", ""), 200);
	ck_assert_int_eq(ask(true, "GET", "/readyz", "", ""), 503);
	ck_assert_int_eq(ask(true, "GET", "/healthz", "", ""), 200);
}
END_TEST

static const struct {
	const char *method, *path, *query, *body;
	int status;
} asked[] = {
	{"GET", "/metrics", "", "", 200},
	{"HEAD", "/stats", "", "", 200},
	{"GET", "/", "", "", 200},
	{"GET", "/x", "", "", 404},
	{"POST", "/", "", "", 405},
	{"GET", "/stats", "history=1", "", 200},
	{"GET", "/metrics/", "", "", 404},
	{"POST", "/metrics", "", "", 405},
	{"GET", "/blacklist/clear", "", "", 405},
	{"POST", "/blacklist/clear", "", "", 200},
	{"POST", "/blacklist/clear", "", " ", 200},
	{"POST", "/blacklist/clear", "", "{}", 200},
	{"POST", "/blacklist/clear", "", "{\"url\":\"http://a\"}", 200},
	{"POST", "/blacklist/clear", "", "{\"url\":\"\"}", 400},
	{"POST", "/blacklist/clear", "", "{\"url\":1}", 400},
	{"POST", "/blacklist/clear", "", "{\"uri\":\"http://a\"}", 400},
	{"POST", "/blacklist/clear", "", "{\"url\":\"a\",\"b\":1}", 400},
	{"POST", "/blacklist/clear", "", "[]", 400},
	{"POST", "/blacklist/clear", "", "http://a", 400},
	{"POST", "/blacklist/clear", "url=http%3A%2f%2Fa", "", 200},
	{"POST", "/blacklist/clear", "url=", "", 400},
	{"POST", "/blacklist/clear", "url=%2", "", 400},
	{"POST", "/blacklist/clear", "url=%zz", "", 400},
	{"POST", "/blacklist/clear", "url=%00", "", 400},
	{"POST", "/blacklist/clear", "uri=a", "", 400},
	{"POST", "/cooldown/clear", "", "", 200},
	{"POST", "/reload", "", "", 503}, /* nobody to ask here */
	{"POST", "/reload", "", "{}", 503},
	{"POST", "/reload", "", "{\"file\":\"/another\"}", 409},
	{"POST", "/reload", "", "{\"fil\":\"/another\"}", 400},
	{"POST", "/reload", "", "/another", 400},
};

START_TEST(answers)
{
	int status = ask(false, asked[_i].method, asked[_i].path, asked[_i].query, asked[_i].body);
	ck_assert_msg(status == asked[_i].status, "%s %s?%s %s: %d", asked[_i].method, asked[_i].path,
		      asked[_i].query, asked[_i].body, status);
}
END_TEST

/* A wrong request must not be read as "all". */
START_TEST(clearing)
{
	struct tp_breaker_row row = {0};
	const struct tp_breaker_policy policy = {.failures = 1};
	char query[400];
	uint32_t cursor = 0;
	list_url("one", "http://127.0.0.1:1/v1");
	list_url("two", "http://127.0.0.1:2/v1");
	ck_assert_int_eq(ask(false, "POST", "/blacklist/clear", "url=%zz", ""), 400);
	while (tp_breaker_next(region, &policy, &cursor, &row) && !row.listed)
		;
	ck_assert(row.listed);
	(void)snprintf(query, sizeof query, "url=%s", row.url);
	ck_assert_int_eq(ask(false, "POST", "/blacklist/clear", query, ""), 200);
	ck_assert_str_eq(tp_buf_cstr(&out), "{\"cleared\":1}\n");
	ck_assert_int_eq(ask(false, "POST", "/blacklist/clear", "", ""), 200);
	ck_assert_str_eq(tp_buf_cstr(&out), "{\"cleared\":1}\n");
}
END_TEST

TP_TESTS(admin)
{
	enum { N_ACCESSES = sizeof accesses / sizeof accesses[0], N_ASKED = sizeof asked / sizeof asked[0] };
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_metric_of_the_contract);
	tcase_add_test(t, labels_of_the_contract);
	tcase_add_test(t, labelled_numbers);
	tcase_add_test(t, ratio_of_retried_turns);
	tcase_add_test(t, histograms_are_cumulated);
	tcase_add_test(t, out_of_service_by_provider);
	tcase_add_test(t, report_has_all_sums);
	tcase_add_test(t, report_survives_broken_text);
	tcase_add_test(t, quantiles);
	tcase_add_loop_test(t, who_may_do_what, 0, N_ACCESSES);
	tcase_add_test(t, readiness);
	tcase_add_loop_test(t, answers, 0, N_ASKED);
	tcase_add_test(t, clearing);
}
