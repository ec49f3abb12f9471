/*
 * The last hour, a sample each minute (design 11, status page): what the counters said then.  It lies beside
 * the counters, so that it outlives whoever took it and ends with them.
 */
#ifndef TP_SHM_HISTORY_H
#define TP_SHM_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/retry/model.h"
#include "common/shm/region.h"

enum tp_history_value {
	TP_HISTORY_AT_MS, /* when it was taken, CLOCK_BOOTTIME */
	/* sums since the table was made */
	TP_HISTORY_TURNS,
	TP_HISTORY_OK,
	TP_HISTORY_ERROR,
	TP_HISTORY_REFUSED,
	TP_HISTORY_CUT,
	TP_HISTORY_GONE,
	TP_HISTORY_BAD,
	TP_HISTORY_SENDS_FIRST, /* + enum tp_class */
	TP_HISTORY_SENDS_LAST = TP_HISTORY_SENDS_FIRST + TP_CLASS_COUNT - 1,
	TP_HISTORY_RETRIED_GOOD, /* turns of more than one send, by how they ended */
	TP_HISTORY_RETRIED_BAD,
	TP_HISTORY_WAITS, /* waits before sends, and their time */
	TP_HISTORY_WAIT_US,
	TP_HISTORY_BILLED,
	/* at that moment */
	TP_HISTORY_WAITING,
	TP_HISTORY_QUEUED,
	TP_HISTORY_INFLIGHT,
	TP_HISTORY_VALUES
};

enum { TP_HISTORY_MINUTES = 60, TP_HISTORY_EVERY_S = 60 };

struct tp_history_sample {
	uint64_t values[TP_HISTORY_VALUES];
};

const char *tp_history_name(enum tp_history_value v); /* "turns", "sends_overload", "at" */

/* The numbers of now. */
void tp_history_take(const struct tp_region *r, uint64_t now_ms, struct tp_history_sample *ret_sample);
/* Keeps the sample of this minute unless there is one. Call it every second. */
void tp_history_tick(struct tp_region *r, uint64_t now_ms);
/* The sample kept `minutes` ago, 0 = in the present one, TP_HISTORY_MINUTES at most; false: there is none. */
bool tp_history_read(const struct tp_region *r, uint64_t now_ms, unsigned minutes,
		     struct tp_history_sample *ret_sample);

#endif
