#include "common/config/pem.h"

#include <stdio.h>
#include <string.h>

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

static unsigned bad_line; /* where the block ends that could not be read; 0 = none */

static BIO *begin(struct tp_str pem)
{
	ERR_clear_error();
	bad_line = 0;
	return BIO_new_mem_buf(pem.p != NULL ? pem.p : "", (int)pem.n);
}

/* The end of a PEM file is told as an error too. */
static bool was_end(void)
{
	unsigned long e = ERR_peek_last_error();
	return ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE;
}

/* A bundle may hold hundreds. */
static void note_place(BIO *in, struct tp_str pem)
{
	size_t left = in != NULL ? BIO_ctrl_pending(in) : pem.n;
	int library = ERR_GET_LIB(ERR_peek_last_error());
	if ((library != ERR_LIB_PEM && library != ERR_LIB_ASN1) || was_end() || left >= pem.n)
		return;
	bad_line = pem.p[pem.n - left - 1] != '\n' ? 1 : 0;
	for (size_t i = 0; i < pem.n - left; i++)
		bad_line += pem.p[i] == '\n' ? 1 : 0;
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
	if (good)
		ERR_clear_error();
	else
		note_place(in, pem);
	BIO_free(in);
	return good;
}

/* Decoders that found nothing to begin with say "unsupported". */
static bool holds_key(struct tp_str pem)
{
	static const char end[] = "PRIVATE KEY-----";
	return pem.n > 0 && memmem(pem.p, pem.n, end, sizeof end - 1) != NULL;
}

bool tp_pem_use_key(SSL_CTX *ctx, struct tp_str pem)
{
	BIO *in = begin(pem);
	EVP_PKEY *key = in != NULL ? PEM_read_bio_PrivateKey(in, NULL, no_passphrase, NULL) : NULL;
	bool good =
		key != NULL && SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
	if (key == NULL && !holds_key(pem))
		ERR_raise(ERR_LIB_PEM, PEM_R_NO_START_LINE);
	EVP_PKEY_free(key);
	BIO_free(in);
	if (good)
		ERR_clear_error();
	return good;
}

/* Each certificate of the chain is looked up where its issuer has a list; that of the peer has to be in one's
 * reach. */
static int on_verified(int good, X509_STORE_CTX *chain)
{
	if (good == 1 || X509_STORE_CTX_get_error(chain) != X509_V_ERR_UNABLE_TO_GET_CRL ||
	    X509_STORE_CTX_get_error_depth(chain) == 0)
		return good;
	X509_STORE_CTX_set_error(chain, X509_V_OK);
	return 1;
}

static void look_up_revoked(X509_STORE *store)
{
	(void)X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	X509_STORE_set_verify_cb(store, on_verified);
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
	if (!readable)
		note_place(in, pem);
	sk_X509_INFO_pop_free(all, X509_INFO_free);
	BIO_free(in);
	if (lists > 0)
		look_up_revoked(store);
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
	else if (ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_BAD_PASSWORD_READ)
		reason = "it is encrypted, and nobody is here to give a passphrase";
	else if (ERR_GET_LIB(e) == ERR_LIB_SSL && ERR_GET_REASON(e) == SSL_R_NO_CERTIFICATE_ASSIGNED)
		reason = "it is of another kind than that of the certificate";
	else if (ERR_GET_LIB(e) == ERR_LIB_ASN1 || ERR_GET_LIB(e) == ERR_LIB_OSSL_DECODER)
		reason = "it is damaged, or of a kind that OpenSSL does not know";
	ERR_clear_error();
	if (reason == NULL || bad_line == 0)
		return reason != NULL ? reason : "out of memory";
	static char text[160];
	(void)snprintf(text, sizeof text, "%s (in the block that ends at line %u)", reason, bad_line);
	return text;
}

bool tp_pem_names_server(const SSL_CTX *ctx)
{
	X509 *own = SSL_CTX_get0_certificate(ctx);
	GENERAL_NAMES *all = own != NULL ? X509_get_ext_d2i(own, NID_subject_alt_name, NULL, NULL) : NULL;
	bool found = false;
	for (int i = 0; i < sk_GENERAL_NAME_num(all) && !found; i++)
		found = sk_GENERAL_NAME_value(all, i)->type == GEN_DNS;
	GENERAL_NAMES_free(all);
	return found;
}
