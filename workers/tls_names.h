/*
 * Several certificates on one listener, chosen by the server name that the client asks for (SNI).  Which
 * names a certificate is for stands in it: its alternative names.
 */
#ifndef TP_WORKERS_TLS_NAMES_H
#define TP_WORKERS_TLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/ssl.h>

/*
 * Adds a context of another certificate to that of the listener, set up alike; it is `ctx`'s then, also on
 * failure.  The first that names the server is used, exact names before wildcards, `ctx` itself being the
 * first; without a match it is `ctx`.  False: out of memory.
 */
bool tp_tls_names_add(SSL_CTX *ctx, SSL_CTX *more);

#endif
