#include "common/base/siphash.h"

#include <endian.h>
#include <string.h>

static inline uint64_t rotl(uint64_t x, int b)
{
	return (x << b) | (x >> (64 - b));
}

static uint64_t load_le64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return le64toh(v);
}

/* The n < 8 bytes behind the last whole word. */
static uint64_t load_tail(const uint8_t *p, size_t n)
{
	uint64_t v = 0;
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static inline void one_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

/* Written out, so that the four words stay in registers. */
static inline void word_in(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	one_round(v);
	one_round(v);
	v[0] ^= m;
}

static inline uint64_t half_out(uint64_t v[4])
{
	one_round(v);
	one_round(v);
	one_round(v);
	one_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct tp_hash128 tp_siphash128(const uint8_t key[16], const void *bytes, size_t n)
{
	uint64_t k0 = load_le64(key), k1 = load_le64(key + 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du ^ 0xee, k0 ^ 0x6c7967656e657261u,
			 k1 ^ 0x7465646279746573u};
	const uint8_t *p = bytes;
	size_t left = n;
	for (; left >= 8; left -= 8, p += 8)
		word_in(v, load_le64(p));
	word_in(v, load_tail(p, left) | (uint64_t)(n & 0xff) << 56);

	struct tp_hash128 h;
	v[2] ^= 0xee;
	h.lo = half_out(v);
	v[1] ^= 0xdd;
	h.hi = half_out(v);
	return h;
}
