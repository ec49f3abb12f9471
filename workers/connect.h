/*
 * A new connection to a provider: name, addresses raced 250 ms apart (RFC 8305), TLS handshake; all of it
 * within timeouts.connect (design section 9).  Not one byte of a request is written here, so
 * every failure of it is `not_processed`.
 */
#ifndef TP_WORKERS_CONNECT_H
#define TP_WORKERS_CONNECT_H

#include <openssl/ssl.h>

#include "common/retry/model.h"
#include "workers/core.h"

struct tp_connecting;

/*
 * fd >= 0: connected; fd and ssl (NULL for http; bound to fd, handshake done) are the callee's now.
 * fd < 0: `cause` says why and `why` in words (valid inside the call).
 */
typedef void tp_connected_fn(void *arg, int fd, SSL *ssl, enum tp_cause cause, const char *why);

/* fn is called once from the loop, never from inside this call. NULL when out of memory. */
struct tp_connecting *tp_connect_start(struct tp_provider_rt *provider, tp_connected_fn *fn, void *arg);
/* fn will not be called; NULL is ignored. */
void tp_connect_cancel(struct tp_connecting *c);

#endif
