/*
 * Labelled numbers (design 11), bounded by the configuration: never label by what a client chose.
 *
 * A series = a metric and the values of its labels.  Whoever needs one first enters it (tp_series_open(), at
 * best when a configuration is taken over, and keeps the id); it stays for the life of the table, so that
 * sums go on over reloads.  Values are per worker slot with one writer: counters go on under the slot's next
 * worker, gauges restart at zero.
 */
#ifndef TP_SHM_SERIES_H
#define TP_SHM_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

enum tp_metric {
	/* counters */
	TP_METRIC_TURNS,          /* turnpike_turns_total{route,family,outcome} */
	TP_METRIC_SENDS,          /* turnpike_sends_total{provider,class} */
	TP_METRIC_RETRY_ATTEMPTS, /* turnpike_retry_attempts_total{reason}; codex_retry_attempts_total too */
	TP_METRIC_RETRIED_TURNS, /* turnpike_retried_turns_total{result}: success, failure; gives the ratio */
	TP_METRIC_REFUSALS,      /* turnpike_refusals_total{code} */
	TP_METRIC_POSSIBLY_BILLED, /* turnpike_possibly_billed_total{provider} */
	TP_METRIC_HOPS,            /* turnpike_hops_total{combo} */
	TP_METRIC_ALERTS,          /* turnpike_alerts_total{kind} */
	TP_METRIC_KEY_SENDS,       /* turnpike_key_sends_total{provider,key}; key by number, from 1 */
	TP_METRIC_REFRESHES,       /* turnpike_token_refreshes_total{provider,outcome}: renewed, failed */
	/* gauges */
	TP_METRIC_INFLIGHT,        /* turnpike_inflight{provider} */
	TP_METRIC_TARGET_INFLIGHT, /* turnpike_target_inflight{provider,model}: of combos */
	TP_METRIC_QUEUED,          /* turnpike_queued{provider} */
	TP_METRIC_COUNT
};

enum { TP_METRIC_MAX_LABELS = 3 };

struct tp_metric_info {
	const char *name, *help;
	bool gauge;
	unsigned n_labels;
	const char *labels[TP_METRIC_MAX_LABELS];
};
const struct tp_metric_info *tp_metric_info(enum tp_metric m); /* NULL: no such metric */

enum {
	TP_SERIES_NONE = UINT16_MAX, /* an id that counts nothing */
	TP_SERIES_TEXT = 192         /* bytes kept of all values of one series */
};
typedef uint16_t tp_series_id;

/*
 * The id of a series; entered if it is new. `values` in the order of the metric's labels. Longer values are
 * shortened, with a hash at their end so that they stay apart. TP_SERIES_NONE when there is no room: counting
 * under it does nothing (see tp_series_lost()).
 */
tp_series_id tp_series_open(struct tp_region *r, struct tp_stamp owner, enum tp_metric m,
			    const struct tp_str *values);

/* The worker of `slot` alone. Counters: `add` is not negative. */
void tp_series_add(struct tp_region *r, unsigned slot, tp_series_id id, int64_t add);
/* For a process without a slot (the master): counters only; several may. */
void tp_series_add_shared(struct tp_region *r, tp_series_id id, uint64_t add);

/* Over all slots and the row of those without one; 0 for TP_SERIES_NONE. */
int64_t tp_series_sum(const struct tp_region *r, tp_series_id id);
/* Sum over the series of a metric whose label number `label` has this value; label < 0: of all. */
int64_t tp_metric_sum(const struct tp_region *r, enum tp_metric m, int label, struct tp_str value);
/* How often there was no room for a series. */
uint64_t tp_series_lost(const struct tp_region *r);

struct tp_series_row {
	enum tp_metric metric;
	unsigned n_values;
	struct tp_str values[TP_METRIC_MAX_LABELS]; /* into `text` */
	char text[TP_SERIES_TEXT];
	int64_t sum;
};
/* Goes through the series of one metric, in no order: start with *cursor = 0; false at the end. */
bool tp_series_next(const struct tp_region *r, enum tp_metric m, uint32_t *cursor,
		    struct tp_series_row *ret_row);

#endif
