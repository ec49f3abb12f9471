/*
 * turnpike post, turnpike get: one request through an engine of its own (server/engine.h).
 *
 *   cmd.c      arguments
 *   request.c  what is sent, and under which configuration
 *   run.c      the loop: bytes to the engine, its answer, its notices, signals
 *   answer.c   the answer, unframed, to standard output
 *   waits.c    what standard error tells meanwhile
 */
#ifndef TP_SERVER_REQUEST_H
#define TP_SERVER_REQUEST_H

#include "common/base/buf.h"
#include "common/config/config.h"
#include "common/http/chunked.h"
#include "common/http/head.h"
#include "server/commands.h"
#include "workers/worker.h"

enum { TP_REQUEST_HEADERS_MAX = 64 };

/* The exit statuses, as the help tells them. */
enum {
	TP_REQUEST_GOOD = 0,
	TP_REQUEST_FAILED = 1,
	TP_REQUEST_USAGE = 2,
	TP_REQUEST_UNREACHABLE = 7,
	TP_REQUEST_CUT = 18,
	TP_REQUEST_NOT_2XX = 22,
	TP_REQUEST_SIGNAL = 128, /* and the signal's number */
};

/* The arguments; borrowed, but for the body. */
struct tp_request_order {
	struct tp_options options; /* for messages */
	const char *method, *url;
	const char *headers[TP_REQUEST_HEADERS_MAX];
	size_t n_headers;
	const char *data, *data_file; /* "-": standard input */
	const char *profile, *deadline, *max_sends, *ca;
	bool insecure, include, quiet, verbose;
	struct tp_buf body;
};

/* ---- request.c */

/* What the engine runs with: one provider, the URL's origin. NULL: said on standard error. */
struct tp_config *tp_request_config(const struct tp_request_order *o);
/* Reads the body. False: said on standard error. */
bool tp_request_read_body(struct tp_request_order *o);
/* The whole request for the engine. False: said on standard error, *ret_status is the exit status. */
bool tp_request_write(const struct tp_request_order *o, struct tp_buf *out, int *ret_status);

/* ---- waits.c */

struct tp_request_waits {
	const char *command;
	bool quiet, terminal, shown;
	struct tp_notice notice; /* what is waited for, or zeroed */
	uint64_t ends_ms;
};

/* What is told of waits on standard error: a line for each, or one that counts down on a terminal; nothing
 * with -q. */
void tp_request_waits_begin(struct tp_request_waits *w, const struct tp_request_order *o);
void tp_request_waits_notice(struct tp_request_waits *w, const struct tp_notice *n);
/* Writes the line anew where there is a terminal. Returns after how many ms to call again, -1 = not. */
int tp_request_waits_tick(struct tp_request_waits *w);
/* Before anything else is written to a terminal. */
void tp_request_waits_clear(struct tp_request_waits *w);

/* ---- answer.c */

enum tp_request_progress { TP_REQUEST_MORE, TP_REQUEST_DONE, TP_REQUEST_BROKEN, TP_REQUEST_UNWRITABLE };

struct tp_request_answer {
	bool include, head_request, head_done;
	struct tp_buf in; /* until the head is complete */
	size_t scanned;
	struct tp_head head;
	uint64_t left;
	struct tp_chunked chunked;
	unsigned sends;      /* X-Turnpike-Sends */
	struct tp_buf begin; /* of the body of an error: what kind it is stands there */
};

/* Bytes from the engine; body (and head, with -i) go to standard output. */
enum tp_request_progress tp_request_answer_feed(struct tp_request_answer *a, const char *bytes, size_t n);
/* The exit status of a complete answer. */
int tp_request_answer_status(struct tp_request_answer *a);
void tp_request_answer_free(struct tp_request_answer *a);

/* ---- run.c */

/* Takes the configuration. Returns the exit status. */
int tp_request_run(const struct tp_request_order *o, struct tp_config *config, struct tp_buf *request);

#endif
