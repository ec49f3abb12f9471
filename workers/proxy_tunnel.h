/*
 * CONNECT (RFC 9110, 9.3.6): asks an HTTP proxy for a tunnel to a provider over a connection that is made.
 * Embedded in its owner, who bounds the time.
 */
#ifndef TP_WORKERS_PROXY_TUNNEL_H
#define TP_WORKERS_PROXY_TUNNEL_H

#include "common/base/buf.h"
#include "workers/core.h"
#include "workers/io.h"

/* why NULL: the tunnel is open, tp_proxy_tunnel_release() gives the socket. Else it failed, why (valid in
 * this call) says how. */
typedef void tp_proxy_tunnel_fn(void *arg, const char *why);

struct tp_proxy_tunnel {
	struct tp_worker *worker;
	tp_proxy_tunnel_fn *fn;
	void *arg;
	struct tp_io io;
	struct tp_buf out, in; /* what is not written yet; the answer's head as far as it came */
	size_t scanned;
};

/* Before all others. */
void tp_proxy_tunnel_init(struct tp_proxy_tunnel *t, struct tp_worker *w, tp_proxy_tunnel_fn *fn, void *arg);
/* Takes fd over and asks; fn is called once, from the loop. False, with fd closed, when out of memory. */
bool tp_proxy_tunnel_start(struct tp_proxy_tunnel *t, int fd, const struct tp_egress_conf *proxy,
			   const struct tp_provider_conf *to);
/* The socket: nothing but the answer was read from it. The tunnel is at rest. */
int tp_proxy_tunnel_release(struct tp_proxy_tunnel *t);
/* Closes what is open; fn will not be called. Idempotent; may be started again. */
void tp_proxy_tunnel_close(struct tp_proxy_tunnel *t);

#endif
