/* SIGKILL at each step of the capacity gate, and at random under load: nothing hangs, nothing leaks, and
 * never more than the limit are inside. */
#define TP_SHM_INJECT
#include "common/shm/gate.c"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/unit/dies.h"
#include "tests/unit/kill_at.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW_MS = 1000000, LIMIT = 2, QUEUE = 8 };

static tp_gate_id id;

static enum tp_gate_answer ask(struct tp_stamp owner, struct tp_gate_ticket *t, struct tp_gate_permit *p)
{
	return tp_gate_ask(region, owner, id, LIMIT, QUEUE, false, NOW_MS, t, p);
}

/* Comes by each point: goes, gives back; waits, leaves; waits, goes. */
static void live(struct tp_stamp owner)
{
	struct tp_gate_ticket t[4] = {0};
	struct tp_gate_permit p[4] = {0};
	for (int i = 0; i < 4; i++)
		(void)ask(owner, &t[i], &p[i]);
	tp_gate_give_back(region, id, &p[0], NOW_MS);
	(void)ask(owner, &t[2], &p[2]);
	tp_gate_leave(region, id, &t[3]);
}

static const char *const points[] = {"gate number drawn",      "gate before ticket", "gate permit taken",
				     "gate permit and ticket", "gate ticket taken",  "gate gives back",
				     "gate gave back",         "gate leaves"};

START_TEST(killed_at_a_step)
{
	struct tp_gate_ticket t[LIMIT + QUEUE] = {0};
	struct tp_gate_permit p[LIMIT + QUEUE] = {0};
	open_region();
	id = tp_gate_open(region, TP_STR("p"));
	kill_in(region, points[_i], tp_slot_assign(region, 1), live);
	struct tp_stamp other = tp_slot_assign(region, 2);
	ck_assert_uint_eq(tp_gate_in_progress(region, id), 0);
	ck_assert_uint_eq(tp_gate_waiting(region, id), 0);
	/* All of it is there for the others. */
	for (int i = 0; i < LIMIT + QUEUE; i++)
		ck_assert_int_eq(ask(other, &t[i], &p[i]), i < LIMIT ? TP_GATE_GO : TP_GATE_QUEUED);
	for (int i = 0; i < QUEUE; i++) {
		tp_gate_give_back(region, id, &p[i], NOW_MS);
		ck_assert_int_eq(ask(other, &t[i + LIMIT], &p[i + LIMIT]), TP_GATE_GO);
	}
	close_region();
}
END_TEST

/* ---- processes under load, killed at random */

enum { PROCESSES = 4, KILLS = 60 };

struct shared {
	atomic_int inside[PROCESSES]; /* of each process: one writer, so a killed one's is put right */
	atomic_uint left;             /* how often one has left, before another one can take its place */
	atomic_uint went, over;
};
static struct shared *shared;

/* At one moment: where somebody left meanwhile, both it and who took its place may have been counted. */
static int all_inside(void)
{
	for (;;) {
		unsigned left = atomic_load(&shared->left);
		int n = 0;
		for (int i = 0; i < PROCESSES; i++)
			n += atomic_load(&shared->inside[i]);
		if (atomic_load(&shared->left) == left)
			return n;
	}
}

static _Noreturn void work(unsigned number, struct tp_stamp owner)
{
	for (;;) {
		struct tp_gate_ticket t = {0};
		struct tp_gate_permit p;
		enum tp_gate_answer a;
		while ((a = ask(owner, &t, &p)) == TP_GATE_QUEUED)
			(void)usleep(50);
		if (a != TP_GATE_GO)
			continue;
		atomic_store(&shared->inside[number], 1);
		if (all_inside() > LIMIT)
			atomic_fetch_add(&shared->over, 1);
		(void)usleep(100);
		atomic_store(&shared->inside[number], 0);
		atomic_fetch_add(&shared->left, 1);
		atomic_fetch_add(&shared->went, 1);
		tp_gate_give_back(region, id, &p, NOW_MS);
	}
}

static pid_t begin(unsigned number)
{
	struct tp_stamp owner = tp_slot_assign(region, number);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		work(number, owner);
	return pid;
}

static void end(pid_t pid, unsigned number)
{
	int status;
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	atomic_store(&shared->inside[number], 0); /* before its permit is free */
	atomic_fetch_add(&shared->left, 1);
	worker_dies(region, number);
}

START_TEST(killed_at_random)
{
	pid_t pids[PROCESSES];
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(shared != MAP_FAILED);
	open_region();
	id = tp_gate_open(region, TP_STR("p"));
	for (unsigned i = 0; i < PROCESSES; i++)
		pids[i] = begin(i);
	unsigned seed = (unsigned)time(NULL);
	for (unsigned n = 0, most = rounds_of(KILLS); n < most; n++) {
		unsigned went = atomic_load(&shared->went), victim = n % PROCESSES;
		(void)usleep((useconds_t)rand_r(&seed) % 3000);
		end(pids[victim], victim);
		pids[victim] = begin(victim);
		/* It goes on: nobody waits for what the dead one held. */
		for (int tries = 0; atomic_load(&shared->went) == went; tries++) {
			ck_assert_msg(tries < 20000, "nobody goes any more, after kill %u (seed %u)", n,
				      seed);
			(void)usleep(1000);
		}
	}
	for (unsigned i = 0; i < PROCESSES; i++)
		end(pids[i], i);
	ck_assert_uint_eq(atomic_load(&shared->over), 0);
	ck_assert_uint_eq(tp_gate_in_progress(region, id), 0);
	ck_assert_uint_eq(tp_gate_waiting(region, id), 0);
	tp_region_close(region);
	(void)munmap(shared, sizeof *shared);
}
END_TEST

TP_TESTS(gate_kill)
{
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, killed_at_a_step, 0, sizeof points / sizeof *points);
	tcase_add_test(t, killed_at_random);
}
