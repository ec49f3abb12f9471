#include "workers/upstream.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "workers/egress.h"
#include "workers/refresher.h"
#include "workers/runtime.h"

/* A connection that idled for longer is asked for its end before use: its FIN may wait behind us in this loop
 * turn. */
enum { PEEK_AFTER_MS = 20 };

static void leave_idle(struct tp_upstream *u)
{
	struct tp_provider_rt *p = u->provider;
	TAILQ_REMOVE(&p->idle, u, link);
	u->idle = false;
	p->n_idle--;
	tp_worker_gauge(p->worker, TP_GAUGE_POOLED, -1);
}

/* Nothing to read and no end: the only state in which a kept connection may be used. (Under TLS session
 * tickets may come at any time; reading swallows them.) */
static bool still_quiet(struct tp_upstream *u)
{
	char one;
	return tp_io_read(&u->io, &one, 1) == -EAGAIN;
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct tp_upstream *u = arg;
	tp_io_note(&u->io, what);
	if (u->calls != NULL) {
		u->calls->on_event(fd, what, u->user);
		return;
	}
	if (u->io.readable && !still_quiet(u))
		tp_upstream_close(u, "closed by the provider, or unasked bytes, while idle");
}

static void on_timer(void *arg)
{
	struct tp_upstream *u = arg;
	if (u->calls != NULL)
		u->calls->on_timeout(u->user);
}

struct tp_upstream *tp_upstream_new(struct tp_provider_rt *p, int fd, SSL *ssl, unsigned way,
				    const struct tp_upstream_user *calls, void *user)
{
	struct tp_upstream *u = calloc(1, sizeof *u);
	if (u == NULL || tp_io_open(&u->io, p->worker->base, fd, ssl, on_event, u) != 0) {
		free(u);
		SSL_free(ssl);
		(void)close(fd);
		return NULL;
	}
	u->provider = p;
	u->way = way;
	tp_timer_init(&u->timer, p->worker->base, on_timer, u);
	u->calls = calls;
	u->user = user;
	return u;
}

struct tp_upstream *tp_upstream_take(struct tp_provider_rt *p, const struct tp_upstream_user *calls,
				     void *user)
{
	if (TAILQ_EMPTY(&p->idle))
		return NULL;
	uint64_t now = tp_clock_boot_ms();
	unsigned best = tp_egress_first(p);
	struct tp_upstream *u, *next;
	for (u = TAILQ_FIRST(&p->idle); u != NULL; u = next) {
		next = TAILQ_NEXT(u, link);
		if (u->way > best) {
			continue;
		} else if (u->io.hup || now >= u->idle_until_ms) {
			tp_upstream_close(u, "its time is over");
		} else if (now - u->idle_since_ms >= PEEK_AFTER_MS && !still_quiet(u)) {
			tp_upstream_close(u, "found closed before use");
		} else {
			leave_idle(u);
			u->calls = calls;
			u->user = user;
			u->reused = true;
			return u;
		}
	}
	return NULL;
}

/* The oldest stand at the end of the list; one event per provider watches over them. */
static void plan_sweep(struct tp_provider_rt *p, uint64_t now)
{
	struct tp_upstream *oldest = TAILQ_LAST(&p->idle, tp_upstream_list);
	if (p->sweeping || oldest == NULL)
		return;
	uint64_t ms = oldest->idle_until_ms > now ? oldest->idle_until_ms - now : 0;
	struct timeval tv = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
	p->sweeping = event_add(&p->sweep, &tv) == 0;
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	struct tp_provider_rt *p = arg;
	uint64_t now = tp_clock_boot_ms();
	p->sweeping = false;
	struct tp_upstream *u, *previous;
	for (u = TAILQ_LAST(&p->idle, tp_upstream_list); u != NULL; u = previous) {
		previous = TAILQ_PREV(u, tp_upstream_list, link);
		if (u->idle_until_ms <= now)
			tp_upstream_close(u, "idle for too long");
	}
	plan_sweep(p, now);
}

void tp_upstream_give(struct tp_upstream *u, uint64_t keep_ms)
{
	struct tp_provider_rt *p = u->provider;
	u->calls = NULL;
	tp_timer_clear(&u->timer);
	u->user = NULL;
	if (keep_ms == 0 || p->runtime->retired || p->n_idle >= p->conf->keepalive_max || u->io.hup ||
	    (u->io.readable && !still_quiet(u))) {
		tp_upstream_close(u, "not kept");
		return;
	}
	uint64_t now = tp_clock_boot_ms();
	u->idle_since_ms = now;
	u->idle_until_ms = now + keep_ms;
	u->idle = true;
	TAILQ_INSERT_HEAD(&p->idle, u, link);
	p->n_idle++;
	tp_worker_gauge(p->worker, TP_GAUGE_POOLED, 1);
	plan_sweep(p, now);
}

int tp_upstream_detach(struct tp_upstream *u, SSL **ret_ssl)
{
	int fd = tp_io_release(&u->io, ret_ssl);
	tp_timer_close(&u->timer);
	tp_worker_park(u->provider->worker, u);
	return fd;
}

void tp_upstream_close(struct tp_upstream *u, const char *why)
{
	if (u == NULL || u->io.fd < 0)
		return;
	if (u->idle)
		leave_idle(u);
	tp_debug("provider %s: connection closed: %s", u->provider->conf->name, why);
	tp_timer_close(&u->timer);
	tp_io_close(&u->io, true, false);
	tp_worker_park(u->provider->worker, u);
}

void tp_provider_rt_init(struct tp_provider_rt *p, struct tp_runtime *r, const struct tp_provider_conf *conf)
{
	struct tp_worker *w = r->worker;
	*p = (struct tp_provider_rt){
		.worker = w,
		.runtime = r,
		.conf = conf,
		.long_waits = tp_streak_open(w->region, tp_str_from(conf->name)),
		.gate = TP_GATE_NONE,
	};
	if (conf->capacity_limit != TP_LIMIT_OFF)
		p->gate = tp_gate_open(w->region, tp_str_from(conf->name));
	TAILQ_INIT(&p->idle);
	(void)evtimer_assign(&p->sweep, w->base, on_sweep, p);
}

void tp_provider_rt_move(struct tp_provider_rt *from, struct tp_provider_rt *to)
{
	struct tp_upstream *u;
	while ((u = TAILQ_FIRST(&from->idle)) != NULL && to->n_idle < to->conf->keepalive_max) {
		TAILQ_REMOVE(&from->idle, u, link);
		from->n_idle--;
		u->provider = to;
		TAILQ_INSERT_TAIL(&to->idle, u, link);
		to->n_idle++;
	}
	plan_sweep(to, tp_clock_boot_ms());
}

void tp_provider_rt_rest(struct tp_provider_rt *p)
{
	struct tp_upstream *u;
	while ((u = TAILQ_FIRST(&p->idle)) != NULL)
		tp_upstream_close(u, "its configuration has ended");
	(void)event_del(&p->sweep);
	p->sweeping = false;
}

void tp_provider_rt_close(struct tp_provider_rt *p)
{
	tp_provider_rt_rest(p);
	tp_refresher_free(p->refresher);
	p->refresher = NULL;
	SSL_CTX_free(p->tls);
	p->tls = NULL;
}
