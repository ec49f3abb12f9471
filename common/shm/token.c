/*
 * The words of a provider's cell:
 *
 *  name        its name's hash; 0: free. Once stored it stays, so a search may stop at the first free cell
 *  generation  of the present token, which stands in texts[generation % 2]
 *  proved      the last generation that the provider accepted
 *  lease       63     25      24      23  16 15          0
 *             [ taken_ms | replaces | slot | generation ]    generation 0: free
 *  trouble     63       40 39        0
 *             [ failures  | until_ms ]    nobody asks the endpoint before
 */
#include "common/shm/token.h"

#include "common/base/siphash.h"
#include "common/shm/layout.h"

enum {
	BACKOFF_MS = 1000, /* doubled by each failure in a row */
	BACKOFF_CAP_MS = 60 * 1000,
	DOUBLINGS = 6,
	FAILURES_MAX = 1 << 20,
	UNPROVED_MS = 10 * 1000, /* from one token that never worked to the next, doubled each time */
	SWAP_TRIES = 1000,
	WORD = sizeof(uint64_t)
};
#define UNTIL_MASK ((UINT64_C(1) << 40) - 1)
#define REPLACES   (UINT64_C(1) << 24)

static uint64_t name_of(const struct tp_region *r, struct tp_str provider)
{
	return tp_siphash128(tp_region_seed(r), provider.p, provider.n).lo | 1; /* never 0 */
}

/* Where a name is looked for, in order: until the first free cell. */
static uint32_t place(uint64_t name, uint32_t i)
{
	return (uint32_t)((name >> 1) + i) % TP_TOKENS;
}

tp_token_id tp_token_open(struct tp_region *r, struct tp_str provider)
{
	uint64_t name = name_of(r, provider);
	for (uint32_t i = 0; i < TP_TOKENS; i++) {
		uint32_t at = place(name, i);
		uint64_t seen = 0;
		/* Relaxed: the word stands for itself, the rest of a new cell is zero. */
		if (atomic_compare_exchange_strong_explicit(&r->tokens[at].name, &seen, name,
							    memory_order_relaxed, memory_order_relaxed) ||
		    seen == name)
			return (tp_token_id)at;
	}
	return TP_TOKEN_NONE;
}

/* ---- the token */

static uint64_t load(const _Atomic uint64_t *word)
{
	/* Acquire: of a text, as its words bring along the generation that they replace; of the generation,
	 * as it publishes a text. */
	return atomic_load_explicit(word, memory_order_acquire);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
	/* Release: who reads it sees the generation before, which its writer has seen, and so knows that the
	 * text it is reading is being written. */
	atomic_store_explicit(word, value, memory_order_release);
}

uint64_t tp_token_generation(const struct tp_region *r, tp_token_id id)
{
	return id < TP_TOKENS ? load(&r->tokens[id].generation) : 0;
}

static size_t words_of(uint64_t n)
{
	return ((size_t)n + WORD - 1) / WORD;
}

bool tp_token_get(const struct tp_region *r, tp_token_id id, struct tp_token *ret_token)
{
	uint64_t generation;
	while ((generation = tp_token_generation(r, id)) != 0) {
		const struct tp_token_text *x = &r->tokens[id].texts[generation % 2];
		struct tp_token *t = ret_token;
		t->generation = generation;
		t->origin = load(&x->origin);
		t->expires_ms = load(&x->expires_ms);
		t->renew_ms = load(&x->renew_ms);
		t->n = (size_t)load(&x->n);
		TP_INJECT("token read");
		if (t->n <= TP_TOKEN_MAX)
			tp_words_get(x->words, words_of(t->n), t->text);
		if (tp_token_generation(r, id) == generation)
			return t->n <= TP_TOKEN_MAX; /* longer: damage */
	}
	return false;
}

static tp_token_id find(const struct tp_region *r, struct tp_str provider)
{
	uint64_t name = name_of(r, provider), seen = name;
	for (uint32_t i = 0; i < TP_TOKENS && seen != 0; i++) {
		/* Relaxed: as in tp_token_open(). */
		seen = atomic_load_explicit(&r->tokens[place(name, i)].name, memory_order_relaxed);
		if (seen == name)
			return (tp_token_id)place(name, i);
	}
	return TP_TOKEN_NONE;
}

