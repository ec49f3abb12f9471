#include "common/config/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

/* A server has nobody to ask for one. */
static int no_passphrase(char *out, int size, int writing, void *arg)
{
	(void)out;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

static BIO *begin(struct tp_str pem)
{
	ERR_clear_error();
	return BIO_new_mem_buf(pem.p != NULL ? pem.p : "", (int)pem.n);
}

/* The end of a PEM file is told as an error too. */
static bool was_end(void)
{
	unsigned long e = ERR_peek_last_error();
	return ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE;
}

bool tp_pem_use_chain(SSL_CTX *ctx, struct tp_str pem)
{
	BIO *in = begin(pem);
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

bool tp_pem_use_key(SSL_CTX *ctx, struct tp_str pem)
{
	BIO *in = begin(pem);
	EVP_PKEY *key = in != NULL ? PEM_read_bio_PrivateKey(in, NULL, no_passphrase, NULL) : NULL;
	bool good =
		key != NULL && SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
	EVP_PKEY_free(key);
	BIO_free(in);
	if (good)
		ERR_clear_error();
	return good;
}

bool tp_pem_use_authorities(SSL_CTX *ctx, struct tp_str pem)
{
	BIO *in = begin(pem);
	STACK_OF(X509_INFO) *all = in != NULL ? PEM_X509_INFO_read_bio(in, NULL, no_passphrase, NULL) : NULL;
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	int added = 0, lists = 0;
	for (int i = 0; i < sk_X509_INFO_num(all); i++) {
		const X509_INFO *one = sk_X509_INFO_value(all, i);
		if (one->x509 != NULL && X509_STORE_add_cert(store, one->x509) == 1)
			added++;
		if (one->crl != NULL && X509_STORE_add_crl(store, one->crl) == 1)
			lists++;
	}
	bool readable = all != NULL;
	sk_X509_INFO_pop_free(all, X509_INFO_free);
	BIO_free(in);
	if (lists > 0)
		(void)X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
	if (readable && added == 0 && ERR_peek_last_error() == 0)
		ERR_raise(ERR_LIB_PEM, PEM_R_NO_START_LINE);
	if (added > 0)
		ERR_clear_error();
	return added > 0;
}

const char *tp_pem_why(void)
{
	unsigned long e = ERR_peek_last_error();
	const char *reason = e != 0 ? ERR_reason_error_string(e) : NULL;
	if (was_end())
		reason = "it holds none in PEM form";
	ERR_clear_error();
	return reason != NULL ? reason : "out of memory";
}
