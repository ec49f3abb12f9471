/* A ledger that is full: who still finds room, what makes it, and what a turn without may do (SH-4). */
#include "tests/unit/dies.h"
#include "tests/unit/ledger_table.h"
#include "tests/unit/suite.h"

/* Turns with an id of their own each, all answered `end`; returns how many found room. */
static unsigned fill(unsigned turns, uint64_t credential, enum tp_identity_kind kind, enum tp_end end,
		     uint64_t now)
{
	const struct tp_ledger_limits four = {4, 3};
	const struct tp_ledger_ending ending = {.end = end, .status = 503};
	unsigned room = 0;
	for (unsigned n = 0; n < turns; n++) {
		struct tp_identity id = identity_for(kind, now * 100000 + n, credential);
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		ck_assert_int_eq(
			(int)tp_ledger_join(region, workers[n % WORKERS], &id, &windows, &four, now, &h, &m),
			TP_JOIN_NEW);
		ck_assert_msg(tp_ledger_charge(&h, &four, TP_CLASS_INITIAL, now), "turn %u has no first send",
			      n);
		tp_ledger_settle(&h);
		/* SH-4: without room exactly one send; with room the budget goes on. */
		ck_assert(tp_ledger_charge(&h, &four, TP_CLASS_TRANSIENT, now) == !h.no_room);
		ck_assert(tp_ledger_charge(&h, &four, TP_CLASS_OVERLOAD, now) == !h.no_room);
		ck_assert_uint_eq(h.used, h.no_room ? 1 : 3);
		room += !h.no_room;
		tp_ledger_end(&h, &ending, now);
	}
	return room;
}

START_TEST(full_table_leaves_the_first_send)
{
	unsigned cells = region->n_buckets * TP_BUCKET_CELLS;
	unsigned room = fill(2 * cells, 1, TP_IDENTITY_ID, TP_END_DECLINED, START_MS);
	ck_assert_uint_eq(room, tp_ledger_entries(region));
	ck_assert_uint_eq(room, cells / 8); /* one credential: an eighth, and all of it */
	/* Room for another one is left, and full is full until the ttl is over. */
	ck_assert_uint_ge(fill(cells / 16, 2, TP_IDENTITY_ID, TP_END_DECLINED, START_MS + 1),
			  cells / 16 * 3 / 4);
	ck_assert_uint_eq(fill(100, 1, TP_IDENTITY_ID, TP_END_DECLINED, START_MS + 599999), 0);
	ck_assert_uint_eq(fill(50, 1, TP_IDENTITY_ID, TP_END_DECLINED, START_MS + 600000), 50);
}
END_TEST

START_TEST(credentials_fill_the_whole_table)
{
	unsigned cells = region->n_buckets * TP_BUCKET_CELLS;
	for (uint64_t credential = 1; credential <= 64; credential++)
		fill(cells / 4, credential, TP_IDENTITY_ID, TP_END_DECLINED, START_MS);
	ck_assert_uint_eq(tp_ledger_entries(region), cells);
}
END_TEST

/* Which records make room, and which stay. */
static const struct {
	const char *what;
	enum tp_identity_kind kind;
	enum tp_end end;
	uint64_t later;
	bool goes;
} evictions[] = {
	{"succeeded id", TP_IDENTITY_ID, TP_END_SUCCESS, 1, true},
	{"failed id", TP_IDENTITY_ID, TP_END_DECLINED, 599999, false},
	{"refused id", TP_IDENTITY_ID, TP_END_REFUSED, 599999, false},
	{"left id", TP_IDENTITY_ID, TP_END_LEFT, 599999, false},
	{"expired id", TP_IDENTITY_ID, TP_END_REFUSED, 600000, true},
	{"declined", TP_IDENTITY_FINGERPRINT, TP_END_DECLINED, 29999, false},
	{"declined past its window", TP_IDENTITY_FINGERPRINT, TP_END_DECLINED, 30000, true},
	{"unknown", TP_IDENTITY_FINGERPRINT, TP_END_UNKNOWN, 119999, false},
	{"unknown past its window", TP_IDENTITY_FINGERPRINT, TP_END_UNKNOWN, 120000, true},
	{"refused", TP_IDENTITY_FINGERPRINT, TP_END_REFUSED, 119999, false},
	{"left", TP_IDENTITY_FINGERPRINT, TP_END_LEFT, 119999, false},
	{"left long ago", TP_IDENTITY_FINGERPRINT, TP_END_LEFT, 120000, true},
};

START_TEST(what_makes_room)
{
	unsigned eighth = region->n_buckets * TP_BUCKET_CELLS / 8;
	fill(4 * eighth, 1, evictions[_i].kind, evictions[_i].end, START_MS);
	ck_assert_uint_eq(tp_ledger_entries(region), eighth);
	unsigned room = fill(10, 1, TP_IDENTITY_ID, TP_END_DECLINED, START_MS + evictions[_i].later);
	ck_assert_msg(room == (evictions[_i].goes ? 10 : 0), "%s: %u of 10", evictions[_i].what, room);
	ck_assert_uint_eq(tp_ledger_entries(region), eighth);
}
END_TEST

/* In flight records of the living stay, those of the dead go by their rules. */
START_TEST(in_flight_stays_until_its_worker_dies)
{
	const struct tp_ledger_limits four = {4, 3};
	unsigned cells = region->n_buckets * TP_BUCKET_CELLS;
	for (unsigned n = 0; n < cells; n++) {
		struct tp_identity id = identity_for(TP_IDENTITY_FINGERPRINT, n, 1);
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		tp_ledger_join(region, workers[0], &id, &windows, &four, START_MS, &h, &m);
	}
	ck_assert_uint_eq(fill(10, 1, TP_IDENTITY_ID, TP_END_DECLINED, START_MS + 86400000), 0);
	worker_dies(region, workers[0].slot);
	workers[0] = tp_slot_assign(region, workers[0].slot);
	ck_assert_uint_eq(fill(10, 1, TP_IDENTITY_ID, TP_END_DECLINED, START_MS), 10);
}
END_TEST

/* Succeeded records go by age: with two generations of them, only the older one is thinned out. */
START_TEST(oldest_success_goes_first)
{
	const struct tp_ledger_limits four = {4, 3};
	unsigned eighth = region->n_buckets * TP_BUCKET_CELLS / 8;
	fill(8 * eighth, 1, TP_IDENTITY_ID, TP_END_SUCCESS, START_MS);
	fill(eighth / 4, 1, TP_IDENTITY_ID, TP_END_SUCCESS, START_MS + 1);
	fill(eighth / 4, 1, TP_IDENTITY_ID, TP_END_SUCCESS, START_MS + 2);
	for (unsigned n = 0; n < eighth / 4; n++) {
		struct tp_identity id =
			identity_for(TP_IDENTITY_ID, (START_MS + 1) * UINT64_C(100000) + n, 1);
		struct tp_ledger_handle h;
		struct tp_ledger_memory m;
		ck_assert_int_ne(
			(int)tp_ledger_join(region, workers[0], &id, &windows, &four, START_MS + 3, &h, &m),
			TP_JOIN_NEW);
	}
}
END_TEST

TP_TESTS(ledger_room)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, full_table_leaves_the_first_send);
	tcase_add_test(t, credentials_fill_the_whole_table);
	tcase_add_loop_test(t, what_makes_room, 0, sizeof evictions / sizeof *evictions);
	tcase_add_test(t, in_flight_stays_until_its_worker_dies);
	tcase_add_test(t, oldest_success_goes_first);
}
