/*
 * SipHash-2-4 with 128-bit output (Aumasson, Bernstein): keys of the shared
 * table are made of names that a client can choose, so they need a keyed hash.
 */
#ifndef TP_BASE_SIPHASH_H
#define TP_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct tp_hash128 {
	uint64_t lo, hi;
};

/* SipHash-2-4 with 128 bits: who does not know the key cannot choose what collides. `bytes` may be NULL when
 * n is 0. */
struct tp_hash128 tp_siphash128(const uint8_t key[16], const void *bytes, size_t n);

#endif
