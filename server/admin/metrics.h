/*
 * GET /metrics: the numbers of the shared table for Prometheus (design 11), text format 0.0.4.
 */
#ifndef TP_SERVER_ADMIN_METRICS_H
#define TP_SERVER_ADMIN_METRICS_H

#include "common/base/buf.h"
#include "common/config/config.h"
#include "common/shm/region.h"

#define TP_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Appends all metrics. `config` names the providers, so that those without any listing show a zero. False:
 * out of memory, and out is failed. */
bool tp_metrics_write(const struct tp_region *r, const struct tp_config *config, struct tp_buf *out);

#endif
