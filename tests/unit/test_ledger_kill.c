/*
 * SIGKILL in the middle: at each step of each operation, and at random under load.
 *
 * The ledger's sources are part of this program, compiled with the points at which it can be killed; the
 * linker then takes nothing of the ledger from the library.
 */
#define TP_SHM_INJECT
#include "common/shm/ledger.c"
#include "common/shm/ledger_cell.c"
#include "common/shm/ledger_join.c"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/dice.h"
#include "tests/unit/dies.h"
#include "tests/unit/suite.h"

enum { NOW_MS = 1000000, WORKER = 1, RIVAL = 2, SMALL_CELLS = 128 };

static struct tp_region *region;
static const struct tp_ledger_windows windows = {600000, 120000};
static const struct tp_ledger_limits four = {4, 3};

static struct tp_identity identity_for(enum tp_identity_kind kind, uint64_t number, uint64_t credential)
{
	const uint64_t name[2] = {(uint64_t)kind, number};
	return (struct tp_identity){
		.kind = kind,
		.key = tp_siphash128(tp_region_seed(region), name, sizeof name),
		.credential = credential,
	};
}

/* After whatever happened each cell can be used again: once all windows are over, the table fills up. */
static void check_every_cell_is_usable(uint32_t cells)
{
	uint32_t room = 0;
	struct tp_stamp owner = tp_slot_assign(region, 200);
	for (uint64_t n = 0; n < 40 * (uint64_t)cells && room < cells; n++) {
		struct tp_identity id = identity_for(TP_IDENTITY_ID, n << 32, n);
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		ck_assert_int_eq(
			(int)tp_ledger_join(region, owner, &id, &windows, &four, NOW_MS + 86400000, &h, &m),
			TP_JOIN_NEW);
		room += !h.no_room;
	}
	ck_assert_uint_eq(room, cells);
	ck_assert_uint_eq(tp_ledger_entries(region), cells);
}

/* ---- at each step */

static const char *kill_at;   /* the point, or NULL */
static struct tp_stamp rival; /* with a generation: joins once, when `rival_at` is reached */
static const char *rival_at;
static struct tp_ledger_limits rival_limits = {4, 3};
static const struct tp_identity *rival_wants;

void tp_shm_inject(const char *point)
{
	if (rival.generation != 0 && strcmp(point, rival_at) == 0) {
		struct tp_stamp owner = rival;
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		rival.generation = 0;
		(void)tp_ledger_join(region, owner, rival_wants, &windows, &rival_limits, NOW_MS, &h, &m);
	}
	if (kill_at != NULL && strcmp(point, kill_at) == 0)
		(void)kill(getpid(), SIGKILL);
}

enum life { LIFE_GIVE_BACK, LIFE_SUCCESS, LIFE_CUT, LIFE_DECLINED, LIFE_SECOND_TURN };

/* One whole turn, in a child that is killed on the way. */
static void live(struct tp_stamp owner, const struct tp_identity *id, enum life life)
{
	struct tp_ledger_handle h;
	struct tp_ledger_memory m;
	struct tp_ledger_ending end = {.end = TP_END_DECLINED, .status = 404, .code_index = 9};
	(void)tp_ledger_join(region, owner, id, &windows, &four, NOW_MS, &h, &m);
	if (life == LIFE_SECOND_TURN)
		return;
	(void)tp_ledger_charge(&h, &four, TP_CLASS_INITIAL, NOW_MS);
	if (life == LIFE_GIVE_BACK) {
		tp_ledger_give_back(&h, TP_CLASS_INITIAL);
	} else {
		tp_ledger_settle(&h);
		if (life != LIFE_DECLINED)
			tp_ledger_commit(&h);
		if (life == LIFE_SUCCESS)
			end.end = TP_END_SUCCESS;
	}
	tp_ledger_end(&h, &end, NOW_MS);
}

