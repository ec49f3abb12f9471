/* In which order a turn asks the targets of its combo. */
#include "common/retry/order.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct combo {
	unsigned n;
	struct tp_order_target targets[TP_ORDER_MAX];
};

/* "3:1" */
static struct combo weights(const char *text)
{
	struct combo c = {0};
	char *end;
	do {
		c.targets[c.n++].weight = (uint32_t)strtoul(text, &end, 10);
		text = end + 1;
	} while (*end == ':');
	return c;
}

/* The order as letters. */
static void ask(enum tp_strategy s, const struct combo *c, uint64_t number, char ret[TP_ORDER_MAX + 1])
{
	uint8_t order[TP_ORDER_MAX];
	unsigned seen = 0;
	tp_order(s, c->targets, c->n, number, order);
	for (unsigned i = 0; i < c->n; i++) {
		ck_assert_uint_lt(order[i], c->n);
		seen |= 1u << order[i];
		ret[i] = (char)('A' + order[i]);
	}
	ret[c->n] = '\0';
	ck_assert_uint_eq(seen, (1u << c->n) - 1);
}

START_TEST(failover_is_as_configured)
{
	struct combo c = weights("1:9:1");
	char order[TP_ORDER_MAX + 1];
	for (uint64_t number = 0; number < 20; number++) {
		ask(TP_STRATEGY_FAILOVER, &c, number, order);
		ck_assert_str_eq(order, "ABC");
	}
}
END_TEST

/* The targets asked first, turn after turn, and the whole orders of the first turns. */
static const struct {
	const char *weights, *firsts, *orders;
} rounds[] = {
	{"1", "AAAA", "A A"},
	{"1:1", "ABAB", "AB BA AB"},
	{"1:1:1", "ABCABC", "ABC BAC CAB ACB BCA CBA ABC"},
	{"3:1", "AABAAABA", "AB AB BA AB"},
	{"6:2", "AABAAABA", "AB AB BA AB"}, /* only the proportion counts */
	{"1:3", "BABBBABB", "BA AB BA BA"},
	{"5:1:1", "AABACAAAABACAA", "ABC ACB BAC ABC CAB ACB"},
	{"2:1:1", "ABCA", "ABC BAC CAB ACB"},
};

START_TEST(rounds_are_smooth)
{
	struct combo c = weights(rounds[_i].weights);
	char order[TP_ORDER_MAX + 1], orders[256] = "";
	for (uint64_t number = 0; number < strlen(rounds[_i].firsts); number++) {
		ask(TP_STRATEGY_ROUND_ROBIN, &c, number, order);
		ck_assert_msg(order[0] == rounds[_i].firsts[number], "%s: turn %u: %s", rounds[_i].weights,
			      (unsigned)number, order);
	}
	for (uint64_t number = 0; strlen(orders) < strlen(rounds[_i].orders); number++) {
		ask(TP_STRATEGY_ROUND_ROBIN, &c, number, order);
		size_t n = strlen(orders);
		(void)snprintf(orders + n, sizeof orders - n, "%s%s", n > 0 ? " " : "", order);
	}
	ck_assert_str_eq(orders, rounds[_i].orders);
}
END_TEST

/* Any row of turns as long as the weights add up to has each target as often as its weight says. */
START_TEST(rounds_are_exact)
{
	static const char *const all[] = {"3:1",   "1:1:1",     "7:5:3:1",
					  "100:1", "99:100:98", "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16"};
	for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
		struct combo c = weights(all[k]);
		uint32_t whole = 0, count[TP_ORDER_MAX] = {0};
		char order[TP_ORDER_MAX + 1];
		uint64_t from = UINT64_C(1) << 40; /* wherever it begins */
		for (unsigned i = 0; i < c.n; i++)
			whole += c.targets[i].weight;
		for (uint64_t number = from; number < from + whole; number++) {
			ask(TP_STRATEGY_ROUND_ROBIN, &c, number, order);
			count[order[0] - 'A']++;
		}
		for (unsigned i = 0; i < c.n; i++)
			ck_assert_msg(count[i] == c.targets[i].weight, "%s: target %u: %u", all[k], i,
				      count[i]);
	}
}
END_TEST

/* What A would have had goes to B and C by their weights when A is passed over. */
START_TEST(turns_of_one_that_is_out_are_shared)
{
	struct combo c = weights("6:1:2");
	uint32_t count[3] = {0};
	char order[TP_ORDER_MAX + 1];
	for (uint64_t number = 0; number < 900; number++) {
		ask(TP_STRATEGY_ROUND_ROBIN, &c, number, order);
		count[(order[0] != 'A' ? order[0] : order[1]) - 'A']++;
	}
	ck_assert_uint_eq(count[0], 0);
	ck_assert_uint_eq(count[1], 300);
	ck_assert_uint_eq(count[2], 600);
}
END_TEST

START_TEST(chance_goes_by_weight)
{
	enum { TURNS = 40000 };
	struct combo c = weights("3:1:4");
	uint32_t first[3] = {0}, second_behind_c[2] = {0};
	char order[TP_ORDER_MAX + 1];
	for (uint64_t number = 0; number < TURNS; number++) {
		ask(TP_STRATEGY_RANDOM, &c, number * 0x9e3779b97f4a7c15U, order);
		first[order[0] - 'A']++;
		if (order[0] == 'C')
			second_behind_c[order[1] - 'A']++;
	}
	/* More than ten standard deviations on either side. */
	ck_assert_int_lt(abs((int)first[0] - TURNS * 3 / 8), 1000);
	ck_assert_int_lt(abs((int)first[1] - TURNS * 1 / 8), 1000);
	ck_assert_int_lt(abs((int)second_behind_c[0] - TURNS * 3 / 8), 1000);
	ck_assert_int_lt(abs((int)second_behind_c[1] - TURNS * 1 / 8), 1000);
}
END_TEST

static const struct {
	int64_t busy[3][2]; /* at the provider, at the target */
	const char *order;
} loads[] = {
	{{{0, 0}, {0, 0}, {0, 0}}, "ABC"}, /* all the same: as configured */
	{{{1, 1}, {0, 0}, {0, 0}}, "BCA"},
	{{{5, 5}, {2, 2}, {3, 3}}, "BCA"},
	{{{3, 3}, {2, 0}, {2, 0}}, "BCA"},
	{{{4, 3}, {4, 1}, {9, 0}}, "BAC"}, /* two of one provider: by model */
	{{{7, 0}, {1, 1}, {1, 0}}, "CBA"}, /* what others ask of the provider counts too */
};

START_TEST(the_idle_one_is_first)
{
	struct combo c = weights("1:1:100");
	char order[TP_ORDER_MAX + 1];
	for (unsigned i = 0; i < c.n; i++) {
		c.targets[i].provider_busy = loads[_i].busy[i][0];
		c.targets[i].target_busy = loads[_i].busy[i][1];
	}
	ask(TP_STRATEGY_LEAST_BUSY, &c, 12345, order);
	ck_assert_str_eq(order, loads[_i].order);
}
END_TEST

TP_TESTS(order)
{
	tcase_add_test(t, failover_is_as_configured);
	tcase_add_loop_test(t, rounds_are_smooth, 0, (int)(sizeof rounds / sizeof rounds[0]));
	tcase_add_test(t, rounds_are_exact);
	tcase_add_test(t, turns_of_one_that_is_out_are_shared);
	tcase_add_test(t, chance_goes_by_weight);
	tcase_add_loop_test(t, the_idle_one_is_first, 0, (int)(sizeof loads / sizeof loads[0]));
}
