/* Cooldowns: what stands against what, who begins one, the probe. */
#include <stdlib.h>
#include <string.h>

#include "common/shm/cooldown.h"
#include "common/shm/layout.h"
#include "tests/unit/dies.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW = 1000000, FIVE_MINUTES = 300000 };

static struct tp_stamp a, b;

static void setup(void)
{
	open_region();
	a = tp_slot_assign(region, 1);
	b = tp_slot_assign(region, 2);
}

static struct tp_cooldown_name target(const char *model)
{
	return tp_cooldown_target(region, TP_STR("codex"), tp_str_from(model), tp_str_from(model));
}

/* ---- the second of two that meet; times from NOW */
static const struct meeting {
	const char *what;
	struct tp_cooldown first, second;
	uint64_t at; /* of the second */
	bool begins; /* the second */
	struct tp_cooldown stands;
} meetings[] = {
	{"of two guesses the later", {100, false, 1}, {200, false, 2}, 0, false, {200, false, 2}},
	{"of two guesses the later, in the other order",
	 {200, false, 1},
	 {100, false, 2},
	 0,
	 false,
	 {200, false, 1}},
	{"of two told the later", {100, true, 1}, {200, true, 2}, 0, false, {200, true, 2}},
	{"of two told the later, in the other order",
	 {200, true, 1},
	 {100, true, 2},
	 0,
	 false,
	 {200, true, 1}},
	{"a told time replaces a longer guess", {200, false, 1}, {100, true, 2}, 0, false, {100, true, 2}},
	{"a guess leaves a told time alone", {100, true, 1}, {200, false, 2}, 0, false, {100, true, 1}},
	{"what is over does not count", {100, true, 1}, {200, false, 2}, 100, true, {200, false, 2}},
	{"one that is over already is none", {100, true, 1}, {50, true, 2}, 60, false, {100, true, 1}},
};

START_TEST(two_meet)
{
	const struct meeting *m = &meetings[_i];
	const struct tp_cooldown_name name = target("gpt-5");
	struct tp_cooldown first = m->first, second = m->second, c;
	first.until_ms += NOW;
	second.until_ms += NOW;
	ck_assert_msg(tp_cooldown_set(region, a, &name, first, NOW), "%s", m->what);
	ck_assert_msg(tp_cooldown_set(region, b, &name, second, NOW + m->at) == m->begins, "%s", m->what);
	ck_assert_msg(tp_cooldown_get(region, name.key, NOW + m->at, &c), "%s", m->what);
	ck_assert_msg(c.until_ms == NOW + m->stands.until_ms && c.told == m->stands.told &&
			      c.cause == m->stands.cause,
		      "%s", m->what);
	ck_assert(tp_cooldown_get(region, name.key, c.until_ms - 1, NULL));
	ck_assert(!tp_cooldown_get(region, name.key, c.until_ms, NULL));
}
END_TEST

START_TEST(names_are_apart)
{
	const struct tp_str codex = TP_STR("codex"), text = TP_STR("t");
	const struct tp_cooldown_name names[] = {
		tp_cooldown_target(region, codex, TP_STR("gpt-5"), text),
		tp_cooldown_target(region, codex, TP_STR("gpt-5x"), text),
		tp_cooldown_target(region, TP_STR("codexg"), TP_STR("pt-5"), text),
		tp_cooldown_key(region, codex, TP_STR("gpt-5"), text),
		tp_cooldown_key(region, codex, TP_STR(""), text),
		tp_cooldown_target(region, codex, TP_STR(""), text),
		tp_cooldown_egress(region, codex, TP_STR("gpt-5"), text),
	};
	enum { N = sizeof names / sizeof *names };
	for (unsigned i = 0; i < N; i++) {
		for (unsigned j = 0; j < N; j++)
			ck_assert(tp_cooldown_get(region, names[j].key, NOW, NULL) == (j < i));
		ck_assert(tp_cooldown_set(region, a, &names[i], (struct tp_cooldown){NOW + 9, true, 1}, NOW));
	}
	ck_assert(tp_cooldown_clear(region, names[0].key, NOW));
	ck_assert(!tp_cooldown_clear(region, names[0].key, NOW));
	ck_assert(!tp_cooldown_get(region, names[0].key, NOW, NULL));
	ck_assert_uint_eq(tp_cooldown_clear_all(region, NOW), N - 1);
	ck_assert_uint_eq(tp_cooldown_clear_all(region, NOW), 0);
}
END_TEST

