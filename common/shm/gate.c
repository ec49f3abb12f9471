/*
 * Words of a gate:
 *
 *  permit, ticket  63      24 23  16 15          0
 *                 [ value    | slot | generation ]   generation 0: free; value: when it was taken, ms; the
 *                                                    ticket's number
 *  learned         63   62       60 59   58   48 47     40 39       0
 *                 [ -  | step      | grown | limit | -       | since_ms ]   limit 0: nothing learned
 *
 * Nobody sleeps at a free permit: who waits publishes its ticket and then looks at the permits; who gives one
 * back does so and then looks at the tickets.  Both are sequentially consistent, so one of the two sees the
 * other.
 */
#include "common/shm/gate.h"

#include "common/base/siphash.h"
#include "common/retry/capacity.h"
#include "common/shm/layout.h"

#define NUMBER_MASK ((UINT64_C(1) << 40) - 1)
#define SINCE_MASK  ((UINT64_C(1) << 40) - 1)
enum { SWAP_TRIES = 1000 };

static struct tp_gate_cell *cell_of(const struct tp_region *r, tp_gate_id id)
{
	return id < TP_GATES ? &r->gates[id] : NULL;
}

tp_gate_id tp_gate_open(struct tp_region *r, struct tp_str provider)
{
	uint64_t hash = tp_siphash128(tp_region_seed(r), provider.p, provider.n).lo | 1; /* never 0 */
	for (uint32_t i = 0; i < TP_GATES; i++) {
		uint32_t at = (uint32_t)(hash >> 32) % TP_GATES;
		at = (at + i) % TP_GATES;
		uint64_t seen = 0;
		/* Relaxed: the word stands for itself; a name once stored stays. */
		if (atomic_compare_exchange_strong_explicit(&r->gates[at].name, &seen, hash,
							    memory_order_relaxed, memory_order_relaxed) ||
		    seen == hash)
			return (tp_gate_id)at;
	}
	return TP_GATE_NONE;
}

/* ---- looking */

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_seq_cst);
}

/* How far the array was ever used: what lies behind is not looked at. A damaged mark is cut. */
static uint32_t used(const _Atomic uint64_t *high, uint32_t most)
{
	uint64_t n = load(high);
	return n < most ? (uint32_t)n : most;
}

static void raise_mark(_Atomic uint64_t *high, uint32_t to)
{
	uint64_t seen = atomic_load_explicit(high, memory_order_relaxed);
	/* Sequentially consistent: before the word behind it is taken. */
	while (seen < to && !atomic_compare_exchange_weak_explicit(high, &seen, to, memory_order_seq_cst,
								   memory_order_relaxed))
		;
}

static uint32_t count_live(const struct tp_region *r, const _Atomic uint64_t *words, uint32_t from,
			   uint32_t to)
{
	uint32_t n = 0;
	for (uint32_t i = from; i < to; i++)
		n += tp_hold_live(r, load(&words[i]));
	return n;
}

static uint32_t held(const struct tp_region *r, const struct tp_gate_cell *c)
{
	return count_live(r, c->permits, 0, used(&c->permits_high, TP_GATE_PERMITS));
}

/* Live tickets below this number. */
static uint32_t before(const struct tp_region *r, const struct tp_gate_cell *c, uint64_t number)
{
	uint32_t n = 0, end = used(&c->tickets_high, TP_GATE_TICKETS);
	for (uint32_t i = 0; i < end; i++) {
		uint64_t word = load(&c->tickets[i]);
		n += word != 0 && tp_hold_ms(word) < number && tp_hold_live(r, word);
	}
	return n;
}

uint32_t tp_gate_in_progress(const struct tp_region *r, tp_gate_id id)
{
	const struct tp_gate_cell *c = cell_of(r, id);
	return c != NULL ? held(r, c) : 0;
}

uint32_t tp_gate_waiting(const struct tp_region *r, tp_gate_id id)
{
	const struct tp_gate_cell *c = cell_of(r, id);
	return c != NULL ? before(r, c, UINT64_MAX) : 0;
}

bool tp_gate_next(const struct tp_region *r, tp_gate_id id, uint32_t limit, uint8_t *ret_slot)
{
	const struct tp_gate_cell *c = cell_of(r, id);
	if (c == NULL)
		return false;
	uint64_t lowest = UINT64_MAX;
	uint32_t end = used(&c->tickets_high, TP_GATE_TICKETS);
	for (uint32_t i = 0; i < end; i++) {
		uint64_t word = load(&c->tickets[i]);
		if (word != 0 && word < lowest && tp_hold_live(r, word))
			lowest = word;
	}
	*ret_slot = (uint8_t)(lowest >> 16);
	return lowest != UINT64_MAX && held(r, c) < limit;
}

