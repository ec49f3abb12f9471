/* Access tokens in the shared table: what is read, who renews, and when nobody does. */
#include <check.h>
#include <stdio.h>

#include "common/shm/layout.h"
#include "common/shm/token.h"
#include "tests/unit/dies.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW_MS = 1000000 };

static struct tp_stamp one, two;
static tp_token_id id;

static void setup(void)
{
	open_region();
	one = tp_slot_assign(region, 1);
	two = tp_slot_assign(region, 2);
	id = tp_token_open(region, TP_STR("p"));
}

static struct tp_token token_of(const char *text)
{
	struct tp_token t = {.origin = 7, .expires_ms = NOW_MS + 5000, .renew_ms = NOW_MS + 4000};
	t.n = strlen(text);
	memcpy(t.text, text, t.n);
	return t;
}

static enum tp_token_taking take(struct tp_stamp who, uint64_t known, bool rejected, uint64_t now,
				 struct tp_token_lease *ret)
{
	uint64_t wait;
	return tp_token_take(region, id, who, known, rejected, now, ret, &wait);
}

/* The next token, got at `now`. */
static void renew(const char *text, uint64_t now)
{
	struct tp_token_lease l = {0};
	const struct tp_token t = token_of(text);
	ck_assert_int_eq(take(one, tp_token_generation(region, id), false, now, &l), TP_TOKEN_TAKEN);
	tp_token_publish(&l, &t, now);
	ck_assert_ptr_null(l.region);
}

START_TEST(what_is_read)
{
	struct tp_token t;
	static char longest[TP_TOKEN_MAX + 1];
	const char *const texts[] = {"a", "eightbyt", "nine-byte", longest, ""};
	memset(longest, 'x', TP_TOKEN_MAX);
	ck_assert(!tp_token_get(region, id, &t));
	ck_assert_uint_eq(tp_token_generation(region, id), 0);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		renew(texts[i], NOW_MS);
		ck_assert(tp_token_get(region, id, &t));
		ck_assert_uint_eq(t.generation, i + 1);
		ck_assert_uint_eq(t.n, strlen(texts[i]));
		ck_assert_mem_eq(t.text, texts[i], t.n);
		ck_assert_uint_eq(t.origin, 7);
		ck_assert_uint_eq(t.expires_ms, NOW_MS + 5000);
		ck_assert_uint_eq(t.renew_ms, NOW_MS + 4000);
	}
	ck_assert_uint_eq(tp_token_open(region, TP_STR("p")), id);
	ck_assert(!tp_token_get(region, tp_token_open(region, TP_STR("q")), &t));
}
END_TEST

START_TEST(times_without_the_text)
{
	uint64_t got = 1, expires = 2;
	ck_assert(!tp_token_times(region, TP_STR("p"), &got, &expires)); /* it has none yet */
	ck_assert_uint_eq(got, 1);
	ck_assert_uint_eq(expires, 2);
	for (unsigned i = 0; i < 3; i++) {
		renew("t", NOW_MS + i);
		ck_assert(tp_token_times(region, TP_STR("p"), &got, &expires));
		ck_assert_uint_eq(got, NOW_MS + i);
		ck_assert_uint_eq(expires, NOW_MS + 5000);
	}
	/* asking enters nobody: there is room for as many as before */
	for (unsigned i = 0; i < 2 * TP_TOKENS; i++) {
		char name[16];
		(void)snprintf(name, sizeof name, "other-%u", i);
		ck_assert(!tp_token_times(region, tp_str_from(name), &got, &expires));
	}
	for (unsigned i = 1; i < TP_TOKENS; i++) {
		char name[16];
		(void)snprintf(name, sizeof name, "more-%u", i);
		ck_assert_uint_ne(tp_token_open(region, tp_str_from(name)), TP_TOKEN_NONE);
	}
	ck_assert(!tp_token_times(region, TP_STR("no-room"), &got, &expires)); /* and no free cell ends it */
}
END_TEST

START_TEST(one_renews)
{
	struct tp_token_lease l = {0}, other = {0};
	const struct tp_token t = token_of("t");
	ck_assert_int_eq(take(one, 0, false, NOW_MS, &l), TP_TOKEN_TAKEN);
	ck_assert_int_eq(take(two, 0, false, NOW_MS, &other), TP_TOKEN_HELD);
	ck_assert_int_eq(take(one, 0, false, NOW_MS, &other), TP_TOKEN_HELD);
	tp_token_publish(&l, &t, NOW_MS);
	ck_assert_int_eq(take(two, 0, false, NOW_MS, &other), TP_TOKEN_NEWER);
	ck_assert_int_eq(take(two, 1, true, NOW_MS, &other), TP_TOKEN_TAKEN);
	tp_token_release(&other);
	ck_assert_ptr_null(other.region);
	tp_token_release(&other); /* nothing is held */
	ck_assert_int_eq(take(one, 1, true, NOW_MS, &l), TP_TOKEN_TAKEN);
	tp_token_release(&l);
}
END_TEST

