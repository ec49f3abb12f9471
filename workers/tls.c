#include "workers/tls.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "common/config/pem.h"
#include "workers/tls_names.h"
#include "workers/tls_sessions.h"

static const unsigned char alpn_http11[] = "\x08http/1.1";

/* Of TLS 1.2: forward secret and authenticated encryption only. TLS 1.3 has no others. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20";

static SSL_CTX *new_context(const SSL_METHOD *method)
{
	SSL_CTX *ctx = SSL_CTX_new(method);
	if (ctx == NULL)
		return NULL;
	(void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	(void)SSL_CTX_set_cipher_list(ctx, ciphers);
	/* Buffers are given back while a connection is idle; a write may be resumed from another address. */
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
					    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	(void)SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY); /* see tls_read() of workers/io.c */
	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	return ctx;
}

/* Only http/1.1 is spoken: Codex offers h2 first and must be told. */
static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
		       unsigned in_len, void *arg)
{
	(void)ssl;
	(void)arg;
	unsigned char *picked = NULL;
	if (SSL_select_next_proto(&picked, out_len, alpn_http11, sizeof alpn_http11 - 1, in, in_len) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = picked;
	return SSL_TLSEXT_ERR_OK;
}

/* `ret_name`: the file that is at fault when it fails. */
static bool use_own(SSL_CTX *ctx, const struct tp_certificate_conf *own, const struct tp_files *files,
		    const char **ret_name)
{
	*ret_name = own->certificate;
	if (!tp_pem_use_chain(ctx, tp_files_find(files, own->certificate)))
		return false;
	*ret_name = own->key;
	return tp_pem_use_key(ctx, tp_files_find(files, own->key));
}

/* Whoever stands in the file is trusted, though what is above it may stand elsewhere. */
static bool trust(SSL_CTX *ctx, const char *name, const struct tp_files *files)
{
	(void)X509_STORE_set_flags(SSL_CTX_get_cert_store(ctx), X509_V_FLAG_PARTIAL_CHAIN);
	return tp_pem_use_authorities(ctx, tp_files_find(files, name));
}

/* Tells clients whose certificates are wanted. That is a help for choosing: what does not fit into the
 * handshake (64 KiB) is not told, else there would be none. */
static bool tell_authorities(SSL_CTX *ctx)
{
	enum { MOST = 32 * 1024 };
	STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(ctx));
	int sum = 0;
	for (int i = 0; i < sk_X509_OBJECT_num(all) && sum <= MOST; i++) {
		X509 *one = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
		sum += one != NULL ? i2d_X509_NAME(X509_get_subject_name(one), NULL) + 2 : 0;
	}
	for (int i = 0; i < sk_X509_OBJECT_num(all) && sum <= MOST; i++) {
		X509 *one = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
		if (one != NULL && SSL_CTX_add_client_CA(ctx, one) != 1)
			return false;
	}
	return true;
}

/* Clients without a certificate of these authorities get no connection. */
static bool demand_certificates(SSL_CTX *ctx, const char *client_ca, const struct tp_files *files,
				const char **ret_name)
{
	*ret_name = client_ca;
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN); /* our own is not to be made up from these */
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return trust(ctx, client_ca, files) && tell_authorities(ctx);
}

/* Whoever was let in by one authority is not let in on a ticket where another one is asked for. */
static bool give_tickets(SSL_CTX *ctx, const struct tp_listener_conf *conf, const struct tp_files *files)
{
	struct tp_buf policy = {0};
	tp_buf_printf(&policy, "turnpike %s\n", conf->address);
	if (conf->tls.client_ca != NULL)
		tp_buf_add_str(&policy, tp_files_find(files, conf->tls.client_ca));
	bool good = !policy.failed && tp_tls_sessions_serve(ctx, tp_buf_str(&policy));
	tp_buf_free(&policy);
	return good;
}

/* For one certificate. What the contexts of one listener do is the same but for it: which one is used is
 * known only inside the handshake. */
static SSL_CTX *listener_context(const struct tp_listener_conf *conf, const struct tp_certificate_conf *own,
				 const struct tp_files *files, struct tp_buf *why)
{
	ERR_clear_error();
	SSL_CTX *ctx = new_context(TLS_server_method());
	const char *name = own->certificate;
	if (ctx != NULL && use_own(ctx, own, files, &name) &&
	    (conf->tls.client_ca == NULL || demand_certificates(ctx, conf->tls.client_ca, files, &name)) &&
	    give_tickets(ctx, conf, files)) {
		SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
		return ctx;
	}
	tp_buf_printf(why, "TLS listener: %s: %s", name, tp_pem_why());
	SSL_CTX_free(ctx);
	return NULL;
}

SSL_CTX *tp_tls_listener(const struct tp_listener_conf *conf, const struct tp_files *files,
			 struct tp_buf *why)
{
	SSL_CTX *ctx = listener_context(conf, &conf->tls.own, files, why);
	for (size_t i = 0; i < conf->tls.n_more && ctx != NULL; i++) {
		SSL_CTX *more = listener_context(conf, &conf->tls.more[i], files, why);
		if (more != NULL && tp_tls_names_add(ctx, more))
			continue;
		SSL_CTX_free(ctx);
		ctx = NULL;
	}
	return ctx;
}

