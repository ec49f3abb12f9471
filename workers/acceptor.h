/*
 * Listening sockets of a worker: its own, the shared ones, and those of neighbours whose worker is away.
 */
#ifndef TP_WORKERS_ACCEPTOR_H
#define TP_WORKERS_ACCEPTOR_H

#include "workers/core.h"
#include "workers/worker.h"

/* Serves the sockets of `slot` and the shared ones. NULL when out of memory. */
struct tp_acceptor *tp_acceptor_new(struct tp_worker *w, const struct tp_worker_listener *listeners,
				    size_t n);
/* Begins or stops serving the sockets of another slot. */
void tp_acceptor_serve(struct tp_acceptor *a, unsigned slot, bool serve);
/* Drain: takes what is queued on the sockets it serves, beyond limits.connections if need be, then closes
 * this process's copies of all. What does not fit into the clients' share of the descriptors is reset. */
void tp_acceptor_close(struct tp_acceptor *a);
/* One more socket, which the next generation brings; its descriptor is taken over in any case. Nobody serves
 * it before tp_acceptor_switch(). False: out of memory. */
bool tp_acceptor_bring(struct tp_acceptor *a, const struct tp_worker_listener *socket);
/* That generation does not come: closes what was brought. */
void tp_acceptor_drop_brought(struct tp_acceptor *a);
/* It takes over: sockets of listeners that stay count as its own, those that were brought are its new ones.
 * Those of listeners that are gone serve on under the earlier one until tp_acceptor_close_gone(). */
void tp_acceptor_switch(struct tp_acceptor *a, const struct tp_runtime *next);
/* Takes what is queued on sockets of listeners that are gone, if it serves them, and closes them. */
void tp_acceptor_close_gone(struct tp_acceptor *a);
/* The same with those of a slot that retires. */
void tp_acceptor_forget(struct tp_acceptor *a, unsigned slot);
/* A connection is gone: accepting goes on if it rested for want of descriptors or at limits.connections. */
void tp_acceptor_room(struct tp_acceptor *a);
void tp_acceptor_free(struct tp_acceptor *a); /* NULL is ignored */

#endif