static const struct death {
	const char *point;
	enum tp_identity_kind kind;
	enum life life;
	enum tp_join then; /* what the re-send gets */
	uint32_t used;
	enum tp_code refusal;
} deaths[] = {
	{"insert prepared", TP_IDENTITY_ID, LIFE_DECLINED, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"insert half a key", TP_IDENTITY_ID, LIFE_DECLINED, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"insert before count", TP_IDENTITY_ID, LIFE_DECLINED, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"insert before publish", TP_IDENTITY_ID, LIFE_DECLINED, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"insert before publish", TP_IDENTITY_FINGERPRINT, LIFE_DECLINED, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"charge before swap", TP_IDENTITY_ID, LIFE_DECLINED, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"charge after swap", TP_IDENTITY_ID, LIFE_DECLINED, TP_JOIN_MEMORY, 1,
	 TP_CODE_CLOSED_BEFORE_RESPONSE},
	{"charge after swap", TP_IDENTITY_FINGERPRINT, LIFE_DECLINED, TP_JOIN_MEMORY, 1,
	 TP_CODE_CLOSED_BEFORE_RESPONSE},
	{"give back before swap", TP_IDENTITY_ID, LIFE_GIVE_BACK, TP_JOIN_MEMORY, 1,
	 TP_CODE_CLOSED_BEFORE_RESPONSE},
	{"give back after swap", TP_IDENTITY_ID, LIFE_GIVE_BACK, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"end before free", TP_IDENTITY_ID, LIFE_GIVE_BACK, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"commit after swap", TP_IDENTITY_ID, LIFE_CUT, TP_JOIN_AGAIN, 1, TP_CODE_NONE},
	{"commit after swap", TP_IDENTITY_FINGERPRINT, LIFE_CUT, TP_JOIN_AGAIN, 1, TP_CODE_NONE},
	{"end before swap", TP_IDENTITY_ID, LIFE_DECLINED, TP_JOIN_AGAIN, 1, TP_CODE_NONE},
	{"end before swap", TP_IDENTITY_ID, LIFE_SUCCESS, TP_JOIN_AGAIN, 1, TP_CODE_NONE},
	{"end before free", TP_IDENTITY_FINGERPRINT, LIFE_SUCCESS, TP_JOIN_NEW, 0, TP_CODE_NONE},
	{"end after swap", TP_IDENTITY_FINGERPRINT, LIFE_DECLINED, TP_JOIN_AGAIN, 1, TP_CODE_NONE},
	{"take before swap", TP_IDENTITY_ID, LIFE_SECOND_TURN, TP_JOIN_AGAIN, 1, TP_CODE_NONE},
	{"take after swap", TP_IDENTITY_ID, LIFE_SECOND_TURN, TP_JOIN_AGAIN, 1, TP_CODE_NONE},
	{"take after swap", TP_IDENTITY_FINGERPRINT, LIFE_SECOND_TURN, TP_JOIN_AGAIN, 1, TP_CODE_NONE},
};

/* Runs one life in a child, which must die at the point. */
static void kill_in(const struct death *d, struct tp_stamp owner, const struct tp_identity *id)
{
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		kill_at = d->point;
		live(owner, id, d->life);
		_exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "\"%s\" was not reached", d->point);
	worker_dies(region, owner.slot);
}

START_TEST(killed_at_a_step)
{
	const struct death *d = &deaths[_i];
	ck_assert_int_eq(
		tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = SMALL_CELLS}, &region),
		0);
	struct tp_stamp owner = tp_slot_assign(region, WORKER);
	struct tp_identity id = identity_for(d->kind, 1, 1);
	if (d->life == LIFE_SECOND_TURN)
		live(owner, &id, LIFE_DECLINED);
	kill_in(d, owner, &id);

	struct tp_ledger_handle h = {0};
	struct tp_ledger_memory m = {0};
	owner = tp_slot_assign(region, WORKER);
	enum tp_join got = tp_ledger_join(region, owner, &id, &windows, &four, NOW_MS + 1, &h, &m);
	ck_assert_msg(got == d->then, "\"%s\": join gave %d", d->point, (int)got);
	ck_assert_uint_eq(got == TP_JOIN_MEMORY ? m.used : h.used, d->used);
	if (got == TP_JOIN_MEMORY)
		ck_assert_int_eq((int)m.refusal, (int)d->refusal);
	else
		ck_assert(tp_ledger_charge(&h, &four, TP_CLASS_TRANSIENT, NOW_MS + 1) &&
			  h.used == d->used + 1);
	worker_dies(region, WORKER);
	check_every_cell_is_usable(SMALL_CELLS);
	tp_region_close(region);
}
END_TEST

/* Another process joins while ours is about to insert an id; which one, and when, decides what we get. */
static const struct rivalry {
	const char *point;
	uint64_t number; /* of the rival's id; ours is 1 */
	enum tp_join ours;
	uint32_t entries;
} rivalries[] = {
	/* it does not see our cell yet, and is counted first: ours retreats */
	{"insert prepared", 1, TP_JOIN_BUSY, 1},
	/* it sees our cell, waits, and is told that we are busy */
	{"insert before count", 1, TP_JOIN_NEW, 1},
	/* another id in the same bucket: our count fails, and the second try succeeds */
	{"insert before count", 2, TP_JOIN_NEW, 2},
};

