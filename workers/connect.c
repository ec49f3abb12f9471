#include "workers/connect.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "workers/egress.h"
#include "workers/io.h"
#include "workers/proxy_tunnel.h"
#include "workers/resolve.h"
#include "workers/timer.h"
#include "workers/tls.h"
#include "workers/tls_sessions.h"

enum { RACE_STEP_MS = 250 }; /* RFC 8305 section 5 */

enum connect_state {
	CONNECT_NAME,   /* waiting for addresses */
	CONNECT_RACE,   /* sockets are connecting */
	CONNECT_TUNNEL, /* one socket won; the proxy is asked for a tunnel */
	CONNECT_TLS,    /* handshake with the provider */
	CONNECT_OVER    /* told or cancelled; parked */
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
	uint8_t ways[TP_EGRESS_MAX]; /* in the order in which they are tried */
	unsigned n_ways, at;
	uint64_t deadline_ms;
	struct tp_resolve_query *query;
	struct tp_addresses addresses;
	struct racer racers[TP_ADDRESSES_MAX];
	size_t next, open; /* next address to start; sockets still connecting */
	int last_errno;
	struct event step;     /* starts the next address, or tells an early end from the loop */
	struct tp_timer limit; /* of the present way; for the last one timeouts.connect */
	struct tp_proxy_tunnel tunnel;
	struct tp_io io;     /* during the handshake */
	const char *early;   /* failed before the loop was reached */
	enum tp_cause cause; /* of the failure that counts so far */
	char why[200];
};

static const struct tp_egress_conf *egress(const struct tp_connecting *c)
{
	return &c->provider->conf->egress[c->ways[c->at]];
}

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

/* What the present way has open. */
static void close_way(struct tp_connecting *c)
{
	tp_resolve_cancel(c->query);
	c->query = NULL;
	close_racers(c);
	c->next = 0;
	(void)event_del(&c->step);
	tp_proxy_tunnel_close(&c->tunnel);
	tp_io_close(&c->io, false, false);
}

/* ---- the end, of all and of one way */

/* The one way out: everything is released, then the result is told. */
static void finish(struct tp_connecting *c, const struct tp_connected *result)
{
	tp_connected_fn *fn = c->fn;
	void *arg = c->arg;
	tp_connect_cancel(c);
	fn(arg, result);
}

static void finish_connected(struct tp_connecting *c, int fd, SSL *ssl)
{
	unsigned way = c->ways[c->at];
	/* Of a proxy without a tunnel nothing is known before it has passed a request on. */
	if (tp_egress_addressed(c->provider->conf, way) == NULL)
		tp_egress_worked(c->provider, way);
	finish(c, &(struct tp_connected){.fd = fd, .ssl = ssl, .way = way, .cause = TP_CAUSE_ANSWER});
}

static void finish_failed(struct tp_connecting *c, enum tp_cause cause, const char *why)
{
	finish(c, &(struct tp_connected){.fd = -1, .cause = cause, .why = why});
}

static void begin_way(struct tp_connecting *c);

/* A proxy stands for itself until its tunnel is open. A failure of the provider is kept whatever fails behind
 * it: it is what the blacklist is to hear. */
static void note_failure(struct tp_connecting *c, enum tp_cause cause, const char *why)
{
	bool proxy = egress(c)->host != NULL;
	if (c->at > 0 && c->cause != TP_CAUSE_EGRESS)
		return;
	c->cause = proxy && c->state != CONNECT_TLS ? TP_CAUSE_EGRESS : cause;
	if (proxy)
		(void)snprintf(c->why, sizeof c->why, "via %s: %s", egress(c)->address, why);
	else
		(void)snprintf(c->why, sizeof c->why, "%s", why);
}

static void fail_way(struct tp_connecting *c, enum tp_cause cause, const char *why)
{
	note_failure(c, cause, why);
	if (c->state == CONNECT_TLS)
		tp_tls_sessions_forget(c->provider->tls);
	tp_egress_failed(c->provider, c->ways[c->at], why);
	if (c->at + 1 == c->n_ways || tp_clock_boot_ms() >= c->deadline_ms) {
		finish_failed(c, c->cause, c->why);
		return;
	}
	close_way(c);
	c->at++;
	begin_way(c);
}

/* No address took us. Want of descriptors or memory is our own trouble and no other way would help. */
static void fail_addresses(struct tp_connecting *c)
{
	int e = c->last_errno != 0 ? c->last_errno : EHOSTUNREACH;
	if (e == EMFILE || e == ENFILE || e == ENOBUFS || e == ENOMEM)
		finish_failed(c, TP_CAUSE_LOCAL,
			      e == EMFILE || e == ENFILE ? "out of descriptors" : "out of memory");
	else
		fail_way(c, TP_CAUSE_REFUSED, strerror(e));
}

