#include "common/base/find.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* Bit i: the needle's last two bytes stand at p[i] and p[i + 1]; reads 17 bytes. */
static inline unsigned pairs(const char *p, __m128i first, __m128i second)
{
	__m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
	return (unsigned)_mm_movemask_epi8(
		_mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, second)));
}

static const char *check(const char *p, unsigned hits, struct tp_str front)
{
	for (; hits != 0; hits &= hits - 1) {
		const char *found = p + __builtin_ctz(hits) - front.n;
		if (memcmp(found, front.p, front.n) == 0)
			return found;
	}
	return NULL;
}

/* p: where the needle's last two bytes may stand first; at least 17 bytes before end. */
static const char *find_wide(const char *p, const char *end, struct tp_str needle)
{
	struct tp_str front = {needle.p, needle.n - 2};
	const __m128i first = _mm_set1_epi8(needle.p[front.n]);
	const __m128i second = _mm_set1_epi8(needle.p[front.n + 1]);
	const char *last = end - 17, *found = NULL;
	for (; p < last && found == NULL; p += 16) {
		unsigned hits = pairs(p, first, second);
		if (hits != 0)
			found = check(p, hits, front);
	}
	/* What is left, and some of what was seen before it. */
	return found != NULL ? found : check(last, pairs(last, first, second), front);
}
#endif

const char *tp_find(struct tp_str bytes, struct tp_str needle)
{
	if (needle.n < 2 || bytes.n < needle.n)
		return NULL;
	size_t front = needle.n - 2;
	const char *p = bytes.p + front, *end = bytes.p + bytes.n;
#ifdef __SSE2__
	if (end - p >= 17)
		return find_wide(p, end, needle);
#endif
	for (; p + 1 < end; p++)
		if (p[0] == needle.p[front] && p[1] == needle.p[front + 1] &&
		    memcmp(p - front, needle.p, front) == 0)
			return p - front;
	return NULL;
}
