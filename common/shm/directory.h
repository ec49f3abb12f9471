/*
 * Inside of common/shm: which entry of a table belongs to a key.  The breaker, cooldowns, shared waits and
 * series are each a directory beside an array of cells; entry number i of the one speaks of cell number i of
 * the other.
 *
 * A key reaches two buckets of 16 entries.  An entry's word {epoch, phase, owner} is changed by
 * compare-and-swap only, and the epoch grows with each insertion; cells carry its lower bits in their own
 * words, so that a swap meant for an entry that was given to another key fails.
 *
 * One entry for a key: as in ledger_join.c.  Insertions are counted in the key's first bucket; who inserts
 * notes the count, searches, prepares an entry, counts by compare-and-swap from what it noted, and publishes.
 * Of two that insert one key, one fails to count, searches again and finds the other.
 */
#ifndef TP_SHM_DIRECTORY_H
#define TP_SHM_DIRECTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/siphash.h"
#include "common/base/str.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

enum { TP_DIR_WAYS = 16 };

struct tp_dir_entry {
	_Atomic uint64_t word; /* epoch << 32 | phase << 24 | slot << 16 | generation */
	_Atomic uint64_t key_lo, key_hi;
	_Atomic uint64_t used_ms; /* last time that something was told under it */
};

struct tp_dir_bucket {
	_Alignas(64) _Atomic uint64_t inserts; /* keys whose first bucket this is: counts insertions */
	struct tp_dir_entry entries[TP_DIR_WAYS];
};

/* Process-local. */
struct tp_dir {
	struct tp_dir_bucket *buckets;
	uint32_t n_buckets;
};

/* One possession of an entry by a key. */
struct tp_dir_ref {
	uint32_t entry, epoch;
};

/* How many there are, in use or not: entries are 0 to this less 1. */
static inline uint32_t tp_dir_entries(const struct tp_dir *d)
{
	return d->n_buckets * TP_DIR_WAYS;
}

/* Whose entry it is now. False: nobody has entered the key, or it was given away. */
bool tp_dir_find(const struct tp_region *r, const struct tp_dir *d, struct tp_hash128 key,
		 struct tp_dir_ref *ret_ref);
/* The key of an entry in use, for those who go through all; false: not in use, or just changing. */
bool tp_dir_at(const struct tp_dir *d, uint32_t entry, struct tp_dir_ref *ret_ref,
	       struct tp_hash128 *ret_key);
/* Is it still this possession? Asked behind reading its cell, to know that what was read belongs together. */
bool tp_dir_holds(const struct tp_dir *d, struct tp_dir_ref ref);
void tp_dir_touch(const struct tp_dir *d, struct tp_dir_ref ref, uint64_t now_ms);

#define TP_DIR_KEEP UINT64_MAX
/* How a table makes room and begins a cell. */
struct tp_dir_use {
	struct tp_region *region;
	const struct tp_dir *dir;
	/* The entry with the smallest rank is given away; TP_DIR_KEEP: never (asked again behind the claim).
	 * NULL: none is. */
	uint64_t (*rank)(const struct tp_dir_use *use, struct tp_dir_ref ref, uint64_t used_ms);
	/* Everything in the cell that belongs to the key, words with the new epoch in them. */
	void (*fill)(const struct tp_dir_use *use, struct tp_dir_ref ref);
	const void *what; /* for fill */
	uint64_t now_ms;
	/* Outside of the hot path: sleeps while another process is in the middle of entering the same key,
	 * 0.2 s at most, where else it would give up because that process does not get the CPU. */
	bool patient;
};
/* Finds or enters the key. False: no room, or a crowd. */
bool tp_dir_enter(const struct tp_dir_use *use, struct tp_stamp owner, struct tp_hash128 key,
		  struct tp_dir_ref *ret_ref);

/* ---- owner-stamped words: one holder over all workers, free as soon as the holder is dead
 *
 *  63      24 23  16 15          0
 * [ taken_ms | slot | generation ]   generation 0: free; taken_ms is then the last holder's, or 0
 */
static inline uint64_t tp_hold_ms(uint64_t word)
{
	return word >> 24;
}
bool tp_hold_live(const struct tp_region *r, uint64_t word);
/* Takes it from what was seen in it. Returns the word to give back with, 0 when somebody was faster. */
uint64_t tp_hold_take(_Atomic uint64_t *word, uint64_t seen, struct tp_stamp owner, uint64_t now_ms);
/* Ours only: a word that was broken meanwhile is left alone. `keep_time`: leave when it was taken. */
void tp_hold_release(_Atomic uint64_t *word, uint64_t held, bool keep_time);

/* ---- texts in cells: words, so that a reader never races with a writer in the sense of C */
void tp_words_put(_Atomic uint64_t *words, size_t n_words, const char *bytes, size_t n);
void tp_words_get(const _Atomic uint64_t *words, size_t n_words, char *ret_bytes);
/* Copies what can be printed of `s`, cut and terminated; the rest of `ret` is zeroed. */
void tp_text_copy(char *ret, size_t size, struct tp_str s);

#endif