uint64_t tp_gate_backlog_ms(const struct tp_region *r, tp_gate_id id, uint32_t limit)
{
	const struct tp_gate_cell *c = cell_of(r, id);
	if (c == NULL || limit == 0)
		return 0;
	/* Relaxed: a number. Cut: a damaged one must not overflow. */
	uint64_t each = atomic_load_explicit(&c->service_ms, memory_order_relaxed) & UINT32_MAX;
	uint64_t ms = each * (tp_gate_waiting(r, id) + UINT64_C(1)) / limit;
	return ms < TP_GATE_BACKLOG_MAX_MS ? ms : TP_GATE_BACKLOG_MAX_MS;
}

/* ---- taking */

/* The first free word below `end`. */
static bool take_word(struct tp_region *r, _Atomic uint64_t *words, _Atomic uint64_t *high, uint32_t end,
		      struct tp_stamp owner, uint64_t value, uint64_t *ret_word, uint16_t *ret_at)
{
	for (uint32_t i = 0; i < end; i++) {
		uint64_t seen = load(&words[i]);
		if (tp_hold_live(r, seen))
			continue;
		raise_mark(high, i + 1);
		uint64_t word = tp_hold_take(&words[i], seen, owner, value);
		if (word == 0)
			continue; /* somebody was faster */
		*ret_word = word;
		*ret_at = (uint16_t)i;
		return true;
	}
	return false;
}

static void drop_word(_Atomic uint64_t *word, uint64_t mine)
{
	/* Fails only when we are held for dead: then it is another's. See the head of this file. */
	(void)atomic_compare_exchange_strong_explicit(word, &mine, 0, memory_order_seq_cst,
						      memory_order_relaxed);
}

/* With a limit that was higher before, some permits lie above it: then the array's length does not bound
 * their number. */
static bool too_many(const struct tp_region *r, const struct tp_gate_cell *c, uint32_t limit)
{
	uint32_t end = used(&c->permits_high, TP_GATE_PERMITS);
	return end > limit && count_live(r, c->permits, limit, end) > 0 && held(r, c) > limit;
}

static bool take_permit(struct tp_region *r, struct tp_gate_cell *c, struct tp_stamp owner, uint32_t limit,
			uint32_t reserved, uint64_t now_ms, struct tp_gate_permit *ret_permit)
{
	uint32_t now_held = held(r, c);
	struct tp_gate_permit p = {0};
	if (now_held + reserved >= limit)
		return false;
	if (!take_word(r, c->permits, &c->permits_high, limit, owner, now_ms & NUMBER_MASK, &p.word, &p.at))
		return false;
	TP_INJECT("gate permit taken");
	if (too_many(r, c, limit)) {
		drop_word(&c->permits[p.at], p.word);
		return false;
	}
	p.in_progress = (uint16_t)(now_held + 1);
	*ret_permit = p;
	return true;
}

static bool take_place(struct tp_region *r, struct tp_gate_cell *c, struct tp_stamp owner, uint32_t queue,
		       struct tp_gate_ticket *ticket)
{
	return take_word(r, c->tickets, &c->tickets_high, queue, owner, ticket->number, &ticket->word,
			 &ticket->at);
}

static void number(struct tp_gate_cell *c, struct tp_gate_ticket *ticket)
{
	/* Relaxed: the number is published with the ticket. One that is drawn and lost leaves a gap. */
	if (ticket->number == 0)
		ticket->number =
			(atomic_fetch_add_explicit(&c->numbers, 1, memory_order_relaxed) & NUMBER_MASK) + 1;
	TP_INJECT("gate number drawn");
}

enum tp_gate_answer tp_gate_ask(struct tp_region *r, struct tp_stamp owner, tp_gate_id id, uint32_t limit,
				uint32_t queue, bool impatient, uint64_t now_ms,
				struct tp_gate_ticket *ticket, struct tp_gate_permit *ret_permit)
{
	struct tp_gate_cell *c = cell_of(r, id);
	*ret_permit = (struct tp_gate_permit){0};
	if (c == NULL)
		return TP_GATE_GO;
	limit = limit < TP_GATE_PERMITS ? limit : TP_GATE_PERMITS;
	queue = queue < TP_GATE_TICKETS ? queue : TP_GATE_TICKETS;
	number(c, ticket);
	/* Twice: the second look is behind the ticket, see the head of this file. */
	for (int look = 0; look < 2; look++) {
		uint32_t reserved = impatient ? 0 : before(r, c, ticket->number);
		if (take_permit(r, c, owner, limit, reserved, now_ms, ret_permit)) {
			TP_INJECT("gate permit and ticket");
			tp_gate_leave(r, id, ticket);
			return TP_GATE_GO;
		}
		if (ticket->word != 0)
			return TP_GATE_QUEUED;
		TP_INJECT("gate before ticket");
		if (!take_place(r, c, owner, queue, ticket))
			return TP_GATE_FULL;
		TP_INJECT("gate ticket taken");
	}
	return TP_GATE_QUEUED;
}

