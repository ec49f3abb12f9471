#include "workers/tls_names.h"

#include <stdlib.h>

#include <openssl/x509v3.h>

#include "common/base/str.h"

struct names {
	size_t n;
	SSL_CTX **list;
};

static void on_context_freed(void *parent, void *own, CRYPTO_EX_DATA *all, int index, long argl, void *argp)
{
	struct names *names = own;
	(void)parent;
	(void)all;
	(void)index;
	(void)argl;
	(void)argp;
	for (size_t i = 0; names != NULL && i < names->n; i++)
		SSL_CTX_free(names->list[i]);
	if (names != NULL)
		free(names->list);
	free(names);
}

static int names_index(void)
{
	static int index = -1;
	if (index < 0)
		index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_context_freed);
	return index;
}

static bool is_for(const SSL_CTX *ctx, struct tp_str name, unsigned flags)
{
	X509 *own = SSL_CTX_get0_certificate(ctx);
	flags |= X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
	return own != NULL && X509_check_host(own, name.p, name.n, flags, NULL) == 1;
}

/* A dot behind the name (of the root, which no certificate holds) makes no difference. */
static SSL_CTX *find(SSL_CTX *first, const struct names *names, struct tp_str name)
{
	if (name.n > 1 && name.p[name.n - 1] == '.')
		name.n--;
	static const unsigned kinds[] = {X509_CHECK_FLAG_NO_WILDCARDS, 0};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		if (is_for(first, name, kinds[k]))
			return first;
		for (size_t i = 0; i < names->n; i++)
			if (is_for(names->list[i], name, kinds[k]))
				return names->list[i];
	}
	return NULL;
}

static int on_name(SSL *ssl, int *alert, void *arg)
{
	SSL_CTX *first = arg;
	const struct names *names = SSL_CTX_get_ex_data(first, names_index());
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
	SSL_CTX *found = name != NULL ? find(first, names, tp_str_from(name)) : NULL;
	if (found == NULL)
		return SSL_TLSEXT_ERR_NOACK;
	if (SSL_set_SSL_CTX(ssl, found) == found)
		return SSL_TLSEXT_ERR_OK;
	*alert = SSL_AD_INTERNAL_ERROR;
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static struct names *names_of(SSL_CTX *ctx)
{
	struct names *names = names_index() >= 0 ? SSL_CTX_get_ex_data(ctx, names_index()) : NULL;
	if (names != NULL || names_index() < 0 || (names = calloc(1, sizeof *names)) == NULL)
		return names;
	if (SSL_CTX_set_ex_data(ctx, names_index(), names) == 1) {
		(void)SSL_CTX_set_tlsext_servername_callback(ctx, on_name);
		(void)SSL_CTX_set_tlsext_servername_arg(ctx, ctx);
		return names;
	}
	free(names);
	return NULL;
}

bool tp_tls_names_add(SSL_CTX *ctx, SSL_CTX *more)
{
	struct names *names = names_of(ctx);
	SSL_CTX **list =
		names != NULL ? reallocarray(names->list, names->n + 1, sizeof names->list[0]) : NULL;
	if (list == NULL) {
		SSL_CTX_free(more);
		return false;
	}
	names->list = list;
	names->list[names->n++] = more;
	return true;
}
