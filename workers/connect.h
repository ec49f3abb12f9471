/*
 * A new connection to a provider by one of its ways out (egress.h), one after the other until one works:
 * name, addresses raced 250 ms apart (RFC 8305), tunnel, TLS handshake; all of it within timeouts.connect
 * (design section 9), of which each way gets an equal part of what is left.  Not one byte of a request is
 * written here, so every failure of it is `not_processed`.
 */
#ifndef TP_WORKERS_CONNECT_H
#define TP_WORKERS_CONNECT_H

#include <openssl/ssl.h>

#include "common/retry/model.h"
#include "workers/core.h"

struct tp_connecting;

struct tp_connected {
	int fd;       /* -1 = failed; else the callee's now */
	SSL *ssl;     /* bound to fd, handshake done; NULL for http */
	unsigned way; /* index in conf->egress */
	/* Failed. Of several ways the first failure that speaks about the provider: TP_CAUSE_EGRESS when
	 * there were proxies only, and none could be used. */
	enum tp_cause cause;
	const char *why; /* in words; valid inside the call */
};

typedef void tp_connected_fn(void *arg, const struct tp_connected *result);

/* fn is called once from the loop, never from inside this call. `tried`: ways that are not to be used, at
 * most all but one. NULL when out of memory. */
struct tp_connecting *tp_connect_start(struct tp_provider_rt *provider, unsigned tried, tp_connected_fn *fn,
				       void *arg);
/* fn will not be called; NULL is ignored. */
void tp_connect_cancel(struct tp_connecting *c);

#endif
