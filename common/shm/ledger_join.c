/*
 * Which logical request a turn belongs to, and room for a new one.
 *
 * Place.  Buckets stand in groups of eight, and a credential reaches exactly one bucket of each group (which
 * one, its hash decides). So it can hold an eighth of the table and never more, exactly, without a counter
 * that a killed process could leave wrong; any two credentials share an eighth of their buckets by chance,
 * so one that fills its part takes an eighth of each other's room. The key picks two groups; the emptier
 * of the two buckets takes the record, which keeps buckets from overflowing before the table is nearly full.
 *
 * One record for an id.  Insertions of ids are counted in the key's first bucket.  Who inserts notes the
 * count, searches, prepares a cell (INSERTING), counts by compare-and-swap from what it noted, and publishes.
 * Of two that insert the same key one fails to count; it then finds the other's cell and retreats.  No lock:
 * a process that stops anywhere leaves an INSERTING cell, which is free as soon as its stamp is stale.
 * Fingerprints need none of it: side by side they are logical requests of their own.
 */
#include "common/shm/ledger_cell.h"

enum {
	/* Each try that fails means that somebody else got on with the same cell or bucket. */
	JOIN_TRIES = 200,
};

struct place {
	uint32_t bucket[2];
	uint16_t tag;
};

static uint32_t scale(uint64_t hash, uint32_t n)
{
	return (uint32_t)((hash >> 32) * n >> 32);
}

