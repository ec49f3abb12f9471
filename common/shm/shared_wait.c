/*
 * The state word of a wait:
 *
 *  63   56 55   49 48  46 45     40 39       0
 * [ epoch | round | step | credits | until_ms ]     until_ms 0: no wait
 *
 * round: grows with each told wait, so that answers to sends of before it do not count for it.  step: good
 * answers so far; the nth lets 2^n go.  credits: how many may go now.
 */
#include "common/shm/shared_wait.h"

#include "common/shm/layout.h"

enum {
	SWAP_TRIES = 1000,
	LAST_STEP = 4,        /* 1 + 2 + 4 + 8 + 16 went well: the next good answer opens it for all */
	POLL_MS = 50,         /* how soon a turn asks again that is held behind others */
	OPEN_AFTER_MS = 60000 /* after its end: whatever came of it */
};
#define UNTIL_MASK ((UINT64_C(1) << 40) - 1)

struct state {
	uint8_t epoch;
	uint8_t round;   /* 7 bits */
	uint8_t step;    /* 3 */
	uint8_t credits; /* 6 */
	uint64_t until_ms;
};

_Static_assert((2 << LAST_STEP) - 2 < 64, "credits have six bits");

static uint64_t pack(struct state s)
{
	return (uint64_t)s.epoch << 56 | (uint64_t)(s.round & 0x7f) << 49 | (uint64_t)(s.step & 7) << 46 |
	       (uint64_t)(s.credits & 0x3f) << 40 | (s.until_ms & UNTIL_MASK);
}

static struct state unpack(uint64_t w)
{
	return (struct state){
		.epoch = (uint8_t)(w >> 56),
		.round = w >> 49 & 0x7f,
		.step = w >> 46 & 7,
		.credits = w >> 40 & 0x3f,
		.until_ms = w & UNTIL_MASK,
	};
}

/* False when the entry is another's by now. Acquire: pairs with swap(). */
static bool load(const struct tp_region *r, uint32_t entry, uint32_t epoch, uint64_t *ret_raw,
		 struct state *ret)
{
	*ret_raw = atomic_load_explicit(&r->waits[entry].state, memory_order_acquire);
	*ret = unpack(*ret_raw);
	return ret->epoch == (uint8_t)epoch;
}

static bool swap(struct tp_region *r, uint32_t entry, uint64_t from, struct state to)
{
	/* Acq_rel: one order of all that happens to a wait. */
	return atomic_compare_exchange_strong_explicit(&r->waits[entry].state, &from, pack(to),
						       memory_order_acq_rel, memory_order_relaxed);
}

/* An end that nobody can have set is damage, and no wait. */
static bool is_over(const struct state *s, uint64_t now_ms)
{
	return s->until_ms == 0 || now_ms >= s->until_ms + OPEN_AFTER_MS ||
	       s->until_ms > now_ms + TP_SHARED_WAIT_MAX_MS + TP_CLOCKS_APART_MS;
}

struct tp_hash128 tp_shared_wait_key(const struct tp_region *r, struct tp_str provider, struct tp_str model,
				     uint64_t credential)
{
	const uint8_t *seed = tp_region_seed(r);
	const struct tp_hash128 parts[3] = {tp_siphash128(seed, provider.p, provider.n),
					    tp_siphash128(seed, model.p, model.n),
					    {credential, 0}};
	return tp_siphash128(seed, parts, sizeof parts);
}

static void fill(const struct tp_dir_use *use, struct tp_dir_ref ref)
{
	struct tp_wait_cell *cell = &use->region->waits[ref.entry];
	const struct tp_str *name = use->what;
	char text[TP_SHARED_WAIT_NAME];
	tp_text_copy(text, sizeof text, *name);
	tp_words_put(cell->text, sizeof text / 8, text, sizeof text);
	/* Release: as with keys, see directory.c. The leader's word heals by itself. */
	atomic_store_explicit(&cell->state, pack((struct state){.epoch = (uint8_t)ref.epoch}),
			      memory_order_release);
}