SSL_CTX *tp_tls_provider(const struct tp_provider_conf *conf, const struct tp_files *files,
			 struct tp_buf *why)
{
	ERR_clear_error();
	const char *name = conf->tls.ca;
	SSL_CTX *ctx = new_context(TLS_client_method());
	if (ctx == NULL)
		goto failed;
	if (conf->tls.ca != NULL ? !trust(ctx, conf->tls.ca, files)
				 : SSL_CTX_set_default_verify_paths(ctx) != 1)
		goto failed;
	SSL_CTX_set_verify(ctx, conf->tls.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
	if (conf->tls.own.certificate != NULL && !use_own(ctx, &conf->tls.own, files, &name))
		goto failed;
	if (SSL_CTX_set_alpn_protos(ctx, alpn_http11, sizeof alpn_http11 - 1) != 0 ||
	    !tp_tls_sessions_keep(ctx))
		goto failed;
	ERR_clear_error();
	return ctx;
failed:
	tp_buf_printf(why, "TLS of provider %s: %s%s%s", conf->name, name != NULL ? name : "",
		      name != NULL ? ": " : "", tp_pem_why());
	SSL_CTX_free(ctx);
	return NULL;
}

bool tp_tls_check(const struct tp_config *c, struct tp_buf *why)
{
	bool good = true;
	for (size_t i = 0; i < c->n_listeners && good; i++)
		if (c->listeners[i].tls.own.certificate != NULL) {
			SSL_CTX *ctx = tp_tls_listener(&c->listeners[i], c->files, why);
			good = ctx != NULL;
			SSL_CTX_free(ctx);
		}
	for (size_t i = 0; i < c->n_providers && good; i++)
		if (c->providers[i].https) {
			SSL_CTX *ctx = tp_tls_provider(&c->providers[i], c->files, why);
			good = ctx != NULL;
			SSL_CTX_free(ctx);
		}
	return good;
}

static bool is_address(const char *name)
{
	unsigned char any[16];
	return inet_pton(AF_INET, name, any) == 1 || inet_pton(AF_INET6, name, any) == 1;
}

/* SSL_set_tlsext_host_name() without the const that its macro casts away. */
static bool set_server_name(SSL *ssl, const char *name)
{
	return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
			(void *)(uintptr_t)name) == 1;
}

/* The name of the root, a dot behind the others, stands neither in certificates nor in SNI (RFC 6066). */
static void take_name(const struct tp_provider_conf *conf, char *out, size_t size)
{
	const char *name = conf->tls.server_name != NULL ? conf->tls.server_name : conf->host;
	size_t n = strlen(name);
	if (n > 1 && name[n - 1] == '.')
		n--;
	(void)snprintf(out, size, "%.*s", (int)n, name);
}

SSL *tp_tls_connect(SSL_CTX *ctx, const struct tp_provider_conf *conf, int fd)
{
	SSL *ssl = SSL_new(ctx);
	if (ssl == NULL)
		return NULL;
	char name[256]; /* hosts are shorter */
	bool ok;
	take_name(conf, name, sizeof name);
	if (is_address(name))
		ok = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
	else
		ok = set_server_name(ssl, name) && SSL_set1_host(ssl, name) == 1;
	/* What a subject is called is no name of a server (RFC 9110 section 4.3.4). */
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	if (!ok || SSL_set_fd(ssl, fd) != 1) {
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_connect_state(ssl);
	tp_tls_sessions_use(ssl);
	return ssl;
}

SSL *tp_tls_accept(SSL_CTX *ctx, int fd)
{
	SSL *ssl = SSL_new(ctx);
	if (ssl != NULL && SSL_set_fd(ssl, fd) != 1) {
		SSL_free(ssl);
		ssl = NULL;
	}
	if (ssl != NULL)
		SSL_set_accept_state(ssl);
	return ssl;
}

/* A name that was not found says little without the name. */
static void tell_verify(SSL *ssl, char *out, size_t size)
{
	long verify = SSL_get_verify_result(ssl);
	X509_VERIFY_PARAM *asked = SSL_get0_param(ssl);
	const char *words = X509_verify_cert_error_string(verify);
	char *address =
		verify == X509_V_ERR_IP_ADDRESS_MISMATCH ? X509_VERIFY_PARAM_get1_ip_asc(asked) : NULL;
	const char *name =
		verify == X509_V_ERR_HOSTNAME_MISMATCH ? X509_VERIFY_PARAM_get0_host(asked, 0) : address;
	if (name != NULL)
		(void)snprintf(out, size, "certificate: %s: its alternative names do not hold %s", words,
			       name);
	else
		(void)snprintf(out, size, "certificate: %s", words);
	OPENSSL_free(address);
}

void tp_tls_why(SSL *ssl, char *out, size_t size)
{
	unsigned long e = ERR_peek_error();
	int reason = ERR_GET_LIB(e) == ERR_LIB_SSL ? ERR_GET_REASON(e) : 0;
	const char *words = ERR_reason_error_string(e);
	/* Looked at without consequences where verification is off. */
	if (SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE && SSL_get_verify_result(ssl) != X509_V_OK)
		tell_verify(ssl, out, size);
	else if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST)
		(void)snprintf(out, size, "%s: the other side does not speak TLS", words);
	else if (e != 0)
		(void)snprintf(out, size, "%s", words != NULL ? words : "TLS error");
	else
		(void)snprintf(out, size, "the connection ended inside the handshake");
	ERR_clear_error();
}
