#include "common/http/fields.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { NAME_SIZE = 30, SLOTS = 128 };

struct known_name {
	char text[NAME_SIZE]; /* lower case */
	uint8_t n;
	uint8_t id;
};
_Static_assert(sizeof(struct known_name) == 32, "two wide registers, and quick to find by its number");

/*
 * A perfect hash over length, first, middle (index n / 2) and last character: each known name
 * has a slot of its own, so a lookup is one comparison.  A second name in a slot is a
 * compiler warning (overridden initializer); wrong characters are found by the unit test.
 */
#define SLOT(n, first, middle, last)                                                                         \
	(((n) + 4u * ((first) | 0x20u) + 3u * ((middle) | 0x20u) + ((last) | 0x20u)) % SLOTS)
#define KNOWN(name, first, middle, last, id)                                                                 \
	[SLOT(sizeof(name) - 1, (unsigned)(first), (unsigned)(middle), (unsigned)(last))] = {                \
		name, sizeof(name) - 1, id}

static const struct known_name known[SLOTS] = {
	KNOWN("host", 'h', 's', 't', TP_FIELD_HOST),
	KNOWN("connection", 'c', 'c', 'n', TP_FIELD_CONNECTION),
	KNOWN("keep-alive", 'k', 'a', 'e', TP_FIELD_KEEP_ALIVE),
	KNOWN("proxy-connection", 'p', 'n', 'n', TP_FIELD_PROXY_CONNECTION),
	KNOWN("proxy-authorization", 'p', 'h', 'n', TP_FIELD_PROXY_AUTHORIZATION),
	KNOWN("proxy-authenticate", 'p', 'h', 'e', TP_FIELD_PROXY_AUTHENTICATE),
	KNOWN("te", 't', 'e', 'e', TP_FIELD_TE),
	KNOWN("trailer", 't', 'i', 'r', TP_FIELD_TRAILER),
	KNOWN("transfer-encoding", 't', '-', 'g', TP_FIELD_TRANSFER_ENCODING),
	KNOWN("upgrade", 'u', 'r', 'e', TP_FIELD_UPGRADE),
	KNOWN("content-length", 'c', '-', 'h', TP_FIELD_CONTENT_LENGTH),
	KNOWN("content-type", 'c', 't', 'e', TP_FIELD_CONTENT_TYPE),
	KNOWN("content-encoding", 'c', 'e', 'g', TP_FIELD_CONTENT_ENCODING),
	KNOWN("accept-encoding", 'a', 'e', 'g', TP_FIELD_ACCEPT_ENCODING),
	KNOWN("expect", 'e', 'e', 't', TP_FIELD_EXPECT),
	KNOWN("date", 'd', 't', 'e', TP_FIELD_DATE),
	KNOWN("server", 's', 'v', 'r', TP_FIELD_SERVER),
	KNOWN("origin", 'o', 'g', 'n', TP_FIELD_ORIGIN),
	KNOWN("authorization", 'a', 'i', 'n', TP_FIELD_AUTHORIZATION),
	KNOWN("x-api-key", 'x', 'i', 'y', TP_FIELD_X_API_KEY),
	KNOWN("api-key", 'a', '-', 'y', TP_FIELD_API_KEY),
	KNOWN("x-goog-api-key", 'x', 'a', 'y', TP_FIELD_X_GOOG_API_KEY),
	KNOWN("cookie", 'c', 'k', 'e', TP_FIELD_COOKIE),
	KNOWN("retry-after", 'r', '-', 'r', TP_FIELD_RETRY_AFTER),
	KNOWN("retry-after-ms", 'r', 'f', 's', TP_FIELD_RETRY_AFTER_MS),
	KNOWN("x-should-retry", 'x', 'd', 'y', TP_FIELD_X_SHOULD_RETRY),
	KNOWN("idempotency-key", 'i', 'e', 'y', TP_FIELD_IDEMPOTENCY_KEY),
	KNOWN("x-codex-request-id", 'x', 'e', 'd', TP_FIELD_X_CODEX_REQUEST_ID),
	KNOWN("x-codex-turn-metadata", 'x', 'r', 'a', TP_FIELD_X_CODEX_TURN_METADATA),
	KNOWN("x-codex-status", 'x', '-', 's', TP_FIELD_X_CODEX_STATUS),
	KNOWN("x-codex-system-load", 'x', 'y', 'd', TP_FIELD_X_CODEX_SYSTEM_LOAD),
	KNOWN("x-codex-model-capacity", 'x', 'e', 'y', TP_FIELD_X_CODEX_MODEL_CAPACITY),
	KNOWN("x-stainless-retry-count", 'x', '-', 't', TP_FIELD_X_STAINLESS_RETRY_COUNT),
	KNOWN("x-turnpike-logical-id", 'x', '-', 'd', TP_FIELD_X_TURNPIKE_LOGICAL_ID),
	KNOWN("x-turnpike-max-sends", 'x', '-', 's', TP_FIELD_X_TURNPIKE_MAX_SENDS),
	KNOWN("x-turnpike-deadline", 'x', 'e', 'e', TP_FIELD_X_TURNPIKE_DEADLINE),
};

