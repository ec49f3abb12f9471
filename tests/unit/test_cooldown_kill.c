/* SIGKILL at each step of a cooldown. */
#define TP_SHM_INJECT
#include "common/shm/cooldown.c"

#include <stdlib.h>

#include "tests/unit/kill_at.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW_MS = 1000000, FIVE_MINUTES = 300000 };

static struct tp_cooldown_name name(void)
{
	return tp_cooldown_target(region, TP_STR("p"), TP_STR("m"), TP_STR("p/m"));
}

static bool cool(struct tp_stamp owner)
{
	const struct tp_cooldown_name n = name();
	return tp_cooldown_set(region, owner, &n, (struct tp_cooldown){NOW_MS + 900000, true, 3}, NOW_MS);
}

static void live(struct tp_stamp owner)
{
	struct tp_cooldown_probe p = {0};
	(void)cool(owner);
	(void)tp_cooldown_take_probe(region, owner, name().key, FIVE_MINUTES, NOW_MS + FIVE_MINUTES, &p,
				     NULL);
	tp_cooldown_end_probe(&p, true);
}

static const struct death {
	const char *point;
	bool cools;
} deaths[] = {{"cooldown before swap", false}, {"cooldown probe taken", true}};

START_TEST(killed_at_a_step)
{
	const struct death *d = &deaths[_i];
	struct tp_cooldown_probe p;
	open_region();
	kill_in(region, d->point, tp_slot_assign(region, 1), live);
	struct tp_stamp other = tp_slot_assign(region, 2);
	ck_assert(tp_cooldown_get(region, name().key, NOW_MS, NULL) == d->cools);
	/* Who cools it next begins it, or does not; the probe is there, at its time. */
	ck_assert(cool(other) == !d->cools);
	ck_assert(!tp_cooldown_take_probe(region, other, name().key, FIVE_MINUTES, NOW_MS, &p, NULL));
	ck_assert(tp_cooldown_take_probe(region, other, name().key, FIVE_MINUTES, NOW_MS + FIVE_MINUTES, &p,
					 NULL));
	tp_cooldown_end_probe(&p, true);
	close_region();
}
END_TEST

TP_TESTS(cooldown_kill)
{
	tcase_add_loop_test(t, killed_at_a_step, 0, sizeof deaths / sizeof *deaths);
}
