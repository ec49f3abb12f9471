/*
 * One send and what comes of it: connect or reuse, write, read the head, unframe the body.
 * An attempt decides nothing; it tells its owner through struct tp_attempt_ops.
 *
 * Life: tp_attempt_start() -> ops->answer(), any number of times, the last with end = true; or ops->failed(),
 * once.  After the last call, or tp_attempt_cancel(), the attempt is at rest and may be started again.
 */
#ifndef TP_WORKERS_ATTEMPT_H
#define TP_WORKERS_ATTEMPT_H

#include "common/retry/model.h"
#include "common/shm/series.h"
#include "workers/connect.h"
#include "workers/request.h"
#include "workers/unframe.h"
#include "workers/upstream.h"
#include "workers/upstream_head.h"

struct tp_answer_piece {
	const struct tp_head *head; /* with the first piece, else NULL; valid in this call */
	const char *bytes;          /* of the head */
	char *data;                 /* body bytes, unframed; valid in this call */
	size_t n;
	bool end; /* the answer is complete; the attempt is at rest */
};

struct tp_attempt_ops {
	void (*answer)(void *owner, const struct tp_answer_piece *piece);
	/* `why` is valid in this call; the stage is in attempt->stage. */
	void (*failed)(void *owner, enum tp_cause cause, const char *why);
	/* Body bytes went out: there is room for more (requests that stream through). */
	void (*room)(void *owner);
	/* 101 for an upgrade that was passed on: fd and ssl are the owner's now; head->data are the bytes
	 * behind the head. */
	void (*switched)(void *owner, const struct tp_answer_piece *head, int fd, SSL *ssl);
};

struct tp_attempt {
	const struct tp_attempt_ops *ops;
	void *owner;
	struct tp_worker *worker;
	struct tp_provider_rt *provider;
	struct tp_request *request;
	struct tp_upstream_head_args head_args;
	struct tp_connecting *connecting;
	struct tp_upstream *up; /* NULL while connecting and at rest */
	enum tp_stage stage;
	enum tp_class klass; /* set by the owner before the start, for the statistics */
	unsigned tried;  /* ways out that declined this send (egress.h); set by the owner before the start */
	unsigned serial; /* grows with each start: has the owner begun anew inside a call? */
	bool active;
	bool paused;        /* the owner cannot take more */
	bool write_stopped; /* an answer came during the upload, or a write failed */
	int write_error;    /* as tp_io_writev() told it; 0 = none */
	bool head_seen;
	bool keep; /* the connection may be used again, unless body.excess */
	uint64_t started_ms;
	/* For the statistics, of tp_clock_mono_us(); 0 = did not happen (yet). */
	uint64_t dialled_us, connected_us;    /* a connection was asked for, and there */
	uint64_t written_us, last_written_us; /* the first and the latest bytes of the request */
	uint64_t heard_us;                    /* the first bytes of the answer */
	uint64_t sent;                        /* body bytes written */
	uint64_t keep_ms;
	size_t scanned;
	tp_series_id target;     /* counts it as in progress there, until the end of the attempt; of combos */
	struct tp_deferred send; /* begins writing at the end of the loop turn */
	struct tp_buf out;       /* head and chunk framing the socket did not take yet */
	struct tp_buf in;        /* an answer head that is not complete yet */
	struct tp_unframe body;  /* of the answer */
};

/* Once, before the first start; `a` lives inside its owner. */
void tp_attempt_init(struct tp_attempt *a, struct tp_worker *w, const struct tp_attempt_ops *ops,
		     void *owner);
/* Begins. ops may be called from inside (a write that fails at once): to be the caller's last step. `fresh`
 * asks for a new connection. */
void tp_attempt_start(struct tp_attempt *a, struct tp_provider_rt *p, struct tp_request *r,
		      const struct tp_upstream_head_args *args, bool fresh);
/* More of the request's body has arrived, or it is complete. */
void tp_attempt_more(struct tp_attempt *a);
/* Stops reading the answer, and goes on with it from the loop. */
void tp_attempt_pause(struct tp_attempt *a);
void tp_attempt_resume(struct tp_attempt *a);
/* Closes the connection at once; no call follows. Nothing happens at rest. */
void tp_attempt_cancel(struct tp_attempt *a, const char *why);

#endif