/* Failures in a row: doubled, told times as they are but for a day at most, forgotten with the next token. */
START_TEST(not_before)
{
	static const struct {
		int64_t told_ms;
		uint64_t wait_ms;
	} rows[] = {{-1, 1000},   {-1, 2000},  {-1, 4000},
		    {2000, 2000}, {0, 1000},   {-1, 32000},
		    {-1, 60000},  {-1, 60000}, {90000000, TP_TOKEN_LATER_MAX_MS}};
	struct tp_token_lease l = {0};
	uint64_t now = NOW_MS, wait;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ck_assert_int_eq(take(one, 0, false, now, &l), TP_TOKEN_TAKEN);
		tp_token_failed(&l, rows[i].told_ms, now);
		ck_assert_int_eq(tp_token_take(region, id, two, 0, false, now, &l, &wait), TP_TOKEN_LATER);
		ck_assert_uint_eq(wait, rows[i].wait_ms);
		now += rows[i].wait_ms;
		ck_assert_int_eq(take(two, 0, false, now - 1, &l), TP_TOKEN_LATER);
	}
	renew("good", now);
	ck_assert_int_eq(take(one, 1, false, now, &l), TP_TOKEN_TAKEN);
	tp_token_failed(&l, -1, now);
	ck_assert_int_eq(take(one, 1, false, now + 999, &l), TP_TOKEN_LATER);
	ck_assert_int_eq(take(one, 1, false, now + 1000, &l), TP_TOKEN_TAKEN);
	tp_token_release(&l);
}
END_TEST

/* Tokens that are rejected as soon as they are got: 10s, 20s, 40s from one to the next; an expiry waits for
 * nothing, and one good answer ends it. */
START_TEST(never_accepted)
{
	struct tp_token_lease l = {0};
	uint64_t now = NOW_MS;
	renew("1", now);
	for (uint64_t g = 1, gap = 0; g < 5; g++, gap = gap == 0 ? 10000 : 2 * gap) {
		if (gap > 0)
			ck_assert_int_eq(take(two, g, true, now + gap - 1, &l), TP_TOKEN_LATER);
		ck_assert_int_eq(take(two, g, false, now, &l), TP_TOKEN_TAKEN);
		tp_token_release(&l);
		now += gap;
		ck_assert_int_eq(take(two, g, true, now, &l), TP_TOKEN_TAKEN);
		tp_token_release(&l);
		renew("next", now);
	}
	ck_assert_int_eq(take(two, 5, true, now, &l), TP_TOKEN_LATER);
	tp_token_proved(region, id, 5);
	tp_token_proved(region, id, 3); /* late: changes nothing */
	ck_assert_int_eq(take(two, 5, true, now, &l), TP_TOKEN_TAKEN);
	tp_token_release(&l);
	renew("after a good one", now);
	ck_assert_int_eq(take(two, 6, true, now, &l), TP_TOKEN_TAKEN);
	tp_token_release(&l);
}
END_TEST

START_TEST(the_dead_are_replaced_once)
{
	struct tp_token_lease l = {0};
	ck_assert_int_eq(take(one, 0, false, NOW_MS, &l), TP_TOKEN_TAKEN);
	worker_dies(region, one.slot);
	ck_assert_int_eq(take(two, 0, false, NOW_MS, &l), TP_TOKEN_TAKEN);
	one = tp_slot_assign(region, 1);
	ck_assert_int_eq(take(one, 0, false, NOW_MS, &l), TP_TOKEN_HELD);
	worker_dies(region, two.slot);
	ck_assert_int_eq(take(one, 0, false, NOW_MS, &l), TP_TOKEN_LATER);
	ck_assert_int_eq(take(one, 0, false, NOW_MS + 999, &l), TP_TOKEN_LATER);
	ck_assert_int_eq(take(one, 0, false, NOW_MS + 1000, &l), TP_TOKEN_TAKEN);
	/* Who comes behind it is the first to replace it. */
	worker_dies(region, one.slot);
	two = tp_slot_assign(region, 2);
	ck_assert_int_eq(take(two, 0, false, NOW_MS + 1000, &l), TP_TOKEN_TAKEN);
	/* A late word of the dead changes nothing. */
	struct tp_token_lease late = {.region = region, .id = id, .word = 12345};
	tp_token_release(&late);
	ck_assert_int_eq(take(two, 0, false, NOW_MS + 1000, &late), TP_TOKEN_HELD);
	tp_token_release(&l);
}
END_TEST

START_TEST(no_room)
{
	struct tp_token_lease l = {0};
	struct tp_token t;
	uint64_t wait;
	for (unsigned i = 1; i < TP_TOKENS; i++) {
		char name[16];
		(void)snprintf(name, sizeof name, "p%u", i);
		ck_assert_uint_ne(tp_token_open(region, tp_str_from(name)), TP_TOKEN_NONE);
	}
	tp_token_id none = tp_token_open(region, TP_STR("one more"));
	ck_assert_uint_eq(none, TP_TOKEN_NONE);
	ck_assert(!tp_token_get(region, none, &t));
	tp_token_proved(region, none, 1);
	ck_assert_int_eq(tp_token_take(region, none, one, 0, false, NOW_MS, &l, &wait), TP_TOKEN_LATER);
	ck_assert_uint_eq(tp_token_open(region, TP_STR("p")), id);
}
END_TEST

START_TEST(damage)
{
	struct tp_token t;
	renew("good", NOW_MS);
	atomic_store(&region->tokens[id].texts[1].n, TP_TOKEN_MAX + 1);
	ck_assert(!tp_token_get(region, id, &t));
}
END_TEST

TP_TESTS(token)
{
	tcase_add_checked_fixture(t, setup, close_region);
	tcase_add_test(t, what_is_read);
	tcase_add_test(t, times_without_the_text);
	tcase_add_test(t, one_renews);
	tcase_add_test(t, not_before);
	tcase_add_test(t, never_accepted);
	tcase_add_test(t, the_dead_are_replaced_once);
	tcase_add_test(t, no_room);
	tcase_add_test(t, damage);
}
