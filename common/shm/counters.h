/*
 * Statistics: one block per worker slot with one writer, summed by readers (design 3.3).  Counters go on
 * under the slot's next worker; gauges restart at zero with it.
 */
#ifndef TP_SHM_COUNTERS_H
#define TP_SHM_COUNTERS_H

#include <stdint.h>

#include "common/retry/model.h"
#include "common/shm/region.h"

enum tp_counter {
	TP_COUNT_CONNECTIONS,     /* accepted */
	TP_COUNT_TURNS,           /* begun */
	TP_COUNT_TURNS_OK,        /* ended: outcomes add up to turns */
	TP_COUNT_TURNS_ERROR,     /* a provider's error, or a local answer, was shown */
	TP_COUNT_TURNS_REFUSED,   /* one of the refusals */
	TP_COUNT_TURNS_CUT,       /* failed after commit */
	TP_COUNT_TURNS_GONE,      /* the client left */
	TP_COUNT_TURNS_BAD,       /* the request itself was wrong (4xx of ours) */
	TP_COUNT_POSSIBLY_BILLED, /* sends that ended unknown */
	TP_COUNT_GIVEN_BACK,      /* charges returned */
	TP_COUNT_FROM_MEMORY,     /* turns answered without a send */
	TP_COUNT_LEDGER_FULL,     /* turns that found no room in the ledger */
	TP_COUNT_SENDS_FIRST,     /* TP_COUNT_SENDS_FIRST + enum tp_class: sends by class */
	TP_COUNT_SENDS_LAST = TP_COUNT_SENDS_FIRST + TP_CLASS_COUNT - 1,
	TP_COUNT_REFUSALS_FIRST, /* + enum tp_code */
	TP_COUNT_REFUSALS_LAST = TP_COUNT_REFUSALS_FIRST + TP_CODE_COUNT - 1,
	TP_COUNT_BYTES_IN,             /* from clients */
	TP_COUNT_BYTES_OUT,            /* to clients */
	TP_COUNT_TLS_HANDSHAKES,       /* of clients, done */
	TP_COUNT_TLS_RESUMED,          /* of these, with a session of before */
	TP_COUNT_TLS_FAILED,           /* of clients, not brought to an end */
	TP_COUNT_PROVIDER_TLS,         /* handshakes with providers, done */
	TP_COUNT_PROVIDER_TLS_RESUMED, /* of these, with a session of before */
	TP_COUNT_TOTAL
};

enum tp_gauge {
	TP_GAUGE_CLIENTS, /* open client connections */
	TP_GAUGE_TURNS,   /* turns in progress */
	TP_GAUGE_SENDS,   /* attempts in progress */
	TP_GAUGE_WAITING, /* turns in a wait */
	TP_GAUGE_POOLED,  /* idle upstream connections */
	TP_GAUGE_TOTAL
};

const char *
tp_counter_name(enum tp_counter c); /* "turns_ok", "sends_overload", "refusals_upstream_no_response" */
const char *tp_gauge_name(enum tp_gauge g);

/* Single writer per slot: relaxed load and store, no locked instruction. */
void tp_count(struct tp_region *r, unsigned slot, enum tp_counter c, uint64_t add);
void tp_gauge_add(struct tp_region *r, unsigned slot, enum tp_gauge g, int64_t delta);
/* Sums over all slots; gauges of dead slots count as zero. */
uint64_t tp_counter_sum(const struct tp_region *r, enum tp_counter c);
int64_t tp_gauge_sum(const struct tp_region *r, enum tp_gauge g);

#endif
