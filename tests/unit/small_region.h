/* A small table of its own, for the tests of what lies in it. */
#ifndef TESTS_UNIT_SMALL_REGION_H
#define TESTS_UNIT_SMALL_REGION_H

#include <check.h>

#include "common/shm/region.h"

static struct tp_region *region;

static inline void open_region(void)
{
	ck_assert_int_eq(tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = 128}, &region),
			 0);
}

static inline void close_region(void)
{
	tp_region_close(region);
}

#endif
