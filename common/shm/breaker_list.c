/*
 * The breaker's entries from outside: rows for people, listings that end early.
 */
#include "common/shm/breaker_cell.h"

/* One entry's state, key and base, all of one possession. */
struct glance {
	struct tp_dir_ref ref;
	struct tp_breaker_state state;
	struct tp_hash128 key, base;
};

static bool glance(const struct tp_region *r, uint32_t entry, struct glance *ret)
{
	uint64_t raw;
	if (!tp_dir_at(&r->breaker_dir, entry, &ret->ref, &ret->key) ||
	    !tp_breaker_load(r, ret->ref, &raw, &ret->state))
		return false;
	const struct tp_breaker_cell *cell = &r->breaker[entry];
	/* Acquire: keeps the last look at the entry behind them, see directory.c. */
	ret->base.lo = atomic_load_explicit(&cell->base_lo, memory_order_acquire);
	ret->base.hi = atomic_load_explicit(&cell->base_hi, memory_order_acquire);
	return tp_dir_holds(&r->breaker_dir, ret->ref);
}

static bool same(struct tp_hash128 a, struct tp_hash128 b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

bool tp_breaker_next(const struct tp_region *r, const struct tp_breaker_policy *policy, uint32_t *cursor,
		     struct tp_breaker_row *ret_row)
{
	for (; *cursor < tp_dir_entries(&r->breaker_dir); ++*cursor) {
		struct glance g;
		if (!glance(r, *cursor, &g) || (!g.state.listed && g.state.value == 0))
			continue;
		char text[TP_BREAKER_PROVIDER + TP_BREAKER_URL];
		tp_words_get(r->breaker[*cursor].text, sizeof text / 8, text);
		uint64_t probe = atomic_load_explicit(&r->breaker[*cursor].probe, memory_order_acquire);
		if (!tp_dir_holds(&r->breaker_dir, g.ref))
			continue;
		struct tp_breaker_row row = {
			.key = g.key,
			.base = g.base,
			.whole_base = g.state.whole_base,
			.connection = g.state.connection,
			.listed = g.state.listed,
			.probing = g.state.listed && tp_hold_live(r, probe),
			.level = g.state.level,
		};
		/* Cleaned again: nothing of a damaged table reaches a terminal. */
		tp_text_copy(row.provider, sizeof row.provider,
			     (struct tp_str){text, strnlen(text, TP_BREAKER_PROVIDER)});
		tp_text_copy(row.url, sizeof row.url,
			     (struct tp_str){text + TP_BREAKER_PROVIDER,
					     strnlen(text + TP_BREAKER_PROVIDER, TP_BREAKER_URL)});
		if (row.listed) {
			row.since_ms = g.state.value;
			row.next_probe_ms =
				row.since_ms + tp_breaker_interval_ms(policy, g.state.gentle, g.state.level);
		} else {
			row.failures = (uint32_t)g.state.value;
		}
		*ret_row = row;
		++*cursor;
		return true;
	}
	return false;
}

/* Of two that find it due one raises the time. Relaxed: the time stands for itself. */
static bool raise_check(struct tp_region *r, uint32_t entry, uint32_t every_ms, uint64_t now_ms)
{
	_Atomic uint64_t *checked = &r->breaker[entry].checked_ms;
	uint64_t last = atomic_load_explicit(checked, memory_order_relaxed);
	return now_ms >= last + every_ms &&
	       atomic_compare_exchange_strong_explicit(checked, &last, now_ms, memory_order_relaxed,
						       memory_order_relaxed);
}

bool tp_breaker_connect_check_due(struct tp_region *r, struct tp_hash128 base, uint32_t every_ms,
				  uint64_t now_ms)
{
	struct tp_dir_ref ref;
	uint64_t raw;
	struct tp_breaker_state s;
	return tp_dir_find(r, &r->breaker_dir, base, &ref) && tp_breaker_load(r, ref, &raw, &s) && s.listed &&
	       s.connection && raise_check(r, ref.entry, every_ms, now_ms);
}

bool tp_breaker_health_check_due(struct tp_region *r, struct tp_hash128 base, uint32_t every_ms,
				 uint64_t now_ms)
{
	struct glance g;
	/* The first listed URL of the base keeps the time for all: the others follow it in the same order. */
	for (uint32_t i = 0; i < tp_dir_entries(&r->breaker_dir); i++)
		if (glance(r, i, &g) && g.state.listed && !g.state.connection && same(g.base, base))
			return raise_check(r, i, every_ms, now_ms);
	return false;
}

uint32_t tp_breaker_clear_connection(struct tp_region *r, struct tp_hash128 base)
{
	struct tp_dir_ref ref;
	uint64_t raw;
	struct tp_breaker_state s;
	return tp_dir_find(r, &r->breaker_dir, base, &ref) && tp_breaker_load(r, ref, &raw, &s) && s.listed &&
	       s.connection && tp_breaker_forget(r, ref);
}

uint32_t tp_breaker_clear_status(struct tp_region *r, struct tp_hash128 base)
{
	uint32_t n = 0;
	struct glance g;
	for (uint32_t i = 0; i < tp_dir_entries(&r->breaker_dir); i++)
		n += glance(r, i, &g) && g.state.listed && !g.state.connection && same(g.base, base) &&
		     tp_breaker_forget(r, g.ref);
	return n;
}

uint32_t tp_breaker_clear(struct tp_region *r, const char *url)
{
	const struct tp_breaker_policy any = {0};
	struct tp_breaker_row row;
	uint32_t n = 0;
	for (uint32_t cursor = 0; tp_breaker_next(r, &any, &cursor, &row);) {
		struct tp_dir_ref ref;
		if ((url == NULL || strcmp(url, row.url) == 0) &&
		    tp_dir_find(r, &r->breaker_dir, row.key, &ref))
			n += tp_breaker_forget(r, ref);
	}
	return n;
}
