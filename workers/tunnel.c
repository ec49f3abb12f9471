#include "workers/tunnel.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/log.h"
#include "workers/io.h"
#include "workers/timer.h"

struct side {
	struct tp_tunnel *tunnel;
	struct side *other;
	struct tp_io io;
	struct tp_buf out; /* what this side has not taken yet: while there is any, the other is not read */
	bool ended;        /* it has sent its last byte */
};

struct tp_tunnel {
	TAILQ_ENTRY(tp_tunnel) link;
	struct tp_worker *worker;
	struct side client, provider;
	struct tp_timer idle;
	uint64_t idle_ms;
	bool closed;
};

static void close_tunnel(struct tp_tunnel *t, const char *why, bool reset)
{
	if (t->closed)
		return;
	t->closed = true;
	tp_debug("tunnel closed: %s", why);
	tp_io_close(&t->client.io, !reset, reset);
	tp_io_close(&t->provider.io, !reset, reset);
	tp_buf_free(&t->client.out);
	tp_buf_free(&t->provider.out);
	tp_timer_close(&t->idle);
	TAILQ_REMOVE(&t->worker->tunnels, t, link);
	t->worker->n_tunnels--;
	tp_worker_park(t->worker, t);
	tp_worker_check_drained(t->worker);
}

static void on_idle(void *arg)
{
	close_tunnel(arg, "idle for too long", false);
}

/* Writes what waits; false when the tunnel is closed. */
static bool flush(struct side *s)
{
	while (s->out.len > 0 && s->io.writable) {
		struct iovec v = {s->out.data, s->out.len};
		ssize_t put = tp_io_writev(&s->io, &v, 1);
		if (put < 0) {
			close_tunnel(s->tunnel, "a side is gone", true);
			return false;
		}
		tp_buf_consume(&s->out, (size_t)put);
	}
	if (s->out.len == 0) {
		tp_buf_free(&s->out);
		if (s->other->ended) {
			tp_io_end(&s->io);
			if (s->ended) {
				close_tunnel(s->tunnel, "both sides ended", false);
				return false;
			}
		}
	}
	return true;
}

/* Moves bytes from s to the other side while that one takes them. */
static void pump(struct side *s)
{
	struct tp_tunnel *t = s->tunnel;
	for (int i = 0; !t->closed && s->io.readable && !s->ended && s->other->out.len == 0; i++) {
		if (i == TP_READS_PER_TURN) {
			tp_io_again(&s->io);
			return;
		}
		ssize_t n = tp_io_read(&s->io, t->worker->scratch, TP_SCRATCH_BYTES);
		if (n == -EAGAIN)
			return;
		if (n < 0) {
			close_tunnel(t, "a side is gone", true);
			return;
		}
		tp_timer_set(&t->idle, t->idle_ms);
		if (n == 0)
			s->ended = true;
		else
			tp_buf_add(&s->other->out, t->worker->scratch, (size_t)n);
		if (s->other->out.failed) {
			close_tunnel(t, "out of memory", true);
			return;
		}
		(void)flush(s->other);
	}
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	struct side *s = arg;
	tp_io_note(&s->io, what);
	if (s->io.writable && s->out.len > 0 && !flush(s))
		return;
	pump(s);
	if (!s->tunnel->closed)
		pump(s->other); /* our room may be what it waited for */
}

static bool open_side(struct tp_tunnel *t, struct side *s, struct side *other, struct tp_tunnel_end *end)
{
	s->tunnel = t;
	s->other = other;
	s->out = end->first;
	s->io.fd = -1;
	if (tp_io_open(&s->io, t->worker->base, end->fd, end->ssl, on_event, s) != 0) {
		SSL_free(end->ssl);
		(void)close(end->fd);
		return false;
	}
	s->io.readable = true;
	return true;
}

void tp_tunnel_start(struct tp_worker *w, struct tp_tunnel_end client, struct tp_tunnel_end provider,
		     uint64_t idle_ms)
{
	struct tp_tunnel *t = calloc(1, sizeof *t);
	if (t == NULL) {
		struct tp_tunnel_end *ends[] = {&client, &provider};
		for (size_t i = 0; i < 2; i++) {
			SSL_free(ends[i]->ssl);
			(void)close(ends[i]->fd);
			tp_buf_free(&ends[i]->first);
		}
		return;
	}
	t->worker = w;
	t->idle_ms = idle_ms;
	TAILQ_INSERT_TAIL(&w->tunnels, t, link);
	w->n_tunnels++;
	tp_timer_init(&t->idle, w->base, on_idle, t);
	tp_timer_set(&t->idle, idle_ms);
	bool a = open_side(t, &t->client, &t->provider, &client);
	bool b = open_side(t, &t->provider, &t->client, &provider);
	if (!a || !b || t->client.out.failed || t->provider.out.failed)
		close_tunnel(t, "out of memory", true);
	else if (flush(&t->client) && flush(&t->provider))
		tp_io_again(&t->client.io);
}

void tp_tunnel_close_all(struct tp_worker *w)
{
	struct tp_tunnel *t;
	while ((t = TAILQ_FIRST(&w->tunnels)) != NULL)
		close_tunnel(t, "the worker leaves", true);
}
