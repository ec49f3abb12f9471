/*
 * Threads in the place of workers: what must hold whoever is faster. Also run with SANITIZE=thread.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "common/shm/layout.h"
#include "common/shm/ledger.h"

#include "tests/unit/suite.h"
#include "tests/unit/threads.h"

enum { THREADS = 4, NOW_MS = 1000000 };

static struct tp_region *region;
static struct tp_stamp workers[THREADS];
static pthread_barrier_t barrier;
static const struct tp_ledger_windows windows = {600000, 120000};
static const struct tp_ledger_limits four = {4, 3};

static void setup_cells(uint32_t cells)
{
	ck_assert_int_eq(
		tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = cells}, &region), 0);
	for (unsigned i = 0; i < THREADS; i++)
		workers[i] = tp_slot_assign(region, i);
	ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, THREADS), 0);
}

static void teardown(void)
{
	(void)pthread_barrier_destroy(&barrier);
	tp_region_close(region);
}

static struct tp_identity identity_for(enum tp_identity_kind kind, uint64_t number, uint64_t credential)
{
	const uint64_t name[2] = {(uint64_t)kind, number};
	return (struct tp_identity){
		.kind = kind,
		.key = tp_siphash128(tp_region_seed(region), name, sizeof name),
		.credential = credential,
	};
}

/* ---- side by side: each round all threads join the same thing at once */

enum { ROUNDS = 1500, ANSWERS = 4 };
static const struct race {
	const char *what;
	enum tp_identity_kind kind;
	bool failed_before; /* a declined record is there */
	int winners[ANSWERS];
} races[] = {
	{"a new id", TP_IDENTITY_ID, false, {[TP_JOIN_NEW] = 1, [TP_JOIN_BUSY] = THREADS - 1}},
	{"a failed id", TP_IDENTITY_ID, true, {[TP_JOIN_AGAIN] = 1, [TP_JOIN_BUSY] = THREADS - 1}},
	{"a new prompt", TP_IDENTITY_FINGERPRINT, false, {[TP_JOIN_NEW] = THREADS}},
	{"a failed prompt",
	 TP_IDENTITY_FINGERPRINT,
	 true,
	 {[TP_JOIN_AGAIN] = 1, [TP_JOIN_NEW] = THREADS - 1}},
};
static const struct race *race;
static atomic_int answers[ROUNDS][ANSWERS];

static void *join_each_round(void *arg)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct tp_identity id = identity_for(race->kind, round, round % 64);
		struct tp_ledger_handle h = {0};
		struct tp_ledger_memory m;
		(void)pthread_barrier_wait(&barrier);
		enum tp_join got =
			tp_ledger_join(region, workers[(uintptr_t)arg], &id, &windows, &four, NOW_MS, &h, &m);
		atomic_fetch_add(&answers[round][got], 1);
		(void)pthread_barrier_wait(&barrier);
		/* By now everybody has asked. */
		const struct tp_ledger_ending end = {.end = TP_END_SUCCESS};
		tp_ledger_end(&h, &end, NOW_MS);
	}
	return NULL;
}

START_TEST(side_by_side)
{
	race = &races[_i];
	setup_cells(16384);
	for (unsigned round = 0; round < ROUNDS && race->failed_before; round++) {
		struct tp_identity id = identity_for(race->kind, round, round % 64);
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		(void)tp_ledger_join(region, workers[0], &id, &windows, &four, NOW_MS, &h, &m);
		ck_assert(tp_ledger_charge(&h, &four, TP_CLASS_INITIAL, NOW_MS));
		const struct tp_ledger_ending end = {.end = TP_END_DECLINED, .status = 503};
		tp_ledger_end(&h, &end, NOW_MS);
	}
	for (unsigned round = 0; round < ROUNDS; round++)
		for (int a = 0; a < ANSWERS; a++)
			atomic_store(&answers[round][a], 0);
	in_threads(THREADS, join_each_round);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (int a = 0; a < ANSWERS; a++)
			ck_assert_msg(atomic_load(&answers[round][a]) == race->winners[a],
				      "%s, round %u: answer %d was given %d times", race->what, round, a,
				      atomic_load(&answers[round][a]));
	teardown();
}
END_TEST

/* ---- one record under everybody's hands: sends in all are exactly the limit */

enum { RECORDS = 200, MANY = 100 };
static atomic_uint sends[RECORDS];

