/*
 * Connections to providers that are kept for the next send (design section 7: reuse rules).
 */
#ifndef TP_WORKERS_UPSTREAM_H
#define TP_WORKERS_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "workers/core.h"
#include "workers/io.h"
#include "workers/timer.h"

/* Who has borrowed a connection hears of its events, and of its timer. */
struct tp_upstream_user {
	event_callback_fn on_event; /* arg = user */
	void (*on_timeout)(void *user);
};

/* An open connection: idle in its provider's list, or lent to exactly one user. */
struct tp_upstream {
	TAILQ_ENTRY(tp_upstream) link;
	struct tp_provider_rt *provider;
	struct tp_io io;
	struct tp_timer
		timer; /* the user's: kept with the connection, so that a send on a kept one arms nothing */
	const struct tp_upstream_user *calls; /* NULL while idle */
	void *user;
	uint64_t idle_since_ms, idle_until_ms;
	unsigned way; /* index in conf->egress: how it was made */
	bool idle;    /* in its provider's list */
	bool reused;  /* has served an answer before */
};

/* Takes over fd and ssl, made by this way. NULL when out of memory (then both were closed). */
struct tp_upstream *tp_upstream_new(struct tp_provider_rt *p, int fd, SSL *ssl, unsigned way,
				    const struct tp_upstream_user *calls, void *user);
/* An idle connection that looks alive, lent to `user`; NULL when there is none, or a new one would go a
 * better way out. */
struct tp_upstream *tp_upstream_take(struct tp_provider_rt *p, const struct tp_upstream_user *calls,
				     void *user);
/* Gives it back after a cleanly ended answer; keep_ms bounds how long it may idle (0 = close). */
void tp_upstream_give(struct tp_upstream *u, uint64_t keep_ms);
/* What is lent goes to whoever speaks another protocol over it: fd and *ret_ssl (NULL: plain TCP) are the
 * caller's, the memory is parked. */
int tp_upstream_detach(struct tp_upstream *u, SSL **ret_ssl);
/* Closes it, `why` goes to the debug log; the memory is parked. NULL is ignored. */
void tp_upstream_close(struct tp_upstream *u, const char *why);

/* Enters it into the shared table (waits, gate) and borrows both; `gate` is TP_GATE_NONE where it has no
 * limit, or there is no room. TLS and refresher are the caller's to set. End with tp_provider_rt_close(). */
void tp_provider_rt_init(struct tp_provider_rt *p, struct tp_runtime *r, const struct tp_provider_conf *conf);
/* The idle connections of `from` are `to`'s from now on: the same peer under another configuration. */
void tp_provider_rt_move(struct tp_provider_rt *from, struct tp_provider_rt *to);
/* A later generation serves: closes the idle connections. */
void tp_provider_rt_rest(struct tp_provider_rt *p);
/* The end: nobody refers to it any more. */
void tp_provider_rt_close(struct tp_provider_rt *p);

#endif
