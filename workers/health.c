#include "workers/health.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/breaker.h"
#include "common/shm/marks.h"
#include "workers/connect.h"
#include "workers/credential.h"
#include "workers/egress.h"
#include "workers/observe.h"
#include "workers/refresh.h"
#include "workers/runtime.h"
#include "workers/upstream.h"
#include "workers/upstream_head.h"

enum { TICK_S = 1, CHECK_EVERY_MS = 5000, ANSWER_MS = 10000, STATUS_LINE = sizeof "HTTP/1.1 200" - 1 };

/* What a check is made for. */
enum check_kind {
	CHECK_NONE,
	CHECK_CONNECT, /* the base is listed: can it be reached? */
	CHECK_HEALTH,  /* a URL is listed: does health.path answer 200? */
	CHECK_START    /* at start, only told: health.path, without one whether it can be reached */
};

/* One provider's; one check at a time. */
struct check {
	struct tp_provider_rt *provider;
	struct tp_hash128 base;
	enum check_kind kind; /* of the check under way */
	struct tp_connecting *connecting;
	struct tp_upstream *up;
	struct tp_buf out;
	char line[STATUS_LINE];
	size_t have;
};

struct tp_health {
	struct tp_runtime *runtime;
	struct event tick;
	struct check *checks; /* one per provider */
};

/* ---- the end of a check */

static void rest(struct check *c, const char *why)
{
	tp_connect_cancel(c->connecting);
	c->connecting = NULL;
	tp_upstream_close(c->up, why);
	c->up = NULL;
	tp_buf_free(&c->out);
	c->have = 0;
	c->kind = CHECK_NONE;
}

static void tell_start(const struct tp_provider_conf *p, const char *why)
{
	if (p->health_path != NULL)
		tp_warn("provider %s: its health path %s does not answer 200: %s; "
			"requests are sent to it all the same",
			p->name, p->health_path, why);
	else
		tp_warn("provider %s: endpoint unreachable: check URL and network (tried %s: %s); "
			"requests are sent to it all the same",
			p->name, p->base, why);
}

static void failed(struct check *c, const char *why)
{
	const struct tp_provider_conf *p = c->provider->conf;
	if (c->kind == CHECK_START) {
		tp_observe_check(c->provider, false, why);
		tell_start(p, why);
	} else {
		tp_debug("provider %s: stays blacklisted: %s", p->name, why);
	}
	rest(c, why);
}

static void passed(struct check *c)
{
	struct tp_region *r = c->provider->worker->region;
	const struct tp_provider_conf *p = c->provider->conf;
	uint32_t ended = c->kind == CHECK_CONNECT  ? tp_breaker_clear_connection(r, c->base)
			 : c->kind == CHECK_HEALTH ? tp_breaker_clear_status(r, c->base)
						   : 0;
	if (ended > 0)
		tp_info("provider %s: %s is not blacklisted any more: %s", p->name, p->base,
			c->kind == CHECK_CONNECT ? "it can be reached again" : "its health path answers 200");
	if (c->kind == CHECK_START)
		tp_observe_check(c->provider, true,
				 p->health_path != NULL                       ? "its health path answers 200"
				 : tp_egress_addressed(p, c->up->way) != NULL ? "its proxy can be reached"
									      : "it can be reached");
	rest(c, "checked");
}

/* ---- GET health.path */

static void judge(struct check *c)
{
	char why[64];
	if (memcmp(c->line, "HTTP/1.", 7) != 0) {
		failed(c, "what came is no HTTP answer");
	} else if (memcmp(c->line + 8, " 200", 4) != 0) {
		(void)snprintf(why, sizeof why, "it answered%.4s", c->line + 8);
		failed(c, why);
	} else {
		passed(c);
	}
}

static void read_answer(struct check *c)
{
	while (c->have < STATUS_LINE) {
		ssize_t n = tp_io_read(&c->up->io, c->line + c->have, STATUS_LINE - c->have);
		if (n == -EAGAIN)
			return;
		if (n <= 0) {
			failed(c, "the connection ended before its answer");
			return;
		}
		c->have += (size_t)n;
	}
	judge(c);
}

static void write_question(struct check *c)
{
	if (tp_io_write_buf(&c->up->io, &c->out) < 0)
		failed(c, "the connection broke");
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct check *c = arg;
	(void)fd;
	if ((what & (EV_READ | EV_CLOSED)) != 0)
		read_answer(c);
	if (c->up != NULL && (what & EV_WRITE) != 0)
		write_question(c);
}

static void on_timeout(void *arg)
{
	failed(arg, "no answer in time");
}

static const struct tp_upstream_user calls = {on_event, on_timeout};