/* The one that ends first; what is over before all. */
static uint64_t rank(const struct tp_dir_use *use, struct tp_dir_ref ref, uint64_t used_ms)
{
	uint64_t raw;
	struct state s;
	(void)used_ms;
	if (!load(use->region, ref.entry, ref.epoch, &raw, &s) || is_over(&s, use->now_ms))
		return 0;
	return s.until_ms;
}

void tp_shared_wait_begin(struct tp_region *r, struct tp_stamp owner, struct tp_hash128 key,
			  struct tp_str text, uint64_t until_ms, uint64_t now_ms)
{
	const struct tp_dir_use use = {.region = r,
				       .dir = &r->wait_dir,
				       .rank = rank,
				       .fill = fill,
				       .what = &text,
				       .now_ms = now_ms};
	if (until_ms > now_ms + TP_SHARED_WAIT_MAX_MS)
		until_ms = now_ms + TP_SHARED_WAIT_MAX_MS;
	if (until_ms > now_ms)
		tp_number_raise(r, TP_NUMBER_HOLDS_UNTIL_MS, until_ms + OPEN_AFTER_MS);
	for (int n = 0; n < SWAP_TRIES && until_ms > now_ms; n++) {
		struct tp_dir_ref ref;
		uint64_t raw;
		struct state s;
		if (!tp_dir_enter(&use, owner, key, &ref))
			return;
		if (!load(r, ref.entry, ref.epoch, &raw, &s))
			continue;
		if (s.until_ms >= until_ms && !is_over(&s, now_ms))
			return;
		_Atomic uint64_t *leader = &r->waits[ref.entry].leader;
		uint64_t before = atomic_load_explicit(leader, memory_order_relaxed);
		const struct state told = {
			.epoch = s.epoch, .round = (s.round + 1) & 0x7f, .until_ms = until_ms};
		TP_INJECT("wait before swap");
		if (!swap(r, ref.entry, raw, told))
			continue;
		/* Who led before leads no more: its answer may be long in coming. */
		tp_hold_release(leader, before, false);
		return;
	}
}

bool tp_shared_wait_any(const struct tp_region *r, uint64_t now_ms)
{
	return now_ms < tp_number_get(r, TP_NUMBER_HOLDS_UNTIL_MS);
}

/* Takes a credit, or the lead. 1: it may go, 0: not now, -1: look again. */
static int try_to_go(struct tp_region *r, struct tp_stamp owner, uint64_t raw, struct state s,
		     uint64_t now_ms, struct tp_shared_wait_pass *pass)
{
	if (s.credits > 0) {
		s.credits--;
		return swap(r, pass->entry, raw, s) ? 1 : -1;
	}
	_Atomic uint64_t *leader = &r->waits[pass->entry].leader;
	/* Acquire: who led before changed the state before it let go. */
	uint64_t seen = atomic_load_explicit(leader, memory_order_acquire), again;
	if (tp_hold_live(r, seen))
		return 0;
	uint64_t held = tp_hold_take(leader, seen, owner, now_ms);
	if (held == 0)
		return -1;
	TP_INJECT("lead taken");
	if (!load(r, pass->entry, pass->epoch, &again, &s) || again != raw) {
		tp_hold_release(leader, held, false);
		return -1;
	}
	pass->leader = held;
	return 1;
}

bool tp_shared_wait_ask(struct tp_region *r, struct tp_stamp owner, struct tp_hash128 key, uint64_t now_ms,
			struct tp_shared_wait_pass *ret_pass, uint64_t *ret_hold_ms, uint64_t *ret_left_ms)
{
	struct tp_dir_ref ref;
	*ret_hold_ms = POLL_MS;
	*ret_left_ms = 0;
	for (int n = 0; n < SWAP_TRIES; n++) {
		uint64_t raw;
		struct state s;
		if (!tp_dir_find(r, &r->wait_dir, key, &ref) || !load(r, ref.entry, ref.epoch, &raw, &s) ||
		    is_over(&s, now_ms)) {
			*ret_pass = (struct tp_shared_wait_pass){0};
			return true;
		}
		if (now_ms < s.until_ms) {
			*ret_hold_ms = *ret_left_ms = s.until_ms - now_ms;
			return false;
		}
		struct tp_shared_wait_pass pass = {.region = r,
						   .entry = ref.entry,
						   .epoch = ref.epoch,
						   .round = s.round,
						   .counted = true};
		int went = try_to_go(r, owner, raw, s, now_ms, &pass);
		if (went == 0)
			return false;
		if (went > 0) {
			*ret_pass = pass;
			return true;
		}
	}
	return false;
}

