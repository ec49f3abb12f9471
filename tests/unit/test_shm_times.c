/* Times in the shared table: what a provider tells is cut where it becomes state, and what damage says is
 * none. */
#include <check.h>

#include "common/retry/told.h"
#include "common/shm/layout.h"
#include "common/shm/marks.h"
#include "tests/unit/small_region.h"
#include "tests/unit/suite.h"

enum { NOW = 5000000, GAP = 300000 };
static const int64_t wall_s = 1790000000; /* September 2026 */

static struct tp_stamp me;

static void setup(void)
{
	open_region();
	me = tp_slot_assign(region, 1);
}

/* ---- told */

/* told: told at all. Each is longer than any state may last. */
static const struct absurd {
	const char *name, *value;
	bool told;
} absurd[] = {
	{"retry-after", "1000000000000000000", true},
	{"retry-after", "99999999999999999999999999999999", true},
	{"retry-after", "4294967295", true},
	{"retry-after", "1000000000000000000.5", true},
	{"retry-after", "Fri, 31 Dec 9999 23:59:59 GMT", true},
	{"retry-after", "Friday, 31-Dec-99 23:59:59 GMT", false}, /* of two digits: in the past, the floor */
	{"retry-after", "-1", false},
	{"retry-after", "-1000000000000000000", false},
	{"retry-after", "1e18", false},
	{"retry-after", "inf", false},
	{"retry-after-ms", "1000000000000000000", true},
	{"retry-after-ms", "-5", false},
	{"x-ratelimit-reset", "99999999999999", true},
	{"x-ratelimit-reset", "9999-12-31T23:59:59Z", true},
	{"x-ratelimit-reset", "999999999h", true},
	{"x-ratelimit-reset", "-1s", false},
};

static int64_t told_by(const struct absurd *a)
{
	const struct tp_told_field fields[] = {{tp_str_from(a->name), tp_str_from(a->value)},
					       {TP_STR("x-ratelimit-remaining"), TP_STR("0")}};
	return tp_told_headers(fields, 2, wall_s);
}

START_TEST(absurd_times_become_no_state)
{
	const struct absurd *a = &absurd[_i];
	int64_t ms = told_by(a);
	ck_assert_msg(a->told ? ms > (int64_t)TP_COOLDOWN_MAX_MS : ms <= 0, "%s: %s is %lld", a->name,
		      a->value, (long long)ms);
	if (ms < 0)
		return;
	/* a key, a target, a way out */
	const struct tp_cooldown_name key =
		tp_cooldown_key(region, TP_STR("p"), TP_STR("k"), TP_STR("p key 1"));
	struct tp_cooldown c = {.until_ms = NOW + (uint64_t)ms, .told = true};
	ck_assert(tp_cooldown_set(region, me, &key, c, NOW) == (ms > 0));
	ck_assert(tp_cooldown_get(region, key.key, NOW, &c) == (ms > 0));
	ck_assert(ms == 0 || c.until_ms == NOW + TP_COOLDOWN_MAX_MS);
	ck_assert(!tp_cooldown_get(region, key.key, NOW + TP_COOLDOWN_MAX_MS, NULL));
	/* a shared wait */
	struct tp_hash128 wait = tp_shared_wait_key(region, TP_STR("p"), TP_STR("m"), 0);
	struct tp_shared_wait_pass pass;
	uint64_t hold, left;
	tp_shared_wait_begin(region, me, wait, TP_STR("p/m"), NOW + (uint64_t)ms, NOW);
	ck_assert(tp_shared_wait_ask(region, me, wait, NOW, &pass, &hold, &left) == (ms == 0));
	ck_assert(ms == 0 || left == TP_SHARED_WAIT_MAX_MS);
	ck_assert(tp_shared_wait_ask(region, me, wait, NOW + TP_SHARED_WAIT_MAX_MS, &pass, &hold, &left));
	/* an endpoint for tokens */
	tp_token_id id = tp_token_open(region, TP_STR("p"));
	struct tp_token_lease lease = {0};
	ck_assert_int_eq(tp_token_take(region, id, me, 0, false, NOW, &lease, &left), TP_TOKEN_TAKEN);
	tp_token_failed(&lease, ms, NOW);
	ck_assert_int_eq(tp_token_take(region, id, me, 0, false, NOW, &lease, &left), TP_TOKEN_LATER);
	ck_assert_uint_eq(left, ms > 0 ? TP_TOKEN_LATER_MAX_MS : 1000);
	ck_assert_int_eq(tp_token_take(region, id, me, 0, false, NOW + left, &lease, &left), TP_TOKEN_TAKEN);
}
END_TEST

/* ---- damage */

static const uint64_t ahead[] = {NOW + UINT64_C(3000000000), UINT64_C(1) << 39, (UINT64_C(1) << 40) - 1};

