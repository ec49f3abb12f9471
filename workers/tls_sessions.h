/*
 * Resumption of TLS sessions.  Clients: tickets under keys that all workers share
 * (common/base/ticket_keys.h), nothing is kept here.  Providers: what they gave is kept in memory for the
 * next connection of this worker.  Both ways certificates are looked at again 2 hours after the whole
 * handshake, and when that of the peer ends.
 */
#ifndef TP_WORKERS_TLS_SESSIONS_H
#define TP_WORKERS_TLS_SESSIONS_H

#include <stdbool.h>

#include <openssl/ssl.h>

#include "common/base/str.h"

/*
 * Tickets for the clients of a listener.  `policy`: everything that decides who may connect: a ticket that
 * was given under another one is worth nothing.  False: out of memory.
 */
bool tp_tls_sessions_serve(SSL_CTX *ctx, struct tp_str policy);

/* Sessions of a provider are kept with `ctx` and end with it. False: out of memory. */
bool tp_tls_sessions_keep(SSL_CTX *ctx);
/* Sets a kept session on a connection that is about to begin, if there is one: of TLS 1.3 each is used once,
 * so that nobody on the wire can tell that two connections are of one client. */
void tp_tls_sessions_use(SSL *ssl);
/* After a handshake that failed: it may be the session's fault. NULL is ignored. */
void tp_tls_sessions_forget(SSL_CTX *ctx);

#endif
