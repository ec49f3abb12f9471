/*
 * The state word of an entry:
 *
 *  63   49   48    47   40 39       0
 * [ epoch | told | cause  | until_ms ]     until_ms 0: not cooling
 */
#include "common/shm/cooldown.h"

#include "common/shm/layout.h"

enum { SWAP_TRIES = 1000, PROBING_MS = 1000 };
#define UNTIL_MASK ((UINT64_C(1) << 40) - 1)

struct state {
	uint16_t epoch; /* 15 bits */
	struct tp_cooldown c;
};

static uint64_t pack(struct state s)
{
	return (uint64_t)(s.epoch & 0x7fff) << 49 | (uint64_t)s.c.told << 48 | (uint64_t)s.c.cause << 40 |
	       (s.c.until_ms & UNTIL_MASK);
}

static struct state unpack(uint64_t w)
{
	return (struct state){
		.epoch = (uint16_t)(w >> 49),
		.c = {.until_ms = w & UNTIL_MASK, .told = w >> 48 & 1, .cause = (uint8_t)(w >> 40)},
	};
}

/* False when the entry is another's by now. Acquire: `since_ms` was stored before. */
static bool load(const struct tp_region *r, struct tp_dir_ref ref, uint64_t *ret_raw, struct state *ret)
{
	*ret_raw = atomic_load_explicit(&r->cooldowns[ref.entry].state, memory_order_acquire);
	*ret = unpack(*ret_raw);
	return ret->epoch == (ref.epoch & 0x7fff);
}

/* Acq_rel: what was stored before goes with it, what others did before is seen. */
static bool swap(struct tp_region *r, struct tp_dir_ref ref, uint64_t from, struct state to)
{
	return atomic_compare_exchange_strong_explicit(&r->cooldowns[ref.entry].state, &from, pack(to),
						       memory_order_acq_rel, memory_order_relaxed);
}

/* An end that nobody can have set is damage, and no cooldown: it would last for years. */
static bool cools(const struct state *s, uint64_t now_ms)
{
	return s->c.until_ms > now_ms && s->c.until_ms <= now_ms + TP_COOLDOWN_MAX_MS + TP_CLOCKS_APART_MS;
}

/* ---- names */

enum kind { KIND_TARGET = 1, KIND_KEY = 2, KIND_EGRESS = 3 };

static struct tp_hash128 key_of(const struct tp_region *r, enum kind kind, struct tp_str a, struct tp_str b)
{
	const uint8_t *seed = tp_region_seed(r);
	const struct tp_hash128 parts[3] = {
		{(uint64_t)kind, 0}, tp_siphash128(seed, a.p, a.n), tp_siphash128(seed, b.p, b.n)};
	return tp_siphash128(seed, parts, sizeof parts);
}

struct tp_cooldown_name tp_cooldown_target(const struct tp_region *r, struct tp_str provider,
					   struct tp_str model, struct tp_str text)
{
	return (struct tp_cooldown_name){.key = key_of(r, KIND_TARGET, provider, model), .text = text};
}

struct tp_cooldown_name tp_cooldown_key(const struct tp_region *r, struct tp_str provider,
					struct tp_str secret, struct tp_str text)
{
	return (struct tp_cooldown_name){.key = key_of(r, KIND_KEY, provider, secret), .text = text};
}

struct tp_cooldown_name tp_cooldown_egress(const struct tp_region *r, struct tp_str provider,
					   struct tp_str address, struct tp_str text)
{
	return (struct tp_cooldown_name){.key = key_of(r, KIND_EGRESS, provider, address), .text = text};
}

/* ---- cooling */

static void fill(const struct tp_dir_use *use, struct tp_dir_ref ref)
{
	const struct tp_cooldown_name *name = use->what;
	struct tp_cooldown_cell *cell = &use->region->cooldowns[ref.entry];
	char text[TP_COOLDOWN_NAME];
	tp_text_copy(text, sizeof text, name->text);
	tp_words_put(cell->text, sizeof text / 8, text, sizeof text);
	/* Release: as with keys, see directory.c. */
	atomic_store_explicit(&cell->since_ms, 0, memory_order_release);
	atomic_store_explicit(&cell->state, pack((struct state){.epoch = ref.epoch & 0x7fff}),
			      memory_order_release);
}