START_TEST(a_damaged_end_is_none)
{
	const struct tp_cooldown_name key =
		tp_cooldown_key(region, TP_STR("p"), TP_STR("k"), TP_STR("p key 1"));
	struct tp_cooldown_probe probe;
	struct tp_cooldown_row row;
	uint32_t cursor = 0;
	uint64_t wait;
	struct tp_dir_ref ref;
	ck_assert(tp_cooldown_set(region, me, &key, (struct tp_cooldown){NOW + 900000, true, 1}, NOW));
	ck_assert(tp_dir_find(region, &region->cooldown_dir, key.key, &ref));
	struct tp_cooldown_cell *cell = &region->cooldowns[ref.entry];
	uint64_t good = atomic_load(&cell->state);
	atomic_store(&cell->state, (good & ~((UINT64_C(1) << 40) - 1)) | ahead[_i]);
	ck_assert(!tp_cooldown_get(region, key.key, NOW, NULL));
	ck_assert(!tp_cooldown_next(region, NOW, &cursor, &row));
	ck_assert(tp_cooldown_set(region, me, &key, (struct tp_cooldown){NOW + 1000, false, 1}, NOW));
	/* the probe of one that cools */
	atomic_store(&cell->state, good);
	atomic_store(&cell->since_ms, ahead[_i]);
	atomic_store(&cell->probe, ahead[_i] << 24);
	ck_assert(tp_cooldown_take_probe(region, me, key.key, GAP, NOW, &probe, &wait));
}
END_TEST

START_TEST(a_damaged_wait_holds_nobody)
{
	struct tp_hash128 key = tp_shared_wait_key(region, TP_STR("p"), TP_STR("m"), 0);
	struct tp_shared_wait_pass pass;
	struct tp_dir_ref ref;
	uint64_t hold, left;
	tp_shared_wait_begin(region, me, key, TP_STR("p/m"), NOW + 2000, NOW);
	ck_assert(tp_dir_find(region, &region->wait_dir, key, &ref));
	_Atomic uint64_t *state = &region->waits[ref.entry].state;
	atomic_store(state, (atomic_load(state) & ~((UINT64_C(1) << 40) - 1)) | ahead[_i]);
	ck_assert(tp_shared_wait_ask(region, me, key, NOW, &pass, &hold, &left));
	tp_shared_wait_begin(region, me, key, TP_STR("p/m"), NOW + 3000, NOW);
	ck_assert(!tp_shared_wait_ask(region, me, key, NOW, &pass, &hold, &left));
	ck_assert_uint_eq(left, 3000);
}
END_TEST

static enum tp_token_taking take(tp_token_id id, bool rejected, struct tp_token_lease *ret,
				 uint64_t *ret_wait)
{
	return tp_token_take(region, id, me, tp_token_generation(region, id), rejected, NOW, ret, ret_wait);
}

START_TEST(a_damaged_token_is_got_anew)
{
	const struct tp_token text = {.n = 1, .text = "t"};
	tp_token_id id = tp_token_open(region, TP_STR("p"));
	struct tp_token_lease lease = {0};
	uint64_t wait;
	for (int n = 0; n < 2; n++) { /* the second comes behind one that never worked */
		ck_assert_int_eq(take(id, false, &lease, &wait), TP_TOKEN_TAKEN);
		tp_token_publish(&lease, &text, NOW);
	}
	struct tp_token_cell *cell = &region->tokens[id];
	ck_assert_int_eq(take(id, true, &lease, &wait), TP_TOKEN_LATER);
	atomic_store(&cell->texts[0].run, UINT64_MAX);
	ck_assert_int_eq(take(id, true, &lease, &wait), TP_TOKEN_LATER);
	ck_assert_uint_le(wait, TP_TOKEN_LATER_MAX_MS);
	atomic_store(&cell->texts[0].got_ms, ahead[_i]);
	ck_assert_int_eq(take(id, true, &lease, &wait), TP_TOKEN_TAKEN);
	tp_token_release(&lease);
	atomic_store(&cell->texts[0].got_ms, UINT64_MAX);
	ck_assert_int_eq(take(id, true, &lease, &wait), TP_TOKEN_TAKEN);
	tp_token_release(&lease);
	atomic_store(&cell->trouble, UINT64_C(3) << 40 | ahead[_i]);
	ck_assert_int_eq(take(id, true, &lease, &wait), TP_TOKEN_TAKEN);
}
END_TEST

START_TEST(a_damaged_pace_and_a_damaged_mark)
{
	tp_gate_id id = tp_gate_open(region, TP_STR("p"));
	atomic_store(&region->gates[id].service_ms, UINT64_MAX);
	ck_assert_uint_eq(tp_gate_backlog_ms(region, id, 1), TP_GATE_BACKLOG_MAX_MS);
	atomic_store(&region->numbers->marks[TP_MARK_SYSTEM_LOAD], ahead[_i]);
	ck_assert(tp_mark_due(region, TP_MARK_SYSTEM_LOAD, 60000, NOW));
	ck_assert(!tp_mark_due(region, TP_MARK_SYSTEM_LOAD, 60000, NOW + 1));
}
END_TEST

TP_TESTS(shm_times)
{
	enum { AHEAD = sizeof ahead / sizeof *ahead };
	tcase_add_checked_fixture(t, setup, close_region);
	tcase_add_loop_test(t, absurd_times_become_no_state, 0, sizeof absurd / sizeof *absurd);
	tcase_add_loop_test(t, a_damaged_end_is_none, 0, AHEAD);
	tcase_add_loop_test(t, a_damaged_wait_holds_nobody, 0, AHEAD);
	tcase_add_loop_test(t, a_damaged_token_is_got_anew, 0, AHEAD);
	tcase_add_loop_test(t, a_damaged_pace_and_a_damaged_mark, 0, AHEAD);
}
