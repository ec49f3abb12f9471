/*
 * TLS contexts (OpenSSL 3): TLS 1.2 and up, ALPN http/1.1, certificates of providers verified, those of
 * clients where client_ca is set; sessions are resumed (tls_sessions.h), certificates chosen by name
 * (tls_names.h).
 */
#ifndef TP_WORKERS_TLS_H
#define TP_WORKERS_TLS_H

#include <openssl/ssl.h>

#include "common/base/buf.h"
#include "common/config/config.h"
#include "common/config/files.h"

/* Context of a listener with its certificates, out of the files that the configuration has read: what the
 * disk holds by now is another matter. NULL on failure, with a line in `why`. Freed by SSL_CTX_free(). */
SSL_CTX *tp_tls_listener(const struct tp_listener_conf *conf, const struct tp_files *files,
			 struct tp_buf *why);
/* Context for a provider: verification on unless configured off. NULL on failure, with a line in `why`. */
SSL_CTX *tp_tls_provider(const struct tp_provider_conf *conf, const struct tp_files *files,
			 struct tp_buf *why);
/* Can all contexts of a configuration be made? Else a line in `why`. */
bool tp_tls_check(const struct tp_config *c, struct tp_buf *why);
/* A client-side connection to the provider over fd: SNI and the name to verify are set, and a
 * session of before if there is one. NULL when out of
 * memory. */
SSL *tp_tls_connect(SSL_CTX *ctx, const struct tp_provider_conf *conf, int fd);
/* A server-side connection over fd. NULL when out of memory. */
SSL *tp_tls_accept(SSL_CTX *ctx, int fd);
/* Text of what failed last on `ssl` (verification first), for the log; written to out[size]. */
void tp_tls_why(SSL *ssl, char *out, size_t size);

#endif
