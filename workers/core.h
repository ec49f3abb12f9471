/*
 * What every file of a worker shares: the worker itself, deferred freeing, counting.
 * One struct tp_worker per process, made by tp_worker_main() and living as long as it.
 */
#ifndef TP_WORKERS_CORE_H
#define TP_WORKERS_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <openssl/ssl.h>

#include "common/base/siphash.h"
#include "common/base/sink.h"
#include "common/config/config.h"
#include "common/http/head.h"
#include "common/shm/counters.h"
#include "common/shm/gate.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"
#include "common/shm/streak.h"

enum {
	TP_SCRATCH_BYTES = 64 * 1024, /* one read */
	TP_READS_PER_TURN = 16,       /* of one connection; then others get their turn of the loop */
	TP_REQUEST_ID_SIZE = 25       /* 24 hex digits and a terminator */
};

/*
 * Work for the end of the present loop turn, when all that has arrived is read: answers and sends then leave
 * one after the other, and whoever they wake finds several at once.  Embedded in its object, at most once in
 * the queue.
 */
struct tp_deferred {
	TAILQ_ENTRY(tp_deferred) link;
	void (*fn)(void *arg);
	void *arg;
	bool queued;
};
TAILQ_HEAD(tp_deferred_list, tp_deferred);

struct tp_client;
struct tp_turn;
struct tp_fingerprint;
struct tp_resolver;
struct tp_acceptor;
struct tp_tunnel;
struct tp_upstream;
struct tp_runtime;
struct tp_gates;
struct tp_observer;
struct tp_refresher;

TAILQ_HEAD(tp_client_list, tp_client);
TAILQ_HEAD(tp_turn_list, tp_turn);
TAILQ_HEAD(tp_upstream_list, tp_upstream);
TAILQ_HEAD(tp_tunnel_list, tp_tunnel);
SLIST_HEAD(tp_runtime_list, tp_runtime);
LIST_HEAD(tp_refresher_list, tp_refresher);

/* The keys of the URL that went to a provider last: nearly all requests of a provider go to one path. */
struct tp_url_memo {
	struct tp_hash128 base, url;
	size_t path_n; /* 0: nothing is remembered */
	char path[64]; /* longer ones are not */
};

/* A provider as this worker uses it, in one generation: its TLS context and its idle connections. */
struct tp_provider_rt {
	struct tp_worker *worker;
	struct tp_runtime *runtime; /* whose it is */
	const struct tp_provider_conf *conf;
	SSL_CTX *tls;                 /* NULL for http */
	struct tp_upstream_list idle; /* most recently used first */
	unsigned n_idle;
	tp_streak_id long_waits;        /* of 55s and more in a row, over all workers */
	tp_gate_id gate;                /* TP_GATE_NONE: capacity.limit is off */
	struct tp_refresher *refresher; /* of its access tokens; NULL = it has none */
	struct tp_url_memo last_url;
	struct event sweep; /* closes the idle ones whose time is over */
	bool sweeping;
};

struct tp_worker {
	struct event_base *base;
	struct tp_runtime *runtime; /* the generation that serves: new turns begin on it; one reference */
	struct tp_config *config;   /* its configuration */
	struct tp_region *region;
	struct tp_stamp stamp;
	int control_fd;                     /* the master's channel */
	const struct tp_observer *observer; /* NULL in a server */

	/* One buffer to read into for all connections: valid inside one callback only. */
	char *scratch;        /* TP_SCRATCH_BYTES */
	struct tp_head *head; /* the head parsed last: valid inside one callback only */

	struct tp_fingerprint *spare_fingerprint; /* for the next turn that needs one; NULL = none */

	struct tp_client_list clients;
	unsigned n_clients;
	struct tp_turn_list turns; /* the one that began first is first */
	unsigned n_published;      /* of these: see open_turns.h */
	struct tp_tunnel_list tunnels;
	unsigned n_tunnels;
	uint64_t held_bytes;   /* request bytes held for replay, bounded by limits.replay_total */
	size_t gathered_bytes; /* input of clients that is not used yet, bounded (client_input.c) */
	struct tp_resolver *resolver;
	struct tp_acceptor *acceptor;
	struct tp_refresher_list renewing; /* those that have asked their endpoint and await its answer */
	int snapshot_fd;                   /* -1: none are made */
	struct tp_sink access_log;
	enum tp_access_format access_format;
	bool access_log_on;
	uint64_t losses_told;        /* lines of both logs: in the table */
	uint64_t access_losses_told; /* of the access log alone: in the log */
	uint64_t access_losses_due_ms;
	struct tp_gates *gates;

	bool draining;      /* no new turns on kept connections; leave when the last client is gone */
	bool stopping;      /* leave now */
	uint64_t random[2]; /* state of tp_worker_random() */
	char next_id[TP_REQUEST_ID_SIZE]; /* of the next request */

	struct tp_deferred_list deferred; /* done at the end of the loop turn ... */
	struct tp_parked *parked;         /* ... and these are freed after it ... */
	struct tp_runtime_list ended;     /* ... like generations that nobody holds any more */
};

/* Queues it for the end of the loop turn; nothing happens when it is queued already. */
void tp_worker_defer(struct tp_worker *w, struct tp_deferred *d);
/* Before the object goes, or when the work is done already. Nothing happens when it is not queued. */
void tp_worker_undefer(struct tp_worker *w, struct tp_deferred *d);
/* Called by the loop between turns, before tp_worker_free_parked(). */
void tp_worker_run_deferred(struct tp_worker *w);

/*
 * Frees `memory` (from malloc) when the present loop turn is over: callbacks further up the stack may still
 * hold a pointer to it.  The object must be inert: no event of it pending.
 */
void tp_worker_park(struct tp_worker *w, void *memory);
/* The same for what tp_block_new(size) returned. */
void tp_worker_park_block(struct tp_worker *w, void *block, size_t size);
/* Called by the loop between turns. */
void tp_worker_free_parked(struct tp_worker *w);

/* 64 random bits for jitter: xorshift128+, seeded per worker from getrandom(). */
uint64_t tp_worker_random(struct tp_worker *w);

/* The next X-Turnpike-Request-Id: 64 random bits of this worker and a count. */
void tp_worker_begin_ids(struct tp_worker *w, uint64_t random);
void tp_worker_request_id(struct tp_worker *w, char out[TP_REQUEST_ID_SIZE]);

/* This worker's own counters and gauges: no other process writes them. */
static inline void tp_worker_add(struct tp_worker *w, enum tp_counter c, uint64_t n)
{
	tp_count(w->region, w->stamp.slot, c, n);
}

static inline void tp_worker_count(struct tp_worker *w, enum tp_counter c)
{
	tp_worker_add(w, c, 1);
}

static inline void tp_worker_gauge(struct tp_worker *w, enum tp_gauge g, int delta)
{
	tp_gauge_add(w->region, w->stamp.slot, g, delta);
}

/* A client connection, a tunnel or the renewal of a token is over: a draining worker leaves with the last of
 * them all, any other may have room for a connection now. */
void tp_worker_check_drained(struct tp_worker *w);

#endif
