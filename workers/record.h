/*
 * What a turn has to tell when it is over: its line in the log, its line in the access log, and with
 * `snapshots` what a file about it needs (design section 10).
 */
#ifndef TP_WORKERS_RECORD_H
#define TP_WORKERS_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "common/retry/model.h"

struct tp_turn;
struct tp_access_request;
struct tp_snapshot;

struct tp_turn_record {
	uint32_t sends[TP_CLASS_COUNT]; /* of this turn, less those given back */
	uint64_t waited_ms, waiting_since_ms;
	uint64_t first_byte_ms; /* since the turn began, of the final answer's head; 0 = none */
	uint64_t bytes_out;     /* of its body, with the framing */
	int status;             /* as told to the client; 0 = none */
	char code[48];          /* of an answer of our own */
	char *why; /* owned: why it did not end well; NULL = nothing to tell. Apart, as most end well */

	struct tp_access_request *access; /* owned; NULL = no access log */
	struct tp_snapshot *snapshot;     /* owned; NULL = no snapshots */
};

/* A turn begins: its request's head is here. */
void tp_record_begin(struct tp_turn *t);
/* Bytes leave for the client: the one place that sees every answer, whoever made it. */
void tp_record_out(struct tp_turn *t, const struct iovec *v, int n);
/* Why it ends, if it ends badly; the last word counts. Without memory there is none. */
void tp_record_reason(struct tp_turn *t, const char *why, const char *more);
/* That word, "" without one; until the next one or the turn's end. */
const char *tp_record_why(const struct tp_turn *t);
/* The word for an enum tp_turn_outcome. */
const char *tp_record_outcome(unsigned outcome);
enum { TP_LOGICAL_SIZE = 17 };
/* Which logical request it belongs to: a part of the keyed hash that the ledger knows it by; "" = none. */
void tp_record_logical(const struct tp_turn *t, char out[TP_LOGICAL_SIZE]);
/* It is over (an enum tp_turn_outcome); its request is still there as far as it was held. Writes the lines
 * and the snapshot, and frees. */
void tp_record_end(struct tp_turn *t, unsigned outcome);

#endif
