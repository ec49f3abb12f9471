/*
 * The longest open turns in the shared table: order, bounds, cells of the dead, SIGKILL at each step, a
 * reader beside a writer.
 */
#define TP_SHM_INJECT
#include "common/shm/open_turns.c"
#include "common/shm/sealed.c"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/dies.h"
#include "tests/unit/kill_at.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

static struct tp_open_turn list[TP_OPEN_TURNS_SHOWN];

/* Every word of it says the same. */
static void put(struct tp_stamp owner, unsigned place, uint32_t n)
{
	struct tp_open_turn t = {.begun_ms = n, .until_ms = n, .sends = n, .state = TP_OPEN_WAITING};
	(void)snprintf(t.id, sizeof t.id, "%u", n);
	(void)snprintf(t.model, sizeof t.model, "%u", n);
	tp_open_turn_put(region, owner, place, &t);
}

static void check_whole(const struct tp_open_turn *t)
{
	char text[16];
	(void)snprintf(text, sizeof text, "%u", t->sends);
	ck_assert(t->begun_ms == t->sends && t->until_ms == t->sends);
	ck_assert_str_eq(t->id, text);
	ck_assert_str_eq(t->model, text);
}

START_TEST(longest_open_first)
{
	struct tp_stamp a = tp_slot_assign(region, 3), b = tp_slot_assign(region, 255);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 0);
	put(a, 0, 10);
	put(b, 0, 5);
	put(b, 7, 20);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 3);
	const uint32_t order[] = {5, 10, 20}, slots[] = {255, 3, 255};
	for (unsigned i = 0; i < 3; i++) {
		check_whole(&list[i]);
		ck_assert_uint_eq(list[i].sends, order[i]);
		ck_assert_uint_eq(list[i].slot, slots[i]);
	}
	tp_open_turn_drop(region, b, 0);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 2);
	ck_assert_uint_eq(list[0].sends, 10);
	put(a, 0, 30);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 2);
	ck_assert_uint_eq(list[0].sends, 20);
}
END_TEST

START_TEST(the_oldest_of_too_many)
{
	for (unsigned slot = 0; slot < 6; slot++) {
		struct tp_stamp owner = tp_slot_assign(region, slot);
		for (unsigned place = 0; place < TP_OPEN_TURNS; place++)
			put(owner, place, 1000 - 8 * slot - place);
	}
	ck_assert_uint_eq(tp_open_turns_read(region, list), TP_OPEN_TURNS_SHOWN);
	for (unsigned i = 0; i < TP_OPEN_TURNS_SHOWN; i++)
		ck_assert_uint_eq(list[i].sends, 1000 - 47 + i);
}
END_TEST

START_TEST(a_torn_cell_is_none)
{
	struct tp_stamp owner = tp_slot_assign(region, 1);
	put(owner, 0, 1);
	put(owner, 1, 2);
	for (unsigned word = 0; word < TP_OPEN_WORDS; word++) {
		atomic_fetch_xor(&region->open_turns[1].cells[0].words[word], 1);
		ck_assert_uint_eq(tp_open_turns_read(region, list), 1);
		ck_assert_uint_eq(list[0].sends, 2);
		atomic_fetch_xor(&region->open_turns[1].cells[0].words[word], 1);
	}
	ck_assert_uint_eq(tp_open_turns_read(region, list), 2);
}
END_TEST

START_TEST(names)
{
	ck_assert_str_eq(tp_open_state_name(TP_OPEN_RECEIVING), "receiving");
	ck_assert_str_eq(tp_open_state_name(TP_OPEN_WAITING), "waiting");
	ck_assert_str_eq(tp_open_state_name(TP_OPEN_STATES), "");
	ck_assert_str_eq(tp_open_wait_name(TP_OPEN_WAIT_TOKEN), "token");
	ck_assert_str_eq(tp_open_wait_name(TP_OPEN_WAITS), "");
}
END_TEST

/* ---- the dead */

enum { SLOT = 9 };

static void put_again(struct tp_stamp owner)
{
	put(owner, 0, 7);
}

static const char *const points[] = {"sealed: before the number", "sealed: number", "sealed: checksum",
				     "sealed: between two words", "sealed: done"};

/* What it leaves, whole or torn, is none, under its successor too; neighbours are as they were. */
START_TEST(killed_while_writing)
{
	struct tp_stamp other = tp_slot_assign(region, SLOT + 1), owner = tp_slot_assign(region, SLOT);
	put(other, 0, 100);
	put(owner, 0, 1);
	put(owner, 1, 2);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 3);
	kill_in(region, points[_i], owner, put_again);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 1);
	check_whole(&list[0]);
	owner = tp_slot_assign(region, SLOT);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 1);
	put(owner, 0, 3);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 2);
	ck_assert_uint_eq(list[0].sends, 3);
}
END_TEST

/* One that draws its last breath after its slot was given to another: its record is of the dead. */
START_TEST(a_late_writer_is_not_seen)
{
	struct tp_stamp dead = tp_slot_assign(region, SLOT);
	worker_dies(region, SLOT);
	struct tp_stamp heir = tp_slot_assign(region, SLOT);
	put(dead, 0, 1);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 0);
	put(heir, 0, 2);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 1);
	check_whole(&list[0]);
}
END_TEST

/* Generations come again after a while: a new owner's cells begin empty all the same. */
START_TEST(cells_begin_empty)
{
	struct tp_stamp first = tp_slot_assign(region, SLOT);
	put(first, TP_OPEN_TURNS - 1, 1);
	struct tp_stamp again = tp_slot_assign(region, SLOT);
	ck_assert_uint_eq(again.generation, first.generation);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 0);
}
END_TEST

/* ---- side by side */

static _Atomic int stop;

static void *write_many(void *arg)
{
	const struct tp_stamp *owner = arg;
	for (uint32_t n = 1; stop == 0; n++)
		put(*owner, n % 3, n);
	return NULL;
}

START_TEST(readers_see_whole_ones)
{
	struct tp_stamp owner = tp_slot_assign(region, SLOT), quiet = tp_slot_assign(region, 1);
	pthread_t writer;
	unsigned seen = 0;
	put(quiet, 0, 0);
	ck_assert_int_eq(pthread_create(&writer, NULL, write_many, &owner), 0);
	for (int round = 0; round < 3000; round++) {
		unsigned n = tp_open_turns_read(region, list);
		ck_assert(n >= 1 && n <= 4);
		for (unsigned i = 0; i < n; i++)
			check_whole(&list[i]);
		seen += n;
	}
	stop = 1;
	(void)pthread_join(writer, NULL);
	ck_assert_uint_eq(tp_open_turns_read(region, list), 4);
	ck_assert_uint_gt(seen, 3000);
}
END_TEST

TP_TESTS(open_turns)
{
	tcase_add_checked_fixture(t, open_region, close_region);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, longest_open_first);
	tcase_add_test(t, the_oldest_of_too_many);
	tcase_add_test(t, a_torn_cell_is_none);
	tcase_add_test(t, names);
	tcase_add_loop_test(t, killed_while_writing, 0, sizeof points / sizeof points[0]);
	tcase_add_test(t, a_late_writer_is_not_seen);
	tcase_add_test(t, cells_begin_empty);
	tcase_add_test(t, readers_see_whole_ones);
}
