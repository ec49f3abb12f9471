/* The blacklist: scripts of asking and reporting, over several workers. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/shm/breaker.h"
#include "common/shm/layout.h"

#include "tests/unit/dies.h"
#include "tests/unit/suite.h"

enum { WORKERS = 4, START_MS = 1000000, PASSES = 8, STEPS = 40 };

static struct tp_region *region;
static struct tp_stamp workers[WORKERS];

static void setup(void)
{
	const struct tp_region_sizes sizes = {.logical_requests = 128, .urls = 64};
	ck_assert_int_eq(tp_region_open_anonymous(sizes, &region), 0);
	for (unsigned i = 0; i < WORKERS; i++)
		workers[i] = tp_slot_assign(region, i);
}

static void teardown(void)
{
	tp_region_close(region);
}

static struct tp_breaker_url url_of(const char *path)
{
	return tp_breaker_url(region, TP_STR("codex"), TP_STR("https://h.example/v1"), tp_str_from(path));
}

/* ---- scripts */

enum op {
	OP_END,
	OP_AT,      /* ms since the start */
	OP_ASK,     /* pass n, in worker n % WORKERS, gets `expect`; with LISTED `ms` is the wait */
	OP_REPORT,  /* pass n ends as `outcome` and brings `expect` as news */
	OP_MANY,    /* n whole turns on `path` that end as `outcome` */
	OP_DIE,     /* the worker of pass n */
	OP_CONNECT, /* the connect check of the base succeeds; it ends `expect` listings */
	OP_HEALTH,  /* the health path answers */
	OP_CLEAR    /* by hand: all */
};

struct step {
	enum op op;
	int n;
	const char *path;
	int expect;
	enum tp_breaker_outcome outcome;
	uint64_t ms;
};

struct script {
	const char *name;
	struct tp_breaker_policy policy;
	struct step steps[STEPS];
};

#define AT(t)                                                                                                \
	{                                                                                                    \
		.op = OP_AT, .ms = (t)                                                                       \
	}
#define PASS(i, p)                                                                                           \
	{                                                                                                    \
		.op = OP_ASK, .n = (i), .path = (p), .expect = TP_BREAKER_PASS                               \
	}
#define PROBE(i, p)                                                                                          \
	{                                                                                                    \
		.op = OP_ASK, .n = (i), .path = (p), .expect = TP_BREAKER_PASS_AS_PROBE                      \
	}
#define LISTED(p, t)                                                                                         \
	{                                                                                                    \
		.op = OP_ASK, .n = 7, .path = (p), .expect = TP_BREAKER_LISTED, .ms = (t)                    \
	}
#define REPORT(i, o, news)                                                                                   \
	{                                                                                                    \
		.op = OP_REPORT, .n = (i), .outcome = TP_BREAKER_##o, .expect = TP_BREAKER_##news            \
	}
#define MANY(i, p, o)                                                                                        \
	{                                                                                                    \
		.op = OP_MANY, .n = (i), .path = (p), .outcome = TP_BREAKER_##o                              \
	}
#define DIE(i)                                                                                               \
	{                                                                                                    \
		.op = OP_DIE, .n = (i)                                                                       \
	}
#define CONNECT(k)                                                                                           \
	{                                                                                                    \
		.op = OP_CONNECT, .expect = (k)                                                              \
	}
#define HEALTH(k)                                                                                            \
	{                                                                                                    \
		.op = OP_HEALTH, .expect = (k)                                                               \
	}
#define CLEAR(k)                                                                                             \
	{                                                                                                    \
		.op = OP_CLEAR, .expect = (k)                                                                \
	}
#define ALONE .only_provider = true

