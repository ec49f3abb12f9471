/*
 * Asking and reporting. Going through the entries, and ending listings early: breaker_list.c.
 */
#include "common/shm/breaker.h"

#include "common/shm/breaker_cell.h"

enum {
	HOUR_MS = 3600000,
	GENTLE_FIRST_MS = 15000,
	PROBING_MS = 1000, /* Retry-After while a probe is under way: its answer may come any time */
	SWAP_TRIES = 1000  /* each that fails means that another process got on */
};

struct tp_breaker_url tp_breaker_url(const struct tp_region *r, struct tp_str provider, struct tp_str base,
				     struct tp_str path)
{
	const char *end = path.n > 0 ? memchr(path.p, '?', path.n) : NULL;
	if (end != NULL)
		path.n = (size_t)(end - path.p);
	struct tp_breaker_url u = {.provider = provider, .base_text = base, .path = path};
	u.base = tp_siphash128(tp_region_seed(r), base.p, base.n);
	/* The base's hash stands for it: no limit on the length, and no two splits of one text are the same.
	 */
	const struct tp_hash128 parts[2] = {u.base, tp_siphash128(tp_region_seed(r), path.p, path.n)};
	u.url = tp_siphash128(tp_region_seed(r), parts, sizeof parts);
	return u;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t tp_breaker_interval_ms(const struct tp_breaker_policy *p, bool gentle, unsigned level)
{
	uint64_t duration = p->duration_ms;
	if (!gentle)
		return least(duration << level, duration > HOUR_MS ? duration : HOUR_MS);
	uint64_t first = least(GENTLE_FIRST_MS, duration);
	return least(first << level, duration > GENTLE_FIRST_MS ? duration : GENTLE_FIRST_MS);
}

bool tp_breaker_load(const struct tp_region *r, struct tp_dir_ref ref, uint64_t *ret_raw,
		     struct tp_breaker_state *ret_state)
{
	/* Acquire: the times of the run were stored before. */
	uint64_t raw = atomic_load_explicit(&r->breaker[ref.entry].state, memory_order_acquire);
	*ret_raw = raw;
	*ret_state = tp_breaker_unpack(raw);
	return ret_state->epoch == (uint16_t)ref.epoch;
}

/* ---- asking */

/* The base and the URL are asked alike. */
struct question {
	struct tp_region *region;
	struct tp_stamp owner;
	const struct tp_breaker_policy *policy;
	uint64_t now_ms;
};

/* Of one entry; ret_held with PASS_AS_PROBE, ret_wait_ms with LISTED. */
static enum tp_breaker_answer ask_entry(const struct question *q, struct tp_dir_ref ref, uint64_t *ret_held,
					uint64_t *ret_wait_ms)
{
	struct tp_breaker_cell *cell = &q->region->breaker[ref.entry];
	for (int n = 0; n < SWAP_TRIES; n++) {
		uint64_t raw, again;
		struct tp_breaker_state s;
		if (!tp_breaker_load(q->region, ref, &raw, &s) || !s.listed)
			return TP_BREAKER_PASS;
		if (s.value > q->now_ms + TP_CLOCKS_APART_MS)
			return TP_BREAKER_PASS; /* damaged: not listed */
		uint64_t next =
			s.value + tp_breaker_interval_ms(q->policy, q->policy->only_provider, s.level);
		*ret_wait_ms = next > q->now_ms ? next - q->now_ms : PROBING_MS;
		if (next > q->now_ms)
			return TP_BREAKER_LISTED;
		/* Acquire: whoever let go of it changed the state before, see tp_hold_release(). */
		uint64_t seen = atomic_load_explicit(&cell->probe, memory_order_acquire);
		if (tp_hold_live(q->region, seen))
			return TP_BREAKER_LISTED;
		uint64_t held = tp_hold_take(&cell->probe, seen, q->owner, q->now_ms);
		if (held == 0)
			continue;
		TP_INJECT("probe taken");
		/* The probe before ours may have ended between the two looks, or the URL been forgotten. */
		if (tp_breaker_load(q->region, ref, &again, &s) && again == raw &&
		    tp_dir_holds(&q->region->breaker_dir, ref)) {
			*ret_held = held;
			return TP_BREAKER_PASS_AS_PROBE;
		}
		tp_hold_release(&cell->probe, held, false);
	}
	return TP_BREAKER_LISTED;
}

static enum tp_breaker_answer ask_key(const struct question *q, struct tp_hash128 key, uint64_t *ret_held,
				      uint32_t *ret_entry, uint64_t *ret_wait_ms)
{
	struct tp_dir_ref ref;
	if (!tp_dir_find(q->region, &q->region->breaker_dir, key, &ref))
		return TP_BREAKER_PASS;
	*ret_entry = ref.entry;
	return ask_entry(q, ref, ret_held, ret_wait_ms);
}

enum tp_breaker_answer tp_breaker_ask(struct tp_region *r, struct tp_stamp owner,
				      const struct tp_breaker_url *url,
				      const struct tp_breaker_policy *policy, uint64_t now_ms,
				      struct tp_breaker_pass *ret_pass, uint64_t *ret_retry_after_ms)
{
	const struct question q = {.region = r, .owner = owner, .policy = policy, .now_ms = now_ms};
	struct tp_breaker_pass pass = {.region = r, .owner = owner, .url = *url, .policy = *policy};
	uint64_t wait_ms = 0;
	enum tp_breaker_answer base = ask_key(&q, url->base, &pass.base_probe, &pass.base_entry, &wait_ms);
	enum tp_breaker_answer answer = base;
	if (base != TP_BREAKER_LISTED)
		answer = ask_key(&q, url->url, &pass.url_probe, &pass.url_entry, &wait_ms);
	if (answer == TP_BREAKER_LISTED) {
		/* No send, so it was no probe. */
		if (pass.base_probe != 0)
			tp_hold_release(&r->breaker[pass.base_entry].probe, pass.base_probe, false);
		*ret_retry_after_ms = wait_ms > PROBING_MS ? wait_ms : PROBING_MS;
		return TP_BREAKER_LISTED;
	}
	*ret_pass = pass;
	return base == TP_BREAKER_PASS_AS_PROBE ? base : answer;
}

/* ---- making entries */

struct entry_text {
	const struct tp_breaker_url *url;
	bool whole_base;
};

/* Scheme and what follows the user information; a base is checked by the configuration, this only makes sure.
 */
static void url_text(const struct entry_text *t, char ret[TP_BREAKER_URL])
{
	char text[2 * TP_BREAKER_URL];
	struct tp_str base = t->url->base_text, path = {0};
	size_t n = 0;
	if (!t->whole_base)
		path = t->url->path;
	for (size_t i = 0; i < base.n && n + 1 < sizeof text && base.p[i] != '?' && base.p[i] != '#'; i++) {
		const char *scheme = base.p[i] == '@' ? memmem(text, n, "://", 3) : NULL;
		if (scheme != NULL && memchr(scheme + 3, '/', n - (size_t)(scheme + 3 - text)) == NULL)
			n = (size_t)(scheme + 3 - text);
		else
			text[n++] = base.p[i];
	}
	for (size_t i = 0; i < path.n && n + 1 < sizeof text && path.p[i] != '?' && path.p[i] != '#'; i++)
		text[n++] = path.p[i];
	tp_text_copy(ret, TP_BREAKER_URL, (struct tp_str){text, n});
}

static void fill(const struct tp_dir_use *use, struct tp_dir_ref ref)
{
	const struct entry_text *t = use->what;
	struct tp_breaker_cell *cell = &use->region->breaker[ref.entry];
	char text[TP_BREAKER_PROVIDER + TP_BREAKER_URL];
	tp_text_copy(text, TP_BREAKER_PROVIDER, t->url->provider);
	url_text(t, text + TP_BREAKER_PROVIDER);
	tp_words_put(cell->text, sizeof text / 8, text, sizeof text);
	/* Release: as with keys, see directory.c. */
	atomic_store_explicit(&cell->base_lo, t->url->base.lo, memory_order_release);
	atomic_store_explicit(&cell->base_hi, t->url->base.hi, memory_order_release);
	atomic_store_explicit(&cell->checked_ms, 0, memory_order_release);
	const struct tp_breaker_state s = {.epoch = (uint16_t)ref.epoch, .whole_base = t->whole_base};
	atomic_store_explicit(&cell->state, tp_breaker_pack(s), memory_order_release);
}

/* The oldest first; those without a run before all, listed ones behind all, one that is being probed never.
 */
static uint64_t rank(const struct tp_dir_use *use, struct tp_dir_ref ref, uint64_t used_ms)
{
	uint64_t raw;
	struct tp_breaker_state s;
	if (tp_hold_live(use->region,
			 atomic_load_explicit(&use->region->breaker[ref.entry].probe, memory_order_seq_cst)))
		return TP_DIR_KEEP;
	if (!tp_breaker_load(use->region, ref, &raw, &s) || (!s.listed && s.value == 0))
		return 0;
	return (used_ms & TP_BREAKER_VALUE_MASK) | (s.listed ? UINT64_C(1) << 40 : 0);
}

/* ---- reporting */

struct tally {
	struct tp_breaker_pass *pass;
	uint64_t now_ms;
	bool connection;
};

/* Every how many failures a time is kept: sixteen must span the run that lists. */
static uint64_t stride_for(uint32_t failures)
{
	return failures < TP_BREAKER_TIMES ? 1 : failures / (TP_BREAKER_TIMES - 1) + 1;
}

/* Notes the time of failure number k (from 1) of a run, and says whether `failures` + 1 up to it lie within
 * the window. Relaxed stores: the swap of the state publishes them. One that was overtaken leaves a time that
 * is a little old, which lists a little late. */
static bool note_failure(struct tp_breaker_cell *cell, const struct tally *t, uint64_t k)
{
	const struct tp_breaker_policy *p = &t->pass->policy;
	uint64_t stride = stride_for(p->failures);
	if ((k - 1) % stride == 0)
		atomic_store_explicit(&cell->failed_ms[(k - 1) / stride % TP_BREAKER_TIMES], t->now_ms,
				      memory_order_relaxed);
	if (k <= p->failures)
		return false;
	uint64_t first = (k - 1 - p->failures) / stride;
	uint64_t ms = atomic_load_explicit(&cell->failed_ms[first % TP_BREAKER_TIMES], memory_order_relaxed);
	return t->now_ms <= ms + p->window_ms;
}

/* The first check comes a while after the listing: a provider that accepts connections and breaks them would
 * be unlisted at once. Relaxed: a time that is too early or too late does no harm. */
static void begin_checks(struct tp_breaker_cell *cell, uint64_t now_ms)
{
	atomic_store_explicit(&cell->checked_ms, now_ms, memory_order_relaxed);
}

/* What one failure does to one entry. */
enum step { STEP_AGAIN, STEP_COUNTED, STEP_EXCEEDED, STEP_LISTED, STEP_RELISTED };

static enum step fail_once(const struct tally *t, struct tp_dir_ref ref, bool may_list, bool as_probe)
{
	struct tp_breaker_cell *cell = &t->pass->region->breaker[ref.entry];
	uint64_t raw;
	struct tp_breaker_state s;
	if (!tp_breaker_load(t->pass->region, ref, &raw, &s))
		return STEP_AGAIN;
	enum step step = STEP_COUNTED;
	if (s.listed) {
		/* Sent before it was listed: no news. */
		if (!as_probe)
			return STEP_COUNTED;
		s.level = (uint8_t)(s.level < TP_BREAKER_MAX_LEVEL ? s.level + 1 : s.level);
		s.value = t->now_ms;
		step = STEP_RELISTED;
	} else if (note_failure(cell, t, s.value + 1)) {
		begin_checks(cell, t->now_ms);
		step = may_list ? STEP_LISTED : STEP_EXCEEDED;
		s.value = may_list ? t->now_ms : s.value + 1;
		s.listed = may_list;
	} else {
		s.value++;
	}
	if (s.listed) {
		s.gentle = t->pass->policy.only_provider;
		s.connection = s.whole_base && t->connection;
	}
	s.value = least(s.value, TP_BREAKER_VALUE_MASK);
	TP_INJECT("failure before swap");
	return tp_breaker_swap(cell, raw, s) ? step : STEP_AGAIN;
}

/* A probe that was broken (we are held for dead) counts as any other send. */
static bool probe_is_ours(const struct tp_region *r, uint64_t held, uint32_t entry)
{
	return held != 0 && atomic_load_explicit(&r->breaker[entry].probe, memory_order_relaxed) == held;
}

static enum step count_failure(const struct tally *t, bool whole_base, bool may_list)
{
	struct tp_breaker_pass *pass = t->pass;
	const struct entry_text text = {.url = &pass->url, .whole_base = whole_base};
	const struct tp_dir_use use = {
		.region = pass->region,
		.dir = &pass->region->breaker_dir,
		.rank = rank,
		.fill = fill,
		.what = &text,
		.now_ms = t->now_ms,
	};
	uint64_t held = whole_base ? pass->base_probe : pass->url_probe;
	bool as_probe = probe_is_ours(pass->region, held, whole_base ? pass->base_entry : pass->url_entry);
	struct tp_hash128 key = whole_base ? pass->url.base : pass->url.url;
	enum step step = STEP_AGAIN;
	for (int n = 0; n < SWAP_TRIES && step == STEP_AGAIN; n++) {
		struct tp_dir_ref ref;
		if (!tp_dir_enter(&use, pass->owner, key, &ref))
			return STEP_COUNTED; /* no room: not listed */
		tp_dir_touch(&pass->region->breaker_dir, ref, t->now_ms);
		step = fail_once(t, ref, may_list, as_probe);
	}
	return step;
}

/* Lists the base for failures that one of its URLs has seen. */
static enum step list_base(const struct tally *t)
{
	struct tp_breaker_pass *pass = t->pass;
	struct tp_dir_ref ref;
	uint64_t raw;
	struct tp_breaker_state s;
	for (int n = 0; n < SWAP_TRIES; n++) {
		if (!tp_dir_find(pass->region, &pass->region->breaker_dir, pass->url.base, &ref) ||
		    !tp_breaker_load(pass->region, ref, &raw, &s) || s.listed)
			return STEP_COUNTED;
		s.listed = s.connection = true;
		s.gentle = pass->policy.only_provider;
		s.value = t->now_ms;
		begin_checks(&pass->region->breaker[ref.entry], t->now_ms);
		if (tp_breaker_swap(&pass->region->breaker[ref.entry], raw, s))
			return STEP_LISTED;
	}
	return STEP_COUNTED;
}

bool tp_breaker_forget(struct tp_region *r, struct tp_dir_ref ref)
{
	uint64_t raw;
	struct tp_breaker_state s;
	for (int n = 0; n < SWAP_TRIES; n++) {
		if (!tp_breaker_load(r, ref, &raw, &s) || (!s.listed && s.value == 0))
			return false;
		const struct tp_breaker_state clean = {.epoch = s.epoch, .whole_base = s.whole_base};
		if (tp_breaker_swap(&r->breaker[ref.entry], raw, clean))
			return s.listed;
	}
	return false;
}

/* A success ends a run; a listing only when it was made as its probe: a send of before it was listed says
 * nothing about now. */
static bool count_success(struct tp_breaker_pass *pass, bool whole_base)
{
	struct tp_dir_ref ref;
	uint64_t raw;
	struct tp_breaker_state s;
	uint64_t held = whole_base ? pass->base_probe : pass->url_probe;
	if (!tp_dir_find(pass->region, &pass->region->breaker_dir,
			 whole_base ? pass->url.base : pass->url.url, &ref) ||
	    !tp_breaker_load(pass->region, ref, &raw, &s))
		return false;
	if (s.listed && !probe_is_ours(pass->region, held, ref.entry))
		return false;
	TP_INJECT("success before swap");
	return tp_breaker_forget(pass->region, ref);
}

static enum tp_breaker_news news_of(enum step step)
{
	switch (step) {
	case STEP_LISTED: return TP_BREAKER_NEWLY_LISTED;
	case STEP_RELISTED: return TP_BREAKER_LISTED_AGAIN;
	case STEP_AGAIN:
	case STEP_COUNTED:
	case STEP_EXCEEDED: break;
	}
	return TP_BREAKER_NO_NEWS;
}

static enum tp_breaker_news report_connection(const struct tally *t)
{
	enum step base = count_failure(t, true, true);
	/* What lists for want of an answer is the base, whichever of the two runs is too long. */
	enum step url = count_failure(t, false, false);
	if (url == STEP_EXCEEDED && base == STEP_COUNTED)
		base = list_base(t);
	return news_of(base != STEP_COUNTED ? base : url);
}

enum tp_breaker_news tp_breaker_report(struct tp_breaker_pass *pass, enum tp_breaker_outcome outcome,
				       uint64_t now_ms)
{
	enum tp_breaker_news news = TP_BREAKER_NO_NEWS;
	if (pass->region == NULL)
		return news;
	const struct tally t = {
		.pass = pass,
		.now_ms = now_ms & TP_BREAKER_VALUE_MASK,
		.connection = outcome == TP_BREAKER_FAILURE_CONNECTION,
	};
	switch (outcome) {
	case TP_BREAKER_SUCCESS: {
		bool base = count_success(pass, true), url = count_success(pass, false);
		news = base || url ? TP_BREAKER_UNLISTED : news;
		break;
	}
	case TP_BREAKER_FAILURE_STATUS: {
		bool unlisted = count_success(pass, true); /* it has answered */
		news = news_of(count_failure(&t, false, true));
		if (news == TP_BREAKER_NO_NEWS && unlisted)
			news = TP_BREAKER_UNLISTED;
		break;
	}
	case TP_BREAKER_FAILURE_CONNECTION: news = report_connection(&t); break;
	case TP_BREAKER_NEUTRAL: break;
	}
	TP_INJECT("report before release");
	/* Behind the change of state: who takes the probe next sees it. */
	if (pass->url_probe != 0)
		tp_hold_release(&pass->region->breaker[pass->url_entry].probe, pass->url_probe, true);
	if (pass->base_probe != 0)
		tp_hold_release(&pass->region->breaker[pass->base_entry].probe, pass->base_probe, true);
	*pass = (struct tp_breaker_pass){0};
	return news;
}
