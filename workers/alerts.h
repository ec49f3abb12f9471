/*
 * Alerts that a worker raises (design sections 5, 11): counted, logged, and told to the master, which runs
 * `alerts.command`.  At most once a minute for each kind over all workers; what comes earlier is dropped
 * silently: the same thing was said a moment ago.  Nothing here waits.
 */
#ifndef TP_WORKERS_ALERTS_H
#define TP_WORKERS_ALERTS_H

#include "common/base/str.h"
#include "common/retry/alert.h"

struct tp_turn;

/* What the decision about a turn's last answer found, if it is due; the details are made of that answer. */
void tp_alert_of_turn(const struct tp_turn *t, enum tp_alert alert);

/* The blacklist has newly listed `path` below the base of the turn's provider, if it is due; `connection`:
 * the base and all below it, and path is not shown. */
void tp_alert_url_listed(const struct tp_turn *t, struct tp_str path, bool connection);

#endif
