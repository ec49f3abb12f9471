#include "workers/acceptor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "workers/client.h"
#include "workers/runtime.h"

enum {
	ACCEPTS_PER_TURN = 64, /* level-triggered: what is left comes back */
	RETRY_MS = 100,        /* descriptors are short: the listener rests, connections wait in its queue */
	TELL_AGAIN_MS = 10000, /* how often that is worth a line */
	OTHER_FILES = 48       /* descriptors that belong neither to clients nor to providers */
};

struct listening {
	struct tp_acceptor *of;
	struct tp_worker_listener socket;
	struct tp_runtime *last; /* its listener is gone: the generation it belongs to; else NULL */
	struct event event;
	bool serving;
};

struct tp_acceptor {
	struct tp_worker *worker;
	struct tp_timer retry;
	bool resting, closed;
	uint64_t told_ms; /* of the last warning */
	unsigned most;    /* clients at once */
	size_t n;
	struct listening **list; /* with room for those that come */
	size_t n_coming;
	struct listening **coming; /* a reload brings them: not served yet */
};

/* `why` NULL: nothing to tell. */
static void rest(struct tp_acceptor *a, const char *why)
{
	if (a->resting)
		return;
	uint64_t now = tp_clock_boot_ms();
	if (why != NULL && (a->told_ms == 0 || now - a->told_ms >= TELL_AGAIN_MS)) {
		tp_warn("not accepting for a moment: %s", why);
		a->told_ms = now;
	}
	a->resting = true;
	for (size_t i = 0; i < a->n; i++)
		(void)event_del(&a->list[i]->event);
	tp_timer_set(&a->retry, RETRY_MS);
}

static void resume(struct tp_acceptor *a)
{
	a->resting = false;
	tp_timer_clear(&a->retry);
	for (size_t i = 0; i < a->n; i++)
		if (a->list[i]->serving)
			(void)event_add(&a->list[i]->event, NULL);
}

static void on_retry(void *arg)
{
	resume(arg);
}

/* A quarter of the descriptors is left to providers: clients that only hold their connections open must not
 * keep the others from being served. */
static unsigned clients_share(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= UINT_MAX)
		return UINT_MAX;
	unsigned usable =
		files.rlim_cur > 2 * OTHER_FILES ? (unsigned)files.rlim_cur - OTHER_FILES : OTHER_FILES;
	return usable - usable / 4;
}

static unsigned most_clients(const struct tp_config *c)
{
	unsigned share = clients_share();
	return c->limits.connections != 0 && c->limits.connections < share ? c->limits.connections : share;
}

/* Who was let into a tunnel holds his connection as before. */
static bool full(const struct tp_acceptor *a)
{
	return a->worker->n_clients + a->worker->n_tunnels >= a->most;
}

/* False when the queue is empty or nothing can be taken now. */
static bool take_one(struct listening *l)
{
	struct tp_acceptor *a = l->of;
	int fd = accept4(l->socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		tp_client_new(l->last != NULL ? l->last : a->worker->runtime, l->socket.conf, fd);
		return true;
	}
	switch (errno) {
	case EAGAIN: return false;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM: rest(a, strerror(errno)); return false;
	case EINVAL: rest(a, NULL); return false; /* it does not listen yet: see server/succession.c */
	case EBADF:
	case EOPNOTSUPP: return false;
	default: return true; /* this connection died in the queue (ECONNABORTED and the like) */
	}
}

static bool accept_one(struct listening *l)
{
	struct tp_acceptor *a = l->of;
	if (!full(a))
		return take_one(l);
	rest(a, a->most == a->worker->config->limits.connections
			? "limits.connections is reached"
			: "clients hold three quarters of the descriptors this process may open");
	return false;
}

static void on_queue(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	for (int i = 0; i < ACCEPTS_PER_TURN && accept_one(arg); i++)
		;
}

static void set_serving(struct listening *l, bool serve)
{
	if (l->serving == serve)
		return;
	l->serving = serve;
	if (serve && !l->of->resting)
		(void)event_add(&l->event, NULL);
	else
		(void)event_del(&l->event);
}

static bool grow(struct listening ***list, size_t n)
{
	struct listening **more = reallocarray(*list, n, sizeof(struct listening *));
	*list = more != NULL ? more : *list;
	return more != NULL;
}

bool tp_acceptor_bring(struct tp_acceptor *a, const struct tp_worker_listener *socket)
{
	struct listening *l = calloc(1, sizeof *l);
	if (l == NULL || !grow(&a->coming, a->n_coming + 1) || !grow(&a->list, a->n + a->n_coming + 1)) {
		free(l);
		(void)close(socket->fd);
		return false;
	}
	l->of = a;
	l->socket = *socket;
	(void)event_assign(&l->event, a->worker->base, l->socket.fd, EV_READ | EV_PERSIST, on_queue, l);
	a->coming[a->n_coming++] = l;
	return true;
}

