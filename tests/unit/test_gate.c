/* The capacity gate: permits, the queue and its order, dead owners, what is learned. */
#include <check.h>
#include <stdlib.h>

#include "common/shm/gate.h"
#include "common/shm/layout.h"
#include "tests/unit/dies.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW = 1000000, WORKERS = 3, TURNS = 8, STEPS = 32 };

static struct tp_stamp workers[WORKERS];

static void setup(void)
{
	open_region();
	for (unsigned i = 0; i < WORKERS; i++)
		workers[i] = tp_slot_assign(region, i + 1);
}

static void die(unsigned worker)
{
	worker_dies(region, workers[worker].slot);
	workers[worker] = tp_slot_assign(region, workers[worker].slot);
}

/* ---- scripts; turn n runs in worker n % WORKERS */

enum op { OP_NONE, ASK, PUSH, LEAVE, BACK, DIE, NEXT, NOBODY, BUSY, WAIT };

static const struct script {
	const char *name;
	uint32_t limit, queue;
	struct {
		enum op op;
		unsigned n;     /* turn or worker or count */
		int answer;     /* ASK, PUSH */
		uint32_t limit; /* 0 = the script's */
	} steps[STEPS];
} scripts[] = {
	{"as many as the limit, then a queue, then nothing",
	 2,
	 1,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {ASK, 1, TP_GATE_GO, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {ASK, 3, TP_GATE_FULL, 0},
	  {BUSY, 2, 0, 0},
	  {WAIT, 1, 0, 0},
	  {NOBODY, 0, 0, 0},
	  {BACK, 0, 0, 0},
	  {NEXT, 2, 0, 0},
	  {ASK, 2, TP_GATE_GO, 0},
	  {BUSY, 2, 0, 0},
	  {WAIT, 0, 0, 0}}},
	{"no queue at all", 1, 0, {{ASK, 0, TP_GATE_GO, 0}, {ASK, 1, TP_GATE_FULL, 0}, {WAIT, 0, 0, 0}}},
	{"in order, whoever asks first",
	 1,
	 9,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {ASK, 1, TP_GATE_QUEUED, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {BACK, 0, 0, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {ASK, 3, TP_GATE_QUEUED, 0},
	  {NEXT, 1, 0, 0},
	  {ASK, 1, TP_GATE_GO, 0},
	  {NOBODY, 0, 0, 0},
	  {BACK, 1, 0, 0},
	  {NEXT, 2, 0, 0},
	  {ASK, 3, TP_GATE_QUEUED, 0},
	  {ASK, 2, TP_GATE_GO, 0}}},
	{"with two free the second in order may go before the first has woken",
	 2,
	 9,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {ASK, 1, TP_GATE_GO, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {ASK, 3, TP_GATE_QUEUED, 0},
	  {ASK, 4, TP_GATE_QUEUED, 0},
	  {BACK, 0, 0, 0},
	  {ASK, 3, TP_GATE_QUEUED, 0},
	  {BACK, 1, 0, 0},
	  {ASK, 4, TP_GATE_QUEUED, 0},
	  {ASK, 3, TP_GATE_GO, 0},
	  {ASK, 4, TP_GATE_QUEUED, 0},
	  {ASK, 2, TP_GATE_GO, 0}}},
	{"who comes again keeps the number",
	 1,
	 9,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {BACK, 0, 0, 0},
	  {ASK, 1, TP_GATE_GO, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {ASK, 0, TP_GATE_QUEUED, 0},
	  {BACK, 1, 0, 0},
	  {NEXT, 0, 0, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {ASK, 0, TP_GATE_GO, 0}}},
	{"who leaves holds nobody up",
	 1,
	 2,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {ASK, 1, TP_GATE_QUEUED, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {LEAVE, 1, 0, 0},
	  {WAIT, 1, 0, 0},
	  {ASK, 3, TP_GATE_QUEUED, 0},
	  {BACK, 0, 0, 0},
	  {NEXT, 2, 0, 0},
	  {ASK, 2, TP_GATE_GO, 0}}},
	{"a dead worker's permit is free at once, its ticket gone",
	 1,
	 2,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {ASK, 3, TP_GATE_QUEUED, 0},
	  {ASK, 1, TP_GATE_QUEUED, 0},
	  {DIE, 0, 0, 0},
	  {BUSY, 0, 0, 0},
	  {WAIT, 1, 0, 0},
	  {NEXT, 1, 0, 0},
	  {ASK, 1, TP_GATE_GO, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {ASK, 5, TP_GATE_QUEUED, 0}}},
	{"the dead one's give-back comes too late and takes nothing",
	 1,
	 2,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {DIE, 0, 0, 0},
	  {ASK, 1, TP_GATE_GO, 0},
	  {BACK, 0, 0, 0},
	  {BUSY, 1, 0, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0}}},
	{"who is not fetched is passed over, but not beyond the limit",
	 1,
	 9,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {ASK, 1, TP_GATE_QUEUED, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {PUSH, 2, TP_GATE_QUEUED, 0},
	  {BACK, 0, 0, 0},
	  {PUSH, 2, TP_GATE_GO, 0},
	  {BUSY, 1, 0, 0},
	  {ASK, 1, TP_GATE_QUEUED, 0}}},
	{"a lower limit lets those end that are above it",
	 4,
	 9,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {ASK, 1, TP_GATE_GO, 0},
	  {ASK, 2, TP_GATE_GO, 0},
	  {ASK, 3, TP_GATE_GO, 0},
	  {ASK, 4, TP_GATE_QUEUED, 2},
	  {BACK, 0, 0, 0},
	  {ASK, 4, TP_GATE_QUEUED, 2},
	  {BACK, 1, 0, 0},
	  {ASK, 4, TP_GATE_QUEUED, 2},
	  {BACK, 2, 0, 0},
	  {ASK, 4, TP_GATE_GO, 2},
	  {BUSY, 2, 0, 0}}},
	{"a higher one lets more go",
	 1,
	 9,
	 {{ASK, 0, TP_GATE_GO, 0},
	  {ASK, 1, TP_GATE_QUEUED, 0},
	  {ASK, 2, TP_GATE_QUEUED, 0},
	  {ASK, 2, TP_GATE_QUEUED, 2},
	  {ASK, 1, TP_GATE_GO, 2},
	  {ASK, 2, TP_GATE_GO, 3}}},
};

