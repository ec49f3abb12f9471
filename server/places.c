#include "server/places.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/slots.h"

enum { LOOK_EVERY_MS = 1000 };

bool tp_places_take(struct tp_places *p, struct tp_region *r, unsigned workers,
		    const bool foreign[TP_SHM_SLOTS])
{
	*p = (struct tp_places){0};
	if (foreign != NULL)
		memcpy(p->foreign, foreign, sizeof p->foreign);
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++) {
		if (p->foreign[slot])
			continue;
		if (tp_slot_occupied(r, slot)) {
			p->orphans[p->n_orphans++] = (uint8_t)slot;
			continue;
		}
		tp_slot_release_dead(r, slot);
		if (p->n < workers)
			p->slots[p->n++] = (uint8_t)slot;
	}
	if (p->n_orphans > 0)
		tp_info("%u worker%s of an earlier master still finish%s what was running", p->n_orphans,
			p->n_orphans == 1 ? "" : "s", p->n_orphans == 1 ? "es" : "");
	if (p->n == 0)
		tp_error("no worker slot is free");
	else if (p->n < workers)
		tp_warn("there is room for %u of %u workers only", p->n, workers);
	return p->n > 0;
}

static bool is_ours(const struct tp_places *p, unsigned slot)
{
	return p->n > 0 && memchr(p->slots, (int)slot, p->n) != NULL;
}

void tp_places_resize(struct tp_places *p, struct tp_region *r, unsigned workers)
{
	if (p->n > workers)
		p->n = workers;
	for (unsigned slot = 0; slot < TP_SHM_SLOTS && p->n < workers; slot++)
		if (!is_ours(p, slot) && !p->foreign[slot] && !tp_slot_occupied(r, slot)) {
			tp_slot_release_dead(r, slot);
			p->slots[p->n++] = (uint8_t)slot;
		}
	if (p->n < workers)
		tp_warn("there is room for %u of %u workers only", p->n, workers);
}

void tp_places_watch(struct tp_places *p, struct tp_region *r)
{
	uint64_t now = tp_clock_boot_ms();
	if (p->n_orphans == 0 || now - p->looked_ms < LOOK_EVERY_MS)
		return;
	p->looked_ms = now;
	unsigned left = 0;
	for (unsigned i = 0; i < p->n_orphans; i++) {
		uint8_t slot = p->orphans[i];
		if (tp_slot_occupied(r, slot))
			p->orphans[left++] = slot;
		else
			tp_slot_release_dead(r, slot);
	}
	p->n_orphans = left;
}

void tp_places_adopt(struct tp_places *p, struct tp_region *r)
{
	memset(p->foreign, 0, sizeof p->foreign);
	p->n_orphans = 0;
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++) {
		if (is_ours(p, slot))
			continue;
		if (tp_slot_occupied(r, slot))
			p->orphans[p->n_orphans++] = (uint8_t)slot;
		else
			tp_slot_release_dead(r, slot);
	}
}

void tp_places_occupied(const struct tp_places *p, const struct tp_region *r, bool ret_taken[TP_SHM_SLOTS])
{
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++)
		ret_taken[slot] = is_ours(p, slot) || p->foreign[slot] || tp_slot_occupied(r, slot);
}

void tp_places_forget_orphans(struct tp_places *p)
{
	p->n_orphans = 0;
}
