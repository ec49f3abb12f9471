/* Shared waits: who is held, how they are let go, and that none gets stuck. */
#include <check.h>
#include <stdlib.h>

#include "common/shm/cooldown.h"
#include "common/shm/layout.h"
#include "common/shm/shared_wait.h"

#include "tests/unit/dies.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW = 1000000, END = NOW + 2000, TURNS = 64 };

static struct tp_stamp workers[4];
static struct tp_hash128 key;
static struct tp_shared_wait_pass passes[TURNS];

static void setup(void)
{
	open_region();
	for (unsigned i = 0; i < 4; i++)
		workers[i] = tp_slot_assign(region, i);
	key = tp_shared_wait_key(region, TP_STR("codex"), TP_STR("gpt-5"), 1);
	tp_shared_wait_begin(region, workers[0], key, TP_STR("codex/gpt-5"), END, NOW);
}

static bool ask(unsigned n, uint64_t now)
{
	uint64_t hold, left;
	return tp_shared_wait_ask(region, workers[n % 4], key, now, &passes[n], &hold, &left);
}

/* Lets go as many as may, from number `first` on. */
static unsigned let_go(unsigned first, uint64_t now)
{
	unsigned n = 0;
	while (first + n < TURNS && ask(first + n, now))
		n++;
	return n;
}

START_TEST(all_are_held_until_it_ends)
{
	uint64_t hold, left;
	struct tp_shared_wait_pass p;
	ck_assert(!tp_shared_wait_ask(region, workers[1], key, NOW + 300, &p, &hold, &left));
	ck_assert_uint_eq(hold, 1700);
	ck_assert_uint_eq(left, 1700);
	ck_assert(!ask(1, END - 1));
	ck_assert(ask(1, END));
	ck_assert(passes[1].counted);
	ck_assert(!tp_shared_wait_ask(region, workers[2], key, END, &p, &hold, &left));
	ck_assert_uint_eq(left, 0);
	ck_assert_uint_gt(hold, 0);
	ck_assert_uint_le(hold, 100);
	/* Others than provider, model and credential are not. */
	const struct tp_hash128 others[] = {tp_shared_wait_key(region, TP_STR("codex"), TP_STR("gpt-5"), 2),
					    tp_shared_wait_key(region, TP_STR("codex"), TP_STR("gpt-4"), 1),
					    tp_shared_wait_key(region, TP_STR("code"), TP_STR("xgpt-5"), 1)};
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(tp_shared_wait_ask(region, workers[1], others[i], NOW, &p, &hold, &left));
		ck_assert(!p.counted);
	}
}
END_TEST

/* Nobody looks anything up before the first wait and after the last; what is in between is found. */
START_TEST(whether_there_is_any)
{
	struct tp_region *fresh;
	const struct tp_cooldown_name name =
		tp_cooldown_target(region, TP_STR("p"), TP_STR("m"), TP_STR("p/m"));
	ck_assert_int_eq(tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = 128}, &fresh),
			 0);
	ck_assert(!tp_shared_wait_any(fresh, NOW));
	/* A guess holds nobody, and neither does what is over. */
	(void)tp_cooldown_set(fresh, workers[0], &name, (struct tp_cooldown){.until_ms = END}, NOW);
	tp_shared_wait_begin(fresh, workers[0], key, TP_STR("codex/gpt-5"), NOW, NOW);
	ck_assert(!tp_shared_wait_any(fresh, NOW));
	(void)tp_cooldown_set(fresh, workers[0], &name, (struct tp_cooldown){.until_ms = END, .told = true},
			      NOW);
	ck_assert(tp_shared_wait_any(fresh, NOW));
	ck_assert(tp_shared_wait_any(fresh, END - 1));
	ck_assert(!tp_shared_wait_any(fresh, END));
	tp_region_close(fresh);
	/* Those that are let go one after the other count as held. */
	ck_assert(tp_shared_wait_any(region, END));
	ck_assert(tp_shared_wait_any(region, END + 59999));
	ck_assert(!tp_shared_wait_any(region, END + 60000));
	/* An earlier end changes nothing. */
	tp_shared_wait_begin(region, workers[0], tp_shared_wait_key(region, TP_STR("q"), TP_STR("m"), 1),
			     TP_STR("q/m"), END - 1000, NOW);
	ck_assert(tp_shared_wait_any(region, END + 59999));
}
END_TEST

START_TEST(one_two_four)
{
	unsigned first = 0, open = 1;
	for (unsigned good = 0; good < 5; good++) {
		/* What went on the last answer, none of them answered yet. */
		ck_assert_uint_eq(let_go(first, END), open);
		ck_assert(!ask(TURNS - 1, END));
		/* One good answer. */
		tp_shared_wait_report(&passes[first], true);
		tp_shared_wait_report(&passes[first], true);
		first += open;
		open *= 2;
	}
	/* After that it is open. */
	ck_assert(ask(TURNS - 1, END));
	ck_assert(!passes[TURNS - 1].counted);
}
END_TEST

START_TEST(answers_that_are_not_good_let_one_go)
{
	for (unsigned n = 0; n < 20; n++) {
		ck_assert_uint_eq(let_go(n, END), 1);
		tp_shared_wait_report(&passes[n], false);
	}
	/* The dead hold nobody up. */
	ck_assert_uint_eq(let_go(20, END), 1);
	worker_dies(region, workers[0].slot);
	ck_assert_uint_eq(let_go(21, END), 1);
	tp_shared_wait_report(&passes[21], true);
	/* Two may go, and both of them die: there is still a leader. */
	ck_assert_uint_eq(let_go(22, END), 2);
	worker_dies(region, workers[22 % 4].slot);
	worker_dies(region, workers[23 % 4].slot);
	workers[0] = tp_slot_assign(region, 0);
	ck_assert(ask(24, END));
	/* And after a while it is over. */
	ck_assert(!ask(28, END + 59999));
	ck_assert(ask(28, END + 60000));
	ck_assert(!passes[28].counted);
}
END_TEST

