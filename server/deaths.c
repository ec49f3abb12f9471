#include "server/deaths.h"

enum {
	HEALTHY_MS = 30000,
	WAIT_FIRST_MS = 100,
	WAIT_MOST_MS = 2000,
	TOGETHER_MS = 500,
	ROUND_GAP_MS = 10000,
};

uint64_t tp_deaths_note(struct tp_slot_deaths *d, uint64_t forked_ms, uint64_t now_ms)
{
	uint64_t lived = now_ms - forked_ms;
	d->in_row = lived >= HEALTHY_MS ? 1 : d->in_row + 1;
	d->last_ms = now_ms;
	uint64_t least = 0;
	for (unsigned i = 1; i < d->in_row && least < WAIT_MOST_MS; i++)
		least = least == 0 ? WAIT_FIRST_MS : least * 2;
	if (d->cannot_start && least == 0)
		least = WAIT_FIRST_MS; /* what stopped it is hardly gone yet */
	if (least > WAIT_MOST_MS)
		least = WAIT_MOST_MS;
	return least > lived ? least - lived : 0;
}

unsigned tp_rounds_note(struct tp_rounds *r, const struct tp_slot_deaths *const *slots, unsigned n,
			bool none_lives, uint64_t now_ms)
{
	bool together = true;
	for (unsigned i = 0; i < n; i++) {
		/* Each must have died since the last round, or one flood of deaths would count as many. */
		if (slots[i]->last_ms == 0 || slots[i]->last_ms <= r->last_ms)
			return 0;
		together = together && now_ms - slots[i]->last_ms <= TOGETHER_MS;
	}
	if (!together && !none_lives)
		return 0;
	r->in_row = r->last_ms != 0 && now_ms - r->last_ms <= ROUND_GAP_MS ? r->in_row + 1 : 1;
	r->last_ms = now_ms;
	return r->in_row;
}