void tp_gate_leave(struct tp_region *r, tp_gate_id id, struct tp_gate_ticket *ticket)
{
	struct tp_gate_cell *c = cell_of(r, id);
	if (c == NULL || ticket->word == 0 || ticket->at >= TP_GATE_TICKETS)
		return;
	TP_INJECT("gate leaves");
	drop_word(&c->tickets[ticket->at], ticket->word);
	ticket->word = 0;
}

void tp_gate_give_back(struct tp_region *r, tp_gate_id id, struct tp_gate_permit *permit, uint64_t now_ms)
{
	struct tp_gate_cell *c = cell_of(r, id);
	if (c != NULL && permit->word != 0 && permit->at < TP_GATE_PERMITS) {
		uint64_t took = now_ms - tp_hold_ms(permit->word);
		/* Relaxed, and a load and a store: a pace, of which one number may be lost. */
		uint64_t pace = atomic_load_explicit(&c->service_ms, memory_order_relaxed) & UINT32_MAX;
		took = took < UINT32_MAX ? took : 0;
		atomic_store_explicit(&c->service_ms, pace == 0 ? took : (7 * pace + took) / 8,
				      memory_order_relaxed);
		TP_INJECT("gate gives back");
		drop_word(&c->permits[permit->at], permit->word);
		TP_INJECT("gate gave back");
	}
	*permit = (struct tp_gate_permit){0};
}

/* ---- learning */

static uint64_t pack(struct tp_capacity c)
{
	return (uint64_t)(c.step & 7) << 60 | (uint64_t)c.grown << 59 | (uint64_t)(c.limit & 0x7ff) << 48 |
	       (c.since_ms & SINCE_MASK);
}

static struct tp_capacity unpack(uint64_t w)
{
	uint32_t limit = w >> 48 & 0x7ff;
	return (struct tp_capacity){.limit = limit < TP_GATE_PERMITS ? limit : TP_GATE_PERMITS,
				    .step = w >> 60 & 7,
				    .grown = w >> 59 & 1,
				    .since_ms = w & SINCE_MASK};
}

static uint32_t stands(struct tp_capacity c)
{
	return c.limit == 0 ? TP_GATE_PERMITS : c.limit;
}

uint32_t tp_gate_learned(const struct tp_region *r, tp_gate_id id)
{
	const struct tp_gate_cell *c = cell_of(r, id);
	/* Relaxed, here and below: the word stands for itself. */
	return c != NULL ? stands(unpack(atomic_load_explicit(&c->learned, memory_order_relaxed)))
			 : (uint32_t)TP_GATE_PERMITS;
}

uint32_t tp_gate_refused(struct tp_region *r, tp_gate_id id, uint32_t others, uint32_t told, uint64_t now_ms)
{
	struct tp_gate_cell *c = cell_of(r, id);
	if (c == NULL)
		return TP_GATE_PERMITS;
	uint64_t seen = atomic_load_explicit(&c->learned, memory_order_relaxed);
	struct tp_capacity next;
	for (int n = 0; n < SWAP_TRIES; n++) {
		next = tp_capacity_refused(unpack(seen), others, told, TP_GATE_PERMITS, now_ms);
		if (atomic_compare_exchange_strong_explicit(&c->learned, &seen, pack(next),
							    memory_order_relaxed, memory_order_relaxed))
			break;
	}
	return stands(next);
}

uint32_t tp_gate_grow(struct tp_region *r, tp_gate_id id, uint64_t now_ms)
{
	struct tp_gate_cell *c = cell_of(r, id);
	if (c == NULL)
		return TP_GATE_PERMITS;
	uint64_t seen = atomic_load_explicit(&c->learned, memory_order_relaxed);
	struct tp_capacity next = tp_capacity_waiting(unpack(seen), TP_GATE_PERMITS, now_ms);
	/* Of several that find it time one grows it. */
	if (pack(next) != seen &&
	    !atomic_compare_exchange_strong_explicit(&c->learned, &seen, pack(next), memory_order_relaxed,
						     memory_order_relaxed))
		next = unpack(seen);
	return stands(next);
}