void tp_acceptor_drop_brought(struct tp_acceptor *a)
{
	for (size_t i = 0; i < a->n_coming; i++) {
		(void)close(a->coming[i]->socket.fd);
		free(a->coming[i]);
	}
	a->n_coming = 0;
	free(a->coming);
	a->coming = NULL;
}

/* Serves those that are its own, and shared ones. */
static void take_in(struct tp_acceptor *a)
{
	for (size_t i = 0; i < a->n_coming; i++) {
		struct listening *l = a->coming[i];
		a->list[a->n++] = l;
		if (l->socket.slot < 0 || l->socket.slot == a->worker->stamp.slot)
			set_serving(l, true);
	}
	a->n_coming = 0;
	tp_acceptor_drop_brought(a);
}

struct tp_acceptor *tp_acceptor_new(struct tp_worker *w, const struct tp_worker_listener *listeners, size_t n)
{
	struct tp_acceptor *a = calloc(1, sizeof *a);
	if (a == NULL)
		return NULL;
	a->worker = w;
	a->most = most_clients(w->config);
	tp_timer_init(&a->retry, w->base, on_retry, a);
	for (size_t i = 0; i < n; i++)
		if (!tp_acceptor_bring(a, &listeners[i])) {
			tp_acceptor_free(a);
			return NULL;
		}
	take_in(a);
	return a;
}

void tp_acceptor_serve(struct tp_acceptor *a, unsigned slot, bool serve)
{
	for (size_t i = 0; i < a->n && !a->closed; i++)
		if (a->list[i]->socket.slot == (int)slot && slot != a->worker->stamp.slot)
			set_serving(a->list[i], serve);
}

/* ---- the end of sockets */

/* Takes what is queued if it is served, and closes this process's copy.  A rest and limits.connections count
 * no more, as what stays in the queue is reset; the providers' share does: turns may have to send again. */
static void close_one(struct listening *l)
{
	const unsigned most = clients_share();
	while (l->serving && l->of->worker->n_clients + l->of->worker->n_tunnels < most && take_one(l))
		;
	set_serving(l, false);
	(void)event_del(&l->event);
	(void)close(l->socket.fd);
}

static void drop(struct tp_acceptor *a, size_t i)
{
	struct listening *l = a->list[i];
	close_one(l);
	a->list[i] = a->list[--a->n];
	tp_runtime_unref(l->last);
	tp_worker_park(a->worker, l);
}

void tp_acceptor_close_gone(struct tp_acceptor *a)
{
	for (size_t i = a->n; i-- > 0;)
		if (a->list[i]->last != NULL && !a->closed)
			drop(a, i);
}

void tp_acceptor_forget(struct tp_acceptor *a, unsigned slot)
{
	for (size_t i = a->n; i-- > 0;)
		if (a->list[i]->socket.slot == (int)slot && !a->closed)
			drop(a, i);
}

void tp_acceptor_close(struct tp_acceptor *a)
{
	if (a->closed)
		return;
	a->closed = true;
	for (size_t i = 0; i < a->n; i++)
		close_one(a->list[i]);
	tp_timer_close(&a->retry);
}

/* ---- a reload */

static long find_conf(const struct tp_config *c, const char *address)
{
	for (size_t i = 0; i < c->n_listeners; i++)
		if (strcmp(c->listeners[i].address, address) == 0)
			return (long)i;
	return -1;
}

void tp_acceptor_switch(struct tp_acceptor *a, const struct tp_runtime *next)
{
	struct tp_runtime *now = a->worker->runtime;
	for (size_t i = 0; i < a->n; i++) {
		struct listening *l = a->list[i];
		if (l->last != NULL)
			continue;
		long at = find_conf(next->config, now->config->listeners[l->socket.conf].address);
		if (at >= 0)
			l->socket.conf = (size_t)at;
		else
			l->last = tp_runtime_ref(now);
	}
	take_in(a);
	a->most = most_clients(next->config);
}

void tp_acceptor_room(struct tp_acceptor *a)
{
	if (a->resting && !a->closed && !full(a))
		resume(a);
}

void tp_acceptor_free(struct tp_acceptor *a)
{
	if (a == NULL)
		return;
	tp_acceptor_drop_brought(a);
	for (size_t i = 0; i < a->n; i++) {
		(void)event_del(&a->list[i]->event);
		tp_runtime_unref(a->list[i]->last);
		free(a->list[i]);
	}
	tp_timer_close(&a->retry);
	free(a->list);
	free(a);
}