static const struct script scripts[] = {
	{"BR-1: the eleventh failure in a row lists; probes of an only provider begin after 15s",
	 {10, 300000, 600000, ALONE},
	 {MANY(10, "/a", FAILURE_STATUS), PASS(0, "/a"), REPORT(0, FAILURE_STATUS, NEWLY_LISTED),
	  LISTED("/a", 15000), PASS(1, "/b"), AT(14999), LISTED("/a", 1000), AT(15000), PROBE(0, "/a")}},
	{"BR-1: a short duration, then a success",
	 {10, 300000, 2000, ALONE},
	 {MANY(11, "/a", FAILURE_STATUS), LISTED("/a", 2000), AT(2100), PROBE(0, "/a"),
	  REPORT(0, SUCCESS, UNLISTED), PASS(1, "/a"), MANY(10, "/a", FAILURE_STATUS), PASS(2, "/a")}},
	{"BR-2: one probe over all workers until it has ended",
	 {2, 300000, 2000, 0},
	 {MANY(3, "/a", FAILURE_STATUS), AT(2100), PROBE(0, "/a"), LISTED("/a", 1000), LISTED("/a", 1000),
	  AT(3100), REPORT(0, SUCCESS, UNLISTED), PASS(1, "/a"), PASS(2, "/a")}},
	{"BR-3: a failed probe doubles; up to the hour",
	 {2, 300000, 2000, 0},
	 {MANY(3, "/a", FAILURE_STATUS), AT(2100), PROBE(0, "/a"), REPORT(0, FAILURE_STATUS, LISTED_AGAIN),
	  LISTED("/a", 4000), AT(5100), LISTED("/a", 1000), AT(6100), PROBE(0, "/a"),
	  REPORT(0, FAILURE_CONNECTION, LISTED_AGAIN), LISTED("/a", 8000)}},
	{"BR-3: the same for an only provider with a short duration",
	 {2, 300000, 2000, ALONE},
	 {MANY(3, "/a", FAILURE_STATUS), AT(2100), PROBE(0, "/a"), REPORT(0, FAILURE_STATUS, LISTED_AGAIN),
	  AT(5100), LISTED("/a", 1000), AT(6100), PROBE(0, "/a")}},
	{"BR-3: a success ends the run",
	 {10, 300000, 600000, 0},
	 {MANY(10, "/a", FAILURE_STATUS), MANY(1, "/a", SUCCESS), MANY(10, "/a", FAILURE_STATUS),
	  PASS(0, "/a"), REPORT(0, FAILURE_STATUS, NEWLY_LISTED)}},
	{"probes of an only provider: 15s, 30s, 60s",
	 {0, 300000, 600000, ALONE},
	 {MANY(1, "/a", FAILURE_STATUS), LISTED("/a", 15000), AT(15000), PROBE(0, "/a"),
	  REPORT(0, FAILURE_STATUS, LISTED_AGAIN), LISTED("/a", 30000), AT(45000), PROBE(0, "/a"),
	  REPORT(0, FAILURE_STATUS, LISTED_AGAIN), LISTED("/a", 60000)}},
	{"failures that do not lie within the window do not list, however many",
	 {2, 10000, 600000, 0},
	 {MANY(2, "/a", FAILURE_STATUS), AT(10001), MANY(2, "/a", FAILURE_STATUS), PASS(0, "/a"), AT(20001),
	  REPORT(0, FAILURE_STATUS, NEWLY_LISTED), LISTED("/a", 600000)}},
	{"the window slides: the last failures count, whenever the run began",
	 {2, 10000, 600000, 0},
	 {MANY(1, "/a", FAILURE_STATUS), AT(9000), MANY(1, "/a", FAILURE_STATUS), AT(10001),
	  MANY(1, "/a", FAILURE_STATUS), AT(11000), PASS(0, "/a"), REPORT(0, FAILURE_STATUS, NEWLY_LISTED)}},
	{"neutral ends change nothing",
	 {0, 300000, 600000, 0},
	 {MANY(30, "/a", NEUTRAL), PASS(0, "/a"), REPORT(0, FAILURE_STATUS, NEWLY_LISTED)}},
	{"a neutral end neither ends a run",
	 {1, 300000, 600000, 0},
	 {MANY(1, "/a", FAILURE_STATUS), MANY(1, "/a", NEUTRAL), MANY(1, "/a", FAILURE_STATUS),
	  LISTED("/a", 600000)}},
	{"a probe that ends neutrally is free at once",
	 {0, 300000, 600000, 0},
	 {MANY(1, "/a", FAILURE_STATUS), AT(600000), PROBE(0, "/a"), LISTED("/a", 1000),
	  REPORT(0, NEUTRAL, NO_NEWS), PROBE(1, "/a"), LISTED("/a", 1000)}},
	{"a probe whose worker dies is free at once, and the dead one's report is nobody's",
	 {0, 300000, 600000, 0},
	 {MANY(1, "/a", FAILURE_STATUS), AT(600000), PROBE(0, "/a"), DIE(0), PROBE(1, "/a"),
	  REPORT(0, SUCCESS, NO_NEWS), LISTED("/a", 1000), REPORT(1, SUCCESS, UNLISTED)}},
	{"what was under way when it was listed neither lists again nor unlists",
	 {1, 300000, 600000, 0},
	 {PASS(0, "/a"), PASS(1, "/a"), MANY(2, "/a", FAILURE_STATUS), AT(5000),
	  REPORT(0, FAILURE_STATUS, NO_NEWS), REPORT(1, SUCCESS, NO_NEWS), LISTED("/a", 595000)}},
	{"failures without an answer list the base: all its paths",
	 {2, 300000, 600000, 0},
	 {MANY(1, "/a", FAILURE_CONNECTION), MANY(1, "/b", FAILURE_CONNECTION), PASS(0, "/c"),
	  REPORT(0, FAILURE_CONNECTION, NEWLY_LISTED), LISTED("/d", 600000), AT(600000), PROBE(0, "/d"),
	  LISTED("/e", 1000), REPORT(0, SUCCESS, UNLISTED), PASS(0, "/e")}},
	{"any answer ends the base's run",
	 {2, 300000, 600000, 0},
	 {MANY(2, "/a", FAILURE_CONNECTION), MANY(1, "/b", FAILURE_STATUS), MANY(2, "/c", FAILURE_CONNECTION),
	  PASS(0, "/b")}},
	{"of a mixed run the last failure says what is listed",
	 {2, 300000, 600000, 0},
	 {MANY(2, "/a", FAILURE_STATUS), PASS(0, "/a"), REPORT(0, FAILURE_CONNECTION, NEWLY_LISTED),
	  LISTED("/b", 600000)}},
	{"the base's probe that is answered with a 5xx unlists the base and lists the URL",
	 {1, 300000, 1000, 0},
	 {MANY(2, "/a", FAILURE_CONNECTION), AT(1000), PROBE(0, "/a"),
	  REPORT(0, FAILURE_STATUS, NEWLY_LISTED), LISTED("/a", 1000), PASS(0, "/b")}},
	{"one turn can be the probe of both",
	 {0, 300000, 1000, 0},
	 {MANY(1, "/a", FAILURE_STATUS), MANY(1, "/b", FAILURE_CONNECTION), AT(1000), PROBE(0, "/a"),
	  LISTED("/a", 1000), LISTED("/b", 1000), REPORT(0, SUCCESS, UNLISTED), PASS(0, "/a"),
	  PASS(1, "/b")}},
	{"a listed URL does not keep the base's probe",
	 {0, 300000, 1000, 0},
	 {MANY(1, "/b", FAILURE_CONNECTION), AT(900), MANY(0, "/a", SUCCESS), AT(1000), PROBE(0, "/a"),
	  REPORT(0, FAILURE_STATUS, NEWLY_LISTED), LISTED("/a", 1000), PASS(0, "/b")}},
	{"a connect check ends the base's listing, not that of a status",
	 {0, 300000, 600000, 0},
	 {MANY(1, "/a", FAILURE_STATUS), MANY(1, "/b", FAILURE_CONNECTION), LISTED("/c", 600000), CONNECT(1),
	  PASS(0, "/c"), LISTED("/a", 600000), CONNECT(0)}},
	{"the health path ends the listings of statuses",
	 {0, 300000, 600000, 0},
	 {MANY(1, "/a", FAILURE_STATUS), MANY(1, "/b", FAILURE_STATUS), MANY(1, "/c", FAILURE_CONNECTION),
	  HEALTH(2), LISTED("/a", 600000), CONNECT(1), PASS(0, "/a"), PASS(1, "/b")}},
	{"cleared by hand: the run is gone, too",
	 {1, 300000, 600000, 0},
	 {MANY(2, "/a", FAILURE_STATUS), MANY(1, "/b", FAILURE_STATUS), CLEAR(1), PASS(0, "/a"),
	  MANY(1, "/b", FAILURE_STATUS), PASS(1, "/b")}},
	{"a query is no part of the URL",
	 {0, 300000, 600000, 0},
	 {MANY(1, "/a?key=1", FAILURE_STATUS), LISTED("/a", 600000), LISTED("/a?key=2", 600000),
	  PASS(0, "/aa")}},
};

