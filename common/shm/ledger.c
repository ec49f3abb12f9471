/*
 * The life of a record in the hands of its turn. Joining and finding room: ledger_join.c.
 */
#include "common/shm/ledger.h"

#include "common/shm/ledger_cell.h"

/* Loads the record's word if it is still this handle's possession. Relaxed: the owner's own last swap. */
static bool load_own(const struct tp_ledger_handle *h, struct tp_cell *cell, uint64_t *ret_raw,
		     struct tp_word *ret_word)
{
	uint64_t raw = atomic_load_explicit(&cell->word, memory_order_relaxed);
	struct tp_word w = tp_word_unpack(raw);
	if (w.phase != TP_PHASE_IN_FLIGHT || w.epoch != h->epoch || w.owner.slot != h->owner.slot ||
	    w.owner.generation != h->owner.generation)
		return false;
	*ret_raw = raw;
	*ret_word = w;
	return true;
}

/* The possession was taken from us, so somebody holds us for dead, or the table is damaged: from here on the
 * turn has no record, and may make its first send at most. */
static void lose(struct tp_ledger_handle *h)
{
	h->cell = UINT32_MAX;
	h->no_room = true;
}

void tp_ledger_prefetch(const struct tp_ledger_handle *h)
{
	struct tp_cell *cell = tp_handle_cell(h);
	if (cell != NULL)
		__builtin_prefetch(cell, 1);
}

bool tp_ledger_fits(const struct tp_ledger_handle *h, const struct tp_ledger_limits *limits,
		    enum tp_class klass)
{
	if (h->region == NULL || (h->no_room && h->sent))
		return false;
	return tp_budget_fits(h->used, h->base_used, limits, klass);
}

static void add_send(uint32_t *used, uint32_t *base_used, enum tp_class klass)
{
	*used += 1;
	*base_used += !tp_class_may_take_reserve(klass);
}

/* Fails for ever once the record is lost. */
static bool charge_record(struct tp_ledger_handle *h, struct tp_cell *cell,
			  const struct tp_ledger_limits *limits, enum tp_class klass, uint64_t now_ms,
			  bool *ret_lost)
{
	uint64_t raw;
	struct tp_word w;
	/* Held for dead, we own nothing, even if nobody has come to take it yet. */
	*ret_lost = !tp_stamp_live(h->region, h->owner) || !load_own(h, cell, &raw, &w);
	if (*ret_lost || !tp_budget_fits(w.used, w.base_used, limits, klass))
		return false;
	uint32_t used = w.used, base_used = w.base_used;
	add_send(&used, &base_used, klass);
	w.used = (uint8_t)used;
	w.base_used = (uint8_t)base_used;
	w.open = true;
	/* Before the swap: killed between the two, the window is a little long, never short. */
	atomic_store_explicit(&cell->last_send, now_ms & TP_TURN_TIME_MASK, memory_order_release);
	TP_INJECT("charge before swap");
	*ret_lost = !tp_cell_swap(cell, raw, w);
	TP_INJECT("charge after swap");
	if (*ret_lost)
		return false;
	h->used = used;
	h->base_used = base_used;
	h->sent = true;
	return true;
}

bool tp_ledger_charge(struct tp_ledger_handle *h, const struct tp_ledger_limits *limits, enum tp_class klass,
		      uint64_t now_ms)
{
	struct tp_cell *cell = tp_handle_cell(h);
	if (cell != NULL) {
		bool lost;
		if (charge_record(h, cell, limits, klass, now_ms, &lost))
			return true;
		if (!lost)
			return false;
		lose(h);
	}
	if (!tp_ledger_fits(h, limits, klass))
		return false;
	add_send(&h->used, &h->base_used, klass);
	h->sent = true;
	return true;
}

static void remove_send(struct tp_ledger_handle *h, enum tp_class klass)
{
	if (h->used > 0)
		h->used--;
	if (!tp_class_may_take_reserve(klass) && h->base_used > 0)
		h->base_used--;
}

void tp_ledger_give_back(struct tp_ledger_handle *h, enum tp_class klass)
{
	struct tp_cell *cell = tp_handle_cell(h);
	if (cell == NULL) {
		/* Only the first send of a turn without room can be open. */
		remove_send(h, klass);
		h->sent = h->sent && !h->no_room;
		return;
	}
	uint64_t raw;
	struct tp_word w;
	/* Lost or not open: what is not provably ours stays paid. */
	if (!load_own(h, cell, &raw, &w) || !w.open || w.used == 0)
		return;
	w.open = false;
	w.used--;
	if (!tp_class_may_take_reserve(klass) && w.base_used > 0)
		w.base_used--;
	TP_INJECT("give back before swap");
	if (tp_cell_swap(cell, raw, w))
		remove_send(h, klass);
	TP_INJECT("give back after swap");
}

