/* What `capacity.limit: auto` learns: a table of events. */
#include <check.h>
#include <stdlib.h>

#include "common/retry/capacity.h"
#include "tests/unit/suite.h"

enum { MOST = 1024, T = 1000000, STEPS = 16 };

enum op { OP_END, REFUSED, WAITING };

static const struct script {
	const char *name;
	struct {
		enum op op;
		uint32_t at_s; /* from T */
		uint32_t others, told;
		uint32_t limit; /* afterwards */
	} steps[STEPS];
} scripts[] = {
	{"nothing refused, nothing limited", {{WAITING, 0, 0, 0, 0}, {WAITING, 1000, 0, 0, 0}}},
	{"told", {{REFUSED, 0, 99, 8, 8}, {REFUSED, 0, 98, 8, 8}}},
	{"told beats what is known, both ways",
	 {{REFUSED, 0, 3, 0, 3}, {REFUSED, 1, 9, 8, 8}, {REFUSED, 2, 7, 4, 4}}},
	{"a burst comes down to what was accepted",
	 {{REFUSED, 0, 11, 0, 11}, {REFUSED, 0, 10, 0, 10}, {REFUSED, 0, 9, 0, 9}, {REFUSED, 0, 8, 0, 8}}},
	{"a refusal above the limit does not raise it", {{REFUSED, 0, 3, 0, 3}, {REFUSED, 1, 7, 0, 3}}},
	{"never below one", {{REFUSED, 0, 0, 0, 1}, {REFUSED, 1, 0, 0, 1}}},
	{"never above the most", {{REFUSED, 0, 5, 5000, MOST}, {WAITING, 3600, 0, 0, MOST}}},
	{"grows by one after ten seconds, again after ten more",
	 {{REFUSED, 0, 4, 0, 4},
	  {WAITING, 9, 0, 0, 4},
	  {WAITING, 10, 0, 0, 5},
	  {WAITING, 11, 0, 0, 5},
	  {WAITING, 20, 0, 0, 6}}},
	{"a told one is doubted after forty",
	 {{REFUSED, 0, 9, 8, 8}, {WAITING, 39, 0, 0, 8}, {WAITING, 40, 0, 0, 9}}},
	{"a growth that is refused makes the next wait twice as long",
	 {{REFUSED, 0, 4, 0, 4},
	  {WAITING, 10, 0, 0, 5},
	  {REFUSED, 11, 4, 0, 4},
	  {WAITING, 30, 0, 0, 4},
	  {WAITING, 31, 0, 0, 5},
	  {REFUSED, 32, 4, 0, 4},
	  {REFUSED, 32, 4, 0, 4},
	  {WAITING, 71, 0, 0, 4},
	  {WAITING, 72, 0, 0, 5}}},
	{"one that goes well makes it short again",
	 {{REFUSED, 0, 4, 0, 4},
	  {WAITING, 10, 0, 0, 5},
	  {REFUSED, 10, 4, 0, 4},
	  {WAITING, 30, 0, 0, 5},
	  {WAITING, 50, 0, 0, 6},
	  {WAITING, 60, 0, 0, 7}}},
};

START_TEST(learns)
{
	const struct script *s = &scripts[_i];
	struct tp_capacity c = {0};
	for (int i = 0; i < STEPS && s->steps[i].op != OP_END; i++) {
		uint64_t now = T + 1000 * (uint64_t)s->steps[i].at_s;
		c = s->steps[i].op == REFUSED
			    ? tp_capacity_refused(c, s->steps[i].others, s->steps[i].told, MOST, now)
			    : tp_capacity_waiting(c, MOST, now);
		ck_assert_msg(c.limit == s->steps[i].limit, "%s: step %d: limit %u, not %u", s->name, i,
			      (unsigned)c.limit, (unsigned)s->steps[i].limit);
	}
}
END_TEST

START_TEST(the_wait_is_bounded)
{
	struct tp_capacity c = {0};
	uint64_t now = T;
	for (int i = 0; i < 100; i++) {
		c = tp_capacity_refused(c, 4, 0, MOST, now);
		now += (uint64_t)TP_CAPACITY_GROW_MS << TP_CAPACITY_MAX_STEP;
		c = tp_capacity_waiting(c, MOST, now);
		ck_assert_uint_eq(c.limit, 5);
	}
	ck_assert_uint_eq(c.step, TP_CAPACITY_MAX_STEP);
	/* A time that lies in the future is damage: it costs one wait. */
	c.since_ms = UINT64_MAX;
	c = tp_capacity_waiting(c, MOST, now);
	ck_assert_uint_eq(c.limit, 5);
	c = tp_capacity_waiting(c, MOST, now + ((uint64_t)TP_CAPACITY_GROW_MS << TP_CAPACITY_MAX_STEP));
	ck_assert_uint_eq(c.limit, 6);
}
END_TEST

static const struct {
	const char *header;
	uint32_t told;
} headers[] = {{"4/4", 4}, {" 8/8 ", 8}, {"9/8", 8}, {"3/4", 0},
	       {"", 0},    {"4", 0},     {"4/", 0},  {"/4", 0},
	       {"a/b", 0}, {"4 / 4", 0}, {"0/0", 0}, {"9999999999/9999999999", UINT32_MAX}};

START_TEST(reads_the_header)
{
	ck_assert_uint_eq(tp_capacity_told(tp_str_from(headers[_i].header)), headers[_i].told);
}
END_TEST

TP_TESTS(capacity)
{
	tcase_add_loop_test(t, learns, 0, sizeof scripts / sizeof *scripts);
	tcase_add_test(t, the_wait_is_bounded);
	tcase_add_loop_test(t, reads_the_header, 0, sizeof headers / sizeof *headers);
}
