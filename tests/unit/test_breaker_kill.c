/*
 * SIGKILL in the breaker and in the directory of its URLs: at each step, and at random under load.
 */
#define TP_SHM_INJECT
#include "common/shm/breaker.c"
#include "common/shm/directory.c"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "common/base/clock.h"
#include "tests/unit/dice.h"
#include "tests/unit/dies.h"
#include "tests/unit/kill_at.h"
#include "tests/unit/suite.h"

enum { NOW_MS = 1000000, WORKER = 1, RIVAL = 2, DURATION = 5000, URLS = 64 };

static struct tp_region *region;
/* Two failures in a row list. */
static const struct tp_breaker_policy policy = {1, 300000, DURATION, false};

static struct tp_breaker_url url_number(unsigned n)
{
	static char path[32];
	(void)snprintf(path, sizeof path, "/%u", n);
	return tp_breaker_url(region, TP_STR("codex"), TP_STR("http://h"), tp_str_from(path));
}

static enum tp_breaker_answer turn(struct tp_stamp owner, unsigned url, enum tp_breaker_outcome o,
				   uint64_t now)
{
	const struct tp_breaker_url u = url_number(url);
	struct tp_breaker_pass pass;
	uint64_t wait;
	enum tp_breaker_answer answer = tp_breaker_ask(region, owner, &u, &policy, now, &pass, &wait);
	if (answer != TP_BREAKER_LISTED)
		(void)tp_breaker_report(&pass, o, now);
	return answer;
}

static void one_failure(struct tp_stamp owner)
{
	(void)turn(owner, 0, TP_BREAKER_FAILURE_STATUS, NOW_MS);
}

static void failed_probe(struct tp_stamp owner)
{
	(void)turn(owner, 0, TP_BREAKER_FAILURE_STATUS, NOW_MS + DURATION);
}

static void good_probe(struct tp_stamp owner)
{
	(void)turn(owner, 0, TP_BREAKER_SUCCESS, NOW_MS + DURATION);
}

/* No key twice, and each entry can be used again. */
static void check_directory(void)
{
	const struct tp_dir *d = &region->breaker_dir;
	struct tp_stamp owner = tp_slot_assign(region, 200);
	struct tp_dir_ref ref;
	struct tp_hash128 a, b;
	for (uint32_t i = 0; i < tp_dir_entries(d); i++)
		for (uint32_t j = 0; tp_dir_at(d, i, &ref, &a) && j < i; j++)
			ck_assert(!tp_dir_at(d, j, &ref, &b) || a.lo != b.lo || a.hi != b.hi);
	for (unsigned n = 1000; n < 1000 + 20 * tp_dir_entries(d); n++)
		(void)turn(owner, n, TP_BREAKER_FAILURE_STATUS, NOW_MS + n);
	uint32_t used = 0;
	for (uint32_t i = 0; i < tp_dir_entries(d); i++)
		used += tp_dir_at(d, i, &ref, &a);
	ck_assert_uint_eq(used, tp_dir_entries(d));
	worker_dies(region, 200);
}

static const struct death {
	const char *point;
	void (*life)(struct tp_stamp owner);
	unsigned before; /* failures before that life */
	uint64_t at;     /* then, of the next turn, from NOW_MS */
	enum tp_breaker_answer next;
	unsigned failures; /* that it takes to list, of a life that did not probe */
} deaths[] = {
	{"dir claimed", one_failure, 0, 0, TP_BREAKER_PASS, 2},
	{"dir half a key", one_failure, 0, 0, TP_BREAKER_PASS, 2},
	{"dir before count", one_failure, 0, 0, TP_BREAKER_PASS, 2},
	{"dir before publish", one_failure, 0, 0, TP_BREAKER_PASS, 2},
	{"failure before swap", one_failure, 0, 0, TP_BREAKER_PASS, 2},
	{"failure before swap", one_failure, 1, 0, TP_BREAKER_PASS, 1},
	{"report before release", one_failure, 0, 0, TP_BREAKER_PASS, 1},
	{"report before release", one_failure, 1, 0, TP_BREAKER_LISTED, 0},
	/* the probe of a dead one is free at once */
	{"probe taken", failed_probe, 2, DURATION, TP_BREAKER_PASS_AS_PROBE, 0},
	{"failure before swap", failed_probe, 2, DURATION, TP_BREAKER_PASS_AS_PROBE, 0},
	{"success before swap", good_probe, 2, DURATION, TP_BREAKER_PASS_AS_PROBE, 0},
	/* what it reported stands, and at its time the next one may probe */
	{"report before release", failed_probe, 2, 3 * DURATION - 1, TP_BREAKER_LISTED, 0},
	{"report before release", failed_probe, 2, 3 * DURATION, TP_BREAKER_PASS_AS_PROBE, 0},
	{"report before release", good_probe, 2, DURATION, TP_BREAKER_PASS, 2},
};