struct run {
	const struct script *script;
	struct tp_breaker_pass passes[PASSES];
	uint64_t now;
	int step;
};

static int ask(struct run *run, int n, const char *path, uint64_t *ret_wait)
{
	const struct tp_breaker_url url = url_of(path);
	return (int)tp_breaker_ask(region, workers[n % WORKERS], &url, &run->script->policy, run->now,
				   &run->passes[n], ret_wait);
}

#define CHECK(run, got, want)                                                                                \
	ck_assert_msg((long)(got) == (long)(want), "\"%s\", step %d: %ld, not %ld", (run)->script->name,     \
		      (run)->step, (long)(got), (long)(want))

static void run_many(struct run *run, const struct step *s)
{
	for (int i = 0; i < s->n; i++) {
		uint64_t wait;
		CHECK(run, ask(run, i % WORKERS, s->path, &wait), TP_BREAKER_PASS);
		(void)tp_breaker_report(&run->passes[i % WORKERS], s->outcome, run->now);
	}
}

static void run_step(struct run *run, const struct step *s)
{
	struct tp_hash128 base = url_of("/").base;
	uint64_t wait = 0;
	switch (s->op) {
	case OP_AT: run->now = START_MS + s->ms; break;
	case OP_ASK:
		CHECK(run, ask(run, s->n, s->path, &wait), s->expect);
		if (s->expect == TP_BREAKER_LISTED)
			CHECK(run, wait, s->ms);
		break;
	case OP_REPORT:
		CHECK(run, tp_breaker_report(&run->passes[s->n], s->outcome, run->now), s->expect);
		/* A second report of one pass is none. */
		CHECK(run, tp_breaker_report(&run->passes[s->n], TP_BREAKER_SUCCESS, run->now),
		      TP_BREAKER_NO_NEWS);
		break;
	case OP_MANY: run_many(run, s); break;
	case OP_DIE: {
		unsigned slot = workers[s->n % WORKERS].slot;
		worker_dies(region, slot);
		workers[s->n % WORKERS] = tp_slot_assign(region, slot);
		break;
	}
	case OP_CONNECT: CHECK(run, tp_breaker_clear_connection(region, base), (uint32_t)s->expect); break;
	case OP_HEALTH: CHECK(run, tp_breaker_clear_status(region, base), (uint32_t)s->expect); break;
	case OP_CLEAR: CHECK(run, tp_breaker_clear(region, NULL), (uint32_t)s->expect); break;
	case OP_END: break;
	}
}