static uint32_t bucket_of(const struct tp_region *r, uint64_t hash, uint64_t credential)
{
	uint32_t group = scale(hash, r->n_buckets / TP_GROUP_BUCKETS);
	uint64_t x = (credential ^ (group * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return group * TP_GROUP_BUCKETS + (uint32_t)(x >> 61);
}

static struct place place_of(const struct tp_region *r, const struct tp_identity *id)
{
	_Static_assert(TP_GROUP_BUCKETS == 8, "bucket_of() takes three bits");
	uint16_t tag = (uint16_t)id->key.hi;
	return (struct place){
		.bucket = {bucket_of(r, id->key.lo, id->credential),
			   bucket_of(r, id->key.hi, id->credential)},
		.tag = tag != 0 ? tag : 1,
	};
}

struct ask {
	struct tp_region *region;
	struct tp_stamp owner;
	const struct tp_identity *id;
	const struct tp_ledger_windows *windows;
	const struct tp_ledger_limits *limits;
	uint64_t now_ms;
	struct place place;
};

/* What a search came to. Of several records (twins of a fingerprint) the larger finding counts: a refusal
 * stands for all of them, since what it refused may have run; then one that sends are left of. */
enum finding {
	FOUND_NOTHING,
	FOUND_EXPIRED, /* an id's old record: its cell must be the one that is used again */
	FOUND_SPENT,   /* no send left */
	FOUND_TAKEABLE,
	FOUND_IN_FLIGHT, /* ids only */
	FOUND_REFUSED,
	FOUND_PREPARED, /* ids only: being inserted, or just retreating */
	FOUND_CHANGED   /* look again */
};

static enum finding judge(const struct ask *a, const struct tp_view *v)
{
	bool by_id = a->id->kind == TP_IDENTITY_ID;
	switch (v->word.phase) {
	case TP_PHASE_FREE: return FOUND_NOTHING;
	case TP_PHASE_INSERTING: return by_id ? FOUND_PREPARED : FOUND_NOTHING;
	case TP_PHASE_IN_FLIGHT: return by_id ? FOUND_IN_FLIGHT : FOUND_NOTHING;
	default: break;
	}
	if (!tp_view_joinable(v, a->id, a->windows, a->now_ms))
		return by_id ? FOUND_EXPIRED : FOUND_NOTHING;
	if (v->word.phase == TP_PHASE_REFUSED)
		return FOUND_REFUSED;
	/* A turn begins with an initial send: without one, nothing it could do is left. */
	bool fits = tp_budget_fits(v->word.used, v->word.base_used, a->limits, TP_CLASS_INITIAL);
	return fits ? FOUND_TAKEABLE : FOUND_SPENT;
}

static enum finding search(const struct ask *a, struct tp_view *ret_view)
{
	enum finding best = FOUND_NOTHING;
	for (int b = 0; b < 2; b++) {
		if (b == 1 && a->place.bucket[1] == a->place.bucket[0])
			break;
		struct tp_bucket *bucket = &a->region->buckets[a->place.bucket[b]];
		for (int i = 0; i < TP_BUCKET_CELLS; i++) {
			/* Relaxed: tags of records to be found were stored before their word, or the
			 * bucket's count, was published, and that was acquired or happened long ago. */
			if (atomic_load_explicit(&bucket->tags[i], memory_order_relaxed) != a->place.tag)
				continue;
			struct tp_view v;
			if (!tp_cell_view(a->region, &bucket->cells[i], &v))
				return FOUND_CHANGED;
			if (v.key.lo != a->id->key.lo || v.key.hi != a->id->key.hi)
				continue;
			enum finding f = judge(a, &v);
			if (f > best) {
				best = f;
				*ret_view = v;
			}
		}
	}
	return best;
}

/* Order in which cells are given to a new record; the smaller goes first. */
enum room {
	ROOM_FREE,      /* free, or beyond every window */
	ROOM_SUCCESS,   /* succeeded, by age */
	ROOM_ANNOUNCED, /* a fingerprint that only an announced re-send could still join, by age */
	ROOM_NONE
};

static enum room room_in(const struct ask *a, const struct tp_view *v)
{
	switch (v->word.phase) {
	case TP_PHASE_FREE: return ROOM_FREE;
	case TP_PHASE_INSERTING:
	case TP_PHASE_IN_FLIGHT: return ROOM_NONE;
	default: break;
	}
	if (a->now_ms >= tp_view_last_end(v, a->windows))
		return ROOM_FREE;
	if (v->word.phase == TP_PHASE_SUCCESS)
		return ROOM_SUCCESS;
	/* One that its client left is kept for as long as an unknown end: the re-send is on its way. */
	uint64_t end = v->word.phase == TP_PHASE_LEFT ? v->last_turn + a->windows->rejoin_ms
						      : tp_view_window_end(v, a->windows);
	return v->kind == TP_IDENTITY_FINGERPRINT && a->now_ms >= end ? ROOM_ANNOUNCED : ROOM_NONE;
}

static unsigned tags_in_use(const struct tp_bucket *b)
{
	unsigned n = 0;
	for (int i = 0; i < TP_BUCKET_CELLS; i++)
		n += atomic_load_explicit(&b->tags[i], memory_order_relaxed) != 0; /* relaxed: a hint */
	return n;
}

/* A cell without tag in this bucket. Relaxed: the view that follows decides. */
static bool find_untagged(const struct ask *a, struct tp_bucket *b, struct tp_view *ret_view)
{
	for (int i = 0; i < TP_BUCKET_CELLS; i++) {
		if (atomic_load_explicit(&b->tags[i], memory_order_relaxed) == 0 &&
		    tp_cell_view(a->region, &b->cells[i], ret_view) && ret_view->word.phase == TP_PHASE_FREE)
			return true;
	}
	return false;
}

static bool find_victim(const struct ask *a, struct tp_view *ret_view)
{
	enum room best = ROOM_NONE;
	for (int n = 0; n < 2 * TP_BUCKET_CELLS && best != ROOM_FREE; n++) {
		struct tp_bucket *b = &a->region->buckets[a->place.bucket[n / TP_BUCKET_CELLS]];
		struct tp_view v;
		if (!tp_cell_view(a->region, &b->cells[n % TP_BUCKET_CELLS], &v))
			continue;
		enum room room = room_in(a, &v);
		if (room < best || (room == best && room != ROOM_NONE && v.last_turn < ret_view->last_turn)) {
			best = room;
			*ret_view = v;
		}
	}
	return best != ROOM_NONE;
}

static bool find_room(const struct ask *a, struct tp_view *ret_view)
{
	struct tp_bucket *first = &a->region->buckets[a->place.bucket[0]];
	struct tp_bucket *second = &a->region->buckets[a->place.bucket[1]];
	struct tp_bucket *emptier = tags_in_use(second) < tags_in_use(first) ? second : first;
	return find_untagged(a, emptier, ret_view) || find_victim(a, ret_view);
}

static uint32_t index_of(const struct tp_region *r, const struct tp_cell *cell)
{
	size_t bytes = (size_t)((const char *)cell - (const char *)r->buckets);
	size_t bucket = bytes / sizeof(struct tp_bucket);
	return (uint32_t)(bucket * TP_BUCKET_CELLS + (size_t)(cell - r->buckets[bucket].cells));
}

static void hold(const struct ask *a, const struct tp_cell *cell, struct tp_word w,
		 struct tp_ledger_handle *h)
{
	h->cell = index_of(a->region, cell);
	h->epoch = w.epoch;
	h->used = w.used;
	h->base_used = w.base_used;
}

/* Makes the cell of `v` a new record in flight. False: somebody was faster, look again. */
static bool insert(const struct ask *a, const struct tp_view *v, uint64_t inserts, struct tp_ledger_handle *h)
{
	struct tp_cell *cell = v->cell;
	struct tp_word w = {
		.epoch = (v->word.epoch + 1) & TP_EPOCH_MASK, .phase = TP_PHASE_INSERTING, .owner = a->owner};
	if (!tp_cell_swap(cell, v->raw, w))
		return false;
	uint64_t raw = tp_word_pack(w);
	hold(a, cell, w, h);
	TP_INJECT("insert prepared");
	/* Release: see tp_cell_view(). */
	atomic_store_explicit(&cell->key_lo, a->id->key.lo, memory_order_release);
	TP_INJECT("insert half a key");
	atomic_store_explicit(&cell->key_hi, a->id->key.hi, memory_order_release);
	atomic_store_explicit(&cell->last_send, 0, memory_order_release);
	atomic_store_explicit(&cell->last_turn, tp_turn_pack(w.epoch, a->now_ms), memory_order_release);
	atomic_store_explicit(&cell->memory, 0, memory_order_release);
	atomic_store_explicit(&cell->kind, (uint64_t)a->id->kind, memory_order_release);
	atomic_store_explicit(tp_handle_tag(h), a->place.tag, memory_order_release);
	TP_INJECT("insert before count");
	/* Acq_rel: publishes the prepared cell to those who note the count after, and shows those before. */
	if (a->id->kind == TP_IDENTITY_ID &&
	    !atomic_compare_exchange_strong_explicit(&a->region->buckets[a->place.bucket[0]].inserts,
						     &inserts, inserts + 1, memory_order_acq_rel,
						     memory_order_relaxed)) {
		/* The tag first: once the word is free, the cell and its tag are the next one's. */
		atomic_store_explicit(tp_handle_tag(h), 0, memory_order_relaxed);
		TP_INJECT("insert before retreat");
		w.phase = TP_PHASE_FREE;
		(void)tp_cell_swap(cell, raw, w); /* fails only when we are held for dead: it is free then */
		return false;
	}
	TP_INJECT("insert before publish");
	w.phase = TP_PHASE_IN_FLIGHT;
	return tp_cell_swap(cell, raw, w);
}

/* Takes an ended record over: one swap decides which re-send gets it. */
static bool take(const struct ask *a, const struct tp_view *v, struct tp_ledger_handle *h)
{
	struct tp_word w = v->word;
	w.epoch = (w.epoch + 1) & TP_EPOCH_MASK;
	w.phase = TP_PHASE_IN_FLIGHT;
	w.owner = a->owner;
	w.open = false;
	w.committed = false;
	TP_INJECT("take before swap");
	if (!tp_cell_swap(v->cell, v->raw, w))
		return false;
	TP_INJECT("take after swap");
	atomic_store_explicit(&v->cell->last_turn, tp_turn_pack(w.epoch, a->now_ms), memory_order_release);
	hold(a, v->cell, w, h);
	return true;
}

/* A turn answered from memory is the last turn, too, for what was declined. What was refused or may have run
 * is remembered from its own end: answers do not prolong that. Grows only, and only within the epoch it was
 * seen in, so that a late writer cannot touch another record. Relaxed: the time stands for itself. */
static void refresh_last_turn(const struct ask *a, const struct tp_view *v)
{
	if (v->word.phase != TP_PHASE_DECLINED)
		return;
	uint64_t now = tp_turn_pack(v->word.epoch, a->now_ms);
	uint64_t old = atomic_load_explicit(&v->cell->last_turn, memory_order_relaxed);
	while (old >> 44 == now >> 44 && old < now &&
	       !atomic_compare_exchange_weak_explicit(&v->cell->last_turn, &old, now, memory_order_relaxed,
						      memory_order_relaxed))
		continue;
}

/* Statuses that say "not now" rather than "not so": they are not worth repeating from memory. */
static bool final_client_error(uint16_t status)
{
	return status >= 400 && status < 500 && status != 408 && status != 409 && status != 425 &&
	       status != 429;
}

static struct tp_ledger_memory recall(const struct tp_view *v)
{
	struct tp_ledger_memory m = {.refusal = TP_CODE_BUDGET_EXHAUSTED, .used = v->word.used};
	if (v->word.phase == TP_PHASE_REFUSED) {
		if (v->memory.code > TP_CODE_NONE && v->memory.code < TP_CODE_COUNT)
			m.refusal = v->memory.code;
	} else if (v->word.phase == TP_PHASE_DECLINED && final_client_error(v->memory.status)) {
		m.refusal = TP_CODE_NONE;
		m.status = v->memory.status;
		m.code_index = v->memory.code_index;
	}
	return m;
}

enum step { STEP_AGAIN, STEP_NEW, STEP_TAKEN, STEP_MEMORY, STEP_BUSY, STEP_NO_ROOM };

static enum step one_try(const struct ask *a, struct tp_ledger_handle *h, struct tp_ledger_memory *ret_memory)
{
	struct tp_view v;
	/* Acquire: every insertion counted so far is seen by the search. */
	uint64_t inserts =
		atomic_load_explicit(&a->region->buckets[a->place.bucket[0]].inserts, memory_order_acquire);
	switch (search(a, &v)) {
	case FOUND_CHANGED:
	case FOUND_PREPARED: return STEP_AGAIN;
	case FOUND_IN_FLIGHT: return STEP_BUSY;
	case FOUND_TAKEABLE: return take(a, &v, h) ? STEP_TAKEN : STEP_AGAIN;
	case FOUND_SPENT:
	case FOUND_REFUSED:
		refresh_last_turn(a, &v);
		*ret_memory = recall(&v);
		return STEP_MEMORY;
	case FOUND_EXPIRED: break;
	case FOUND_NOTHING:
		if (!find_room(a, &v))
			return STEP_NO_ROOM;
		break;
	}
	return insert(a, &v, inserts, h) ? STEP_NEW : STEP_AGAIN;
}

enum tp_join tp_ledger_join(struct tp_region *r, struct tp_stamp owner, const struct tp_identity *id,
			    const struct tp_ledger_windows *w, const struct tp_ledger_limits *limits,
			    uint64_t now_ms, struct tp_ledger_handle *ret_handle,
			    struct tp_ledger_memory *ret_memory)
{
	struct tp_ledger_handle h = {.region = r, .cell = UINT32_MAX, .owner = owner, .kind = id->kind};
	enum step step = STEP_NEW;
	if (id->kind != TP_IDENTITY_NONE) {
		const struct ask a = {.region = r,
				      .owner = owner,
				      .id = id,
				      .windows = w,
				      .limits = limits,
				      .now_ms = now_ms,
				      .place = place_of(r, id)};
		/* Both are far away, mostly, and neither waits for the other. */
		__builtin_prefetch(&r->buckets[a.place.bucket[0]]);
		__builtin_prefetch(&r->buckets[a.place.bucket[1]]);
		step = STEP_AGAIN;
		for (int n = 0; n < JOIN_TRIES && step == STEP_AGAIN; n++)
			step = one_try(&a, &h, ret_memory);
	}
	switch (step) {
	case STEP_MEMORY: return TP_JOIN_MEMORY;
	case STEP_BUSY: return TP_JOIN_BUSY;
	case STEP_NEW: break;
	case STEP_TAKEN: *ret_handle = h; return TP_JOIN_AGAIN;
	case STEP_AGAIN:
		/* A crowd: an id comes again later; a fingerprint goes without a record, as when full. */
		if (id->kind == TP_IDENTITY_ID)
			return TP_JOIN_BUSY;
		__attribute__((fallthrough));
	case STEP_NO_ROOM:
		h.cell = UINT32_MAX;
		h.no_room = true;
		h.used = h.base_used = 0;
		break;
	}
	*ret_handle = h;
	return TP_JOIN_NEW;
}
