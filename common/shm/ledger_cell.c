#include "common/shm/ledger_cell.h"

enum { DECLINED_FROM_TURN_MS = 30000, DECLINED_FROM_SEND_MS = 120000 };

/* What a possession amounts to whose owner died in the middle (design 3.1, worker death). Nothing is written:
 * each reader comes to the same result, and whoever acts on it swaps from the dead owner's word. */
static void resolve_dead(const struct tp_region *r, struct tp_view *v)
{
	struct tp_word *w = &v->word;
	/* Its turn ended when it died, which may be long after it sent. */
	uint64_t died_ms = tp_slot_died_ms(r, w->owner);
	v->last_turn = died_ms > v->last_send ? died_ms : v->last_send;
	v->memory = (struct tp_memory){0}; /* the cell has that of the turn before, or half a new one */
	if (w->phase == TP_PHASE_INSERTING || w->used == 0) {
		w->phase = TP_PHASE_FREE;
	} else if (w->committed) {
		w->phase = TP_PHASE_UNKNOWN;
	} else if (w->open) { /* also in the wait before a send that may have run is replaced */
		w->phase = TP_PHASE_REFUSED;
		v->memory.code = TP_CODE_CLOSED_BEFORE_RESPONSE;
	} else {
		w->phase = TP_PHASE_DECLINED;
	}
}

bool tp_cell_view(const struct tp_region *r, struct tp_cell *cell, struct tp_view *ret_view)
{
	/* Acquire on each load keeps the second look at the word behind them all; owners store with release,
	 * so a value of the next possession brings that possession's word with it, and the looks differ.
	 * (Fences would do as well; thread sanitizers do not know them.) */
	uint64_t raw = atomic_load_explicit(&cell->word, memory_order_acquire);
	struct tp_view v = {.cell = cell, .raw = raw, .word = tp_word_unpack(raw)};
	TP_INJECT("view");
	v.key.lo = atomic_load_explicit(&cell->key_lo, memory_order_acquire);
	v.key.hi = atomic_load_explicit(&cell->key_hi, memory_order_acquire);
	v.last_send = atomic_load_explicit(&cell->last_send, memory_order_acquire) & TP_TURN_TIME_MASK;
	uint64_t turn = atomic_load_explicit(&cell->last_turn, memory_order_acquire);
	v.memory = tp_memory_unpack(atomic_load_explicit(&cell->memory, memory_order_acquire));
	v.kind = (enum tp_identity_kind)(atomic_load_explicit(&cell->kind, memory_order_acquire) & 3);
	/* A turn's time of another epoch is a dead owner's that had not come to write it. */
	v.last_turn = turn >> 44 == v.word.epoch ? turn & TP_TURN_TIME_MASK : v.last_send;
	if ((v.word.phase == TP_PHASE_INSERTING || v.word.phase == TP_PHASE_IN_FLIGHT) &&
	    !tp_stamp_live(r, v.word.owner))
		resolve_dead(r, &v);
	*ret_view = v;
	/* Relaxed: ordered behind the loads above by their acquire. */
	return atomic_load_explicit(&cell->word, memory_order_relaxed) == raw;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t declined_window_end(const struct tp_view *v)
{
	uint64_t from_turn = v->last_turn + DECLINED_FROM_TURN_MS;
	uint64_t from_send = v->last_send + DECLINED_FROM_SEND_MS;
	return (from_turn < from_send ? from_turn : from_send) + v->memory.retry_after_ms;
}

uint64_t tp_view_window_end(const struct tp_view *v, const struct tp_ledger_windows *w)
{
	if (v->kind == TP_IDENTITY_ID)
		return v->last_send + w->ttl_ms;
	switch (v->word.phase) {
	case TP_PHASE_UNKNOWN:
	case TP_PHASE_REFUSED: /* what is refused may have run: the same window */
		/* From the end of the turn, too: the client sends again when it is told, and after a long
		 * timeout a window from the send alone would be over by then. */
		return later(v->last_send, v->last_turn) + w->rejoin_ms + v->memory.retry_after_ms;
	case TP_PHASE_DECLINED: return declined_window_end(v);
	default: return 0;
	}
}

uint64_t tp_view_last_end(const struct tp_view *v, const struct tp_ledger_windows *w)
{
	return later(tp_view_window_end(v, w), v->last_send + w->ttl_ms);
}

bool tp_view_joinable(const struct tp_view *v, const struct tp_identity *id,
		      const struct tp_ledger_windows *w, uint64_t now_ms)
{
	bool ended_badly = v->word.phase > TP_PHASE_SUCCESS;
	if (id->kind == TP_IDENTITY_ID)
		return (ended_badly || v->word.phase == TP_PHASE_SUCCESS) && now_ms < tp_view_last_end(v, w);
	return ended_badly && now_ms < (id->resend ? tp_view_last_end(v, w) : tp_view_window_end(v, w));
}

bool tp_budget_fits(uint32_t used, uint32_t base_used, const struct tp_ledger_limits *limits,
		    enum tp_class klass)
{
	if (used >= limits->total || used >= TP_MAX_SENDS)
		return false;
	return tp_class_may_take_reserve(klass) || base_used < limits->base;
}

struct tp_cell *tp_handle_cell(const struct tp_ledger_handle *h)
{
	if (h->region == NULL || h->cell / TP_BUCKET_CELLS >= h->region->n_buckets)
		return NULL;
	return &h->region->buckets[h->cell / TP_BUCKET_CELLS].cells[h->cell % TP_BUCKET_CELLS];
}

_Atomic uint16_t *tp_handle_tag(const struct tp_ledger_handle *h)
{
	return &h->region->buckets[h->cell / TP_BUCKET_CELLS].tags[h->cell % TP_BUCKET_CELLS];
}
