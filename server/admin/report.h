/*
 * All numbers of a shared table as one JSON object: /stats, `turnpike stats` and stats_file show the same
 * (design 3.3).
 */
#ifndef TP_SERVER_ADMIN_REPORT_H
#define TP_SERVER_ADMIN_REPORT_H

#include <jansson.h>

#include "common/base/buf.h"
#include "common/shm/breaker.h"
#include "common/shm/histogram.h"
#include "common/shm/region.h"

/* A new reference for the caller; NULL: out of memory. Reads only, so a read-only table will do.
 * p: see tp_listing_policy(). */
json_t *tp_report_make(const struct tp_region *r, const struct tp_breaker_policy *p);
/* A tree as text, with a line end behind it; lets go of the tree, which may be NULL. False: out of memory,
 * and out is failed. */
bool tp_report_text(json_t *tree, struct tp_buf *out);
/* Both in one. */
bool tp_report_write(const struct tp_region *r, const struct tp_breaker_policy *p, struct tp_buf *out);

/* Of turns that were sent more than once, the part that ended well, from 0 to 1; 1 while there is none. */
double tp_report_retry_ratio(const struct tp_region *r);
/* Estimate in seconds, as histogram_quantile() of Prometheus makes it: evenly spread inside a bucket, the
 * open last bucket counts as its lower bound. quantile: above 0, below 1. Without a count: 0. */
double tp_report_quantile(enum tp_histogram h, const struct tp_histogram_sum *sum, double quantile);

#endif