/* What does not cool any more, then guesses, then told times; each the one that ends first. */
static uint64_t rank(const struct tp_dir_use *use, struct tp_dir_ref ref, uint64_t used_ms)
{
	uint64_t raw;
	struct state s;
	(void)used_ms;
	if (!load(use->region, ref, &raw, &s) || !cools(&s, use->now_ms))
		return 0;
	return s.c.until_ms | (uint64_t)s.c.told << 40;
}

/* See tp_cooldown_set() in the header. */
static bool stands(const struct tp_cooldown *now, const struct tp_cooldown *wanted)
{
	if (now->told != wanted->told)
		return now->told;
	return now->until_ms >= wanted->until_ms;
}

bool tp_cooldown_set(struct tp_region *r, struct tp_stamp owner, const struct tp_cooldown_name *name,
		     struct tp_cooldown c, uint64_t now_ms)
{
	const struct tp_dir_use use = {
		.region = r,
		.dir = &r->cooldown_dir,
		.rank = rank,
		.fill = fill,
		.what = name,
		.now_ms = now_ms,
	};
	if (c.until_ms > now_ms + TP_COOLDOWN_MAX_MS)
		c.until_ms = now_ms + TP_COOLDOWN_MAX_MS;
	if (c.told)
		tp_number_raise(r, TP_NUMBER_HOLDS_UNTIL_MS, c.until_ms);
	for (int n = 0; n < SWAP_TRIES && c.until_ms > now_ms; n++) {
		struct tp_dir_ref ref;
		uint64_t raw;
		struct state s;
		if (!tp_dir_enter(&use, owner, name->key, &ref))
			return false;
		if (!load(r, ref, &raw, &s))
			continue;
		bool cooling = cools(&s, now_ms);
		if (cooling && stands(&s.c, &c))
			return false;
		/* Relaxed: published by the swap. */
		if (!cooling)
			atomic_store_explicit(&r->cooldowns[ref.entry].since_ms, now_ms,
					      memory_order_relaxed);
		s.c = c;
		TP_INJECT("cooldown before swap");
		if (swap(r, ref, raw, s))
			return !cooling;
	}
	return false;
}

bool tp_cooldown_get(const struct tp_region *r, struct tp_hash128 key, uint64_t now_ms,
		     struct tp_cooldown *ret_c)
{
	struct tp_dir_ref ref;
	uint64_t raw;
	struct state s;
	if (!tp_dir_find(r, &r->cooldown_dir, key, &ref) || !load(r, ref, &raw, &s) || !cools(&s, now_ms))
		return false;
	if (ret_c != NULL)
		*ret_c = s.c;
	return true;
}

static bool clear(struct tp_region *r, struct tp_dir_ref ref, uint64_t now_ms)
{
	uint64_t raw;
	struct state s;
	for (int n = 0; n < SWAP_TRIES && load(r, ref, &raw, &s) && s.c.until_ms != 0; n++)
		if (swap(r, ref, raw, (struct state){.epoch = s.epoch}))
			return cools(&s, now_ms);
	return false;
}

bool tp_cooldown_clear(struct tp_region *r, struct tp_hash128 key, uint64_t now_ms)
{
	struct tp_dir_ref ref;
	return tp_dir_find(r, &r->cooldown_dir, key, &ref) && clear(r, ref, now_ms);
}

uint32_t tp_cooldown_clear_all(struct tp_region *r, uint64_t now_ms)
{
	uint32_t n = 0;
	struct tp_dir_ref ref;
	struct tp_hash128 key;
	for (uint32_t i = 0; i < tp_dir_entries(&r->cooldown_dir); i++)
		n += tp_dir_at(&r->cooldown_dir, i, &ref, &key) && clear(r, ref, now_ms);
	return n;
}

/* ---- the probe */

/* When the next one may pass: `gap_ms` after it was cooled and after the last one that gave evidence. A time
 * that lies ahead is damage, and none. */