START_TEST(one_probe_of_an_untold_one)
{
	const struct tp_cooldown_name name = target("gpt-5");
	struct tp_cooldown_probe p, other;
	uint64_t wait = 7;
	ck_assert(!tp_cooldown_take_probe(region, a, name.key, 0, NOW, &p, &wait));
	ck_assert_uint_eq(wait, 0);
	ck_assert(tp_cooldown_set(region, a, &name, (struct tp_cooldown){NOW + 60000, false, 1}, NOW));
	ck_assert(tp_cooldown_take_probe(region, a, name.key, 0, NOW, &p, &wait));
	ck_assert(!tp_cooldown_take_probe(region, b, name.key, 0, NOW, &other, &wait));
	ck_assert_uint_eq(wait, 1000);
	ck_assert(!tp_cooldown_take_probe(region, b, name.key, 0, NOW + 59500, &other, &wait));
	ck_assert_uint_eq(wait, 500);
	/* Neutral, dead, with evidence: free each time; one that is not the holder's frees nothing. */
	tp_cooldown_end_probe(&p, false);
	ck_assert(tp_cooldown_take_probe(region, b, name.key, 0, NOW, &p, &wait));
	other = p;
	worker_dies(region, b.slot);
	ck_assert(tp_cooldown_take_probe(region, a, name.key, 0, NOW, &p, &wait));
	tp_cooldown_end_probe(&other, true);
	b = tp_slot_assign(region, b.slot);
	ck_assert(!tp_cooldown_take_probe(region, b, name.key, 0, NOW, &other, &wait));
	tp_cooldown_end_probe(&p, true);
	tp_cooldown_end_probe(&p, true);
	ck_assert(tp_cooldown_take_probe(region, b, name.key, 0, NOW, &p, &wait));
	/* Its success ends the cooldown. */
	ck_assert(tp_cooldown_clear(region, name.key, NOW));
	tp_cooldown_end_probe(&p, true);
	ck_assert(!tp_cooldown_get(region, name.key, NOW, NULL));
}
END_TEST

START_TEST(a_told_one_is_probed_each_five_minutes)
{
	const struct tp_cooldown_name name = target("gpt-5");
	const struct tp_cooldown day = {NOW + 86400000, true, 1};
	struct tp_cooldown_probe p;
	uint64_t wait;
	ck_assert(tp_cooldown_set(region, a, &name, day, NOW));
	ck_assert(!tp_cooldown_take_probe(region, a, name.key, FIVE_MINUTES, NOW + 1, &p, &wait));
	ck_assert_uint_eq(wait, FIVE_MINUTES - 1);
	uint64_t now = NOW + FIVE_MINUTES;
	ck_assert(tp_cooldown_take_probe(region, a, name.key, FIVE_MINUTES, now, &p, &wait));
	tp_cooldown_end_probe(&p, true);
	ck_assert(!tp_cooldown_take_probe(region, b, name.key, FIVE_MINUTES, now + 1, &p, &wait));
	ck_assert_uint_eq(wait, FIVE_MINUTES - 1);
	now += FIVE_MINUTES;
	ck_assert(tp_cooldown_take_probe(region, b, name.key, FIVE_MINUTES, now, &p, &wait));
	/* It learned nothing: the next at once. */
	tp_cooldown_end_probe(&p, false);
	ck_assert(tp_cooldown_take_probe(region, b, name.key, FIVE_MINUTES, now, &p, &wait));
	worker_dies(region, b.slot);
	ck_assert(tp_cooldown_take_probe(region, a, name.key, FIVE_MINUTES, now, &p, &wait));
}
END_TEST

START_TEST(rows)
{
	const struct tp_cooldown_name one = tp_cooldown_target(region, TP_STR("codex"), TP_STR("m"),
							       TP_STR("codex/m\033[1m")),
				      two = target("over");
	ck_assert(tp_cooldown_set(region, a, &one, (struct tp_cooldown){NOW + 60000, true, 9}, NOW));
	ck_assert(tp_cooldown_set(region, a, &two, (struct tp_cooldown){NOW + 5, false, 1}, NOW));
	struct tp_cooldown_row row;
	uint32_t cursor = 0;
	ck_assert(tp_cooldown_next(region, NOW + 5, &cursor, &row));
	ck_assert_str_eq(row.text, "codex/m?[1m");
	ck_assert_uint_eq(row.cooldown.until_ms, NOW + 60000);
	ck_assert(row.cooldown.told && row.cooldown.cause == 9 && !row.probing);
	ck_assert_uint_eq(row.since_ms, NOW);
	ck_assert(row.key.lo == one.key.lo && row.key.hi == one.key.hi);
	ck_assert(!tp_cooldown_next(region, NOW + 5, &cursor, &row));
}
END_TEST

/* Guesses are forgotten before told times, and the table takes new ones for ever. */
START_TEST(a_full_table)
{
	char model[32];
	for (unsigned n = 0; n < 8; n++) {
		(void)snprintf(model, sizeof model, "told%u", n);
		const struct tp_cooldown_name name = target(model);
		ck_assert(
			tp_cooldown_set(region, a, &name, (struct tp_cooldown){NOW + 900000, true, 1}, NOW));
	}
	for (unsigned n = 0; n < 3 * TP_COOLDOWNS; n++) {
		(void)snprintf(model, sizeof model, "m%u", n);
		const struct tp_cooldown_name name = target(model);
		ck_assert(
			tp_cooldown_set(region, a, &name, (struct tp_cooldown){NOW + 999999, false, 1}, NOW));
		ck_assert(tp_cooldown_get(region, name.key, NOW, NULL));
	}
	for (unsigned n = 0; n < 8; n++) {
		(void)snprintf(model, sizeof model, "told%u", n);
		ck_assert(tp_cooldown_get(region, target(model).key, NOW, NULL));
	}
	ck_assert_uint_gt(tp_cooldown_clear_all(region, NOW), TP_COOLDOWNS - 20);
}
END_TEST

TP_TESTS(cooldown)
{
	tcase_add_checked_fixture(t, setup, close_region);
	tcase_add_loop_test(t, two_meet, 0, sizeof meetings / sizeof *meetings);
	tcase_add_test(t, names_are_apart);
	tcase_add_test(t, one_probe_of_an_untold_one);
	tcase_add_test(t, a_told_one_is_probed_each_five_minutes);
	tcase_add_test(t, rows);
	tcase_add_test(t, a_full_table);
}