static void ask(struct check *c)
{
	const struct tp_provider_conf *p = c->provider->conf;
	const struct tp_egress_conf *proxy = tp_egress_addressed(p, c->up->way);
	tp_buf_add_str(&c->out, TP_STR("GET "));
	tp_egress_target(&c->out, proxy, p);
	tp_buf_printf(&c->out, "%s HTTP/1.1\r\nhost: %s\r\naccept: */*\r\nconnection: close\r\n",
		      p->health_path, p->authority);
	tp_egress_credential(&c->out, proxy);
	struct tp_str key = tp_credential_now(NULL, p);
	if (key.n == 0 && c->provider->refresher != NULL)
		key = tp_refresh_current(c->provider->refresher);
	tp_upstream_credential(&c->out, p, TP_FAMILY_PLAIN, key);
	tp_buf_add_str(&c->out, TP_STR("\r\n"));
	if (c->out.failed) {
		failed(c, "out of memory");
		return;
	}
	tp_timer_set(&c->up->timer, p->first_byte_ms < ANSWER_MS ? p->first_byte_ms : ANSWER_MS);
	write_question(c);
}

/* ---- begin */

static void on_connected(void *arg, const struct tp_connected *r)
{
	struct check *c = arg;
	c->connecting = NULL;
	if (r->fd < 0) {
		failed(c, r->why);
		return;
	}
	c->up = tp_upstream_new(c->provider, r->fd, r->ssl, r->way, &calls, c);
	if (c->up == NULL)
		failed(c, "out of memory");
	else if (c->kind != CHECK_CONNECT && c->provider->conf->health_path != NULL)
		ask(c);
	else if (c->kind == CHECK_CONNECT && tp_egress_addressed(c->provider->conf, r->way) != NULL)
		failed(c, "only its proxy was reached, which proves nothing"); /* its probe will tell */
	else
		passed(c);
}

static void begin(struct check *c, enum check_kind kind)
{
	c->kind = kind;
	c->connecting = tp_connect_start(c->provider, 0, on_connected, c);
	if (c->connecting == NULL)
		failed(c, "out of memory");
}

static void look(struct tp_region *r, struct check *c, uint64_t now)
{
	if (c->kind != CHECK_NONE)
		return;
	if (tp_breaker_connect_check_due(r, c->base, CHECK_EVERY_MS, now))
		begin(c, CHECK_CONNECT);
	else if (c->provider->conf->health_path != NULL &&
		 tp_breaker_health_check_due(r, c->base, CHECK_EVERY_MS, now))
		begin(c, CHECK_HEALTH);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct tp_health *h = arg;
	(void)fd;
	(void)what;
	uint64_t now = tp_clock_boot_ms();
	for (size_t i = 0; i < h->runtime->config->n_providers; i++)
		look(h->runtime->worker->region, &h->checks[i], now);
}

/* For one worker since the master began. */
static bool is_first(struct tp_region *r)
{
	uint64_t now = tp_clock_boot_ms(), started = tp_number_get(r, TP_NUMBER_STARTED_MS);
	return tp_mark_due(r, TP_MARK_HEALTH_ASKED, (uint32_t)(now - started) + 1, now);
}

struct tp_health *tp_health_new(struct tp_runtime *r)
{
	struct tp_worker *w = r->worker;
	size_t n = r->config->n_providers;
	struct tp_health *h = calloc(1, sizeof *h);
	if (h == NULL || (h->checks = calloc(n, sizeof *h->checks)) == NULL) {
		free(h);
		return NULL;
	}
	h->runtime = r;
	for (size_t i = 0; i < n; i++) {
		struct check *c = &h->checks[i];
		c->provider = &r->providers[i];
		const struct tp_provider_conf *p = c->provider->conf;
		c->base = tp_breaker_url(w->region, tp_str_from(p->name), tp_str_from(p->base),
					 (struct tp_str){NULL, 0})
				  .base;
	}
	(void)event_assign(&h->tick, w->base, -1, EV_PERSIST, on_tick, h);
	return h;
}

void tp_health_begin(struct tp_health *h)
{
	const struct timeval every = {.tv_sec = TICK_S};
	(void)event_add(&h->tick, &every);
	if (!is_first(h->runtime->worker->region))
		return;
	for (size_t i = 0; i < h->runtime->config->n_providers; i++)
		if (h->checks[i].provider->conf->health_path != NULL || h->runtime->config->ask_at_start)
			begin(&h->checks[i], CHECK_START);
}

void tp_health_free(struct tp_health *h)
{
	if (h == NULL)
		return;
	(void)event_del(&h->tick);
	for (size_t i = 0; i < h->runtime->config->n_providers; i++)
		rest(&h->checks[i], "the worker leaves");
	free(h->checks);
	free(h);
}
