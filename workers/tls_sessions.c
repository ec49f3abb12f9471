#include "workers/tls_sessions.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "common/base/clock.h"
#include "common/base/ticket_keys.h"

enum {
	LIFETIME_S = 2 * 60 * 60, /* from the whole handshake on: then certificates are looked at again */
	KEPT_MAX = 16 /* per provider; more connections at once than that pay for a whole handshake */
};

/* ---- age.  Under TLS 1.3 each connection gets a new session, whose time is its own: whoever came back often
 * enough would never show a certificate again. The time of the whole handshake goes along in all of them. */

/* False: out of memory. */
static bool stamp(SSL_SESSION *s)
{
	void *at = NULL;
	size_t n = 0;
	int64_t now = time(NULL);
	return (SSL_SESSION_get0_ticket_appdata(s, &at, &n) == 1 && n == sizeof now) ||
	       SSL_SESSION_set1_ticket_appdata(s, &now, sizeof now) == 1;
}

/* What a whole handshake would say now: of the peer's certificate its time is looked at, no more, and that
 * not where any certificate will do. */
static bool is_young(const SSL *ssl, SSL_SESSION *s)
{
	void *at = NULL;
	size_t n = 0;
	int64_t whole, now = time(NULL);
	bool matters = SSL_is_server(ssl) || SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE;
	X509 *peer = matters ? SSL_SESSION_get0_peer(s) : NULL;
	if (SSL_SESSION_get0_ticket_appdata(s, &at, &n) != 1 || n != sizeof whole)
		return false;
	memcpy(&whole, at, sizeof whole);
	return whole <= now && now - whole < LIFETIME_S &&
	       (peer == NULL || X509_cmp_current_time(X509_get0_notAfter(peer)) > 0);
}

/* ---- clients */

static bool set_mac(EVP_MAC_CTX *mac, const struct tp_ticket_key *key)
{
	char digest[] = "SHA256";
	unsigned char bytes[sizeof key->mac];
	memcpy(bytes, key->mac, sizeof bytes);
	OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, bytes, sizeof bytes),
			       OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
			       OSSL_PARAM_construct_end()};
	bool good = EVP_MAC_CTX_set_params(mac, params) == 1;
	OPENSSL_cleanse(bytes, sizeof bytes);
	return good;
}

static int make_ticket(unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
	const struct tp_ticket_key *key = tp_ticket_keys_newest(tp_clock_boot_ms());
	if (key == NULL || RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1 ||
	    EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv) != 1 || !set_mac(mac, key))
		return -1;
	memcpy(name, key->name, sizeof key->name);
	return 1;
}

/* 0: none of ours, a whole handshake; 2: good, and the client gets one of the newest key. */
static int open_ticket(const unsigned char *name, const unsigned char *iv, EVP_CIPHER_CTX *cipher,
		       EVP_MAC_CTX *mac)
{
	bool newest = false;
	const struct tp_ticket_key *key = tp_ticket_keys_find(name, tp_clock_boot_ms(), &newest);
	if (key == NULL)
		return 0;
	if (EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv) != 1 || !set_mac(mac, key))
		return -1;
	return newest ? 1 : 2;
}

static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
		     EVP_MAC_CTX *mac, int making)
{
	(void)ssl;
	return making != 0 ? make_ticket(name, iv, cipher, mac) : open_ticket(name, iv, cipher, mac);
}

static int on_making(SSL *ssl, void *arg)
{
	(void)arg;
	return stamp(SSL_get_session(ssl)) ? 1 : 0;
}

