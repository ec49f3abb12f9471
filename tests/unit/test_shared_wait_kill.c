/* SIGKILL at each step of a shared wait: whoever dies, the others get on. */
#define TP_SHM_INJECT
#include "common/shm/shared_wait.c"

#include <stdlib.h>

#include "tests/unit/kill_at.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW_MS = 1000000, END_MS = NOW_MS + 2000 };

static struct tp_hash128 key;

static bool go(struct tp_stamp owner, struct tp_shared_wait_pass *p)
{
	uint64_t hold, left;
	return tp_shared_wait_ask(region, owner, key, END_MS, p, &hold, &left);
}

static void live(struct tp_stamp owner)
{
	struct tp_shared_wait_pass p;
	tp_shared_wait_begin(region, owner, key, TP_STR("codex/gpt-5"), END_MS, NOW_MS);
	if (go(owner, &p))
		tp_shared_wait_report(&p, true);
}

static const struct death {
	const char *point;
	bool waits;      /* a wait is there */
	unsigned may_go; /* at its end */
} deaths[] = {
	{"wait before swap", false, 0},
	{"lead taken", true, 1},
	{"wait grows", true, 1},
};

START_TEST(killed_at_a_step)
{
	const struct death *d = &deaths[_i];
	struct tp_shared_wait_pass p[4];
	open_region();
	key = tp_shared_wait_key(region, TP_STR("p"), TP_STR("m"), 1);
	kill_in(region, d->point, tp_slot_assign(region, 1), live);
	struct tp_stamp other = tp_slot_assign(region, 2);
	for (unsigned n = 0; n < d->may_go; n++)
		ck_assert(go(other, &p[n]) && p[n].counted);
	ck_assert(go(other, &p[3]) == !d->waits);
	/* Its answer opens it for two. */
	if (d->waits) {
		tp_shared_wait_report(&p[0], true);
		ck_assert(go(other, &p[0]) && go(other, &p[1]) && !go(other, &p[2]));
	}
	close_region();
}
END_TEST

TP_TESTS(shared_wait_kill)
{
	tcase_add_loop_test(t, killed_at_a_step, 0, sizeof deaths / sizeof *deaths);
}
