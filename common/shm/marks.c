#include "common/shm/marks.h"

#include "common/shm/layout.h"

/* Relaxed throughout: each word stands for itself. */

bool tp_mark_due(struct tp_region *r, enum tp_mark m, uint32_t every_ms, uint64_t now_ms)
{
	if ((unsigned)m >= TP_MARK_COUNT)
		return false;
	uint64_t last = atomic_load_explicit(&r->numbers->marks[m], memory_order_relaxed);
	/* 0: never; a machine that has just booted has small times. One that lies further ahead than clocks
	 * are apart is damage: it must not silence for ever. Of two that find it due one moves it. */
	if (last != 0 && last <= now_ms + TP_CLOCKS_APART_MS && now_ms < last + every_ms)
		return false;
	return atomic_compare_exchange_strong_explicit(&r->numbers->marks[m], &last, now_ms,
						       memory_order_relaxed, memory_order_relaxed);
}

bool tp_alert_due(struct tp_region *r, enum tp_alert alert, uint64_t now_ms)
{
	static const enum tp_mark marks[TP_ALERT_COUNT] = {
		[TP_ALERT_NONE] = TP_MARK_COUNT,
		[TP_ALERT_SYSTEM_LOAD] = TP_MARK_SYSTEM_LOAD,
		[TP_ALERT_MODEL_DEAD] = TP_MARK_DEAD_MODEL,
		[TP_ALERT_WORKER_DIED] = TP_MARK_WORKER_DIED,
		[TP_ALERT_URL_LISTED] = TP_MARK_BLACKLISTED,
	};
	return (unsigned)alert < TP_ALERT_COUNT && tp_mark_due(r, marks[alert], TP_ALERT_EVERY_MS, now_ms);
}

uint64_t tp_number_add(struct tp_region *r, enum tp_number n, uint64_t add)
{
	return (unsigned)n < TP_NUMBER_COUNT
		       ? atomic_fetch_add_explicit(&r->numbers->numbers[n], add, memory_order_relaxed)
		       : 0;
}

void tp_number_tell(struct tp_region *r, enum tp_number n, uint64_t total, uint64_t *told)
{
	if (total != *told)
		(void)tp_number_add(r, n, total - *told);
	*told = total;
}

void tp_number_raise(struct tp_region *r, enum tp_number n, uint64_t value)
{
	if ((unsigned)n >= TP_NUMBER_COUNT)
		return;
	uint64_t seen = atomic_load_explicit(&r->numbers->numbers[n], memory_order_relaxed);
	while (seen < value &&
	       !atomic_compare_exchange_weak_explicit(&r->numbers->numbers[n], &seen, value,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void tp_number_set(struct tp_region *r, enum tp_number n, uint64_t value)
{
	if ((unsigned)n < TP_NUMBER_COUNT)
		atomic_store_explicit(&r->numbers->numbers[n], value, memory_order_relaxed);
}

uint64_t tp_number_get(const struct tp_region *r, enum tp_number n)
{
	return (unsigned)n < TP_NUMBER_COUNT
		       ? atomic_load_explicit(&r->numbers->numbers[n], memory_order_relaxed)
		       : 0;
}