START_TEST(script)
{
	struct run run = {.script = &scripts[_i], .now = START_MS};
	for (; run.step < STEPS && scripts[_i].steps[run.step].op != OP_END; run.step++)
		run_step(&run, &scripts[_i].steps[run.step]);
}
END_TEST

/* ---- intervals */

START_TEST(a_listing_never_exceeds_the_hour)
{
	const struct tp_breaker_policy policies[] = {
		{0, 1000, 600000, false}, {0, 1000, 600000, true}, {0, 1000, 7200000, false}};
	const uint64_t longest[] = {3600000, 600000, 7200000}, first[] = {600000, 15000, 7200000};
	for (unsigned p = 0; p < 3; p++) {
		struct run run = {.script = &(struct script){.policy = policies[p]}, .now = START_MS};
		uint64_t wait = 0, before = 0;
		const char *path = p == 0 ? "/0" : p == 1 ? "/1" : "/2";
		ck_assert_int_eq(ask(&run, 0, path, &wait), TP_BREAKER_PASS);
		(void)tp_breaker_report(&run.passes[0], TP_BREAKER_FAILURE_STATUS, run.now);
		for (int n = 0; n < 40; n++) {
			ck_assert_int_eq(ask(&run, 1, path, &wait), TP_BREAKER_LISTED);
			ck_assert_uint_ge(wait, before);
			ck_assert(n > 0 || wait == first[p]);
			before = wait;
			run.now += wait;
			ck_assert_int_eq(ask(&run, 0, path, &wait), TP_BREAKER_PASS_AS_PROBE);
			(void)tp_breaker_report(&run.passes[0], TP_BREAKER_FAILURE_STATUS, run.now);
		}
		ck_assert_uint_eq(before, longest[p]);
	}
}
END_TEST

