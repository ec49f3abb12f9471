#include "common/shm/open_turns.h"

#include <string.h>

#include "common/shm/layout.h"
#include "common/shm/sealed.h"

enum { WORDS = TP_OPEN_WORDS - TP_SEALED_HEAD, TRIES = 3 };
_Static_assert(sizeof(struct tp_open_turn) == WORDS * sizeof(uint64_t), "an open turn fills its cell");
_Static_assert((int)WORDS <= (int)TP_SEALED_WORDS_MAX, "an open turn can be sealed");

static _Atomic uint64_t *cell(const struct tp_region *r, unsigned slot, unsigned place)
{
	return r->open_turns[slot].cells[place].words;
}

/* The generation is the number of the record, which the checksum covers: what a dead owner left is another
 * one, whole or torn. */
void tp_open_turn_put(struct tp_region *r, struct tp_stamp owner, unsigned place,
		      const struct tp_open_turn *turn)
{
	uint64_t words[WORDS];
	struct tp_open_turn copy = *turn;
	copy.slot = owner.slot;
	memcpy(words, &copy, sizeof words);
	tp_sealed_write(r, cell(r, owner.slot, place % TP_OPEN_TURNS), owner.generation, words, WORDS);
}

/* Relaxed: the word stands for itself; no record has this number. */
void tp_open_turn_drop(struct tp_region *r, struct tp_stamp owner, unsigned place)
{
	atomic_store_explicit(cell(r, owner.slot, place % TP_OPEN_TURNS), 0, memory_order_relaxed);
}

void tp_open_turns_reset(struct tp_region *r, unsigned slot)
{
	for (unsigned place = 0; place < TP_OPEN_TURNS; place++)
		tp_open_turn_drop(r, (struct tp_stamp){.slot = (uint8_t)slot}, place);
}

/* Looked at again when it was just being written; torn for good, it stays none. */
static bool read_one(const struct tp_region *r, unsigned slot, unsigned place, uint16_t generation,
		     struct tp_open_turn *ret_turn)
{
	uint64_t words[WORDS];
	for (int i = 0; i < TRIES; i++) {
		if (!tp_sealed_read(r, cell(r, slot, place), generation, words, WORDS))
			continue;
		memcpy(ret_turn, words, sizeof words);
		return true;
	}
	return false;
}

/* Sorted in; the youngest falls out where there are too many. */
static unsigned sort_in(struct tp_open_turn *list, unsigned n, const struct tp_open_turn *turn)
{
	unsigned at = n;
	while (at > 0 && list[at - 1].begun_ms > turn->begun_ms)
		at--;
	if (at == TP_OPEN_TURNS_SHOWN)
		return n;
	if (n == TP_OPEN_TURNS_SHOWN)
		n--;
	memmove(&list[at + 1], &list[at], (n - at) * sizeof *list);
	list[at] = *turn;
	return n + 1;
}

unsigned tp_open_turns_read(const struct tp_region *r, struct tp_open_turn *list)
{
	unsigned n = 0;
	for (unsigned slot = 0; slot < TP_SHM_SLOTS; slot++) {
		/* Relaxed: a record of another generation does not count, whoever owns the slot by now. */
		uint32_t owner = atomic_load_explicit(&r->slots[slot].owner, memory_order_relaxed);
		struct tp_open_turn turn;
		if ((owner & TP_SLOT_ASSIGNED) == 0)
			continue;
		for (unsigned place = 0; place < TP_OPEN_TURNS; place++)
			if (read_one(r, slot, place, (uint16_t)owner, &turn))
				n = sort_in(list, n, &turn);
	}
	return n;
}

const char *tp_open_state_name(unsigned state)
{
	static const char *const names[TP_OPEN_STATES] = {"receiving", "joining",   "connecting", "sending",
							  "holding",   "streaming", "waiting"};
	return state < TP_OPEN_STATES ? names[state] : "";
}

const char *tp_open_wait_name(unsigned wait)
{
	static const char *const names[TP_OPEN_WAITS] = {"",         "retry",    "rate_limit",
							 "capacity", "cooldown", "token"};
	return wait < TP_OPEN_WAITS ? names[wait] : "";
}
