#include "workers/resolve.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include <ares.h>
#include <event2/event_struct.h>

#include "common/base/clock.h"

enum {
	TTL_MIN_MS = 1000, /* names from /etc/hosts have no TTL: looked at each second */
	TTL_MAX_MS = 300 * 1000,
	TTL_FAILED_MS = 1000, /* a name that failed is not asked again in a tight loop */
	TIMEOUT_MS = 2000,    /* first try of one name server; timeouts.connect bounds the whole */
	FDS_MAX = 16
};

struct tp_resolve_query {
	TAILQ_ENTRY(tp_resolve_query) link;
	uint16_t port;
	tp_resolved_fn *fn; /* NULL = cancelled */
	void *arg;
};

struct name {
	LIST_ENTRY(name) link;
	struct tp_resolver *resolver;
	char *host;
	bool asking;
	uint64_t until_ms;
	struct tp_addresses addresses; /* ports are zero here */
	TAILQ_HEAD(, tp_resolve_query) waiting;
};

struct watched {
	struct tp_resolver *resolver;
	ares_socket_t fd; /* ARES_SOCKET_BAD = free place */
	struct event event;
};

struct tp_resolver {
	struct event_base *base;
	ares_channel channel;
	struct event timer;
	struct watched watched[FDS_MAX];
	LIST_HEAD(, name) names; /* as many as providers: no bound needed */
	struct timespec conf_changed;
	bool processing; /* inside c-ares: the channel must not be exchanged under it */
	bool closing;
};

static const char not_found[] = "the name does not resolve";

/* ---- c-ares under libevent: its sockets and its next timeout */

static void plan_timeout(struct tp_resolver *r)
{
	struct timeval most = {60, 0}, tv;
	if (r->channel == NULL || ares_timeout(r->channel, NULL, &tv) == NULL)
		return;
	struct timeval *next = ares_timeout(r->channel, &most, &tv);
	(void)event_add(&r->timer, next);
}

static void process(struct tp_resolver *r, ares_socket_t readable, ares_socket_t writable)
{
	r->processing = true;
	ares_process_fd(r->channel, readable, writable);
	r->processing = false;
	plan_timeout(r);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	process(arg, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
	struct watched *s = arg;
	process(s->resolver, (what & EV_READ) != 0 ? fd : ARES_SOCKET_BAD,
		(what & EV_WRITE) != 0 ? fd : ARES_SOCKET_BAD);
}

static void on_socket_state(void *arg, ares_socket_t fd, int readable, int writable)
{
	struct tp_resolver *r = arg;
	struct watched *s = NULL;
	for (size_t i = 0; i < FDS_MAX; i++) {
		if (r->watched[i].fd == fd) {
			(void)event_del(&r->watched[i].event);
			r->watched[i].fd = ARES_SOCKET_BAD;
		}
		if (s == NULL && r->watched[i].fd == ARES_SOCKET_BAD)
			s = &r->watched[i];
	}
	if (s == NULL || (readable == 0 && writable == 0))
		return;
	s->fd = fd;
	short what = (short)(EV_PERSIST | (readable != 0 ? EV_READ : 0) | (writable != 0 ? EV_WRITE : 0));
	(void)event_assign(&s->event, r->base, fd, what, on_socket, s);
	(void)event_add(&s->event, NULL);
}

static int open_channel(struct tp_resolver *r)
{
	struct ares_options o = {
		.timeout = TIMEOUT_MS, .tries = 3, .sock_state_cb = on_socket_state, .sock_state_cb_data = r};
	return ares_init_options(&r->channel, &o,
				 ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
}

/* c-ares reads /etc/hosts for each question, but resolv.conf only when its channel is made. */
static void follow_resolv_conf(struct tp_resolver *r)
{
	struct stat st;
	if (r->processing || stat("/etc/resolv.conf", &st) != 0)
		return;
	if (st.st_mtim.tv_sec == r->conf_changed.tv_sec && st.st_mtim.tv_nsec == r->conf_changed.tv_nsec)
		return;
	struct name *n;
	LIST_FOREACH(n, &r->names, link)
	{
		if (n->asking)
			return; /* at the next question: destroying the channel would fail these */
	}
	r->conf_changed = st.st_mtim;
	ares_channel old = r->channel;
	if (open_channel(r) != ARES_SUCCESS) {
		r->channel = old;
		return;
	}
	ares_destroy(old);
}

struct tp_resolver *tp_resolver_new(struct event_base *base)
{
	struct tp_resolver *r = calloc(1, sizeof *r);
	if (r == NULL)
		return NULL;
	r->base = base;
	LIST_INIT(&r->names);
	for (size_t i = 0; i < FDS_MAX; i++)
		r->watched[i] = (struct watched){.resolver = r, .fd = ARES_SOCKET_BAD};
	struct stat st;
	if (stat("/etc/resolv.conf", &st) == 0)
		r->conf_changed = st.st_mtim;
	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS || open_channel(r) != ARES_SUCCESS) {
		free(r);
		return NULL;
	}
	(void)evtimer_assign(&r->timer, base, on_timeout, r);
	return r;
}

void tp_resolver_free(struct tp_resolver *r)
{
	if (r == NULL)
		return;
	r->closing = true;
	ares_destroy(r->channel); /* ends open questions: on_answer sees `closing` */
	r->channel = NULL;
	(void)event_del(&r->timer);
	for (struct name *n = LIST_FIRST(&r->names); n != NULL; n = LIST_FIRST(&r->names)) {
		LIST_REMOVE(n, link);
		for (struct tp_resolve_query *q = TAILQ_FIRST(&n->waiting); q != NULL;
		     q = TAILQ_FIRST(&n->waiting)) {
			TAILQ_REMOVE(&n->waiting, q, link);
			free(q);
		}
		free(n->host);
		free(n);
	}
	ares_library_cleanup();
	free(r);
}

/* ---- names */

static void set_port(struct tp_addresses *a, uint16_t port)
{
	for (size_t i = 0; i < a->n; i++) {
		struct tp_address *x = &a->list[i];
		if (x->sa.ss_family == AF_INET6)
			((struct sockaddr_in6 *)(void *)&x->sa)->sin6_port = htons(port);
		else
			((struct sockaddr_in *)(void *)&x->sa)->sin_port = htons(port);
	}
}

/* Families alternate, so that a broken one costs one step of the race and not all (RFC 8305 section 4). */
static uint64_t take_answer(struct tp_addresses *to, const struct ares_addrinfo *from)
{
	int ttl = INT32_MAX;
	const struct ares_addrinfo_node *at[2] = {from->nodes, from->nodes};
	const int family[2] = {AF_INET6, AF_INET};
	to->n = 0;
	for (int turn = 0; to->n < TP_ADDRESSES_MAX && (at[0] != NULL || at[1] != NULL); turn ^= 1) {
		while (at[turn] != NULL && at[turn]->ai_family != family[turn])
			at[turn] = at[turn]->ai_next;
		const struct ares_addrinfo_node *n = at[turn];
		if (n == NULL)
			continue;
		at[turn] = n->ai_next;
		if (n->ai_addrlen > sizeof to->list[0].sa)
			continue;
		memcpy(&to->list[to->n].sa, n->ai_addr, n->ai_addrlen);
		to->list[to->n++].len = (socklen_t)n->ai_addrlen;
		if (n->ai_ttl < ttl)
			ttl = n->ai_ttl;
	}
	uint64_t ms = ttl > 0 ? (uint64_t)ttl * 1000 : 0;
	return ms < TTL_MIN_MS ? TTL_MIN_MS : ms > TTL_MAX_MS ? TTL_MAX_MS : ms;
}

static void tell(struct tp_resolve_query *q, const struct tp_addresses *addresses)
{
	if (q->fn == NULL)
		return;
	struct tp_addresses with_port = *addresses;
	set_port(&with_port, q->port);
	q->fn(q->arg, &with_port, with_port.n == 0 ? not_found : NULL);
}

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *result)
{
	(void)timeouts;
	struct name *n = arg;
	if (n->resolver->closing) {
		ares_freeaddrinfo(result);
		return;
	}
	uint64_t keep = TTL_FAILED_MS;
	n->addresses.n = 0;
	if (status == ARES_SUCCESS && result != NULL)
		keep = take_answer(&n->addresses, result);
	ares_freeaddrinfo(result);
	n->until_ms = tp_clock_boot_ms() + keep;
	n->asking = false;
	for (struct tp_resolve_query *q = TAILQ_FIRST(&n->waiting); q != NULL; q = TAILQ_FIRST(&n->waiting)) {
		TAILQ_REMOVE(&n->waiting, q, link);
		tell(q, &n->addresses);
		free(q);
	}
}