/* Every threshold lists in the end, and at the exact failure up to 15. */
START_TEST(every_threshold)
{
	const uint32_t thresholds[] = {0, 1, 2, 14, 15, 16, 17, 30, 31, 100, 1000};
	for (unsigned i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
		const struct script s = {.policy = {thresholds[i], 300000, 600000, false}};
		struct run run = {.script = &s, .now = START_MS + 400000 * i};
		uint64_t wait;
		uint32_t n = 0;
		(void)tp_breaker_clear(region, NULL);
		while (ask(&run, 0, "/t", &wait) == TP_BREAKER_PASS && n < 2000) {
			n++;
			run.now++;
			(void)tp_breaker_report(&run.passes[0], TP_BREAKER_FAILURE_STATUS, run.now);
		}
		ck_assert_uint_eq(n, thresholds[i] + 1);
		/* A failure each 1/threshold of the window, and a little more: never. */
		(void)tp_breaker_clear(region, NULL);
		for (n = 0; n < 3 * thresholds[i]; n++) {
			ck_assert_int_eq(ask(&run, 0, "/t", &wait), TP_BREAKER_PASS);
			run.now += 300000 / thresholds[i] + 1;
			(void)tp_breaker_report(&run.passes[0], TP_BREAKER_FAILURE_STATUS, run.now);
		}
	}
}
END_TEST

/* ---- rows, checks, room */

START_TEST(rows_for_people)
{
	const struct script s = {.policy = {1, 300000, 600000, true}};
	struct run run = {.script = &s, .now = START_MS};
	uint64_t wait;
	const struct tp_breaker_url secret =
		tp_breaker_url(region, TP_STR("a\033[2Jb"), TP_STR("https://me:pass@h.example/v1"),
			       TP_STR("/x\n?key=secret"));
	for (int n = 0; n < 2; n++) {
		(void)tp_breaker_ask(region, workers[0], &secret, &s.policy, run.now, &run.passes[0], &wait);
		(void)tp_breaker_report(&run.passes[0], TP_BREAKER_FAILURE_STATUS, run.now);
	}
	run_many(&run, &(struct step){.n = 1, .path = "/b", .outcome = TP_BREAKER_FAILURE_CONNECTION});

	unsigned listed = 0, bases = 0, runs = 0;
	struct tp_breaker_row row;
	for (uint32_t cursor = 0; tp_breaker_next(region, &s.policy, &cursor, &row);) {
		if (row.listed) {
			listed++;
			ck_assert_str_eq(row.url, "https://h.example/v1/x?");
			ck_assert_str_eq(row.provider, "a?[2Jb");
			ck_assert_mem_eq(&row.base, &secret.base, sizeof row.base);
			ck_assert_uint_eq(row.since_ms, START_MS);
			ck_assert_uint_eq(row.next_probe_ms, START_MS + 15000);
			ck_assert(!row.whole_base && !row.connection && !row.probing);
		} else {
			runs++;
			bases += row.whole_base;
			ck_assert_str_eq(row.url,
					 row.whole_base ? "https://h.example/v1" : "https://h.example/v1/b");
			ck_assert_uint_eq(row.failures, 1);
		}
	}
	ck_assert_uint_eq(listed, 1);
	ck_assert_uint_eq(runs, 2);
	ck_assert_uint_eq(bases, 1);
	ck_assert_uint_eq(tp_breaker_clear_status(region, url_of("/").base), 0);
	ck_assert_uint_eq(tp_breaker_clear(region, "https://h.example/v1/other"), 0);
	ck_assert_uint_eq(tp_breaker_clear(region, "https://h.example/v1/x?"), 1);
	ck_assert_uint_eq(tp_breaker_clear_status(region, secret.base), 0);
}
END_TEST