START_TEST(goes_by_the_script)
{
	const struct script *s = &scripts[_i];
	tp_gate_id id = tp_gate_open(region, TP_STR("p"));
	struct tp_gate_ticket tickets[TURNS] = {0};
	struct tp_gate_permit permits[TURNS] = {0};
	for (int i = 0; i < STEPS && s->steps[i].op != OP_NONE; i++) {
		unsigned n = s->steps[i].n;
		uint32_t limit = s->steps[i].limit != 0 ? s->steps[i].limit : s->limit;
		uint8_t slot = 0;
		int got = s->steps[i].answer;
		bool as_told = true;
		switch (s->steps[i].op) {
		case ASK:
		case PUSH:
			got = (int)tp_gate_ask(region, workers[n % WORKERS], id, limit, s->queue,
					       s->steps[i].op == PUSH, NOW, &tickets[n], &permits[n]);
			break;
		case LEAVE: tp_gate_leave(region, id, &tickets[n]); break;
		case BACK: tp_gate_give_back(region, id, &permits[n], NOW + 100); break;
		case DIE: die(n); break;
		case NEXT:
			as_told = tp_gate_next(region, id, limit, &slot) && slot == workers[n % WORKERS].slot;
			break;
		case NOBODY: as_told = !tp_gate_next(region, id, limit, &slot); break;
		case BUSY: as_told = tp_gate_in_progress(region, id) == n; break;
		case WAIT: as_told = tp_gate_waiting(region, id) == n; break;
		case OP_NONE: break;
		}
		ck_assert_msg(got == s->steps[i].answer, "%s: step %d: answer %d", s->name, i, got);
		ck_assert_msg(as_told, "%s: step %d: %u in progress, %u wait, next in slot %u", s->name, i,
			      (unsigned)tp_gate_in_progress(region, id),
			      (unsigned)tp_gate_waiting(region, id), (unsigned)slot);
	}
}
END_TEST

START_TEST(gates_are_by_name_and_bounded)
{
	tp_gate_id a = tp_gate_open(region, TP_STR("a")), b = tp_gate_open(region, TP_STR("b"));
	ck_assert_uint_ne(a, b);
	ck_assert_uint_eq(tp_gate_open(region, TP_STR("a")), a);
	char name[16];
	for (unsigned i = 2; i < TP_GATES; i++) {
		(void)snprintf(name, sizeof name, "p%u", i);
		ck_assert_uint_lt(tp_gate_open(region, tp_str_from(name)), TP_GATES);
	}
	ck_assert_uint_eq(tp_gate_open(region, TP_STR("one more")), TP_GATE_NONE);
	ck_assert_uint_eq(tp_gate_open(region, TP_STR("b")), b);
	/* Without a gate nothing is limited. */
	struct tp_gate_ticket ticket = {0};
	struct tp_gate_permit permit;
	ck_assert_int_eq(tp_gate_ask(region, workers[0], TP_GATE_NONE, 1, 0, false, NOW, &ticket, &permit),
			 TP_GATE_GO);
	tp_gate_give_back(region, TP_GATE_NONE, &permit, NOW);
	tp_gate_leave(region, TP_GATE_NONE, &ticket);
	ck_assert_uint_eq(tp_gate_in_progress(region, TP_GATE_NONE), 0);
}
END_TEST