static uint64_t probe_from_ms(const struct tp_cooldown_cell *cell, uint64_t seen, bool dead, uint32_t gap_ms,
			      uint64_t now_ms)
{
	uint64_t since = atomic_load_explicit(&cell->since_ms, memory_order_acquire);
	uint64_t last = dead ? 0 : tp_hold_ms(seen), most = now_ms + TP_CLOCKS_APART_MS;
	if (since > most)
		since = 0;
	if (last > since && last <= most)
		since = last;
	return gap_ms == 0 ? 0 : since + gap_ms;
}

bool tp_cooldown_take_probe(struct tp_region *r, struct tp_stamp owner, struct tp_hash128 key,
			    uint32_t gap_ms, uint64_t now_ms, struct tp_cooldown_probe *ret_probe,
			    uint64_t *ret_wait_ms)
{
	struct tp_dir_ref ref;
	uint64_t raw, again, wait = 0;
	struct state s;
	if (tp_dir_find(r, &r->cooldown_dir, key, &ref) && load(r, ref, &raw, &s) && cools(&s, now_ms)) {
		struct tp_cooldown_cell *cell = &r->cooldowns[ref.entry];
		/* Acquire: who let go of it changed the state before. */
		uint64_t seen = atomic_load_explicit(&cell->probe, memory_order_acquire), held = 0;
		uint64_t from = probe_from_ms(cell, seen, (seen & 0xffff) != 0, gap_ms, now_ms);
		wait = PROBING_MS;
		if (tp_hold_live(r, seen))
			held = 0;
		else if (from > now_ms)
			wait = from - now_ms;
		else
			held = tp_hold_take(&cell->probe, seen, owner, now_ms);
		TP_INJECT("cooldown probe taken");
		/* The one before may have changed it between the two looks. */
		if (held != 0 && load(r, ref, &again, &s) && again == raw) {
			*ret_probe =
				(struct tp_cooldown_probe){.region = r, .word = held, .entry = ref.entry};
			return true;
		}
		if (held != 0)
			tp_hold_release(&cell->probe, held, false);
		if (wait > unpack(raw).c.until_ms - now_ms)
			wait = unpack(raw).c.until_ms - now_ms;
	}
	if (ret_wait_ms != NULL)
		*ret_wait_ms = wait;
	return false;
}

void tp_cooldown_end_probe(struct tp_cooldown_probe *p, bool evidence)
{
	if (p->region != NULL && p->entry < tp_dir_entries(&p->region->cooldown_dir))
		tp_hold_release(&p->region->cooldowns[p->entry].probe, p->word, evidence);
	*p = (struct tp_cooldown_probe){0};
}

/* ---- rows */

bool tp_cooldown_next(const struct tp_region *r, uint64_t now_ms, uint32_t *cursor,
		      struct tp_cooldown_row *ret_row)
{
	for (; *cursor < tp_dir_entries(&r->cooldown_dir); ++*cursor) {
		const struct tp_cooldown_cell *cell = &r->cooldowns[*cursor];
		struct tp_cooldown_row row;
		struct tp_dir_ref ref;
		uint64_t raw;
		struct state s;
		char text[TP_COOLDOWN_NAME];
		if (!tp_dir_at(&r->cooldown_dir, *cursor, &ref, &row.key) || !load(r, ref, &raw, &s) ||
		    !cools(&s, now_ms))
			continue;
		tp_words_get(cell->text, sizeof text / 8, text);
		row.since_ms = atomic_load_explicit(&cell->since_ms, memory_order_acquire);
		row.probing = tp_hold_live(r, atomic_load_explicit(&cell->probe, memory_order_acquire));
		if (!tp_dir_holds(&r->cooldown_dir, ref))
			continue;
		row.cooldown = s.c;
		/* Cleaned again: nothing of a damaged table reaches a terminal. */
		tp_text_copy(row.text, sizeof row.text, (struct tp_str){text, strnlen(text, sizeof text)});
		*ret_row = row;
		++*cursor;
		return true;
	}
	return false;
}