static SSL_TICKET_RETURN on_opened(SSL *ssl, SSL_SESSION *s, const unsigned char *name, size_t name_len,
				   SSL_TICKET_STATUS status, void *arg)
{
	(void)name;
	(void)name_len;
	(void)arg;
	bool good = (status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW) && is_young(ssl, s);
	if (!good)
		return SSL_TICKET_RETURN_IGNORE_RENEW;
	return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

bool tp_tls_sessions_serve(SSL_CTX *ctx, struct tp_str policy)
{
	unsigned char id[SSL_MAX_SID_CTX_LENGTH];
	unsigned n = 0;
	_Static_assert(SSL_MAX_SID_CTX_LENGTH == 32, "a SHA-256 fits");
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	(void)SSL_CTX_set_timeout(ctx, LIFETIME_S);
	return EVP_Digest(policy.p, policy.n, id, &n, EVP_sha256(), NULL) == 1 &&
	       SSL_CTX_set_session_id_context(ctx, id, n) == 1 &&
	       SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket) == 1 &&
	       SSL_CTX_set_session_ticket_cb(ctx, on_making, on_opened, NULL) == 1;
}

/* ---- providers */

struct kept {
	SSL_SESSION *list[KEPT_MAX]; /* oldest first */
	unsigned n;
};

static void drop(struct kept *k, unsigned i)
{
	SSL_SESSION_free(k->list[i]);
	k->n--;
	memmove(&k->list[i], &k->list[i + 1], (k->n - i) * sizeof k->list[0]);
}

static void drop_all(struct kept *k)
{
	while (k->n > 0)
		drop(k, k->n - 1);
}

static void on_context_freed(void *parent, void *own, CRYPTO_EX_DATA *all, int index, long argl, void *argp)
{
	(void)parent;
	(void)all;
	(void)index;
	(void)argl;
	(void)argp;
	if (own == NULL)
		return;
	drop_all(own);
	free(own);
}

/* Where contexts have theirs; made with the first one. */
static int kept_index(void)
{
	static int index = -1;
	if (index < 0)
		index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, on_context_freed);
	return index;
}

static struct kept *kept_of(const SSL_CTX *ctx)
{
	return ctx != NULL ? SSL_CTX_get_ex_data(ctx, kept_index()) : NULL;
}

/* A copy: OpenSSL spoils the session of a connection that ends without a goodbye, which says nothing about
 * the next one. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
	struct kept *k = kept_of(SSL_get_SSL_CTX(ssl));
	SSL_SESSION *copy = k != NULL && stamp(session) ? SSL_SESSION_dup(session) : NULL;
	if (copy == NULL)
		return 0;
	if (k->n == KEPT_MAX)
		drop(k, 0);
	k->list[k->n++] = copy;
	return 0; /* the reference stays the caller's */
}

bool tp_tls_sessions_keep(SSL_CTX *ctx)
{
	struct kept *k = kept_index() >= 0 ? calloc(1, sizeof *k) : NULL;
	if (k == NULL || SSL_CTX_set_ex_data(ctx, kept_index(), k) != 1) {
		free(k);
		return false;
	}
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, on_session);
	return true;
}

static bool is_good(const SSL *ssl, SSL_SESSION *s)
{
	long age = (long)time(NULL) - SSL_SESSION_get_time(s);
	unsigned long hint = SSL_SESSION_get_ticket_lifetime_hint(s);
	return SSL_SESSION_is_resumable(s) == 1 && is_young(ssl, s) && age >= 0 &&
	       age < SSL_SESSION_get_timeout(s) && (hint == 0 || (unsigned long)age < hint);
}

void tp_tls_sessions_use(SSL *ssl)
{
	struct kept *k = kept_of(SSL_get_SSL_CTX(ssl));
	while (k != NULL && k->n > 0) {
		SSL_SESSION *s = k->list[k->n - 1];
		bool good = is_good(ssl, s) && SSL_set_session(ssl, s) == 1;
		if (!good || SSL_SESSION_get_protocol_version(s) >= TLS1_3_VERSION)
			drop(k, k->n - 1);
		if (good)
			break;
	}
	ERR_clear_error();
}

void tp_tls_sessions_forget(SSL_CTX *ctx)
{
	struct kept *k = kept_of(ctx);
	if (k != NULL)
		drop_all(k);
}
