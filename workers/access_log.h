/* The access log: a line for each request of a client, also for those whose head could not be read (design
 * section 10). A sink of each worker; lines of several workers stay whole in one file. */
#ifndef TP_WORKERS_ACCESS_LOG_H
#define TP_WORKERS_ACCESS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"
#include "workers/core.h"

struct tp_turn;
struct tp_client;

/* Goes over to what `config` says; may be called again. One that cannot be opened is told in the log, and its
 * lines count as lost until a reopen finds it. */
void tp_access_log_open(struct tp_worker *w, const struct tp_config *config);
/* The file was renamed: goes over to a new one. */
void tp_access_log_reopen(struct tp_worker *w);
/* Writes what waits; true when nothing is left. Lines that were lost are told in the log, at most once a
 * minute. */
bool tp_access_log_flush(struct tp_worker *w);
void tp_access_log_close(struct tp_worker *w);

/* Keeps what the line will need of the head, without secrets: the head may be freed before the end. */
void tp_access_log_begin(struct tp_turn *t);
void tp_access_log_end(struct tp_turn *t);
/* A head that made no turn: `line` is what came, of which the first line is shown. */
void tp_access_log_bad_head(struct tp_client *c, const char *id, struct tp_str line, int status,
			    uint64_t bytes);

#endif
