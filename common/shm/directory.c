#include "common/shm/directory.h"

#include <sched.h>
#include <time.h>

#include "common/shm/layout.h"

enum phase { PHASE_FREE, PHASE_INSERTING, PHASE_USED }; /* zeroed memory is free */

enum {
	ENTER_TRIES = 200, /* each that fails means that somebody else got on with the same bucket */
	POLITE_TRIES = 8,  /* from here on others are let run first */
	PATIENT_NS = 1000000
};

static uint64_t pack(uint32_t epoch, enum phase phase, struct tp_stamp owner)
{
	return (uint64_t)epoch << 32 | (uint64_t)phase << 24 | (uint64_t)owner.slot << 16 | owner.generation;
}

static uint32_t epoch_of(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static enum phase phase_of(uint64_t word)
{
	return (enum phase)(word >> 24 & 0xff);
}

static bool owner_live(const struct tp_region *r, uint64_t word)
{
	return tp_stamp_live(
		r, (struct tp_stamp){.generation = (uint16_t)word, .slot = (uint8_t)(word >> 16 & 0xff)});
}

static struct tp_dir_entry *entry_at(const struct tp_dir *d, uint32_t entry)
{
	return &d->buckets[entry / TP_DIR_WAYS % d->n_buckets].entries[entry % TP_DIR_WAYS];
}

static uint32_t bucket_of(const struct tp_dir *d, uint64_t hash)
{
	return (uint32_t)((hash >> 32) * d->n_buckets >> 32);
}

/* One consistent look. Acquire keeps the second look at the word behind the loads of the key; who inserts
 * stores keys with release, so a key of the next possession brings that possession's word with it. */
static bool look(const struct tp_dir_entry *e, uint64_t *ret_word, struct tp_hash128 *ret_key)
{
	uint64_t word = atomic_load_explicit(&e->word, memory_order_acquire);
	ret_key->lo = atomic_load_explicit(&e->key_lo, memory_order_acquire);
	ret_key->hi = atomic_load_explicit(&e->key_hi, memory_order_acquire);
	*ret_word = word;
	return atomic_load_explicit(&e->word, memory_order_relaxed) == word;
}

enum finding { FOUND_NOTHING, FOUND_USED, FOUND_PREPARED, FOUND_CHANGED };

static enum finding search(const struct tp_region *r, const struct tp_dir *d, struct tp_hash128 key,
			   struct tp_dir_ref *ret_ref)
{
	const uint32_t buckets[2] = {bucket_of(d, key.lo), bucket_of(d, key.hi)};
	enum finding best = FOUND_NOTHING;
	for (int b = 0; b < (buckets[1] == buckets[0] ? 1 : 2); b++) {
		for (uint32_t i = 0; i < TP_DIR_WAYS; i++) {
			const struct tp_dir_entry *e = &d->buckets[buckets[b]].entries[i];
			/* Relaxed: keys of entries to be found were stored before the bucket's count, or the
			 * word, was published; what matches is looked at again, whole. */
			if (atomic_load_explicit(&e->key_lo, memory_order_relaxed) != key.lo)
				continue;
			uint64_t word;
			struct tp_hash128 there;
			if (!look(e, &word, &there))
				return FOUND_CHANGED;
			if (there.lo != key.lo || there.hi != key.hi)
				continue;
			if (phase_of(word) == PHASE_USED) {
				*ret_ref = (struct tp_dir_ref){buckets[b] * TP_DIR_WAYS + i, epoch_of(word)};
				return FOUND_USED;
			}
			if (phase_of(word) == PHASE_INSERTING && owner_live(r, word))
				best = FOUND_PREPARED;
		}
	}
	return best;
}

bool tp_dir_find(const struct tp_region *r, const struct tp_dir *d, struct tp_hash128 key,
		 struct tp_dir_ref *ret_ref)
{
	enum finding f = FOUND_CHANGED;
	/* Most keys that are asked for were never entered: one load says so. Acquire, as in one_try(): an
	 * insertion is counted before it is published, so a key that can be found has been counted. */
	if (atomic_load_explicit(&d->buckets[bucket_of(d, key.lo)].inserts, memory_order_acquire) == 0)
		return false;
	/* Also one that is being prepared: it may be a claim that is just put back. */
	for (int n = 0; n < ENTER_TRIES && (f == FOUND_CHANGED || f == FOUND_PREPARED); n++)
		f = search(r, d, key, ret_ref);
	return f == FOUND_USED;
}

bool tp_dir_at(const struct tp_dir *d, uint32_t entry, struct tp_dir_ref *ret_ref, struct tp_hash128 *ret_key)
{
	uint64_t word;
	if (entry >= tp_dir_entries(d) || !look(entry_at(d, entry), &word, ret_key) ||
	    phase_of(word) != PHASE_USED)
		return false;
	*ret_ref = (struct tp_dir_ref){entry, epoch_of(word)};
	return true;
}

bool tp_dir_holds(const struct tp_dir *d, struct tp_dir_ref ref)
{
	/* Cells are read with acquire before, which orders this load behind them. Sequentially consistent for
	 * those who have just taken an owner-stamped word: see insert(). */
	uint64_t word = atomic_load_explicit(&entry_at(d, ref.entry)->word, memory_order_seq_cst);
	return phase_of(word) == PHASE_USED && epoch_of(word) == ref.epoch;
}

void tp_dir_touch(const struct tp_dir *d, struct tp_dir_ref ref, uint64_t now_ms)
{
	/* Relaxed: an age, for the choice of who is forgotten. */
	atomic_store_explicit(&entry_at(d, ref.entry)->used_ms, now_ms, memory_order_relaxed);
}

/* ---- entering */

struct room {
	uint32_t entry;
	uint64_t word; /* as it stands: the claim goes from this */
	uint64_t rank; /* 0: free */
};

static void consider(const struct tp_dir_use *u, uint32_t entry, struct room *best)
{
	const struct tp_dir_entry *e = entry_at(u->dir, entry);
	uint64_t word = atomic_load_explicit(&e->word, memory_order_acquire);
	uint64_t rank = TP_DIR_KEEP;
	if (phase_of(word) == PHASE_USED) {
		uint64_t used_ms = atomic_load_explicit(&e->used_ms, memory_order_relaxed);
		if (u->rank != NULL)
			rank = u->rank(u, (struct tp_dir_ref){entry, epoch_of(word)}, used_ms);
		rank += rank != TP_DIR_KEEP && rank + 1 != TP_DIR_KEEP; /* a free one is better still */
	} else if (phase_of(word) != PHASE_INSERTING || !owner_live(u->region, word)) {
		rank = 0;
	}
	if (rank < best->rank)
		*best = (struct room){entry, word, rank};
}

static unsigned in_use(const struct tp_dir_bucket *b)
{
	unsigned n = 0;
	for (int i = 0; i < TP_DIR_WAYS; i++) /* relaxed: a hint */
		n += phase_of(atomic_load_explicit(&b->entries[i].word, memory_order_relaxed)) != PHASE_FREE;
	return n;
}

/* Of two buckets the emptier: they then overflow only when the table is nearly full. */
static struct room room_for(const struct tp_dir_use *u, struct tp_hash128 key)
{
	uint32_t first = bucket_of(u->dir, key.lo), second = bucket_of(u->dir, key.hi);
	struct room best = {.rank = TP_DIR_KEEP};
	if (in_use(&u->dir->buckets[second]) < in_use(&u->dir->buckets[first])) {
		uint32_t swap = first;
		first = second;
		second = swap;
	}
	for (uint32_t i = 0; i < TP_DIR_WAYS && best.rank != 0; i++)
		consider(u, first * TP_DIR_WAYS + i, &best);
	for (uint32_t i = 0; i < TP_DIR_WAYS && best.rank != 0; i++)
		consider(u, second * TP_DIR_WAYS + i, &best);
	return best;
}

enum entering { ENTERING_AGAIN, ENTERING_FOUND, ENTERING_DONE, ENTERING_NO_ROOM };

/* Claims, prepares, counts, publishes: see the head of directory.h. */
static enum entering insert(const struct tp_dir_use *u, struct tp_stamp owner, struct tp_hash128 key,
			    const struct room *room, uint64_t inserts, struct tp_dir_ref *ret_ref)
{
	struct tp_dir_entry *e = entry_at(u->dir, room->entry);
	struct tp_dir_ref ref = {room->entry, epoch_of(room->word) + 1};
	uint64_t claimed = pack(ref.epoch, PHASE_INSERTING, owner), seen = room->word;
	/* Acq_rel, here and below: what the last possession left is seen, what is prepared is published. And
	 * sequentially consistent here: we claim and then look whether it must be kept; who takes what makes
	 * it be kept (a probe), takes and then looks whether it is claimed. One of the two sees the other. */
	if (!atomic_compare_exchange_strong_explicit(&e->word, &seen, claimed, memory_order_seq_cst,
						     memory_order_relaxed))
		return ENTERING_AGAIN;
	if (phase_of(room->word) == PHASE_USED &&
	    u->rank(u, (struct tp_dir_ref){room->entry, epoch_of(room->word)}, 0) == TP_DIR_KEEP) {
		seen = claimed;
		(void)atomic_compare_exchange_strong_explicit(&e->word, &seen, room->word,
							      memory_order_acq_rel, memory_order_relaxed);
		return ENTERING_AGAIN;
	}
	TP_INJECT("dir claimed");
	/* Release: see look(). */
	atomic_store_explicit(&e->key_lo, key.lo, memory_order_release);
	TP_INJECT("dir half a key");
	atomic_store_explicit(&e->key_hi, key.hi, memory_order_release);
	atomic_store_explicit(&e->used_ms, u->now_ms, memory_order_relaxed);
	u->fill(u, ref);
	TP_INJECT("dir before count");
	bool counted = atomic_compare_exchange_strong_explicit(
		&u->dir->buckets[bucket_of(u->dir, key.lo)].inserts, &inserts, inserts + 1,
		memory_order_acq_rel, memory_order_relaxed);
	TP_INJECT("dir before publish");
	uint64_t done = pack(ref.epoch, counted ? PHASE_USED : PHASE_FREE, owner);
	/* Fails only when we are held for dead: then the entry is another's. */
	if (!atomic_compare_exchange_strong_explicit(&e->word, &claimed, done, memory_order_acq_rel,
						     memory_order_relaxed) ||
	    !counted)
		return ENTERING_AGAIN;
	*ret_ref = ref;
	return ENTERING_DONE;
}

static enum entering one_try(const struct tp_dir_use *u, struct tp_stamp owner, struct tp_hash128 key,
			     struct tp_dir_ref *ret_ref)
{
	/* Acquire: every insertion counted so far is seen by the search. */
	uint64_t inserts = atomic_load_explicit(&u->dir->buckets[bucket_of(u->dir, key.lo)].inserts,
						memory_order_acquire);
	switch (search(u->region, u->dir, key, ret_ref)) {
	case FOUND_USED: return ENTERING_FOUND;
	case FOUND_PREPARED:
	case FOUND_CHANGED: return ENTERING_AGAIN;
	case FOUND_NOTHING: break;
	}
	struct room room = room_for(u, key);
	return room.rank == TP_DIR_KEEP ? ENTERING_NO_ROOM : insert(u, owner, key, &room, inserts, ret_ref);
}

bool tp_dir_enter(const struct tp_dir_use *use, struct tp_stamp owner, struct tp_hash128 key,
		  struct tp_dir_ref *ret_ref)
{
	enum entering step = ENTERING_AGAIN;
	struct tp_dir_ref ref = {0};
	for (int n = 0; n < ENTER_TRIES && step == ENTERING_AGAIN; n++) {
		if (n >= POLITE_TRIES && use->patient)
			(void)nanosleep(&(struct timespec){.tv_nsec = PATIENT_NS}, NULL);
		else if (n >= POLITE_TRIES)
			(void)sched_yield();
		step = one_try(use, owner, key, &ref);
	}
	if (step != ENTERING_FOUND && step != ENTERING_DONE)
		return false;
	*ret_ref = ref;
	return true;
}

/* ---- owner-stamped words */

bool tp_hold_live(const struct tp_region *r, uint64_t word)
{
	return (word & 0xffff) != 0 && owner_live(r, word);
}

uint64_t tp_hold_take(_Atomic uint64_t *word, uint64_t seen, struct tp_stamp owner, uint64_t now_ms)
{
	uint64_t mine = now_ms << 24 | (uint64_t)owner.slot << 16 | owner.generation;
	/* Acquire and release: what the last holder changed before it let go is seen by the next.
	 * Sequentially consistent: see insert(). */
	bool taken = atomic_compare_exchange_strong_explicit(word, &seen, mine, memory_order_seq_cst,
							     memory_order_relaxed);
	return taken ? mine : 0;
}

void tp_hold_release(_Atomic uint64_t *word, uint64_t held, bool keep_time)
{
	uint64_t free_word = keep_time ? held >> 24 << 24 : 0;
	/* Release: see tp_hold_take(). */
	(void)atomic_compare_exchange_strong_explicit(word, &held, free_word, memory_order_release,
						      memory_order_relaxed);
}

/* ---- texts */

void tp_words_put(_Atomic uint64_t *words, size_t n_words, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n_words; i++) {
		uint64_t w = 0;
		size_t at = i * sizeof w;
		if (at < n)
			memcpy(&w, bytes + at, n - at < sizeof w ? n - at : sizeof w);
		/* Release: as with keys, see look(). */
		atomic_store_explicit(&words[i], w, memory_order_release);
	}
}

void tp_words_get(const _Atomic uint64_t *words, size_t n_words, char *ret_bytes)
{
	for (size_t i = 0; i < n_words; i++) {
		uint64_t w = atomic_load_explicit(&words[i], memory_order_acquire);
		memcpy(ret_bytes + i * sizeof w, &w, sizeof w);
	}
}

void tp_text_copy(char *ret, size_t size, struct tp_str s)
{
	memset(ret, 0, size);
	for (size_t i = 0; i < s.n && i + 1 < size; i++) {
		unsigned char c = (unsigned char)s.p[i];
		ret[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
}
