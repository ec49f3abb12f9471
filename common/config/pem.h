/*
 * PEM files as TLS contexts take them: for the check of a configuration, which tells mistakes with their
 * place, and for the contexts that serve.  Content comes from the files that a configuration has read.
 */
#ifndef TP_CONFIG_PEM_H
#define TP_CONFIG_PEM_H

#include <stdbool.h>

#include <openssl/ssl.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* All of them: false = OpenSSL's error queue says why, see tp_pem_why(); on success the queue is empty. */

/* The certificate and those above it, own one first. */
bool tp_pem_use_chain(SSL_CTX *ctx, struct tp_str pem);
/* The private key, which has to fit the certificate in use. Keys under a passphrase are refused. */
bool tp_pem_use_key(SSL_CTX *ctx, struct tp_str pem);
/* Authorities to trust, at least one. Where revocation lists stand beside them, the peer's certificate must
 * be in reach of one, and those above it are looked up where there is one of their issuer. */
bool tp_pem_use_authorities(SSL_CTX *ctx, struct tp_str pem);

/* The last failure in words, valid until the next call of these; empties the queue. */
const char *tp_pem_why(void);

/* Is there a DNS name among the alternative ones of the certificate in use? Clients ask for no others. */
bool tp_pem_names_server(const SSL_CTX *ctx);

#endif
