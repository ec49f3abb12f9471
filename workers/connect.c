#include "workers/connect.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workers/io.h"
#include "workers/resolve.h"
#include "workers/timer.h"
#include "workers/tls.h"

enum { RACE_STEP_MS = 250 }; /* RFC 8305 section 5 */

enum connect_state {
	CONNECT_NAME, /* waiting for addresses */
	CONNECT_RACE, /* sockets are connecting */
	CONNECT_TLS,  /* one socket won; handshake */
	CONNECT_OVER  /* told or cancelled; parked */
};

struct racer {
	struct tp_connecting *of;
	int fd; /* -1 = not started, failed, or handed on */
	struct event event;
};

struct tp_connecting {
	struct tp_provider_rt *provider;
	tp_connected_fn *fn;
	void *arg;
	enum connect_state state;
	struct tp_resolve_query *query;
	struct tp_addresses addresses;
	struct racer racers[TP_ADDRESSES_MAX];
	size_t next, open; /* next address to start; sockets still connecting */
	int last_errno;
	struct event step;     /* starts the next address, or tells an early end from the loop */
	struct tp_timer limit; /* timeouts.connect */
	struct tp_io io;       /* during the handshake */
	const char *early;     /* failed before the loop was reached */
};

static void close_racers(struct tp_connecting *c)
{
	for (size_t i = 0; i < c->next; i++) {
		if (c->racers[i].fd < 0)
			continue;
		(void)event_del(&c->racers[i].event);
		(void)close(c->racers[i].fd);
		c->racers[i].fd = -1;
	}
	c->open = 0;
}

/* The one way out: everything is released, then the result is told. */
static void finish(struct tp_connecting *c, int fd, SSL *ssl, enum tp_cause cause, const char *why)
{
	tp_connected_fn *fn = c->fn;
	void *arg = c->arg;
	tp_connect_cancel(c);
	fn(arg, fd, ssl, cause, why);
}

static void finish_refused(struct tp_connecting *c)
{
	finish(c, -1, NULL, TP_CAUSE_REFUSED, strerror(c->last_errno != 0 ? c->last_errno : EHOSTUNREACH));
}

static void on_limit(void *arg)
{
	struct tp_connecting *c = arg;
	switch (c->state) {
	case CONNECT_NAME: finish(c, -1, NULL, TP_CAUSE_DNS, "no name server answered in time"); break;
	case CONNECT_TLS: finish(c, -1, NULL, TP_CAUSE_TLS, "the TLS handshake took too long"); break;
	default: finish(c, -1, NULL, TP_CAUSE_CONNECT_TIMEOUT, "connecting took too long"); break;
	}
}

/* ---- TLS */

static void on_handshake(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	struct tp_connecting *c = arg;
	tp_io_note(&c->io, what);
	int r = tp_io_handshake(&c->io);
	if (r == -EAGAIN)
		return;
	if (r != 0) {
		char why[160];
		tp_tls_why(c->io.ssl, why, sizeof why);
		finish(c, -1, NULL, TP_CAUSE_TLS, why);
		return;
	}
	SSL *ssl;
	int done = tp_io_release(&c->io, &ssl);
	finish(c, done, ssl, TP_CAUSE_ANSWER, NULL);
}

static void connected(struct tp_connecting *c, struct racer *winner)
{
	int fd = winner->fd;
	(void)event_del(&winner->event);
	winner->fd = -1;
	close_racers(c);
	(void)event_del(&c->step);
	int on = 1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	if (c->provider->tls == NULL) {
		finish(c, fd, NULL, TP_CAUSE_ANSWER, NULL);
		return;
	}
	c->state = CONNECT_TLS;
	SSL *ssl = tp_tls_connect(c->provider->tls, c->provider->conf, fd);
	if (ssl == NULL || tp_io_open(&c->io, c->provider->worker->base, fd, ssl, on_handshake, c) != 0) {
		SSL_free(ssl);
		(void)close(fd);
		finish(c, -1, NULL, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	on_handshake(fd, 0, c);
}

/* ---- the race */

static void start_next(struct tp_connecting *c);

static void on_racer(evutil_socket_t fd, short what, void *arg)
{
	(void)what;
	struct racer *r = arg;
	struct tp_connecting *c = r->of;
	int e = 0;
	socklen_t len = sizeof e;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) != 0)
		e = errno;
	if (e == 0) {
		connected(c, r);
		return;
	}
	c->last_errno = e;
	(void)event_del(&r->event);
	(void)close(r->fd);
	r->fd = -1;
	c->open--;
	start_next(c);
}

/* False when the address failed at once. */
static bool start_one(struct tp_connecting *c, size_t i)
{
	struct racer *r = &c->racers[i];
	const struct tp_address *a = &c->addresses.list[i];
	*r = (struct racer){.of = c, .fd = -1};
	int fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || (connect(fd, (const struct sockaddr *)&a->sa, a->len) != 0 && errno != EINPROGRESS)) {
		c->last_errno = errno;
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	r->fd = fd;
	c->open++;
	(void)event_assign(&r->event, c->provider->worker->base, fd, EV_WRITE, on_racer, r);
	(void)event_add(&r->event, NULL);
	return true;
}

static void start_next(struct tp_connecting *c)
{
	while (c->next < c->addresses.n) {
		if (!start_one(c, c->next++))
			continue;
		struct timeval step = {0, RACE_STEP_MS * 1000};
		if (c->next < c->addresses.n)
			(void)event_add(&c->step, &step);
		return;
	}
	if (c->open == 0)
		finish_refused(c);
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	struct tp_connecting *c = arg;
	if (c->early != NULL)
		finish(c, -1, NULL, TP_CAUSE_DNS, c->early);
	else
		start_next(c);
}

static void on_addresses(void *arg, const struct tp_addresses *addresses, const char *why)
{
	struct tp_connecting *c = arg;
	c->query = NULL;
	c->addresses = *addresses;
	c->early = addresses->n == 0 ? why : NULL;
	c->state = CONNECT_RACE;
	/* From the loop, since a name that is known at once would otherwise call back into our caller. */
	event_active(&c->step, EV_TIMEOUT, 0);
}

struct tp_connecting *tp_connect_start(struct tp_provider_rt *provider, tp_connected_fn *fn, void *arg)
{
	struct tp_worker *w = provider->worker;
	struct tp_connecting *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->provider = provider;
	c->fn = fn;
	c->arg = arg;
	c->io.fd = -1;
	(void)evtimer_assign(&c->step, w->base, on_step, c);
	tp_timer_init(&c->limit, w->base, on_limit, c);
	tp_timer_set(&c->limit, provider->conf->connect_ms);
	c->query = tp_resolve(w->resolver, provider->conf->host, provider->conf->port, on_addresses, c);
	return c;
}

void tp_connect_cancel(struct tp_connecting *c)
{
	if (c == NULL || c->state == CONNECT_OVER)
		return;
	c->state = CONNECT_OVER;
	tp_resolve_cancel(c->query);
	close_racers(c);
	(void)event_del(&c->step);
	tp_timer_close(&c->limit);
	tp_io_close(&c->io, false, false);
	tp_worker_park(c->provider->worker, c);
}