bool tp_token_times(const struct tp_region *r, struct tp_str provider, uint64_t *ret_got_ms,
		    uint64_t *ret_expires_ms)
{
	tp_token_id id = find(r, provider);
	uint64_t generation;
	while ((generation = tp_token_generation(r, id)) != 0) {
		const struct tp_token_text *x = &r->tokens[id].texts[generation % 2];
		uint64_t got = load(&x->got_ms), expires = load(&x->expires_ms);
		if (tp_token_generation(r, id) != generation)
			continue;
		*ret_got_ms = got;
		*ret_expires_ms = expires;
		return true;
	}
	return false;
}

void tp_token_proved(struct tp_region *r, tp_token_id id, uint64_t generation)
{
	if (id >= TP_TOKENS)
		return;
	_Atomic uint64_t *proved = &r->tokens[id].proved;
	/* Relaxed: a number that stands for itself; it nearly always stands there already. */
	uint64_t seen = atomic_load_explicit(proved, memory_order_relaxed);
	while (seen < generation &&
	       !atomic_compare_exchange_weak_explicit(proved, &seen, generation, memory_order_relaxed,
						      memory_order_relaxed))
		;
}

/* ---- when the endpoint is not asked */

static void note_failure(struct tp_token_cell *c, int64_t told_ms, uint64_t now_ms)
{
	uint64_t seen = load(&c->trouble), next;
	do {
		uint64_t failures = seen >> 40;
		uint64_t wait = (uint64_t)BACKOFF_MS << (failures < DOUBLINGS ? failures : DOUBLINGS);
		if (wait > BACKOFF_CAP_MS)
			wait = BACKOFF_CAP_MS;
		if (told_ms >= 0)
			wait = told_ms > BACKOFF_MS ? (uint64_t)told_ms : BACKOFF_MS;
		if (wait > TP_TOKEN_LATER_MAX_MS)
			wait = TP_TOKEN_LATER_MAX_MS;
		failures += failures < FAILURES_MAX;
		uint64_t until = now_ms + wait < UNTIL_MASK ? now_ms + wait : UNTIL_MASK;
		next = failures << 40 | until;
		/* Acq_rel: before the lease is given back, so that whoever takes it next sees this. */
	} while (!atomic_compare_exchange_weak_explicit(&c->trouble, &seen, next, memory_order_acq_rel,
							memory_order_acquire));
}

/* Tokens that are rejected as soon as they are got would otherwise be got by each request anew. A time that
 * lies ahead is damage, and none. */
static uint64_t unproved_until(const struct tp_token_cell *c, uint64_t generation, uint64_t now_ms)
{
	const struct tp_token_text *x = &c->texts[generation % 2];
	uint64_t run = load(&x->run), got_ms = load(&x->got_ms);
	if (generation == 0 || run == 0 || got_ms > now_ms + TP_CLOCKS_APART_MS ||
	    atomic_load_explicit(&c->proved, memory_order_relaxed) >= generation)
		return 0;
	return got_ms + ((uint64_t)UNPROVED_MS << (run - 1 < DOUBLINGS ? run - 1 : DOUBLINGS));
}

/* TAKEN: nothing speaks against it. */
static enum tp_token_taking obstacle(const struct tp_token_cell *c, uint64_t known, bool rejected,
				     uint64_t now_ms, uint64_t *ret_wait_ms)
{
	uint64_t until = load(&c->trouble) & UNTIL_MASK;
	if (load(&c->generation) != known)
		return TP_TOKEN_NEWER;
	uint64_t unproved = rejected ? unproved_until(c, known, now_ms) : 0;
	if (until > now_ms + TP_TOKEN_LATER_MAX_MS + TP_CLOCKS_APART_MS)
		until = 0; /* damage */
	if (unproved > until)
		until = unproved;
	if (now_ms >= until)
		return TP_TOKEN_TAKEN;
	*ret_wait_ms = until - now_ms;
	return TP_TOKEN_LATER;
}

