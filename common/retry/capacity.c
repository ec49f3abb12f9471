#include "common/retry/capacity.h"

#include "common/retry/amount.h"

struct tp_capacity tp_capacity_refused(struct tp_capacity c, uint32_t others, uint32_t told, uint32_t most,
				       uint64_t now_ms)
{
	uint32_t limit = told;
	if (told == 0)
		limit = c.limit != 0 && c.limit < others ? c.limit : others;
	c.limit = limit < 1 ? 1 : limit > most ? most : limit;
	if (told != 0 && c.step < TP_CAPACITY_TOLD_STEP)
		c.step = TP_CAPACITY_TOLD_STEP;
	if (c.grown && c.step < TP_CAPACITY_MAX_STEP)
		c.step++;
	c.grown = false;
	c.since_ms = now_ms;
	return c;
}

struct tp_capacity tp_capacity_waiting(struct tp_capacity c, uint32_t most, uint64_t now_ms)
{
	if (c.limit == 0 || c.limit >= most)
		return c;
	if (c.since_ms > now_ms) /* damage: must not stop it for ever */
		c.since_ms = now_ms;
	if (now_ms - c.since_ms < (uint64_t)TP_CAPACITY_GROW_MS << c.step)
		return c;
	if (c.grown)
		c.step = 0;
	c.limit++;
	c.grown = true;
	c.since_ms = now_ms;
	return c;
}

uint32_t tp_capacity_told(struct tp_str s)
{
	struct tp_amount used, all;
	s = tp_str_trim(s);
	size_t n = tp_amount_scan(s, &used);
	if (n == 0 || n >= s.n || s.p[n] != '/' ||
	    !tp_amount_parse((struct tp_str){s.p + n + 1, s.n - n - 1}, &all) || used.whole < all.whole)
		return 0;
	return all.whole < UINT32_MAX ? (uint32_t)all.whole : UINT32_MAX;
}