/* The next step of the wait. The leader's own place is free again, so its answer lets one less go. */
static void grow(const struct tp_shared_wait_pass *pass)
{
	for (int n = 0; n < SWAP_TRIES; n++) {
		uint64_t raw;
		struct state s;
		if (!load(pass->region, pass->entry, pass->epoch, &raw, &s) || s.round != pass->round ||
		    s.until_ms == 0)
			return;
		if (s.step < LAST_STEP) {
			s.step++;
			s.credits = (uint8_t)(s.credits + (1U << s.step) - (pass->leader != 0));
			if (s.credits > 0x3f)
				s.credits = 0x3f;
		} else {
			s = (struct state){.epoch = s.epoch, .round = s.round};
		}
		TP_INJECT("wait grows");
		if (swap(pass->region, pass->entry, raw, s))
			return;
	}
}

void tp_shared_wait_report(struct tp_shared_wait_pass *pass, bool good)
{
	if (pass->counted && pass->region != NULL && pass->entry < tp_dir_entries(&pass->region->wait_dir)) {
		if (good)
			grow(pass);
		/* Behind it: who leads next sees what came of this. */
		if (pass->leader != 0)
			tp_hold_release(&pass->region->waits[pass->entry].leader, pass->leader, false);
	}
	*pass = (struct tp_shared_wait_pass){0};
}

/* ---- list and clear */

bool tp_shared_wait_next(const struct tp_region *r, uint64_t now_ms, uint32_t *cursor,
			 struct tp_shared_wait_row *ret_row)
{
	for (; *cursor < tp_dir_entries(&r->wait_dir); ++*cursor) {
		const struct tp_wait_cell *cell = &r->waits[*cursor];
		struct tp_shared_wait_row row = {0};
		struct tp_dir_ref ref;
		struct tp_hash128 key;
		uint64_t raw;
		struct state s;
		char text[TP_SHARED_WAIT_NAME];
		if (!tp_dir_at(&r->wait_dir, *cursor, &ref, &key) ||
		    !load(r, ref.entry, ref.epoch, &raw, &s) || is_over(&s, now_ms))
			continue;
		tp_words_get(cell->text, sizeof text / 8, text);
		row.leading = tp_hold_live(r, atomic_load_explicit(&cell->leader, memory_order_acquire));
		if (!tp_dir_holds(&r->wait_dir, ref))
			continue;
		row.until_ms = s.until_ms;
		/* Cleaned again: nothing of a damaged table reaches a terminal. */
		tp_text_copy(row.text, sizeof row.text, (struct tp_str){text, strnlen(text, sizeof text)});
		*ret_row = row;
		++*cursor;
		return true;
	}
	return false;
}

static bool clear(struct tp_region *r, struct tp_dir_ref ref, uint64_t now_ms)
{
	uint64_t raw;
	struct state s;
	for (int n = 0; n < SWAP_TRIES; n++) {
		if (!load(r, ref.entry, ref.epoch, &raw, &s) || is_over(&s, now_ms))
			return false;
		/* The round stays: an answer to a send of before must not count for the next wait. */
		if (swap(r, ref.entry, raw, (struct state){.epoch = s.epoch, .round = s.round}))
			return true;
	}
	return false;
}

uint32_t tp_shared_wait_clear_all(struct tp_region *r, uint64_t now_ms)
{
	uint32_t n = 0;
	struct tp_dir_ref ref;
	struct tp_hash128 key;
	for (uint32_t i = 0; i < tp_dir_entries(&r->wait_dir); i++)
		n += tp_dir_at(&r->wait_dir, i, &ref, &key) && clear(r, ref, now_ms);
	return n;
}
