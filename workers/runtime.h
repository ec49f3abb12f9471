/*
 * What one configuration amounts to in a worker: providers with their TLS contexts and kept connections, the
 * listeners' TLS contexts, the labelled numbers.  One per generation (design section 11): a reload makes the
 * next one beside it; turns and clients hold references, so that a turn ends on the one it began with.
 * What outlives a configuration - clients, sockets, resolver, slot - belongs to struct tp_worker.
 */
#ifndef TP_WORKERS_RUNTIME_H
#define TP_WORKERS_RUNTIME_H

#include <sys/queue.h>

#include "workers/core.h"

struct tp_runtime {
	unsigned refs;
	struct tp_worker *worker;
	struct tp_config *config;         /* one reference */
	struct tp_provider_rt *providers; /* one per config->providers */
	SSL_CTX **listener_tls;           /* one per config->listeners; NULL entries are plain */
	struct tp_numbers *numbers;
	struct tp_health *health; /* checks while this generation serves; then NULL */
	bool retired; /* a later generation serves: connections to providers are not kept any more */
	SLIST_ENTRY(tp_runtime) ended;
};

/* Everything that can fail, and nothing that anybody outside could see.  Takes a reference of `config`.
 * Returns one reference, or NULL with a line in `why` (none: out of memory). */
struct tp_runtime *tp_runtime_new(struct tp_worker *w, struct tp_config *config, struct tp_buf *why);
struct tp_runtime *tp_runtime_ref(struct tp_runtime *r);
/* The last one frees at the end of the loop turn; NULL is ignored. */
void tp_runtime_unref(struct tp_runtime *r);
/* The worker's from now on, with the caller's reference; the one before is retired: connections of providers
 * that stayed what they were move over, the other idle ones are closed. */
void tp_runtime_enter(struct tp_runtime *r);
/* Called by the loop between turns, and at the end of the worker. */
void tp_runtime_free_ended(struct tp_worker *w);

#endif