static struct name *find_name(struct tp_resolver *r, const char *host)
{
	struct name *n;
	LIST_FOREACH(n, &r->names, link)
	{
		if (strcmp(n->host, host) == 0)
			return n;
	}
	n = calloc(1, sizeof *n);
	if (n == NULL || (n->host = strdup(host)) == NULL) {
		free(n);
		return NULL;
	}
	n->resolver = r;
	TAILQ_INIT(&n->waiting);
	LIST_INSERT_HEAD(&r->names, n, link);
	return n;
}

static bool literal(const char *host, struct tp_addresses *to)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&to->list[0].sa;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&to->list[0].sa;
	memset(&to->list[0], 0, sizeof to->list[0]);
	to->n = 1;
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		to->list[0].len = sizeof *v4;
		return true;
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		to->list[0].len = sizeof *v6;
		return true;
	}
	return false;
}

struct tp_resolve_query *tp_resolve(struct tp_resolver *r, const char *host, uint16_t port,
				    tp_resolved_fn *fn, void *arg)
{
	struct tp_addresses direct;
	if (literal(host, &direct)) {
		set_port(&direct, port);
		fn(arg, &direct, NULL);
		return NULL;
	}
	struct name *n = find_name(r, host);
	struct tp_resolve_query *q = calloc(1, sizeof *q);
	if (n == NULL || q == NULL) {
		free(q);
		fn(arg, &(struct tp_addresses){0}, "out of memory");
		return NULL;
	}
	*q = (struct tp_resolve_query){.port = port, .fn = fn, .arg = arg};
	if (!n->asking && tp_clock_boot_ms() < n->until_ms) {
		tell(q, &n->addresses);
		free(q);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&n->waiting, q, link);
	if (!n->asking) {
		follow_resolv_conf(r);
		n->asking = true;
		struct ares_addrinfo_hints hints = {
			.ai_flags = ARES_AI_NOSORT, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
		ares_getaddrinfo(r->channel, host, NULL, &hints, on_answer, n);
		/* /etc/hosts answers from inside the call: then the query is over already. */
		if (!n->asking)
			return NULL;
		plan_timeout(r);
	}
	return q;
}

void tp_resolve_cancel(struct tp_resolve_query *q)
{
	if (q != NULL)
		q->fn = NULL;
}
