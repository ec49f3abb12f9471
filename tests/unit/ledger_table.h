/* A table with a small ledger and workers of its own, for the tests of the ledger. */
#ifndef TESTS_UNIT_LEDGER_TABLE_H
#define TESTS_UNIT_LEDGER_TABLE_H

#include <check.h>

#include "common/shm/layout.h"
#include "common/shm/ledger.h"

enum { WORKERS = 3 };
static struct tp_region *region;
static struct tp_stamp workers[WORKERS];
static const struct tp_ledger_windows windows = {600000, 120000};
enum { START_MS = 5000000 };

static void setup(void)
{
	ck_assert_int_eq(
		tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = 1024}, &region), 0);
	/* Which ids share a bucket hangs on the seed: tests of a full table are to be the same each time. */
	memset(region->header->seed, 1, sizeof region->header->seed);
	for (unsigned i = 0; i < WORKERS; i++)
		workers[i] = tp_slot_assign(region, 10 + i);
}

static void teardown(void)
{
	tp_region_close(region);
}

static struct tp_identity identity_for(enum tp_identity_kind kind, uint64_t number, uint64_t credential)
{
	const uint64_t name[3] = {(uint64_t)kind, number, credential};
	return (struct tp_identity){
		.kind = kind,
		.key = tp_siphash128(tp_region_seed(region), name, sizeof name),
		.credential = tp_siphash128(tp_region_seed(region), &credential, sizeof credential).lo,
	};
}

#endif
