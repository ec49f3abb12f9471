/*
 * Inside of the ledger: one record's decision word, the words it speaks of, and how they are read together.
 *
 * The word is changed by compare-and-swap only.  Who holds a record (phase INSERTING or IN_FLIGHT, own stamp
 * live) writes the other words of the cell before the swap that publishes them; who looks reads the word, the
 * rest, and the word again, and acts only by a swap from what it read.
 *
 * ABA: the epoch grows with every possession (each insertion, each turn that takes a record), so a word that
 * comes back unchanged means the same possession in the same state, and its other words are the same too.  A
 * process would have to sleep between two instructions while exactly a multiple of 2^20 turns possess that
 * one cell, to be wrong.  Within one possession only its owner changes the word.
 */
#ifndef TP_SHM_LEDGER_CELL_H
#define TP_SHM_LEDGER_CELL_H

#include "common/shm/layout.h"
#include "common/shm/ledger.h"

enum tp_phase {
	TP_PHASE_FREE, /* zeroed memory is free */
	TP_PHASE_INSERTING,
	TP_PHASE_IN_FLIGHT,
	TP_PHASE_SUCCESS,
	TP_PHASE_DECLINED,
	TP_PHASE_UNKNOWN,
	TP_PHASE_REFUSED,
	TP_PHASE_LEFT
};

enum { TP_EPOCH_MASK = 0xfffff, TP_MAX_SENDS = 127 };

struct tp_word {
	uint32_t epoch;        /* 20 bits */
	uint8_t used;          /* 7: sends */
	uint8_t base_used;     /* 7: of them of classes that draw on the base */
	bool open;             /* 1: a send is open */
	bool committed;        /* 1: of this turn */
	bool ambiguous;        /* 1: the allowance for one ambiguous replay is taken */
	enum tp_phase phase;   /* 3 */
	struct tp_stamp owner; /* 8 + 16: of the possession; while ended, the last one's */
};

/* Fields larger than their bits are cut. */
static inline uint64_t tp_word_pack(struct tp_word w)
{
	return (uint64_t)(w.epoch & TP_EPOCH_MASK) << 44 | (uint64_t)(w.used & 0x7f) << 37 |
	       (uint64_t)(w.base_used & 0x7f) << 30 | (uint64_t)w.open << 29 | (uint64_t)w.committed << 28 |
	       (uint64_t)w.ambiguous << 27 | (uint64_t)w.phase << 24 | (uint64_t)w.owner.slot << 16 |
	       w.owner.generation;
}

static inline struct tp_word tp_word_unpack(uint64_t v)
{
	return (struct tp_word){
		.epoch = (uint32_t)(v >> 44),
		.used = (v >> 37) & 0x7f,
		.base_used = (v >> 30) & 0x7f,
		.open = (v >> 29) & 1,
		.committed = (v >> 28) & 1,
		.ambiguous = (v >> 27) & 1,
		.phase = (enum tp_phase)((v >> 24) & 7),
		.owner = {.slot = (v >> 16) & 0xff, .generation = v & 0xffff},
	};
}

/* What an ended record remembers, in one word, so that it is never read half. */
struct tp_memory {
	uint32_t retry_after_ms;
	uint16_t code_index;
	uint16_t status;   /* 10 bits */
	enum tp_code code; /* 6 bits */
};

_Static_assert(TP_CODE_COUNT <= 64, "a code has six bits in the memory word");

static inline uint64_t tp_memory_pack(struct tp_memory m)
{
	return (uint64_t)m.retry_after_ms << 32 | (uint64_t)m.code_index << 16 |
	       (uint64_t)(m.status & 0x3ff) << 6 | ((uint64_t)m.code & 0x3f);
}

static inline struct tp_memory tp_memory_unpack(uint64_t v)
{
	return (struct tp_memory){
		.retry_after_ms = (uint32_t)(v >> 32),
		.code_index = (v >> 16) & 0xffff,
		.status = (v >> 6) & 0x3ff,
		.code = (enum tp_code)(v & 0x3f),
	};
}

#define TP_TURN_TIME_MASK ((UINT64_C(1) << 44) - 1) /* 557 years of milliseconds */

/* When the last turn came, with the epoch of its possession. */
static inline uint64_t tp_turn_pack(uint32_t epoch, uint64_t ms)
{
	return (uint64_t)(epoch & TP_EPOCH_MASK) << 44 | (ms & TP_TURN_TIME_MASK);
}

/* One consistent look at a cell. */
struct tp_view {
	struct tp_cell *cell;
	uint64_t raw;        /* the word as it stands: swaps go from this */
	struct tp_word word; /* what it amounts to: possessions of the dead are resolved */
	struct tp_hash128 key;
	struct tp_memory memory;
	uint64_t last_send, last_turn;
	enum tp_identity_kind kind;
};

/* False when the cell changed under the look: look again. */
bool tp_cell_view(const struct tp_region *r, struct tp_cell *cell, struct tp_view *ret_view);

/* Until when a turn joins without saying that it re-sends; with a fingerprint, also when a full bucket may
 * forget the record. 0 = never. */
uint64_t tp_view_window_end(const struct tp_view *v, const struct tp_ledger_windows *w);
/* Until when anybody at all may join. */
uint64_t tp_view_last_end(const struct tp_view *v, const struct tp_ledger_windows *w);
bool tp_view_joinable(const struct tp_view *v, const struct tp_identity *id,
		      const struct tp_ledger_windows *w, uint64_t now_ms);

/* The swap every change goes through. Acq_rel on success: what the owner wrote before is published with it,
 * and what the former one published is seen. Relaxed on failure: the caller looks again. */
static inline bool tp_cell_swap(struct tp_cell *cell, uint64_t from, struct tp_word to)
{
	return atomic_compare_exchange_strong_explicit(&cell->word, &from, tp_word_pack(to),
						       memory_order_acq_rel, memory_order_relaxed);
}

/* One more send of this class after so many, `base_used` of them in classes that draw on the base only. */
bool tp_budget_fits(uint32_t used, uint32_t base_used, const struct tp_ledger_limits *limits,
		    enum tp_class klass);

/* NULL when the handle has no record, or its region is another. */
struct tp_cell *tp_handle_cell(const struct tp_ledger_handle *h);
/* The tag of that cell: see struct tp_bucket. */
_Atomic uint16_t *tp_handle_tag(const struct tp_ledger_handle *h);

#endif