START_TEST(killed_at_a_step)
{
	const struct death *d = &deaths[_i];
	const struct tp_region_sizes sizes = {.logical_requests = 128, .urls = URLS};
	ck_assert_int_eq(tp_region_open_anonymous(sizes, &region), 0);
	struct tp_stamp rival = tp_slot_assign(region, RIVAL);
	for (unsigned n = 0; n < d->before; n++)
		(void)turn(rival, 0, TP_BREAKER_FAILURE_STATUS, NOW_MS);
	kill_in(region, d->point, tp_slot_assign(region, WORKER), d->life);

	uint64_t now = NOW_MS + d->at;
	enum tp_breaker_answer got = turn(rival, 0, TP_BREAKER_NEUTRAL, now);
	ck_assert_msg(got == d->next, "\"%s\", life %d: %d", d->point, _i, (int)got);
	for (unsigned n = 0; n < d->failures; n++)
		ck_assert_msg(turn(rival, 0, TP_BREAKER_FAILURE_STATUS, now) == TP_BREAKER_PASS,
			      "\"%s\": listed after %u", d->point, n);
	if (d->failures > 0)
		ck_assert_int_eq((int)turn(rival, 0, TP_BREAKER_NEUTRAL, now), TP_BREAKER_LISTED);
	worker_dies(region, RIVAL);
	check_directory();
	tp_region_close(region);
}
END_TEST

/* ---- at random: more URLs than room, so that entries come and go; one of them is probed all the time */

enum { PROCESSES = 6, KILLS = 150, HOT = 0 };

static struct shared {
	atomic_uint probing[PROCESSES]; /* the process holds the probe of the hot URL */
	atomic_uint probes, together, turns;
} * shared;

static void hot_turn(struct tp_stamp owner, uint64_t dice)
{
	const struct tp_breaker_url u = url_number(HOT);
	const struct tp_breaker_policy quick = {1, 300000, 0,
						false}; /* a probe as soon as the last one ended */
	struct tp_breaker_pass pass;
	uint64_t wait, now = tp_clock_boot_ms();
	enum tp_breaker_answer answer = tp_breaker_ask(region, owner, &u, &quick, now, &pass, &wait);
	if (answer == TP_BREAKER_LISTED)
		return;
	if (answer == TP_BREAKER_PASS_AS_PROBE) {
		atomic_store(&shared->probing[owner.slot], 1);
		atomic_fetch_add(&shared->probes, 1);
		for (unsigned i = 0; i < PROCESSES; i++)
			if (i != owner.slot && atomic_load(&shared->probing[i]) != 0)
				atomic_fetch_add(&shared->together, 1);
		atomic_store(&shared->probing[owner.slot], 0);
	}
	static const enum tp_breaker_outcome outcomes[] = {
		TP_BREAKER_SUCCESS, TP_BREAKER_NEUTRAL, TP_BREAKER_FAILURE_STATUS, TP_BREAKER_FAILURE_STATUS};
	(void)tp_breaker_report(&pass, outcomes[dice % 4], now);
}

static pid_t start(unsigned slot, uint64_t seed)
{
	struct tp_stamp owner = tp_slot_assign(region, slot);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)alarm(60);
	for (;;) {
		uint64_t dice = roll(&seed);
		hot_turn(owner, dice >> 32);
		(void)turn(owner, 1 + (unsigned)(dice % 300), TP_BREAKER_FAILURE_STATUS, tp_clock_boot_ms());
		atomic_fetch_add(&shared->turns, 1);
	}
}

/* As the master: its stamps are stale only when it is gone. */
static void reap(pid_t pid, unsigned slot)
{
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	atomic_store(&shared->probing[slot], 0);
	worker_dies(region, slot);
}

START_TEST(killed_at_random)
{
	pid_t pids[PROCESSES];
	uint64_t dice = UINT64_C(0x9e3779b97f4a7c15);
	const struct tp_region_sizes sizes = {.logical_requests = 128, .urls = URLS};
	ck_assert_int_eq(tp_region_open_anonymous(sizes, &region), 0);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	for (unsigned slot = 0; slot < PROCESSES; slot++)
		pids[slot] = start(slot, roll(&dice) | 1);
	for (unsigned n = 0, most = rounds_of(KILLS); n < most; n++) {
		unsigned slot = (unsigned)(roll(&dice) % PROCESSES);
		(void)usleep(
			(useconds_t)(roll(&dice) % 2000)); /* lets them run: where they are is the dice */
		reap(pids[slot], slot);
		pids[slot] = start(slot, roll(&dice) | 1);
	}
	for (unsigned slot = 0; slot < PROCESSES; slot++)
		reap(pids[slot], slot);
	ck_assert_uint_eq(atomic_load(&shared->together), 0);
	ck_assert_msg(atomic_load(&shared->probes) > 100, "hardly a probe: %u", atomic_load(&shared->probes));
	ck_assert_msg(atomic_load(&shared->turns) > 1000, "they hang: %u turns", atomic_load(&shared->turns));
	check_directory();
	ck_assert_int_eq(munmap(shared, sizeof *shared), 0);
	tp_region_close(region);
}
END_TEST

TP_TESTS(breaker_kill)
{
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, killed_at_a_step, 0, sizeof deaths / sizeof *deaths);
	tcase_add_test(t, killed_at_random);
}
