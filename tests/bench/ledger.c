/*
 * What the ledger costs: operations per second and core, and a look-up at several loads of the table.  Prints a table;
 * `make bench-ledger`.  No test: the numbers are for docs/shared-memory.md.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/shm/layout.h"
#include "common/shm/ledger.h"

enum { CELLS = 65536, TURNS = 1000000, MOST_THREADS = 2, CREDENTIALS = 4096, LOOKS = 400000, NOW_MS = 1000000 };
/* join, charge, settle, commit, end */
enum { TURN_OPERATIONS = 5 };

static struct tp_region *region;
static const struct tp_ledger_windows windows = {600000, 120000};
static const struct tp_ledger_limits limits = {4, 3};

static double cpu_seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct tp_identity identity_for(enum tp_identity_kind kind, uint64_t number)
{
	const uint64_t name[2] = {(uint64_t)kind, number};
	struct tp_hash128 key = tp_siphash128(tp_region_seed(region), name, sizeof name);
	return (struct tp_identity){.kind = kind, .key = key, .credential = number % CREDENTIALS};
}

static void open_region(void)
{
	if (tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = CELLS}, &region) != 0) {
		(void)fputs("no memory for the table\n", stderr);
		exit(1);
	}
}

/* What one thread did. */
struct work {
	struct tp_stamp owner;
	bool one_id; /* all threads on one id: each of them may find it busy, and its budget spent at last */
	uint64_t operations, busy, memory;
	double seconds; /* of processor time */
};

static void run_turn(struct work *w, const struct tp_identity *id)
{
	/* A limit that is never reached keeps the one id going; the epoch of its record grows with each turn. */
	static const struct tp_ledger_ending left = {.end = TP_END_SUCCESS};
	struct tp_ledger_handle h;
	struct tp_ledger_memory memory;
	enum tp_join joined =
		tp_ledger_join(region, w->owner, id, &windows, &limits, NOW_MS, &h, &memory);
	w->operations++;
	w->busy += joined == TP_JOIN_BUSY;
	w->memory += joined == TP_JOIN_MEMORY;
	if (joined == TP_JOIN_BUSY || joined == TP_JOIN_MEMORY)
		return;
	(void)tp_ledger_charge(&h, &limits, TP_CLASS_INITIAL, NOW_MS);
	if (w->one_id)
		tp_ledger_give_back(&h, TP_CLASS_INITIAL); /* else four turns would spend it */
	else
		tp_ledger_settle(&h);
	tp_ledger_commit(&h);
	tp_ledger_end(&h, &left, NOW_MS);
	w->operations += TURN_OPERATIONS - 1;
}

static void *turns(void *arg)
{
	struct work *w = arg;
	const enum tp_identity_kind kind = w->one_id ? TP_IDENTITY_ID : TP_IDENTITY_FINGERPRINT;
	double began = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	struct tp_identity id = identity_for(kind, w->owner.slot);
	if (w->one_id)
		id = identity_for(kind, 0);
	for (uint32_t i = 0; i < TURNS; i++) {
		/* Another place each time, without the cost of hashing a name. */
		if (!w->one_id) {
			id.key.lo += UINT64_C(0x9e3779b97f4a7c15);
			id.key.hi += UINT64_C(0xc2b2ae3d27d4eb4f);
		}
		run_turn(w, &id);
	}
	w->seconds = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - began;
	return NULL;
}

static void measure_turns(const char *what, unsigned threads, bool one_id)
{
	struct work work[MOST_THREADS] = {0};
	pthread_t ids[MOST_THREADS];
	open_region();
	for (unsigned i = 0; i < threads; i++)
		work[i] = (struct work){.owner = tp_slot_assign(region, i), .one_id = one_id};
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, turns, &work[i]) != 0)
			exit(1);
	for (unsigned i = 0; i < threads; i++)
		(void)pthread_join(ids[i], NULL);
	for (unsigned i = 0; i < threads; i++)
		printf("| %-42s | %u of %u | %6.1f | %5.0f | %5.1f %% |\n", what, i + 1, threads,
		       (double)work[i].operations / work[i].seconds / 1e6,
		       work[i].seconds * 1e9 / (double)work[i].operations,
		       100.0 * (double)work[i].busy / (double)TURNS);
	tp_region_close(region);
}

/* Fills the table to `percent` with records that nothing may take, so that a search meets what it would. */
static uint32_t fill(struct tp_stamp owner, unsigned percent)
{
	static const struct tp_ledger_ending unknown = {.end = TP_END_UNKNOWN};
	uint32_t most = (uint32_t)((uint64_t)CELLS * percent / 100);
	for (uint32_t n = 0; n < most; n++) {
		struct tp_identity id = identity_for(TP_IDENTITY_FINGERPRINT, n);
		struct tp_ledger_handle h;
		struct tp_ledger_memory memory;
		if (tp_ledger_join(region, owner, &id, &windows, &limits, NOW_MS, &h, &memory) != TP_JOIN_NEW)
			continue;
		for (uint32_t sends = 0; sends < limits.base; sends++)
			(void)tp_ledger_charge(&h, &limits, TP_CLASS_INITIAL, NOW_MS);
		tp_ledger_end(&h, &unknown, NOW_MS);
	}
	return most;
}

/* A spent record answers from memory: the search and nothing else. The keys are hashed before. */
static void measure_lookups(unsigned percent)
{
	open_region();
	struct tp_stamp owner = tp_slot_assign(region, 0);
	uint32_t filled = fill(owner, percent);
	struct tp_identity *ids = malloc(LOOKS * sizeof *ids);
	if (ids == NULL)
		exit(1);
	for (uint32_t i = 0; i < LOOKS; i++)
		ids[i] = identity_for(TP_IDENTITY_FINGERPRINT, (i * UINT64_C(2654435761)) % filled);
	uint32_t known = 0;
	double began = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	for (uint32_t i = 0; i < LOOKS; i++) {
		struct tp_ledger_handle h;
		struct tp_ledger_memory memory;
		known += tp_ledger_join(region, owner, &ids[i], &windows, &limits, NOW_MS, &h, &memory) ==
			 TP_JOIN_MEMORY;
	}
	double seconds = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - began;
	printf("| look-up of a known record, %2u %% load | %u of %u found | %.0f ns |\n", percent, known, LOOKS,
	       seconds * 1e9 / LOOKS);
	free(ids);
	tp_region_close(region);
}

int main(void)
{
	double load[1] = {0};
	(void)getloadavg(load, 1);
	printf("Load of the machine: %.1f. Times are processor time of the thread.\n\n", load[0]);
	puts("| turns | thread | million operations a second | ns each | busy |\n|---|---|---|---|---|");
	measure_turns("each turn another logical request", 1, false);
	measure_turns("each turn another logical request", MOST_THREADS, false);
	measure_turns("all on one id", 1, true);
	measure_turns("all on one id", MOST_THREADS, true);
	puts("\n| look-ups | | |\n|---|---|---|");
	measure_lookups(10);
	measure_lookups(50);
	measure_lookups(90);
	return 0;
}
