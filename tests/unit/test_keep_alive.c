/* How long a kept connection is trusted. */
#include "common/http/keep_alive.h"
#include "tests/unit/suite.h"

#include <stdlib.h>

static const struct {
	const char *value;
	uint64_t told_ms; /* of 10 s */
} values[] = {
	{"timeout=5", 4000},
	{"timeout=5, max=100", 4000},
	{"max=100,timeout=5", 4000},
	{"max=100;q, \tTimeout = 5\t", 4000},
	{"timeout=11", 10000},
	{"timeout=12", 10000},
	{"timeout=99999999999999999999999", 10000},
	{"timeout=2", 1000},
	{"timeout=3, timeout=7", 2000},
	/* a second is all it tells, or nothing that can be read */
	{"timeout=1", 0},
	{"timeout=0", 0},
	{"timeout=", 0},
	{"timeout", 0},
	{"timeout=-5", 0},
	{"timeout=5s", 0},
	{"timeout=\"5\"", 0},
	/* another parameter */
	{"", 10000},
	{",,", 10000},
	{"=", 10000},
	{"max=100", 10000},
	{"x-timeout=5", 10000},
	{"timeouts=5", 10000},
	{"5", 10000},
};

START_TEST(told)
{
	ck_assert_uint_eq(tp_keep_alive_ms(tp_str_from(values[_i].value), 10000), values[_i].told_ms);
	ck_assert_uint_eq(tp_keep_alive_ms(tp_str_from(values[_i].value), 0), 0);
}
END_TEST

TP_TESTS(keep_alive)
{
	tcase_add_loop_test(t, told, 0, sizeof values / sizeof *values);
}