/* One turn on the record; false when it has nothing left. */
static bool turn(struct tp_stamp owner, unsigned record, unsigned n)
{
	const struct tp_ledger_limits many = {MANY, MANY};
	struct tp_identity id = identity_for(TP_IDENTITY_ID, record, record);
	struct tp_ledger_handle h;
	struct tp_ledger_memory m;
	switch (tp_ledger_join(region, owner, &id, &windows, &many, NOW_MS, &h, &m)) {
	case TP_JOIN_MEMORY: return false;
	case TP_JOIN_BUSY: sched_yield(); return true;
	case TP_JOIN_NEW:
	case TP_JOIN_AGAIN: break;
	}
	for (unsigned i = 0; i < 1 + n % 5; i++) {
		/* Of both kinds, so that the total is what bounds them. */
		enum tp_class klass = i % 2 == 0 ? TP_CLASS_INITIAL : TP_CLASS_OVERLOAD;
		if (!tp_ledger_charge(&h, &many, klass, NOW_MS))
			break;
		if ((n + i) % 3 == 0) {
			tp_ledger_give_back(&h, klass);
		} else {
			tp_ledger_settle(&h);
			atomic_fetch_add(&sends[record], 1);
		}
	}
	const struct tp_ledger_ending end = {.end = n % 2 == 0 ? TP_END_DECLINED : TP_END_SUCCESS};
	tp_ledger_end(&h, &end, NOW_MS);
	return true;
}

static void *spend_all(void *arg)
{
	for (unsigned record = 0; record < RECORDS; record++) {
		unsigned n = (unsigned)(uintptr_t)arg;
		while (turn(workers[(uintptr_t)arg], record, n))
			n++;
	}
	return NULL;
}

START_TEST(never_more_than_the_limit)
{
	setup_cells(4096);
	in_threads(THREADS, spend_all);
	for (unsigned record = 0; record < RECORDS; record++)
		ck_assert_uint_eq(atomic_load(&sends[record]), MANY);
	teardown();
}
END_TEST

/* ---- a small table, far too many records, short windows: no cell has two owners, no answer is torn */

enum { CHURN_CELLS = 128, CHURN = 40000, NAMES = 400 };
static atomic_int holders[CHURN_CELLS];
static atomic_uint two_owners, torn, shown;
static atomic_uint_fast64_t clock_ms;

static void churn_once(struct tp_stamp owner, unsigned name, unsigned n)
{
	const struct tp_ledger_windows brief = {300, 100};
	const struct tp_ledger_limits two = {2, 2};
	struct tp_identity id =
		identity_for(name % 2 == 0 ? TP_IDENTITY_ID : TP_IDENTITY_FINGERPRINT, name, name % 16);
	struct tp_ledger_handle h;
	struct tp_ledger_memory m;
	uint64_t now = atomic_fetch_add(&clock_ms, 1);
	enum tp_join got = tp_ledger_join(region, owner, &id, &brief, &two, now, &h, &m);
	if (got == TP_JOIN_MEMORY) {
		bool right = m.status == 410 + name % 8 && m.code_index == name && m.used == 2;
		atomic_fetch_add(right ? &shown : &torn, 1);
	}
	if (got == TP_JOIN_MEMORY || got == TP_JOIN_BUSY)
		return;
	bool holds = h.cell != UINT32_MAX;
	if (holds && atomic_fetch_add(&holders[h.cell], 1) != 0)
		atomic_fetch_add(&two_owners, 1);
	while (tp_ledger_charge(&h, &two, TP_CLASS_INITIAL, now))
		tp_ledger_settle(&h);
	if (holds && h.cell == UINT32_MAX)
		atomic_fetch_add(&two_owners, 1); /* lost to somebody, though we live */
	if (h.cell != UINT32_MAX)
		atomic_fetch_sub(&holders[h.cell], 1);
	const struct tp_ledger_ending end = {.end = n % 4 == 0 ? TP_END_SUCCESS : TP_END_DECLINED,
					     .status = (uint16_t)(410 + name % 8),
					     .code_index = (uint16_t)name};
	if (end.end == TP_END_SUCCESS && id.kind == TP_IDENTITY_ID) {
		/* An id's success would be remembered without a status. */
		const struct tp_ledger_ending declined = {TP_END_DECLINED, TP_CODE_NONE, end.status,
							  end.code_index, 0};
		tp_ledger_end(&h, &declined, now);
		return;
	}
	tp_ledger_end(&h, &end, now);
}

static void *churn(void *arg)
{
	unsigned name = 17 * (unsigned)(uintptr_t)arg;
	for (unsigned n = 0; n < CHURN; n++) {
		name = (name * 1103515245u + 12345u) & 0x7fffffff;
		churn_once(workers[(uintptr_t)arg], (name >> 8) % NAMES, n);
	}
	return NULL;
}

START_TEST(cells_change_hands_whole)
{
	setup_cells(CHURN_CELLS);
	atomic_store(&clock_ms, NOW_MS);
	in_threads(THREADS, churn);
	ck_assert_uint_eq(atomic_load(&two_owners), 0);
	ck_assert_uint_eq(atomic_load(&torn), 0);
	ck_assert_msg(atomic_load(&shown) > 100, "too few answers from memory to tell: %u",
		      atomic_load(&shown));
	teardown();
}
END_TEST

TP_TESTS(ledger_race)
{
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, side_by_side, 0, sizeof races / sizeof *races);
	tcase_add_test(t, never_more_than_the_limit);
	tcase_add_test(t, cells_change_hands_whole);
}