START_TEST(insertions_of_an_id_meet)
{
	const struct rivalry *r = &rivalries[_i];
	ck_assert_int_eq(
		tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = SMALL_CELLS}, &region),
		0);
	struct tp_identity id = identity_for(TP_IDENTITY_ID, 1, 1);
	struct tp_identity theirs = identity_for(TP_IDENTITY_ID, r->number, 1);
	rival_at = r->point;
	rival_wants = &theirs;
	rival = tp_slot_assign(region, RIVAL);
	struct tp_stamp owner = tp_slot_assign(region, WORKER);
	struct tp_ledger_handle h;
	struct tp_ledger_memory m;
	enum tp_join got = tp_ledger_join(region, owner, &id, &windows, &four, NOW_MS, &h, &m);
	ck_assert_uint_eq(rival.generation, 0);
	ck_assert_int_eq((int)got, (int)r->ours);
	ck_assert_uint_eq(tp_ledger_entries(region), r->entries);
	for (int n = 0; n < 2; n++)
		ck_assert_int_eq((int)tp_ledger_join(region, owner, n == 0 ? &id : &theirs, &windows, &four,
						     NOW_MS, &h, &m),
				 TP_JOIN_BUSY);
	worker_dies(region, WORKER);
	worker_dies(region, RIVAL);
	check_every_cell_is_usable(SMALL_CELLS);
	tp_region_close(region);
}
END_TEST

/* A record that is taken between two looks at it must not be answered from. */
START_TEST(half_a_look_is_not_believed)
{
	const struct tp_ledger_limits one = {1, 1};
	ck_assert_int_eq(
		tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = SMALL_CELLS}, &region),
		0);
	struct tp_identity id = identity_for(TP_IDENTITY_ID, 1, 1);
	struct tp_stamp owner = tp_slot_assign(region, WORKER);
	struct tp_ledger_handle h;
	struct tp_ledger_memory m;
	live(owner, &id, LIFE_DECLINED);
	ck_assert_int_eq((int)tp_ledger_join(region, owner, &id, &windows, &one, NOW_MS, &h, &m),
			 TP_JOIN_MEMORY);
	rival_at = "view";
	rival_wants = &id;
	rival = tp_slot_assign(region, RIVAL);
	ck_assert_int_eq((int)tp_ledger_join(region, owner, &id, &windows, &one, NOW_MS, &h, &m),
			 TP_JOIN_BUSY);
	ck_assert_uint_eq(rival.generation, 0);
	tp_region_close(region);
}
END_TEST

/* The one that retreats is killed before it has cleared its cell away. */
START_TEST(killed_in_retreat)
{
	ck_assert_int_eq(
		tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = SMALL_CELLS}, &region),
		0);
	struct tp_identity id = identity_for(TP_IDENTITY_ID, 1, 1),
			   theirs = identity_for(TP_IDENTITY_ID, 2, 1);
	const struct death d = {.point = "insert before retreat", .life = LIFE_DECLINED};
	rival_at = "insert before count";
	rival_wants = &theirs;
	rival = tp_slot_assign(region, RIVAL);
	kill_in(&d, tp_slot_assign(region, WORKER), &id);
	rival.generation = 0;
	struct tp_ledger_handle h;
	struct tp_ledger_memory m;
	struct tp_stamp owner = tp_slot_assign(region, WORKER);
	ck_assert_int_eq((int)tp_ledger_join(region, owner, &id, &windows, &four, NOW_MS, &h, &m),
			 TP_JOIN_NEW);
	ck_assert_uint_eq(h.used, 0);
	ck_assert_uint_eq(tp_ledger_entries(region), 2);
	worker_dies(region, WORKER);
	worker_dies(region, RIVAL);
	check_every_cell_is_usable(SMALL_CELLS);
	tp_region_close(region);
}
END_TEST

/* ---- at random, under load */

enum { PROCESSES = 8, KILLS = 150, ROUNDS = 8000, IDS = 8, GROUPS = 1024, GROUP = 128 };

/* Shared with the children. Sends are counted after the charge and before it is given back: killed in
 * between, the count is low, never high. */
struct tally {
	atomic_uint sends[ROUNDS * IDS];
	atomic_uint rounds_done;
};
static struct tally *tally;

