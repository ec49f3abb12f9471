#include "common/retry/order.h"

#include <stdbool.h>
#include <string.h>

/* The targets that have no place in the order yet. */
struct draw {
	const struct tp_order_target *targets;
	uint8_t *left; /* their numbers, as configured */
	unsigned n;
};

static uint32_t weight(const struct draw *d, unsigned i)
{
	return d->targets[d->left[i]].weight;
}

static uint32_t total(const struct draw *d)
{
	uint32_t sum = 0;
	for (unsigned i = 0; i < d->n; i++)
		sum += weight(d, i);
	return sum;
}

static uint8_t take(struct draw *d, unsigned at)
{
	uint8_t target = d->left[at];
	memmove(d->left + at, d->left + at + 1, --d->n - at);
	return target;
}

/* ---- round robin */

static uint32_t common_divisor(const struct draw *d)
{
	uint32_t a = weight(d, 0);
	for (unsigned i = 1; i < d->n; i++)
		for (uint32_t b = weight(d, i); b != 0;) {
			uint32_t rest = a % b;
			a = b;
			b = rest;
		}
	return a;
}

/*
 * Each step every target gains its weight, and the richest one is asked and pays the whole: after as many
 * steps as the weights add up to all are back at nothing, each asked as often as its weight says.  The steps
 * of a round are gone through again for each turn: there are few (at most 1600).
 *
 * *number becomes the number of turns before that had the same target: what the order behind it goes by.
 */
static unsigned smooth(const struct draw *d, uint64_t *number)
{
	int64_t rich[TP_ORDER_MAX] = {0};
	uint64_t times[TP_ORDER_MAX] = {0};
	uint32_t unit = common_divisor(d), whole = total(d) / unit;
	unsigned best = 0;
	for (uint64_t step = *number % whole + 1; step > 0; step--) {
		best = 0;
		for (unsigned i = 0; i < d->n; i++) {
			rich[i] += weight(d, i) / unit;
			if (rich[i] > rich[best])
				best = i;
		}
		rich[best] -= whole;
		times[best]++;
	}
	*number = *number / whole * (weight(d, best) / unit) + times[best] - 1;
	return best;
}

/* ---- random */

/* One step of SplitMix64. */
static uint64_t mixed(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15U;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

static unsigned by_chance(const struct draw *d, uint64_t *state)
{
	uint64_t point = mixed(state) % total(d);
	unsigned i = 0;
	while (point >= weight(d, i))
		point -= weight(d, i++);
	return i;
}

/* ---- least busy */

static bool less_busy(const struct tp_order_target *a, const struct tp_order_target *b)
{
	if (a->provider_busy != b->provider_busy)
		return a->provider_busy < b->provider_busy;
	return a->target_busy < b->target_busy;
}

static unsigned least_busy(const struct draw *d)
{
	unsigned best = 0;
	for (unsigned i = 1; i < d->n; i++)
		if (less_busy(&d->targets[d->left[i]], &d->targets[d->left[best]]))
			best = i;
	return best;
}

void tp_order(enum tp_strategy strategy, const struct tp_order_target *targets, unsigned n, uint64_t number,
	      uint8_t *ret_order)
{
	uint8_t left[TP_ORDER_MAX];
	struct draw d = {.targets = targets, .left = left, .n = n};
	for (unsigned i = 0; i < n; i++)
		left[i] = (uint8_t)i;
	for (unsigned i = 0; i < n; i++) {
		unsigned at = 0;
		switch (strategy) {
		case TP_STRATEGY_FAILOVER: break;
		case TP_STRATEGY_ROUND_ROBIN: at = smooth(&d, &number); break;
		case TP_STRATEGY_RANDOM: at = by_chance(&d, &number); break;
		case TP_STRATEGY_LEAST_BUSY: at = least_busy(&d); break;
		}
		ret_order[i] = take(&d, at);
	}
}
