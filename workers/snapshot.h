/*
 * Snapshots: of a turn that failed (error, refused, cut) its request and its attempts, as a JSON text without
 * credentials, which another process writes to a file (design section 10).  What the socket to that process
 * does not take at once is lost, and counted: no turn waits for a disk.
 */
#ifndef TP_WORKERS_SNAPSHOT_H
#define TP_WORKERS_SNAPSHOT_H

#include <stdbool.h>

#include "common/http/head.h"
#include "common/retry/decide.h"

struct tp_turn;

/* Each of them does nothing where no snapshots are configured. */
void tp_snapshot_begin(struct tp_turn *t);
/* The head of the present attempt's answer. */
void tp_snapshot_answer(struct tp_turn *t, const struct tp_head *head, const char *bytes);
/* An attempt has ended, and `d` is what follows. Before that is done. */
void tp_snapshot_attempt(struct tp_turn *t, enum tp_cause cause, const char *why,
			 const struct tp_decision *d);
/* True: the request is kept beyond commit, since the answer may still be cut. */
bool tp_snapshot_wants_request(const struct tp_turn *t);
/* The turn is over: hands a snapshot over if it failed, and frees. */
void tp_snapshot_end(struct tp_turn *t, unsigned outcome);

#endif