START_TEST(told_again)
{
	ck_assert_uint_eq(let_go(0, END), 1);
	tp_shared_wait_report(&passes[0], true);
	ck_assert_uint_eq(let_go(1, END), 2);
	/* An earlier end changes nothing, a later one holds all again. */
	tp_shared_wait_begin(region, workers[1], key, TP_STR("codex/gpt-5"), END - 100, NOW);
	tp_shared_wait_report(&passes[1], false);
	tp_shared_wait_begin(region, workers[1], key, TP_STR("codex/gpt-5"), END + 3000, END);
	ck_assert(!ask(3, END + 2999));
	/* Answers to sends of before do not count, whoever led, and leads no more. */
	tp_shared_wait_report(&passes[2], true);
	ck_assert_uint_eq(let_go(4, END + 3000), 1);
}
END_TEST

START_TEST(the_leader_of_before_does_not_hold_up)
{
	ck_assert_uint_eq(let_go(0, END), 1);
	tp_shared_wait_begin(region, workers[1], key, TP_STR("codex/gpt-5"), END + 3000, END);
	ck_assert_uint_eq(let_go(1, END + 3000), 1);
	tp_shared_wait_report(&passes[0], true);
	ck_assert(!ask(2, END + 3000));
	tp_shared_wait_report(&passes[1], true);
	ck_assert_uint_eq(let_go(2, END + 3000), 2);
}
END_TEST

START_TEST(what_is_over_is_told_anew)
{
	tp_shared_wait_begin(region, workers[0], key, TP_STR("codex/gpt-5"), END + 1000000, END + 500000);
	ck_assert(!ask(0, END + 999999));
	ck_assert(ask(0, END + 1000000));
	/* A table that is full forgets the wait that ends first. */
	for (uint64_t n = 2; n < 3 * TP_SHARED_WAITS; n++) {
		struct tp_hash128 k = tp_shared_wait_key(region, TP_STR("codex"), TP_STR("gpt-5"), n);
		uint64_t hold, left;
		struct tp_shared_wait_pass p;
		tp_shared_wait_begin(region, workers[0], k, TP_STR("codex/gpt-5"), END + n, NOW);
		ck_assert(!tp_shared_wait_ask(region, workers[0], k, NOW, &p, &hold, &left));
	}
}
END_TEST

START_TEST(rows_for_people)
{
	struct tp_shared_wait_row row;
	uint32_t cursor = 0;
	ck_assert(tp_shared_wait_next(region, NOW, &cursor, &row));
	ck_assert_str_eq(row.text, "codex/gpt-5");
	ck_assert_uint_eq(row.until_ms, END);
	ck_assert(!row.leading);
	ck_assert(!tp_shared_wait_next(region, NOW, &cursor, &row));
	cursor = 0;
	ck_assert(ask(0, END));
	ck_assert(tp_shared_wait_next(region, END, &cursor, &row) && row.leading);
	cursor = 0;
	ck_assert(!tp_shared_wait_next(region, END + 60000, &cursor, &row));
}
END_TEST

START_TEST(the_operator_ends_all)
{
	struct tp_shared_wait_row row;
	uint32_t cursor = 0;
	struct tp_hash128 other = tp_shared_wait_key(region, TP_STR("q"), TP_STR("m"), 1);
	tp_shared_wait_begin(region, workers[0], other, TP_STR("q/m"), END, NOW);
	ck_assert(!ask(0, NOW));
	ck_assert_uint_eq(tp_shared_wait_clear_all(region, NOW), 2);
	ck_assert_uint_eq(tp_shared_wait_clear_all(region, NOW), 0);
	ck_assert(!tp_shared_wait_next(region, NOW, &cursor, &row));
	ck_assert(ask(0, NOW) && !passes[0].counted && ask(1, NOW));
	/* A new one holds as ever. */
	tp_shared_wait_begin(region, workers[0], key, TP_STR("codex/gpt-5"), END, NOW);
	ck_assert(!ask(0, NOW));
}
END_TEST

START_TEST(a_good_answer_of_before_the_end_counts_for_no_later_wait)
{
	ck_assert(ask(0, END));
	ck_assert_uint_eq(tp_shared_wait_clear_all(region, END), 1);
	tp_shared_wait_begin(region, workers[0], key, TP_STR("codex/gpt-5"), END + 5000, END);
	tp_shared_wait_report(&passes[0], true);
	ck_assert_uint_eq(let_go(1, END + 5000), 1);
}
END_TEST

TP_TESTS(shared_wait)
{
	tcase_add_checked_fixture(t, setup, close_region);
	tcase_add_test(t, rows_for_people);
	tcase_add_test(t, the_operator_ends_all);
	tcase_add_test(t, a_good_answer_of_before_the_end_counts_for_no_later_wait);
	tcase_add_test(t, all_are_held_until_it_ends);
	tcase_add_test(t, whether_there_is_any);
	tcase_add_test(t, one_two_four);
	tcase_add_test(t, answers_that_are_not_good_let_one_go);
	tcase_add_test(t, told_again);
	tcase_add_test(t, the_leader_of_before_does_not_hold_up);
	tcase_add_test(t, what_is_over_is_told_anew);
}
