#include "common/http/json_run.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__

static inline __m128i load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Are p[0..64) all plain?  As tp_json_no_plain16(), but one comparison for the least of four: that some byte
 * is not plain is enough, not which. */
static inline bool plain64(const char *p)
{
	const __m128i bit1 = _mm_set1_epi8(2), most = _mm_set1_epi8(0x20), slash = _mm_set1_epi8('\\');
	__m128i a = load(p), b = load(p + 16), c = load(p + 32), d = load(p + 48);
	__m128i slashes = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(a, slash), _mm_cmpeq_epi8(b, slash)),
				       _mm_or_si128(_mm_cmpeq_epi8(c, slash), _mm_cmpeq_epi8(d, slash)));
	__m128i least = _mm_min_epu8(_mm_min_epu8(_mm_xor_si128(a, bit1), _mm_xor_si128(b, bit1)),
				     _mm_min_epu8(_mm_xor_si128(c, bit1), _mm_xor_si128(d, bit1)));
	__m128i low = _mm_cmpeq_epi8(_mm_min_epu8(least, most), least);
	return _mm_movemask_epi8(_mm_or_si128(low, slashes)) == 0;
}

#else

/* High bit set in some byte where w has a byte below `limit` (at most 0x80). */
static inline uint64_t below(uint64_t w, uint64_t limit)
{
	const uint64_t ones = 0x0101010101010101u;
	return (w - ones * limit) & ~w & ones * 0x80;
}

static inline uint64_t no_plain8(const char *p)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t w;
	memcpy(&w, p, sizeof w);
	return below(w ^ ones * 2, 0x21) | below(w ^ ones * '\\', 1);
}

static inline bool plain64(const char *p)
{
	uint64_t hits = 0;
	for (int i = 0; i < 64; i += 8)
		hits |= no_plain8(p + i);
	return hits == 0;
}

#endif

const char *tp_json_long_run(const char *p, const char *end)
{
	while (end - p >= 64 && plain64(p))
		p += 64;
	return p;
}
