#include "common/shm/history.h"

#include <stdio.h>
#include <string.h>

#include "common/shm/counters.h"
#include "common/shm/histogram.h"
#include "common/shm/layout.h"
#include "common/shm/sealed.h"
#include "common/shm/series.h"

_Static_assert((int)TP_HISTORY_WORDS == (int)TP_SEALED_HEAD + (int)TP_HISTORY_VALUES,
	       "a sample fills its cell");
_Static_assert((int)TP_HISTORY_VALUES <= (int)TP_SEALED_WORDS_MAX, "a sample can be sealed");
_Static_assert(TP_HISTORY_CELLS > TP_HISTORY_MINUTES + 1, "who reads the oldest is not overtaken at once");

const char *tp_history_name(enum tp_history_value v)
{
	static const char *const names[TP_HISTORY_VALUES] = {
		[TP_HISTORY_AT_MS] = "at",
		[TP_HISTORY_TURNS] = "turns",
		[TP_HISTORY_OK] = "ok",
		[TP_HISTORY_ERROR] = "error",
		[TP_HISTORY_REFUSED] = "refused",
		[TP_HISTORY_CUT] = "cut",
		[TP_HISTORY_GONE] = "gone",
		[TP_HISTORY_BAD] = "bad",
		[TP_HISTORY_RETRIED_GOOD] = "retried_ok",
		[TP_HISTORY_RETRIED_BAD] = "retried_failed",
		[TP_HISTORY_WAITS] = "waits",
		[TP_HISTORY_WAIT_US] = "wait_us",
		[TP_HISTORY_BILLED] = "possibly_billed",
		[TP_HISTORY_WAITING] = "waiting",
		[TP_HISTORY_QUEUED] = "queued",
		[TP_HISTORY_INFLIGHT] = "inflight",
	};
	if (v >= TP_HISTORY_SENDS_FIRST && v <= TP_HISTORY_SENDS_LAST)
		return tp_counter_name(TP_COUNT_SENDS_FIRST + (v - TP_HISTORY_SENDS_FIRST));
	return names[v];
}

static uint64_t gauge(int64_t n)
{
	return n > 0 ? (uint64_t)n : 0;
}

void tp_history_take(const struct tp_region *r, uint64_t now_ms, struct tp_history_sample *ret_sample)
{
	static const struct {
		enum tp_history_value value;
		enum tp_counter counter;
	} plain[] = {
		{TP_HISTORY_TURNS, TP_COUNT_TURNS},       {TP_HISTORY_OK, TP_COUNT_TURNS_OK},
		{TP_HISTORY_ERROR, TP_COUNT_TURNS_ERROR}, {TP_HISTORY_REFUSED, TP_COUNT_TURNS_REFUSED},
		{TP_HISTORY_CUT, TP_COUNT_TURNS_CUT},     {TP_HISTORY_GONE, TP_COUNT_TURNS_GONE},
		{TP_HISTORY_BAD, TP_COUNT_TURNS_BAD},     {TP_HISTORY_BILLED, TP_COUNT_POSSIBLY_BILLED},
	};
	uint64_t *v = ret_sample->values;
	struct tp_histogram_sum waits;
	v[TP_HISTORY_AT_MS] = now_ms;
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
		v[plain[i].value] = tp_counter_sum(r, plain[i].counter);
	for (unsigned c = 0; c < TP_CLASS_COUNT; c++)
		v[TP_HISTORY_SENDS_FIRST + c] = tp_counter_sum(r, TP_COUNT_SENDS_FIRST + c);
	v[TP_HISTORY_RETRIED_GOOD] = gauge(tp_metric_sum(r, TP_METRIC_RETRIED_TURNS, 0, TP_STR("success")));
	v[TP_HISTORY_RETRIED_BAD] = gauge(tp_metric_sum(r, TP_METRIC_RETRIED_TURNS, 0, TP_STR("failure")));
	tp_histogram_read(r, TP_HISTOGRAM_WAIT, &waits);
	v[TP_HISTORY_WAITS] = waits.count;
	v[TP_HISTORY_WAIT_US] = waits.sum_us;
	v[TP_HISTORY_WAITING] = gauge(tp_gauge_sum(r, TP_GAUGE_WAITING));
	v[TP_HISTORY_QUEUED] = gauge(tp_metric_sum(r, TP_METRIC_QUEUED, -1, TP_STR("")));
	v[TP_HISTORY_INFLIGHT] = gauge(tp_gauge_sum(r, TP_GAUGE_SENDS));
}

static uint64_t minute_of(uint64_t now_ms)
{
	return now_ms / (TP_HISTORY_EVERY_S * 1000) + 1; /* never 0 */
}

static _Atomic uint64_t *cell_of(const struct tp_region *r, uint64_t minute)
{
	return r->history[minute % TP_HISTORY_CELLS].words;
}

bool tp_history_read(const struct tp_region *r, uint64_t now_ms, unsigned minutes,
		     struct tp_history_sample *ret_sample)
{
	uint64_t minute = minute_of(now_ms);
	return minutes <= TP_HISTORY_MINUTES && minutes < minute &&
	       tp_sealed_read(r, cell_of(r, minute - minutes), minute - minutes, ret_sample->values,
			      TP_HISTORY_VALUES);
}

void tp_history_tick(struct tp_region *r, uint64_t now_ms)
{
	struct tp_history_sample sample;
	if (tp_history_read(r, now_ms, 0, &sample))
		return;
	uint64_t minute = minute_of(now_ms);
	tp_history_take(r, now_ms, &sample);
	tp_sealed_write(r, cell_of(r, minute), minute, sample.values, TP_HISTORY_VALUES);
}
