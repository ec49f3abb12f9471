/*
 * A client connection: reads requests, feeds them to a turn, writes what the turn gives it, and goes on with
 * the next request or ends.  client.c is its life and its output, client_input.c what arrives.
 */
#ifndef TP_WORKERS_CLIENT_H
#define TP_WORKERS_CLIENT_H

#include <sys/queue.h>
#include <sys/uio.h>

#include "common/base/buf.h"
#include "common/http/chunked.h"
#include "workers/core.h"
#include "workers/io.h"
#include "workers/timer.h"

struct tp_turn;

enum tp_client_state {
	TP_CLIENT_HANDSHAKE, /* TLS */
	TP_CLIENT_IDLE,      /* between requests */
	TP_CLIENT_HEAD,      /* part of a head is here */
	TP_CLIENT_BODY,      /* the turn's request is arriving */
	TP_CLIENT_ANSWER,    /* the request is complete; its answer is awaited or under way */
	TP_CLIENT_FLUSH,     /* the turn is over; its last bytes wait for the peer */
	TP_CLIENT_LINGER,    /* all is said; what still arrives is dropped so that our answer can be read */
	TP_CLIENT_TUNNEL,    /* handed to a tunnel */
	TP_CLIENT_CLOSED
};

/* What becomes of the connection after a turn. */
enum tp_client_next {
	TP_NEXT_KEEP,  /* the next request */
	TP_NEXT_CLOSE, /* close in order: the answer told so */
	TP_NEXT_CUT    /* end it so that the client sees that the answer is cut */
};

struct tp_client {
	TAILQ_ENTRY(tp_client) link;
	struct tp_worker *worker;
	const struct tp_listener_conf *listener; /* of `config` */
	struct tp_runtime *runtime;              /* one reference; the worker's own when a request begins */
	const struct tp_config *config;          /* the runtime's */
	struct tp_io io;
	enum tp_client_state state;
	struct tp_turn *turn;      /* NULL between turns */
	struct tp_timer timer;     /* the limit of the present state */
	struct tp_buf in;          /* received and not used yet: part of a head, or a pipelined request */
	struct tp_deferred send;   /* writes `out` at the end of the loop turn */
	struct tp_buf out;         /* what waits for the end of the loop turn, or did not find room */
	size_t scanned;            /* of `in`: looked through for the end of a head already */
	struct tp_chunked chunked; /* in BODY, with chunked_body */
	uint64_t body_left;        /* in BODY, without */
	uint64_t body_seen;        /* in BODY: bytes for which the limit of time began anew ... */
	uint64_t body_fresh;       /* ... and those that came since */
	size_t gathered;           /* of `in`: its part of the worker's gathered_bytes */
	uint64_t lingered;         /* bytes dropped */
	enum tp_client_next next;  /* after FLUSH */
	bool leaving;              /* its listener is gone: closed after the present turn */
	bool served;               /* at least one request came */
	bool chunked_body;
	bool paused;     /* the turn cannot take more body */
	bool working;    /* inside the input loop: turns end without recursion */
	bool input_gone; /* the peer has ended its side */
};

/* Takes over a socket accepted on a listener of `r`, which may have been retired since; closes it when there
 * is no memory. */
void tp_client_new(struct tp_runtime *r, size_t listener, int fd);
/*
 * Writes pieces, keeping a copy of what the peer cannot take at once.  0 = all written, 1 = some is kept:
 * tp_turn_writable() follows when it is gone, the caller should stop until then; -1 = the connection is
 * dead: the caller ends its turn as one whose client left.
 */
int tp_client_write(struct tp_client *c, const struct iovec *v, int n);
/* The same with a head in front, which is used up (and freed) in any case. One that failed makes it -1. */
int tp_client_write_head(struct tp_client *c, struct tp_buf *head, const struct iovec *v, int n);
/* The turn has given its last byte and is gone; c->turn is NULL already. */
void tp_client_turn_over(struct tp_client *c, enum tp_client_next next);
/* Reads no more request body until tp_client_resume(). */
void tp_client_pause(struct tp_client *c);
void tp_client_resume(struct tp_client *c);
/* Gives the socket to a tunnel, with what was to be written to it and what was read ahead. What is left is
 * closed by the caller, once there is a tunnel; that sends nothing. */
void tp_client_detach(struct tp_client *c, int *ret_fd, SSL **ret_ssl, struct tp_buf *ret_unsent,
		      struct tp_buf *ret_unread);
/* The one way to close, with a reason that is logged; ends the turn as left by its client. `reset`: RST
 * instead of FIN. */
void tp_client_close(struct tp_client *c, const char *why, bool reset);
/* Drain: an idle connection is closed, a busy one ends with its turn. */
void tp_client_drain(struct tp_client *c);
/* Another generation serves: an idle client goes on under it at once, a busy one after its turn; one whose
 * listener is gone is drained. */
void tp_client_follow(struct tp_client *c);

/* ---- between client.c and client_input.c */

/* The one place that moves a client. */
void tp_client_set_state(struct tp_client *c, enum tp_client_state s);
/* Reads and uses what there is, in the present state; may begin and end turns, and close the client. */
void tp_client_input(struct tp_client *c);
/* After `in` has changed: keeps the worker's sum. */
void tp_client_note_gathered(struct tp_client *c);
/* True while reading makes sense: there is a taker, or little enough was read ahead. */
bool tp_client_wants_input(const struct tp_client *c);

#endif
