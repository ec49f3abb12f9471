/* How long a slot waits for its next worker, and when deaths say that the table is bad. */
#include <stdlib.h>

/* server/ is no library: the file under test has no other dependency. */
#include "server/deaths.c"
#include "tests/unit/suite.h"

START_TEST(waits_grow_and_are_forgotten)
{
	static const struct {
		uint64_t lived, wait;
		bool cannot_start;
	} table[] = {
		{60000, 0, false}, /* the first: at once */
		{10, 90, false},   /* then the time from fork to fork doubles */
		{10, 190, false},  {150, 250, false},         {10, 790, false},
		{10, 1590, false}, {10, 1990, false},         {10, 1990, false}, /* and stays at the limit */
		{5000, 0, false}, /* one that ran for longer than the wait is replaced at once */
		{0, 2000, false},  {30000, 0, false}, /* healthy: all is forgotten */
		{0, 100, false},   {40000, 100 - 100, false},
	};
	struct tp_slot_deaths d = {0};
	uint64_t now = 1000000;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		uint64_t forked = now;
		now += table[i].lived;
		d.cannot_start = table[i].cannot_start;
		ck_assert_msg(tp_deaths_note(&d, forked, now) == table[i].wait, "row %zu", i);
		ck_assert(d.last_ms == now);
		now += table[i].wait;
	}
}
END_TEST

START_TEST(one_that_cannot_start_is_not_tried_again_at_once)
{
	struct tp_slot_deaths d = {.cannot_start = true};
	ck_assert(tp_deaths_note(&d, 1000, 1005) == 95);
}
END_TEST

struct death {
	uint64_t at;
	unsigned slot;
	bool none_lives;
	unsigned rounds; /* expected */
};

static void play(unsigned n, const struct death *deaths, size_t count)
{
	struct tp_slot_deaths slots[4] = {0};
	const struct tp_slot_deaths *all[4];
	struct tp_rounds r = {0};
	for (unsigned i = 0; i < n; i++)
		all[i] = &slots[i];
	for (size_t i = 0; i < count; i++) {
		slots[deaths[i].slot].last_ms = deaths[i].at;
		unsigned got = tp_rounds_note(&r, all, n, deaths[i].none_lives, deaths[i].at);
		ck_assert_msg(got == deaths[i].rounds, "death %zu: %u rounds", i, got);
	}
}

#define PLAY(n, ...)                                                                                         \
	do {                                                                                                 \
		static const struct death d[] = {__VA_ARGS__};                                               \
		play(n, d, sizeof d / sizeof d[0]);                                                          \
	} while (0)

START_TEST(all_together_three_times)
{
	PLAY(2, {1000, 0, false, 0}, {1100, 1, false, 1}, {2000, 1, false, 0}, {2050, 0, false, 2},
	     {3000, 0, false, 0}, {3010, 1, true, 3});
}
END_TEST

START_TEST(none_left_makes_a_round_however_slowly)
{
	PLAY(2, {1000, 0, false, 0}, {3000, 1, true, 1}, {4000, 0, false, 0}, {6000, 1, true, 2});
}
END_TEST

START_TEST(rounds_far_apart_do_not_add_up)
{
	PLAY(1, {1000, 0, true, 1}, {2000, 0, true, 2}, {12001, 0, true, 1});
}
END_TEST

START_TEST(one_at_a_time_never_makes_a_round)
{
	PLAY(2, {1000, 0, false, 0}, {2000, 1, false, 0}, {3000, 0, false, 0}, {4000, 1, false, 0},
	     {5000, 0, false, 0}, {6000, 1, false, 0});
}
END_TEST

START_TEST(one_slot_alone_never_makes_a_round)
{
	PLAY(2, {1000, 0, false, 0}, {1100, 0, false, 0}, {1200, 0, false, 0}, {1300, 0, false, 0});
}
END_TEST

TP_TESTS(deaths)
{
	tcase_add_test(t, waits_grow_and_are_forgotten);
	tcase_add_test(t, one_that_cannot_start_is_not_tried_again_at_once);
	tcase_add_test(t, all_together_three_times);
	tcase_add_test(t, none_left_makes_a_round_however_slowly);
	tcase_add_test(t, rounds_far_apart_do_not_add_up);
	tcase_add_test(t, one_at_a_time_never_makes_a_round);
	tcase_add_test(t, one_slot_alone_never_makes_a_round);
}
