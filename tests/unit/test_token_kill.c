/* SIGKILL at each step of a renewal. */
#define TP_SHM_INJECT
#include "common/shm/token.c"

#include "tests/unit/kill_at.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW_MS = 1000000 };

static tp_token_id id;

static void renew(struct tp_stamp owner, char letter)
{
	struct tp_token_lease l = {0};
	struct tp_token t = {.origin = (uint64_t)letter, .expires_ms = (uint64_t)letter, .n = 4000};
	uint64_t wait;
	memset(t.text, letter, t.n);
	if (tp_token_take(region, id, owner, tp_token_generation(region, id), false, NOW_MS, &l, &wait) ==
	    TP_TOKEN_TAKEN)
		tp_token_publish(&l, &t, NOW_MS);
}

/* Whole, and of one writing. */
static char letter_of(void)
{
	struct tp_token t;
	ck_assert(tp_token_get(region, id, &t));
	ck_assert_uint_eq(t.n, 4000);
	ck_assert_uint_eq(t.origin, (uint64_t)t.text[0]);
	ck_assert_uint_eq(t.expires_ms, (uint64_t)t.text[0]);
	for (size_t i = 0; i < t.n; i++)
		ck_assert_int_eq(t.text[i], t.text[0]);
	return t.text[0];
}

static void live_and_publish(struct tp_stamp owner)
{
	renew(owner, 'b');
}

static void live_and_fail(struct tp_stamp owner)
{
	struct tp_token_lease l = {0};
	uint64_t wait;
	if (tp_token_take(region, id, owner, 1, false, NOW_MS, &l, &wait) == TP_TOKEN_TAKEN)
		tp_token_failed(&l, -1, NOW_MS);
}

static const struct death {
	const char *point;
	void (*live)(struct tp_stamp owner);
	char letter;  /* of the present token behind it */
	bool trouble; /* nobody asks for a moment */
} deaths[] = {
	{"token lease taken", live_and_publish, 'a', false},
	{"token half written", live_and_publish, 'a', false},
	{"token written", live_and_publish, 'a', false},
	{"token published", live_and_publish, 'b', false},
	{"token failed", live_and_fail, 'a', true},
};

START_TEST(killed_at_a_step)
{
	const struct death *d = &deaths[_i];
	struct tp_token_lease l = {0};
	uint64_t wait;
	open_region();
	id = tp_token_open(region, TP_STR("p"));
	struct tp_stamp other = tp_slot_assign(region, 2);
	renew(other, 'a');
	kill_in(region, d->point, tp_slot_assign(region, 1), d->live);
	ck_assert_int_eq(letter_of(), d->letter);
	/* It is replaced at once, by one; the next token is whole. */
	uint64_t generation = tp_token_generation(region, id);
	enum tp_token_taking first = tp_token_take(region, id, other, generation, false, NOW_MS, &l, &wait);
	ck_assert_int_eq(first, d->trouble ? TP_TOKEN_LATER : TP_TOKEN_TAKEN);
	tp_token_release(&l);
	ck_assert_int_eq(tp_token_take(region, id, other, generation, false, NOW_MS + 1000, &l, &wait),
			 TP_TOKEN_TAKEN);
	tp_token_release(&l);
	renew(other, 'c');
	ck_assert_int_eq(letter_of(), d->trouble ? 'a' : 'c');
	close_region();
}
END_TEST

static void take_and_die(struct tp_stamp owner)
{
	live_and_fail(owner);
}

/* Two in a row die with it: who finds that out dies as well, and the next one finds the same. */
START_TEST(killed_while_giving_up)
{
	struct tp_token_lease l = {0};
	uint64_t wait;
	open_region();
	id = tp_token_open(region, TP_STR("p"));
	struct tp_stamp other = tp_slot_assign(region, 3);
	renew(other, 'a');
	kill_in(region, "token lease taken", tp_slot_assign(region, 1), take_and_die);
	kill_in(region, "token lease taken", tp_slot_assign(region, 1), take_and_die);
	kill_in(region, "token gives up", tp_slot_assign(region, 1), take_and_die);
	ck_assert_int_eq(tp_token_take(region, id, other, 1, false, NOW_MS, &l, &wait), TP_TOKEN_LATER);
	ck_assert_int_eq(tp_token_take(region, id, other, 1, false, NOW_MS + 1000, &l, &wait),
			 TP_TOKEN_LATER);
	ck_assert_int_eq(tp_token_take(region, id, other, 1, false, NOW_MS + 3000, &l, &wait),
			 TP_TOKEN_TAKEN);
	tp_token_release(&l);
	ck_assert_int_eq(letter_of(), 'a');
	close_region();
}
END_TEST

TP_TESTS(token_kill)
{
	tcase_add_loop_test(t, killed_at_a_step, 0, sizeof deaths / sizeof *deaths);
	tcase_add_test(t, killed_while_giving_up);
}
