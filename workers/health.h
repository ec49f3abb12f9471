/*
 * Listings of the blacklist that end early (design 3.2): a connect check for a base that could not be
 * reached, health.path for URLs that answered errors. And health.path once at start, for the operator.
 */
#ifndef TP_WORKERS_HEALTH_H
#define TP_WORKERS_HEALTH_H

#include "workers/core.h"

struct tp_health;

/* For the providers of `r`, which are open; nothing is asked yet. NULL when out of memory. */
struct tp_health *tp_health_new(struct tp_runtime *r);
/* From now on. The first worker of a master's start asks each health.path once (with ask_at_start
 * of the configuration all providers: without a health.path, whether they can be reached), and warns of those
 * that fail.
 */
void tp_health_begin(struct tp_health *h);
/* Cancels what is under way; before the providers are closed. NULL is ignored. */
void tp_health_free(struct tp_health *h);

#endif