static const char own_prefix[] = "x-turnpike-";
enum { OWN_PREFIX_N = sizeof own_prefix - 1 };

/* Setting bit 5 folds letters to lower case and leaves '-' and digits alone; no other token
 * character becomes a letter or '-' by it. */
static inline bool same8(const char *name, const char *lower)
{
	uint64_t a, b;
	memcpy(&a, name, 8);
	memcpy(&b, lower, 8);
	return (a | 0x2020202020202020u) == b;
}

static inline bool same4(const char *name, const char *lower)
{
	uint32_t a, b;
	memcpy(&a, name, 4);
	memcpy(&b, lower, 4);
	return (a | 0x20202020u) == b;
}

/* The last step overlaps the one before it, so that no byte is compared alone. */
static bool same_folded(const char *name, const char *lower, size_t n)
{
	if (n >= 8) {
		for (size_t i = 0; i + 8 < n; i += 8)
			if (!same8(name + i, lower + i))
				return false;
		return same8(name + n - 8, lower + n - 8);
	}
	if (n >= 4)
		return same4(name, lower) && same4(name + n - 4, lower + n - 4);
	for (size_t i = 0; i < n; i++)
		if ((name[i] | 0x20) != lower[i])
			return false;
	return true;
}

enum tp_field_id tp_field_lookup(const char *name, size_t n)
{
	if (n == 0)
		return TP_FIELD_OTHER;
	const struct known_name *k = &known[SLOT(n, (unsigned char)name[0], (unsigned char)name[n / 2],
						 (unsigned char)name[n - 1])];
	if (k->n == n && same_folded(name, k->text, n))
		return (enum tp_field_id)k->id;
	if (n >= OWN_PREFIX_N && same_folded(name, own_prefix, OWN_PREFIX_N))
		return TP_FIELD_X_TURNPIKE_OTHER;
	return TP_FIELD_OTHER;
}

#ifdef __SSE2__
/* Bit i: name[i] is lower[i] but for case; of 16 bytes. See same8() for why one bit is all it takes. */
static inline unsigned same_mask16(const char *name, const char *lower)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)name);
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)lower);
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_or_si128(a, _mm_set1_epi8(0x20)), b));
}

static inline bool same_wide(const char *name, const char *lower, size_t n)
{
	unsigned differ = ~same_mask16(name, lower);
	if (n > 16)
		differ = (differ & 0xffff) | ~same_mask16(name + 16, lower + 16) << 16;
	return (differ & (((unsigned)1 << n) - 1)) == 0;
}

enum tp_field_id tp_field_lookup_wide(const char *name, size_t n)
{
	const struct known_name *k = &known[SLOT(n, (unsigned char)name[0], (unsigned char)name[n / 2],
						 (unsigned char)name[n - 1])];
	if (k->n == n && same_wide(name, k->text, n))
		return (enum tp_field_id)k->id;
	if (n >= OWN_PREFIX_N && same8(name, own_prefix) && same_folded(name, own_prefix, OWN_PREFIX_N))
		return TP_FIELD_X_TURNPIKE_OTHER;
	return TP_FIELD_OTHER;
}
#endif
