/*
 * The labelled numbers of a worker (design 11): which series each thing counts under. Ids are looked up once
 * and kept; the labels are names of the configuration and words of this program, never a client's.
 */
#ifndef TP_WORKERS_NUMBERS_H
#define TP_WORKERS_NUMBERS_H

#include "common/http/path.h"
#include "common/retry/alert.h"
#include "common/retry/model.h"
#include "common/shm/histogram.h"
#include "common/shm/series.h"
#include "workers/core.h"

struct tp_turn;

struct tp_numbers;

/* For the providers, routes and combos of one configuration. NULL: out of memory. */
struct tp_numbers *tp_numbers_new(const struct tp_config *c);
void tp_numbers_free(struct tp_numbers *n);

/* The first byte of a send was written; a retry unless its class is initial or hop. `key`: index of the
 * provider's key that it carries; counted where the provider has keys. */
void tp_numbers_send(const struct tp_provider_rt *p, enum tp_class klass, unsigned key);
/* An attempt begins (1) or ends (-1). */
void tp_numbers_inflight(const struct tp_provider_rt *p, int delta);
/* A turn begins (1) or ends (-1) to wait at the capacity gate. */
void tp_numbers_queued(const struct tp_provider_rt *p, int delta);
/* Sends in progress at a provider, over all workers. */
int64_t tp_numbers_busy(const struct tp_provider_rt *p);
/* Under which series the sends in progress to target `i` of the turn's combo count; the same for every combo
 * that has it. */
tp_series_id tp_numbers_target(const struct tp_turn *t, unsigned i);
/* A send ended without a usable answer and may have run. */
void tp_numbers_billed(const struct tp_provider_rt *p);
/* The endpoint of `refresh` was asked for a new access token, and gave one or did not. */
void tp_numbers_refresh(const struct tp_provider_rt *p, bool renewed);
/* A turn goes on to the next target of its combo. */
void tp_numbers_hop(const struct tp_turn *t);
/* A turn is answered with this code, refusal or not: with and without a label. */
void tp_numbers_refusal(struct tp_worker *w, enum tp_code code);
/* An alert was raised by this worker. */
void tp_numbers_alert(struct tp_worker *w, enum tp_alert alert);
/* A turn waited before a send, or is going to: told once for each wait. */
void tp_numbers_wait(struct tp_worker *w, uint32_t ms);
/* From the latest byte of a send's request to the first one of its answer. */
void tp_numbers_first_byte(struct tp_worker *w, uint64_t us);
/* A turn found no room in the ledger: counted each time, logged by one worker once a minute. */
void tp_numbers_ledger_full(struct tp_worker *w);
/* The one end of a turn. */
void tp_numbers_turn(const struct tp_turn *t, unsigned outcome);
/* A request whose head was wrong: a turn without a route. */
void tp_numbers_bad_head(struct tp_worker *w, enum tp_family family);

#endif
