#include "common/base/find.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* Bit i: the needle's last two bytes stand at p[i] and p[i + 1]; reads 17 bytes. */
static unsigned pairs(const char *p, __m128i first, __m128i second)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
	return (unsigned)_mm_movemask_epi8(
		_mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, second)));
}
#endif

const char *tp_find(struct tp_str bytes, struct tp_str needle)
{
	if (needle.n < 2 || bytes.n < needle.n)
		return NULL;
	size_t front = needle.n - 2, at = front; /* bytes[at], bytes[at + 1]: where its last two may stand */
	char a = needle.p[front], b = needle.p[front + 1];
#ifdef __SSE2__
	const __m128i first = _mm_set1_epi8(a), second = _mm_set1_epi8(b);
	for (; bytes.n - at >= 17; at += 16)
		for (unsigned hits = pairs(bytes.p + at, first, second); hits != 0; hits &= hits - 1) {
			const char *found = bytes.p + at + __builtin_ctz(hits) - front;
			if (memcmp(found, needle.p, front) == 0)
				return found;
		}
#endif
	for (; at + 1 < bytes.n; at++)
		if (bytes.p[at] == a && bytes.p[at + 1] == b &&
		    memcmp(bytes.p + at - front, needle.p, front) == 0)
			return bytes.p + at - front;
	return NULL;
}
