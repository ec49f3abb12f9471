/*
 * `alerts.command`: a process for each alert, with the alert as JSON on its standard input (design 10).  The
 * master never waits for one: it is reaped like any child, and killed with all its group after 30 s.  One
 * process for each kind at a time, at most one a minute.
 */
#ifndef TP_SERVER_ALERTS_H
#define TP_SERVER_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/config/config.h"
#include "common/retry/alert.h"
#include "common/shm/region.h"
#include "common/shm/series.h"
#include "workers/worker.h"

enum tp_alert_run_state {
	TP_ALERT_RUN_NONE,
	TP_ALERT_RUN_GOING,
	TP_ALERT_RUN_KILLED, /* SIGKILL was sent; its end is awaited */
};

/* The command of one kind of alert. Moved by functions of alerts.c alone. */
struct tp_alert_run {
	enum tp_alert_run_state state;
	pid_t pid;
	uint64_t started_ms;
	bool told;             /* at least once, ... */
	uint64_t told_when_ms; /* ... the last time for the alert of this time */
};

/* The first two belong to the master, which changes them when it takes over another configuration or table
 * (NULL: there is none any more); the rest begins zeroed. */
struct tp_alerts {
	const struct tp_config *config;
	struct tp_region *region;
	tp_series_id deaths; /* counts worker_died: see tp_alerts_enter() */
	struct tp_alert_run runs[TP_ALERT_COUNT];
};

/* Before the first fork into a table. Entering the series takes a stamp that lives, and the master has none
 * of its own: it lends the one of the worker that is about to be forked. */
void tp_alerts_enter(struct tp_alerts *a, struct tp_stamp owner);

/* A worker's report of n bytes: runs the command. What makes no sense is dropped: a worker may be damaged. */
void tp_alerts_hear(struct tp_alerts *a, const struct tp_report_message *m, size_t n);
/* A worker ended that was not told to; `status` is waitpid's. Counts it and runs the command, if due. */
void tp_alerts_worker_died(struct tp_alerts *a, unsigned slot, pid_t pid, int status);
/* A child has ended. True: it was a command; a failure is logged. */
bool tp_alerts_ended(struct tp_alerts *a, pid_t pid, int status);
/* Kills what has run too long. Returns the milliseconds until it has to be called again. */
uint64_t tp_alerts_tick(struct tp_alerts *a);

/* Kills what runs, without a wait. */
void tp_alerts_kill(struct tp_alerts *a);
/* The master leaves: waits for what runs, for patience_ms at most, then kills it. */
void tp_alerts_close(struct tp_alerts *a, uint64_t patience_ms);

#endif
