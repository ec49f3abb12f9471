/*
 * One non-blocking socket, plain or TLS, under one persistent edge-triggered event: it is
 * registered once and never touched again until it is closed.  Because edges come once,
 * readable/writable are remembered here until a call finds them used up.
 */
#ifndef TP_WORKERS_IO_H
#define TP_WORKERS_IO_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <openssl/ssl.h>

#include "common/base/buf.h"

enum {
	TP_IO_END = 0,           /* orderly end: FIN, or close_notify under TLS */
	TP_IO_CUT = -100001,     /* TLS: the connection ended without close_notify */
	TP_IO_TLS = -100002,     /* TLS: protocol or certificate error */
	TP_IO_UNWANTED = -100003 /* TLS: an alert about the certificate that we have shown, or have not */
};

struct tp_io {
	int fd;        /* -1 = closed */
	SSL *ssl;      /* NULL = plain; owned */
	bool readable; /* there may be something to read */
	bool writable; /* a write may succeed */
	bool hup;      /* the peer has ended its side, or reset: FIN or RST seen by the kernel */
	bool waits;    /* for tp_io_next_turn() */
	TAILQ_ENTRY(tp_io) link;
	struct event event;
};

/*
 * Takes over fd (and ssl, already bound to fd; may be NULL) and registers `fn(fd, what, arg)`; the callback
 * begins with tp_io_note().  Returns 0 or -errno; on failure nothing was taken over.
 */
int tp_io_open(struct tp_io *io, struct event_base *base, int fd, SSL *ssl, event_callback_fn fn, void *arg);
/* Takes what the event told. */
static inline void tp_io_note(struct tp_io *io, short what)
{
	if ((what & EV_CLOSED) != 0)
		io->hup = true;
	if ((what & (EV_READ | EV_CLOSED)) != 0)
		io->readable = true;
	if ((what & EV_WRITE) != 0)
		io->writable = true;
}

/* > 0 bytes; TP_IO_END; -EAGAIN (readable is false now); TP_IO_CUT, TP_IO_TLS, TP_IO_UNWANTED, or -errno. */
ssize_t tp_io_read(struct tp_io *io, void *to, size_t n);
/* >= 0 bytes taken, fewer than all with writable false now; TP_IO_TLS or -errno. */
ssize_t tp_io_writev(struct tp_io *io, const struct iovec *v, int n);
/* Writes as much of it as the socket takes now. 0, or a negative error as above. */
int tp_io_write_buf(struct tp_io *io, struct tp_buf *out);
/* TLS handshake as client or server: 0 done, -EAGAIN, or a negative error as above. */
int tp_io_handshake(struct tp_io *io);
/* Makes the event callback run once more in the next turn of the loop, not in this one: others come first,
 * and timers, new events and parked memory are not kept waiting by a peer that never pauses. */
void tp_io_again(struct tp_io *io);
/* The loop calls it between turns. */
void tp_io_next_turn(void);
/* Once per process, before the first tp_io_open(). False: errno says why. */
bool tp_io_begin_loop(struct event_base *base);
/* Before the event base is freed; all are closed. */
void tp_io_end_loop(void);
/* Gives socket and TLS state away, untouched; the event is gone. */
int tp_io_release(struct tp_io *io, SSL **ret_ssl);
/* What is read and written from now on is plain: to drop what still comes after a failed handshake. */
void tp_io_drop_tls(struct tp_io *io);
/* Ends our side, once all is written: a close_notify with TLS, and FIN. Reading goes on. */
void tp_io_end(struct tp_io *io);
/* Closes; with TLS a close_notify is tried when `orderly`, and without it the peer sees a cut. `reset`: the
 * peer gets RST instead of FIN. Idempotent. */
void tp_io_close(struct tp_io *io, bool orderly, bool reset);

#endif