START_TEST(checks_are_made_by_one)
{
	const struct script s = {.policy = {0, 300000, 600000, false}};
	struct run run = {.script = &s, .now = START_MS};
	const struct tp_hash128 base = url_of("/").base;
	ck_assert(!tp_breaker_connect_check_due(region, base, 5000, run.now));
	run_many(&run, &(struct step){.n = 1, .path = "/a", .outcome = TP_BREAKER_FAILURE_STATUS});
	ck_assert(!tp_breaker_connect_check_due(region, base, 5000, run.now));
	ck_assert(!tp_breaker_health_check_due(region, base, 5000, run.now + 4999));
	ck_assert(tp_breaker_health_check_due(region, base, 5000, run.now + 5000));
	ck_assert(!tp_breaker_health_check_due(region, base, 5000, run.now + 9999));
	ck_assert(tp_breaker_health_check_due(region, base, 5000, run.now + 10000));
	run_many(&run, &(struct step){.n = 1, .path = "/b", .outcome = TP_BREAKER_FAILURE_CONNECTION});
	ck_assert(!tp_breaker_connect_check_due(region, base, 5000, run.now + 4999));
	ck_assert(tp_breaker_connect_check_due(region, base, 5000, run.now + 5000));
	ck_assert(!tp_breaker_connect_check_due(region, base, 5000, run.now + 5000));
	ck_assert(tp_breaker_connect_check_due(region, base, 5000, run.now + 10000));
	ck_assert_uint_eq(tp_breaker_clear_connection(region, base), 1);
	ck_assert(!tp_breaker_connect_check_due(region, base, 5000, run.now + 60000));
}
END_TEST

/* 64 entries, a thousand URLs: the newest and the listed ones are there, and nothing breaks. */
START_TEST(a_full_table_forgets_the_oldest)
{
	const struct script s = {.policy = {1, 300000, 600000, false}};
	struct run run = {.script = &s, .now = START_MS};
	uint64_t wait;
	char path[32];
	run_many(&run, &(struct step){.n = 2, .path = "/listed", .outcome = TP_BREAKER_FAILURE_STATUS});
	for (int n = 0; n < 1000; n++) {
		run.now++;
		(void)snprintf(path, sizeof path, "/%d", n);
		run_many(&run, &(struct step){.n = 1, .path = path, .outcome = TP_BREAKER_FAILURE_STATUS});
		run_many(&run, &(struct step){.n = 1, .path = path, .outcome = TP_BREAKER_FAILURE_STATUS});
		(void)tp_breaker_clear(region, path);
		ck_assert_int_eq(ask(&run, 0, path, &wait), TP_BREAKER_LISTED);
		if (n < 20)
			ck_assert_int_eq(ask(&run, 0, "/listed", &wait), TP_BREAKER_LISTED);
	}
	uint32_t rows = 0;
	struct tp_breaker_row row;
	for (uint32_t cursor = 0; tp_breaker_next(region, &s.policy, &cursor, &row);)
		rows++;
	ck_assert_uint_ge(rows, 60);
	ck_assert_uint_le(rows, 64);
}
END_TEST

TP_TESTS(breaker)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, script, 0, sizeof scripts / sizeof *scripts);
	tcase_add_test(t, a_listing_never_exceeds_the_hour);
	tcase_add_test(t, every_threshold);
	tcase_add_test(t, rows_for_people);
	tcase_add_test(t, checks_are_made_by_one);
	tcase_add_test(t, a_full_table_forgets_the_oldest);
}
