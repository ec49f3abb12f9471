#include "common/base/ticket_keys.h"

#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { SECRET = 32 };

/* One set for each process, inherited by those that it forks. */
static struct {
	bool begun;
	bool has_previous;
	uint64_t period; /* of `secret` and `newest` */
	unsigned char secret[SECRET];
	struct tp_ticket_key newest, previous;
} keys;

static bool derive(const char *label, unsigned char out[SECRET])
{
	unsigned n = 0;
	return HMAC(EVP_sha256(), keys.secret, SECRET, (const unsigned char *)label, strlen(label), out,
		    &n) != NULL &&
	       n == SECRET;
}

/* Without memory for a hash there are no tickets rather than weak ones. */
static bool derive_keys(void)
{
	unsigned char name[SECRET];
	bool good = derive("name", name) && derive("cipher", keys.newest.cipher) &&
		    derive("mac", keys.newest.mac);
	memcpy(keys.newest.name, name, sizeof keys.newest.name);
	return good;
}

bool tp_ticket_keys_begin(uint64_t now_ms)
{
	keys.period = now_ms / TP_TICKET_PERIOD_MS;
	keys.has_previous = false;
	keys.begun = getrandom(keys.secret, SECRET, 0) == SECRET && derive_keys();
	return keys.begun;
}

static bool step(void)
{
	unsigned char next[SECRET];
	if (!derive("next", next))
		return false;
	keys.previous = keys.newest;
	keys.has_previous = true;
	keys.period++;
	memcpy(keys.secret, next, SECRET);
	explicit_bzero(next, SECRET);
	return derive_keys();
}

void tp_ticket_keys_advance(uint64_t now_ms)
{
	while (keys.begun && keys.period < now_ms / TP_TICKET_PERIOD_MS)
		keys.begun = step();
}

const struct tp_ticket_key *tp_ticket_keys_newest(uint64_t now_ms)
{
	tp_ticket_keys_advance(now_ms);
	return keys.begun ? &keys.newest : NULL;
}

static bool has_name(const struct tp_ticket_key *key, const unsigned char name[16])
{
	return CRYPTO_memcmp(key->name, name, sizeof key->name) == 0;
}

const struct tp_ticket_key *tp_ticket_keys_find(const unsigned char name[16], uint64_t now_ms,
						bool *ret_newest)
{
	tp_ticket_keys_advance(now_ms);
	if (!keys.begun)
		return NULL;
	if (has_name(&keys.newest, name)) {
		*ret_newest = true;
		return &keys.newest;
	}
	if (keys.has_previous && has_name(&keys.previous, name)) {
		*ret_newest = false;
		return &keys.previous;
	}
	return NULL;
}
