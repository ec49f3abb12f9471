/* Rules of the `tls` sections: what the files hold must make a TLS context, or the start would fail later and
 * without a place in the file. */
#include "common/config/rules.h"

#include <openssl/ssl.h>

#include "common/config/files.h"
#include "common/config/pem.h"

static struct tp_str content(const char *path)
{
	return tp_files_find(tp_files_used(), path);
}

/* Complains at a key whose file was read; else tp_refuse_file() has. */
static void complain(struct tp_load *l, struct tp_node *node, const char *what)
{
	const char *why = tp_pem_why();
	if (tp_is_given(node))
		tp_node_complain(node, l->errors, "`%s` %s: %s", node->raw, what, why);
}

/* Of one pair, in the mapping `node`. `by_name`: it is shown to clients that ask for one of its names. */
static void check_pair(struct tp_load *l, const struct tp_certificate_conf *pair, struct tp_node *node,
		       bool by_name)
{
	struct tp_node *certificate = tp_node_get(node, "certificate"), *key = tp_node_get(node, "key");
	SSL_CTX *ctx = NULL;
	if (pair->certificate == NULL || pair->key == NULL || !tp_is_given(certificate) || !tp_is_given(key))
		return;
	if ((ctx = SSL_CTX_new(TLS_method())) == NULL)
		l->errors->no_memory = true;
	else if (!tp_pem_use_chain(ctx, content(pair->certificate)))
		complain(l, certificate, "cannot be used as a certificate");
	else if (!tp_pem_use_key(ctx, content(pair->key)))
		complain(l, key, "cannot be used as the certificate's key");
	else if (by_name && !tp_pem_names_server(ctx))
		tp_node_complain(certificate, l->errors,
				 "`%s` would never be shown: it has no DNS name among its alternative names",
				 certificate->raw);
	SSL_CTX_free(ctx);
}

static void check_authorities(struct tp_load *l, const char *path, struct tp_node *node)
{
	if (path == NULL || !tp_is_given(node))
		return;
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());
	if (ctx == NULL)
		l->errors->no_memory = true;
	else if (!tp_pem_use_authorities(ctx, content(path)))
		complain(l, node, "cannot be used for authorities");
	SSL_CTX_free(ctx);
}

static bool is_half(const struct tp_certificate_conf *pair)
{
	return (pair->certificate != NULL) != (pair->key != NULL);
}

static const char *missing(const struct tp_certificate_conf *pair)
{
	return pair->certificate == NULL ? "certificate" : "key";
}

void tp_check_certificate(struct tp_load *l, void *object, struct tp_node *node)
{
	check_pair(l, object, node, true);
}

void tp_check_listener_tls(struct tp_load *l, void *object, struct tp_node *node)
{
	const struct tp_listener_conf *c = object;
	const struct tp_listener_tls_conf *t = &c->tls;
	if (!tp_is_given(node))
		return;
	bool nothing = t->own.certificate == NULL && t->own.key == NULL;
	if (is_half(&t->own) || (nothing && (t->client_ca != NULL || t->n_more > 0)))
		tp_node_complain(node, l->errors, "`%s` is missing: TLS needs `certificate` and `key`",
				 missing(&t->own));
	check_pair(l, &t->own, node, false);
	check_authorities(l, t->client_ca, tp_node_get(node, "client_ca"));
}

void tp_check_provider_tls(struct tp_load *l, void *object, struct tp_node *node)
{
	const struct tp_provider_conf *p = object;
	if (!tp_is_given(node))
		return;
	if (is_half(&p->tls.own))
		tp_node_complain(node, l->errors,
				 "`%s` is missing: what is presented is `certificate` and `key`",
				 missing(&p->tls.own));
	check_pair(l, &p->tls.own, node, false);
	check_authorities(l, p->tls.ca, tp_node_get(node, "ca"));
}
