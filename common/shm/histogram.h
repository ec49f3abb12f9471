/*
 * Histograms (design 11): fixed buckets, per worker slot with one writer, summed by readers; and numbers of
 * the instance that have no worker.
 */
#ifndef TP_SHM_HISTOGRAM_H
#define TP_SHM_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/shm/region.h"

enum tp_histogram {
	TP_HISTOGRAM_WAIT,       /* turnpike_wait_seconds: waits between sends */
	TP_HISTOGRAM_FIRST_BYTE, /* turnpike_first_byte_seconds: send to first byte */
	TP_HISTOGRAM_TURN,       /* turnpike_turn_seconds */
	TP_HISTOGRAM_OVERHEAD, /* turnpike_overhead_seconds: of a turn, neither waiting nor at the provider */
	TP_HISTOGRAM_COUNT
};
enum { TP_HISTOGRAM_BUCKETS = 16 }; /* the last one has no upper bound */

const char *tp_histogram_name(enum tp_histogram h); /* "turnpike_wait_seconds" */
const char *tp_histogram_help(enum tp_histogram h);
/* Upper bound of a bucket in microseconds, inclusive; UINT64_MAX for the last. */
uint64_t tp_histogram_bound_us(enum tp_histogram h, unsigned bucket);

/* The worker of `slot` alone. */
void tp_histogram_add(struct tp_region *r, unsigned slot, enum tp_histogram h, uint64_t us);

struct tp_histogram_sum {
	uint64_t counts[TP_HISTOGRAM_BUCKETS]; /* each by itself, not cumulated */
	uint64_t count;                        /* of all: exactly the sum of the above */
	uint64_t sum_us;
};
/* Over all slots, the dead included: since the table was made. */
void tp_histogram_read(const struct tp_region *r, enum tp_histogram h, struct tp_histogram_sum *ret_sum);

#endif
