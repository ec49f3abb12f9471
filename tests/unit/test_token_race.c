/* Threads in the place of workers on one access token: one renews at a time, each renewal is by one, and no
 * reader sees parts of two tokens. Also run with SANITIZE=thread. */
#define TP_SHM_INJECT
#include "common/shm/token.c"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"
#include "tests/unit/threads.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, NOW_MS = 1000000, GENERATIONS = 4000 };

static struct tp_stamp workers[THREADS];
static tp_token_id id;
static atomic_uint inside, published, torn, together, backwards;

/* In the middle of these steps the others go on. */
void tp_shm_inject(const char *point)
{
	if (strcmp(point, "token read") == 0 || strcmp(point, "token wanted") == 0)
		(void)sched_yield();
}

/* Text and times all follow from the generation that it is to become. */
static void fill(struct tp_token *t, uint64_t generation)
{
	t->origin = t->expires_ms = t->renew_ms = generation;
	t->n = 64 + (size_t)(generation * 37 % 512);
	memset(t->text, 'a' + (int)(generation % 26), t->n);
}

static void check(const struct tp_token *t)
{
	bool whole = t->origin == t->generation && t->expires_ms == t->generation &&
		     t->renew_ms == t->generation && t->n == 64 + (size_t)(t->generation * 37 % 512);
	for (size_t i = 0; whole && i < t->n; i++)
		whole = t->text[i] == 'a' + (int)(t->generation % 26);
	if (!whole)
		atomic_fetch_add(&torn, 1);
}

static void *work(void *arg)
{
	uint64_t last = 0, wait;
	while (last < GENERATIONS) {
		struct tp_token t = {0};
		struct tp_token_lease l = {0};
		if (tp_token_get(region, id, &t)) {
			check(&t);
			if (t.generation < last)
				atomic_fetch_add(&backwards, 1);
			last = t.generation;
		}
		tp_token_proved(region, id, last);
		if (tp_token_take(region, id, workers[(uintptr_t)arg], last, true, NOW_MS, &l, &wait) !=
		    TP_TOKEN_TAKEN)
			continue;
		if (atomic_fetch_add(&inside, 1) != 0)
			atomic_fetch_add(&together, 1);
		fill(&t, last + 1);
		atomic_fetch_add(&published, 1);
		atomic_fetch_sub(&inside, 1);
		tp_token_publish(&l, &t, NOW_MS);
	}
	return NULL;
}

START_TEST(one_token_after_the_other)
{
	open_region();
	for (unsigned i = 0; i < THREADS; i++)
		workers[i] = tp_slot_assign(region, i);
	id = tp_token_open(region, TP_STR("p"));
	in_threads(THREADS, work);
	ck_assert_uint_eq(atomic_load(&torn), 0);
	ck_assert_uint_eq(atomic_load(&together), 0);
	ck_assert_uint_eq(atomic_load(&backwards), 0);
	ck_assert_uint_eq(atomic_load(&published), tp_token_generation(region, id));
	close_region();
}
END_TEST

TP_TESTS(token_race)
{
	tcase_set_timeout(t, 120);
	tcase_add_test(t, one_token_after_the_other);
}
