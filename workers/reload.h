/*
 * A reload as a worker sees it (design section 11): a generation is made beside the one that serves, out of
 * the bundle that the master hands to all, and takes over when the master says so.
 */
#ifndef TP_WORKERS_RELOAD_H
#define TP_WORKERS_RELOAD_H

#include "workers/core.h"
#include "workers/worker.h"

struct tp_reload;

/* `start` outlives it. NULL: out of memory. */
struct tp_reload *tp_reload_new(struct tp_worker *w, const struct tp_worker_start *start);
/* What was prepared and never served goes. NULL is ignored. */
void tp_reload_free(struct tp_reload *r);

/* A message of the master whose `what` is one of the reload's; takes over the descriptors. */
void tp_reload_hear(struct tp_reload *r, const struct tp_control_message *m, const int *fds, size_t n_fds);

#endif