/* One turn; false when the logical request has nothing left. */
static bool spend(struct tp_stamp owner, unsigned number, uint64_t dice)
{
	struct tp_identity id = identity_for(TP_IDENTITY_ID, number, number);
	struct tp_ledger_handle h;
	struct tp_ledger_memory m;
	enum tp_join got = tp_ledger_join(region, owner, &id, &windows, &four, NOW_MS, &h, &m);
	if (got == TP_JOIN_BUSY)
		sched_yield();
	if (got == TP_JOIN_BUSY || got == TP_JOIN_MEMORY)
		return got == TP_JOIN_BUSY;
	static const enum tp_class classes[] = {TP_CLASS_INITIAL, TP_CLASS_OVERLOAD, TP_CLASS_TRANSIENT};
	for (unsigned i = 0; i < 3; i++) {
		enum tp_class k = classes[(dice >> i) % 3];
		if (h.no_room || !tp_ledger_charge(&h, &four, k, NOW_MS))
			break;
		atomic_fetch_add(&tally->sends[number], 1);
		if ((dice >> (8 + i)) % 4 == 0) {
			atomic_fetch_sub(&tally->sends[number], 1);
			tp_ledger_give_back(&h, k);
		} else {
			tp_ledger_settle(&h);
		}
	}
	const struct tp_ledger_ending end = {.end = dice % 2 == 0 ? TP_END_DECLINED : TP_END_UNKNOWN};
	tp_ledger_end(&h, &end, NOW_MS);
	return !h.no_room;
}

/* All processes go through the same records in the same order, so that they meet. */
static pid_t start(unsigned slot, uint64_t seed)
{
	struct tp_stamp owner = tp_slot_assign(region, slot);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)alarm(60);
	unsigned most = rounds_of(ROUNDS);
	for (unsigned round = atomic_load(&tally->rounds_done); round < most; round++) {
		bool left = true;
		while (left) {
			left = false;
			for (unsigned i = 0; i < IDS; i++)
				left |= spend(owner, round * IDS + i, roll(&seed));
		}
		atomic_store(&tally->rounds_done, round);
	}
	_exit(0);
}

static void kill_some(pid_t pids[PROCESSES], uint64_t *dice)
{
	for (unsigned n = 0, most = rounds_of(KILLS); n < most; n++) {
		unsigned slot = (unsigned)(roll(dice) % PROCESSES);
		(void)usleep((useconds_t)(roll(dice) % 2000)); /* lets them run: where they are is the dice */
		ck_assert_int_eq(kill(pids[slot], SIGKILL), 0);
		ck_assert_int_eq(waitpid(pids[slot], NULL, 0), pids[slot]);
		worker_dies(region, slot);
		pids[slot] = start(slot, roll(dice) | 1);
	}
}

START_TEST(killed_at_random)
{
	pid_t pids[PROCESSES];
	uint64_t dice = UINT64_C(0x9e3779b97f4a7c15);
	uint32_t cells = GROUP * rounds_of(GROUPS);
	ck_assert_int_eq(
		tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = cells}, &region), 0);
	tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(tally, MAP_FAILED);
	for (unsigned slot = 0; slot < PROCESSES; slot++)
		pids[slot] = start(slot, roll(&dice) | 1);
	kill_some(pids, &dice);
	unsigned reached = atomic_load(&tally->rounds_done);
	for (unsigned slot = 0; slot < PROCESSES; slot++) {
		(void)kill(pids[slot], SIGKILL);
		ck_assert_int_eq(waitpid(pids[slot], NULL, 0), pids[slot]);
		worker_dies(region, slot);
	}
	ck_assert_msg(reached > 20, "they hang: %u rounds", reached);

	struct tp_stamp owner = tp_slot_assign(region, 100);
	unsigned spent = 0;
	for (unsigned number = 0; number < reached * IDS; number++) {
		struct tp_identity id = identity_for(TP_IDENTITY_ID, number, number);
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		unsigned sends = atomic_load(&tally->sends[number]);
		ck_assert_msg(sends <= four.total, "record %u: %u sends", number, sends);
		ck_assert_int_eq((int)tp_ledger_join(region, owner, &id, &windows, &four, NOW_MS, &h, &m),
				 TP_JOIN_MEMORY);
		ck_assert_msg(m.used >= sends, "record %u: %u sends, %u paid", number, sends, m.used);
		spent += m.refusal == TP_CODE_BUDGET_EXHAUSTED;
	}
	ck_assert_msg(spent > reached, "hardly a budget was spent: %u", spent);
	worker_dies(region, 100);
	check_every_cell_is_usable(cells);
	ck_assert_int_eq(munmap(tally, sizeof *tally), 0);
	tp_region_close(region);
}
END_TEST

TP_TESTS(ledger_kill)
{
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, killed_at_a_step, 0, sizeof deaths / sizeof *deaths);
	tcase_add_loop_test(t, insertions_of_an_id_meet, 0, sizeof rivalries / sizeof *rivalries);
	tcase_add_test(t, half_a_look_is_not_believed);
	tcase_add_test(t, killed_in_retreat);
	tcase_add_test(t, killed_at_random);
}
