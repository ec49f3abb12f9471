#include "workers/tls.h"

#include <arpa/inet.h>
#include <stdint.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static const unsigned char alpn_http11[] = "\x08http/1.1";

static void explain(struct tp_buf *why, const char *what, const char *name)
{
	char text[200] = "unknown error";
	unsigned long e = ERR_peek_last_error();
	if (e != 0)
		ERR_error_string_n(e, text, sizeof text);
	tp_buf_printf(why, "%s %s: %s", what, name, text);
	ERR_clear_error();
}

static SSL_CTX *new_context(const SSL_METHOD *method)
{
	SSL_CTX *ctx = SSL_CTX_new(method);
	if (ctx == NULL)
		return NULL;
	(void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	/* Buffers are given back while a connection is idle; a write may be resumed from another address. */
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
					    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
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

/* A server has nobody to ask for one. */
static int no_passphrase(char *out, int size, int writing, void *arg)
{
	(void)out;
	(void)size;
	(void)writing;
	(void)arg;
	return 0;
}

static BIO *open_file(const struct tp_files *files, const char *path)
{
	struct tp_str content = tp_files_find(files, path);
	return BIO_new_mem_buf(content.p != NULL ? content.p : "", (int)content.n);
}

/* The end of a PEM file is told as an error too. */
static bool was_end(void)
{
	unsigned long e = ERR_peek_last_error();
	return ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE;
}

static bool use_chain(SSL_CTX *ctx, BIO *in)
{
	X509 *own = in != NULL ? PEM_read_bio_X509_AUX(in, NULL, no_passphrase, NULL) : NULL;
	bool good = own != NULL && SSL_CTX_use_certificate(ctx, own) == 1;
	X509_free(own);
	X509 *next;
	while (good && (next = PEM_read_bio_X509(in, NULL, no_passphrase, NULL)) != NULL) {
		good = SSL_CTX_add0_chain_cert(ctx, next) == 1;
		if (!good)
			X509_free(next);
	}
	good = good && was_end();
	BIO_free(in);
	if (good)
		ERR_clear_error();
	return good;
}

static bool use_key(SSL_CTX *ctx, BIO *in)
{
	EVP_PKEY *key = in != NULL ? PEM_read_bio_PrivateKey(in, NULL, no_passphrase, NULL) : NULL;
	bool good =
		key != NULL && SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
	EVP_PKEY_free(key);
	BIO_free(in);
	return good;
}

SSL_CTX *tp_tls_listener(const struct tp_listener_conf *conf, const struct tp_files *files,
			 struct tp_buf *why)
{
	ERR_clear_error();
	SSL_CTX *ctx = new_context(TLS_server_method());
	const char *name = conf->tls.certificate;
	if (ctx != NULL && use_chain(ctx, open_file(files, name)) && (name = conf->tls.key) != NULL &&
	    use_key(ctx, open_file(files, name))) {
		(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
		SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
		return ctx;
	}
	explain(why, "TLS listener:", name);
	SSL_CTX_free(ctx);
	return NULL;
}

static bool use_authorities(SSL_CTX *ctx, BIO *in)
{
	STACK_OF(X509_INFO) *all = in != NULL ? PEM_X509_INFO_read_bio(in, NULL, no_passphrase, NULL) : NULL;
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	int added = 0;
	for (int i = 0; i < sk_X509_INFO_num(all); i++) {
		const X509_INFO *one = sk_X509_INFO_value(all, i);
		if (one->x509 != NULL && X509_STORE_add_cert(store, one->x509) == 1)
			added++;
		if (one->crl != NULL)
			(void)X509_STORE_add_crl(store, one->crl);
	}
	sk_X509_INFO_pop_free(all, X509_INFO_free);
	BIO_free(in);
	if (added == 0 && ERR_peek_last_error() == 0)
		ERR_raise(ERR_LIB_X509, X509_R_NO_CERTIFICATE_FOUND);
	return added > 0;
}

SSL_CTX *tp_tls_provider(const struct tp_provider_conf *conf, const struct tp_files *files,
			 struct tp_buf *why)
{
	ERR_clear_error();
	SSL_CTX *ctx = new_context(TLS_client_method());
	if (ctx == NULL)
		goto failed;
	if (conf->tls.ca != NULL ? !use_authorities(ctx, open_file(files, conf->tls.ca))
				 : SSL_CTX_set_default_verify_paths(ctx) != 1)
		goto failed;
	SSL_CTX_set_verify(ctx, conf->tls.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
	if (SSL_CTX_set_alpn_protos(ctx, alpn_http11, sizeof alpn_http11 - 1) != 0)
		goto failed;
	ERR_clear_error();
	return ctx;
failed:
	explain(why, "TLS of provider", conf->name);
	SSL_CTX_free(ctx);
	return NULL;
}

bool tp_tls_check(const struct tp_config *c, struct tp_buf *why)
{
	bool good = true;
	for (size_t i = 0; i < c->n_listeners && good; i++)
		if (c->listeners[i].tls.certificate != NULL) {
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

SSL *tp_tls_connect(SSL_CTX *ctx, const struct tp_provider_conf *conf, int fd)
{
	SSL *ssl = SSL_new(ctx);
	if (ssl == NULL)
		return NULL;
	const char *name = conf->tls.server_name != NULL ? conf->tls.server_name : conf->host;
	bool ok;
	if (is_address(name))
		ok = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
	else
		ok = set_server_name(ssl, name) && SSL_set1_host(ssl, name) == 1;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (!ok || SSL_set_fd(ssl, fd) != 1) {
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_connect_state(ssl);
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

void tp_tls_why(SSL *ssl, char *out, size_t size)
{
	long verify = SSL_get_verify_result(ssl);
	unsigned long e = ERR_peek_error();
	if (verify != X509_V_OK)
		(void)snprintf(out, size, "certificate: %s", X509_verify_cert_error_string(verify));
	else if (e != 0)
		(void)snprintf(out, size, "%s",
			       ERR_reason_error_string(e) != NULL ? ERR_reason_error_string(e) : "TLS error");
	else
		(void)snprintf(out, size, "the connection ended inside the handshake");
	ERR_clear_error();
}