/* ---- the lease */

/* Who replaced the dead one died as well. The failure first: if we die in between, the next finds the same.
 */
static enum tp_token_taking give_up(struct tp_token_cell *c, uint64_t seen, uint64_t now_ms,
				    uint64_t *ret_wait_ms)
{
	note_failure(c, -1, now_ms);
	TP_INJECT("token gives up");
	tp_hold_release(&c->lease, seen, false);
	*ret_wait_ms = BACKOFF_MS;
	return TP_TOKEN_LATER;
}

enum tp_token_taking tp_token_take(struct tp_region *r, tp_token_id id, struct tp_stamp owner, uint64_t known,
				   bool rejected, uint64_t now_ms, struct tp_token_lease *ret_lease,
				   uint64_t *ret_wait_ms)
{
	*ret_wait_ms = BACKOFF_CAP_MS;
	if (id >= TP_TOKENS)
		return TP_TOKEN_LATER;
	struct tp_token_cell *c = &r->tokens[id];
	enum tp_token_taking found = obstacle(c, known, rejected, now_ms, ret_wait_ms);
	if (found != TP_TOKEN_TAKEN)
		return found;
	TP_INJECT("token wanted");
	uint64_t seen = load(&c->lease);
	bool dead = (seen & 0xffff) != 0;
	if (tp_hold_live(r, seen))
		return TP_TOKEN_HELD;
	if (dead && (seen & REPLACES) != 0)
		return give_up(c, seen, now_ms, ret_wait_ms);
	uint64_t mine = now_ms << 25 | (dead ? REPLACES : 0) | (uint64_t)owner.slot << 16 | owner.generation;
	/* Acq_rel: what the last holder changed before it let go is seen below. */
	if (!atomic_compare_exchange_strong_explicit(&c->lease, &seen, mine, memory_order_acq_rel,
						     memory_order_relaxed))
		return TP_TOKEN_HELD;
	TP_INJECT("token lease taken");
	struct tp_token_lease lease = {.region = r, .word = mine, .id = id};
	found = obstacle(c, known, rejected, now_ms, ret_wait_ms);
	if (found != TP_TOKEN_TAKEN)
		tp_token_release(&lease);
	else
		*ret_lease = lease;
	return found;
}

void tp_token_release(struct tp_token_lease *lease)
{
	if (lease->region != NULL)
		tp_hold_release(&lease->region->tokens[lease->id].lease, lease->word, false);
	*lease = (struct tp_token_lease){0};
}

void tp_token_failed(struct tp_token_lease *lease, int64_t told_ms, uint64_t now_ms)
{
	if (lease->region == NULL)
		return;
	note_failure(&lease->region->tokens[lease->id], told_ms, now_ms);
	TP_INJECT("token failed");
	tp_token_release(lease);
}

static void write_text(struct tp_token_text *x, const struct tp_token *token, uint64_t run, uint64_t now_ms)
{
	store(&x->n, token->n);
	tp_words_put(x->words, words_of(token->n), token->text, token->n);
	TP_INJECT("token half written");
	store(&x->origin, token->origin);
	store(&x->expires_ms, token->expires_ms);
	store(&x->renew_ms, token->renew_ms);
	store(&x->got_ms, now_ms);
	store(&x->run, run);
}

void tp_token_publish(struct tp_token_lease *lease, const struct tp_token *token, uint64_t now_ms)
{
	if (lease->region == NULL)
		return;
	struct tp_token_cell *c = &lease->region->tokens[lease->id];
	uint64_t generation = load(&c->generation);
	bool proved = generation == 0 || atomic_load_explicit(&c->proved, memory_order_relaxed) >= generation;
	uint64_t run = proved ? 0 : load(&c->texts[generation % 2].run) + 1;
	write_text(&c->texts[(generation + 1) % 2], token, run, now_ms);
	TP_INJECT("token written");
	/* Before the generation: who sees the token sees that the trouble is over. */
	store(&c->trouble, 0);
	store(&c->generation, generation + 1);
	TP_INJECT("token published");
	tp_token_release(lease);
}