START_TEST(all_permits_and_all_tickets)
{
	static struct tp_gate_permit permits[TP_GATE_PERMITS];
	static struct tp_gate_ticket tickets[TP_GATE_TICKETS];
	tp_gate_id id = tp_gate_open(region, TP_STR("p"));
	struct tp_gate_ticket t = {0};
	struct tp_gate_permit p;
	for (unsigned i = 0; i < TP_GATE_PERMITS; i++, t = (struct tp_gate_ticket){0}) {
		ck_assert_int_eq(
			tp_gate_ask(region, workers[0], id, UINT32_MAX, 1, false, NOW, &t, &permits[i]),
			TP_GATE_GO);
		ck_assert_uint_eq(permits[i].in_progress, i + 1);
	}
	for (unsigned i = 0; i < TP_GATE_TICKETS; i++)
		ck_assert_int_eq(tp_gate_ask(region, workers[1], id, UINT32_MAX, UINT32_MAX, false, NOW,
					     &tickets[i], &p),
				 TP_GATE_QUEUED);
	ck_assert_int_eq(tp_gate_ask(region, workers[1], id, UINT32_MAX, UINT32_MAX, false, NOW, &t, &p),
			 TP_GATE_FULL);
	for (unsigned i = 0; i < TP_GATE_PERMITS; i++)
		tp_gate_give_back(region, id, &permits[i], NOW);
	ck_assert_uint_eq(tp_gate_in_progress(region, id), 0);
	die(1);
	ck_assert_uint_eq(tp_gate_waiting(region, id), 0);
}
END_TEST

START_TEST(tells_the_backlog)
{
	tp_gate_id id = tp_gate_open(region, TP_STR("p"));
	struct tp_gate_ticket t[4] = {0};
	struct tp_gate_permit p[4] = {0};
	ck_assert_uint_eq(tp_gate_backlog_ms(region, id, 2), 0);
	ck_assert_int_eq(tp_gate_ask(region, workers[0], id, 1, 9, false, NOW, &t[0], &p[0]), TP_GATE_GO);
	tp_gate_give_back(region, id, &p[0], NOW + 800);
	ck_assert_uint_eq(tp_gate_backlog_ms(region, id, 2), 400);
	for (unsigned i = 1; i < 4; i++)
		(void)tp_gate_ask(region, workers[0], id, 1, 9, false, NOW, &t[i], &p[i]);
	ck_assert_uint_eq(tp_gate_backlog_ms(region, id, 1), 2400);
}
END_TEST

START_TEST(learns_over_all_workers)
{
	tp_gate_id id = tp_gate_open(region, TP_STR("p"));
	ck_assert_uint_eq(tp_gate_learned(region, id), TP_GATE_PERMITS);
	ck_assert_uint_eq(tp_gate_grow(region, id, NOW), TP_GATE_PERMITS);
	ck_assert_uint_eq(tp_gate_refused(region, id, 7, 0, NOW), 7);
	ck_assert_uint_eq(tp_gate_learned(region, id), 7);
	ck_assert_uint_eq(tp_gate_refused(region, id, 7, 4, NOW), 4);
	ck_assert_uint_eq(tp_gate_grow(region, id, NOW + 39999), 4);
	ck_assert_uint_eq(tp_gate_grow(region, id, NOW + 40000), 5);
	ck_assert_uint_eq(tp_gate_grow(region, id, NOW + 40000), 5);
	ck_assert_uint_eq(tp_gate_refused(region, id, 5000, 5000, NOW), TP_GATE_PERMITS);
	ck_assert_uint_eq(tp_gate_learned(region, tp_gate_open(region, TP_STR("q"))), TP_GATE_PERMITS);
}
END_TEST

TP_TESTS(gate)
{
	tcase_add_checked_fixture(t, setup, close_region);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, goes_by_the_script, 0, sizeof scripts / sizeof *scripts);
	tcase_add_test(t, gates_are_by_name_and_bounded);
	tcase_add_test(t, all_permits_and_all_tickets);
	tcase_add_test(t, tells_the_backlog);
	tcase_add_test(t, learns_over_all_workers);
}
