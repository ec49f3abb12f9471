/*
 * Numbers of the instance that belong to no worker, and marks that say something at most once in a while over
 * all workers.
 */
#ifndef TP_SHM_MARKS_H
#define TP_SHM_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/retry/alert.h"
#include "common/shm/region.h"

enum tp_mark {
	TP_MARK_LEDGER_FULL,
	TP_MARK_SERIES_FULL,
	TP_MARK_SYSTEM_LOAD, /* alert: the gateway itself is drowning */
	TP_MARK_DEAD_MODEL,  /* alert: three long waits in a row */
	TP_MARK_BLACKLISTED, /* alert: a URL was listed */
	TP_MARK_WORKER_DIED,
	TP_MARK_STATS_FILE,
	TP_MARK_SNAPSHOT,     /* a snapshot could not be written */
	TP_MARK_HEALTH_ASKED, /* each health.path, at start */
	TP_MARK_COUNT
};
/* True for one caller per `every_ms` over all processes: that one logs, or raises the alert. */
bool tp_mark_due(struct tp_region *r, enum tp_mark m, uint32_t every_ms, uint64_t now_ms);

enum { TP_ALERT_EVERY_MS = 60 * 1000 };
/* The same for an alert: at most one of each kind a minute is counted, logged and told. */
bool tp_alert_due(struct tp_region *r, enum tp_alert alert, uint64_t now_ms);

enum tp_number {
	TP_NUMBER_WORKER_RESTARTS,   /* turnpike_worker_restarts_total; the master adds */
	TP_NUMBER_CONFIG_GENERATION, /* turnpike_config_generation; the master sets */
	TP_NUMBER_STARTED_MS,        /* when this master began, CLOCK_BOOTTIME */
	TP_NUMBER_SNAPSHOTS,         /* turnpike_snapshots_total: files written */
	TP_NUMBER_HOLDS_UNTIL_MS,    /* no told wait or told cooldown holds anybody from then on */
	TP_NUMBER_LOG_LOST,          /* turnpike_log_lost_total: lines of all processes, both logs */
	TP_NUMBER_SNAPSHOTS_LOST,    /* turnpike_snapshots_lost_total */
	TP_NUMBER_ALERTS_LOST, /* turnpike_alerts_lost_total: the command did not hear of it, or failed */
	TP_NUMBER_COUNT
};
/* Returns the value before. */
uint64_t tp_number_add(struct tp_region *r, enum tp_number n, uint64_t add);
/* Adds what a process has counted since it last told: `total` less *told, which becomes total. */
void tp_number_tell(struct tp_region *r, enum tp_number n, uint64_t total, uint64_t *told);
/* Only ever upwards. */
void tp_number_raise(struct tp_region *r, enum tp_number n, uint64_t value);
void tp_number_set(struct tp_region *r, enum tp_number n, uint64_t value);
uint64_t tp_number_get(const struct tp_region *r, enum tp_number n);

#endif