void tp_ledger_settle(struct tp_ledger_handle *h)
{
	struct tp_cell *cell = tp_handle_cell(h);
	uint64_t raw;
	struct tp_word w;
	if (cell == NULL || !load_own(h, cell, &raw, &w))
		return;
	w.open = false;
	(void)tp_cell_swap(cell, raw, w); /* fails only when lost; the next charge then finds out */
}

void tp_ledger_commit(struct tp_ledger_handle *h)
{
	struct tp_cell *cell = tp_handle_cell(h);
	uint64_t raw;
	struct tp_word w;
	if (cell == NULL || !load_own(h, cell, &raw, &w))
		return;
	w.committed = true;
	(void)tp_cell_swap(cell, raw, w); /* as above */
	TP_INJECT("commit after swap");
}

bool tp_ledger_take_ambiguous(struct tp_ledger_handle *h)
{
	struct tp_cell *cell = tp_handle_cell(h);
	uint64_t raw;
	struct tp_word w;
	if (cell == NULL) {
		/* Without a record only a turn that is a whole logical request by itself may. */
		bool granted = h->region != NULL && !h->no_room && !h->ambiguous;
		h->ambiguous = true;
		return granted;
	}
	if (!load_own(h, cell, &raw, &w) || w.ambiguous)
		return false;
	w.ambiguous = true;
	return tp_cell_swap(cell, raw, w);
}

static enum tp_phase phase_of(enum tp_end end)
{
	switch (end) {
	case TP_END_SUCCESS: return TP_PHASE_SUCCESS;
	case TP_END_DECLINED: return TP_PHASE_DECLINED;
	case TP_END_REFUSED: return TP_PHASE_REFUSED;
	case TP_END_LEFT: return TP_PHASE_LEFT;
	case TP_END_UNKNOWN: break;
	}
	return TP_PHASE_UNKNOWN;
}

static void end_record(const struct tp_ledger_handle *h, struct tp_cell *cell,
		       const struct tp_ledger_ending *e, uint64_t now_ms)
{
	uint64_t raw;
	struct tp_word w;
	if (!load_own(h, cell, &raw, &w))
		return;
	w.open = false;
	w.committed = false;
	/* A logical request without a send has nothing to remember. */
	if (w.used == 0 || (e->end == TP_END_SUCCESS && h->kind == TP_IDENTITY_FINGERPRINT)) {
		/* The tag first: once the word is free, the cell and its tag are the next one's. */
		atomic_store_explicit(tp_handle_tag(h), 0, memory_order_relaxed);
		TP_INJECT("end before free");
		w.phase = TP_PHASE_FREE;
		(void)tp_cell_swap(cell, raw, w);
		return;
	}
	const struct tp_memory m = {
		.retry_after_ms = e->retry_after_ms,
		.code_index = e->code_index,
		.status = e->status,
		.code = e->end == TP_END_REFUSED ? e->code : TP_CODE_NONE,
	};
	/* Release: see tp_cell_view(). */
	atomic_store_explicit(&cell->last_turn, tp_turn_pack(w.epoch, now_ms), memory_order_release);
	atomic_store_explicit(&cell->memory, tp_memory_pack(m), memory_order_release);
	TP_INJECT("end before swap");
	w.phase = phase_of(e->end);
	(void)tp_cell_swap(cell, raw, w); /* fails only when lost: then it is no longer ours to end */
	TP_INJECT("end after swap");
}

void tp_ledger_end(struct tp_ledger_handle *h, const struct tp_ledger_ending *e, uint64_t now_ms)
{
	struct tp_cell *cell = tp_handle_cell(h);
	if (cell != NULL)
		end_record(h, cell, e, now_ms);
	*h = (struct tp_ledger_handle){.cell = UINT32_MAX};
}

uint32_t tp_ledger_entries(const struct tp_region *r)
{
	uint32_t n = 0;
	for (uint32_t b = 0; b < r->n_buckets; b++) {
		for (int i = 0; i < TP_BUCKET_CELLS; i++) {
			/* Relaxed: a count, nothing is read through it. The tag spares the line of a free
			 * cell. */
			if (atomic_load_explicit(&r->buckets[b].tags[i], memory_order_relaxed) == 0)
				continue;
			uint64_t raw =
				atomic_load_explicit(&r->buckets[b].cells[i].word, memory_order_relaxed);
			n += tp_word_unpack(raw).phase >= TP_PHASE_IN_FLIGHT;
		}
	}
	return n;
}