static void on_limit(void *arg)
{
	struct tp_connecting *c = arg;
	switch (c->state) {
	case CONNECT_NAME: fail_way(c, TP_CAUSE_DNS, "no name server answered in time"); break;
	case CONNECT_TUNNEL: fail_way(c, TP_CAUSE_EGRESS, "no answer to CONNECT in time"); break;
	case CONNECT_TLS: fail_way(c, TP_CAUSE_TLS, "the TLS handshake took too long"); break;
	default: fail_way(c, TP_CAUSE_CONNECT_TIMEOUT, "connecting took too long"); break;
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
		fail_way(c, TP_CAUSE_TLS, why);
		return;
	}
	tp_worker_count(c->provider->worker, TP_COUNT_PROVIDER_TLS);
	if (SSL_session_reused(c->io.ssl) == 1)
		tp_worker_count(c->provider->worker, TP_COUNT_PROVIDER_TLS_RESUMED);
	SSL *ssl;
	int done = tp_io_release(&c->io, &ssl);
	finish_connected(c, done, ssl);
}

static void begin_tls(struct tp_connecting *c, int fd)
{
	c->state = CONNECT_TLS;
	SSL *ssl = tp_tls_connect(c->provider->tls, c->provider->conf, fd);
	if (ssl == NULL || tp_io_open(&c->io, c->provider->worker->base, fd, ssl, on_handshake, c) != 0) {
		SSL_free(ssl);
		(void)close(fd);
		finish_failed(c, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	on_handshake(fd, 0, c);
}

/* ---- the tunnel */

static void on_tunnel(void *arg, const char *why)
{
	struct tp_connecting *c = arg;
	if (why != NULL)
		fail_way(c, TP_CAUSE_EGRESS, why);
	else
		begin_tls(c, tp_proxy_tunnel_release(&c->tunnel));
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
		finish_connected(c, fd, NULL);
	} else if (egress(c)->host == NULL) {
		begin_tls(c, fd);
	} else {
		c->state = CONNECT_TUNNEL;
		if (!tp_proxy_tunnel_start(&c->tunnel, fd, egress(c), c->provider->conf))
			finish_failed(c, TP_CAUSE_LOCAL, "out of memory");
	}
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
	(void)event_assign(&r->event, c->provider->worker->base, fd, EV_WRITE, on_racer, r);
	if (event_add(&r->event, NULL) != 0) {
		c->last_errno = ENOMEM;
		(void)close(fd);
		return false;
	}
	r->fd = fd;
	c->open++;
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
		fail_addresses(c);
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	struct tp_connecting *c = arg;
	if (c->early != NULL)
		fail_way(c, TP_CAUSE_DNS, c->early);
	else
		start_next(c);
}

/* ---- the name */

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

/* An equal part of the time that is left, so that a way that swallows packets does not use up that of the
 * others. */
static void begin_way(struct tp_connecting *c)
{
	uint64_t now = tp_clock_boot_ms();
	uint64_t left = c->deadline_ms > now ? c->deadline_ms - now : 0;
	const struct tp_provider_conf *p = c->provider->conf;
	const struct tp_egress_conf *e = egress(c);
	bool proxy = e->host != NULL;
	c->state = CONNECT_NAME;
	c->last_errno = 0;
	tp_timer_set(&c->limit, left / (c->n_ways - c->at));
	c->query = tp_resolve(c->provider->worker->resolver, proxy ? e->host : p->host,
			      proxy ? e->port : p->port, on_addresses, c);
}

struct tp_connecting *tp_connect_start(struct tp_provider_rt *provider, unsigned tried, tp_connected_fn *fn,
				       void *arg)
{
	struct tp_worker *w = provider->worker;
	struct tp_connecting *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->provider = provider;
	c->fn = fn;
	c->arg = arg;
	c->io.fd = -1;
	c->n_ways = tp_egress_plan(provider, tried, c->ways);
	c->deadline_ms = tp_clock_boot_ms() + provider->conf->connect_ms;
	(void)evtimer_assign(&c->step, w->base, on_step, c);
	tp_timer_init(&c->limit, w->base, on_limit, c);
	tp_proxy_tunnel_init(&c->tunnel, w, on_tunnel, c);
	begin_way(c);
	return c;
}

void tp_connect_cancel(struct tp_connecting *c)
{
	if (c == NULL || c->state == CONNECT_OVER)
		return;
	c->state = CONNECT_OVER;
	close_way(c);
	tp_timer_close(&c->limit);
	tp_worker_park(c->provider->worker, c);
}
