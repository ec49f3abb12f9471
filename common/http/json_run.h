/*
 * Plain bytes of JSON strings: neither a quote, nor a backslash, nor a control character.  Most of a body is
 * made of them.  Used by common/http/json*.c only.
 */
#ifndef TP_HTTP_JSON_RUN_H
#define TP_HTTP_JSON_RUN_H

#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* May it stand in a string as it is, without ending it? */
static inline int tp_json_is_plain(char c)
{
	return c != '"' && c != '\\' && (unsigned char)c >= 0x20;
}

#ifdef __SSE2__
/* Bit i: p[i] is not plain. */
static inline unsigned tp_json_no_plain16(const char *p)
{
	/* With bit 1 turned over, control characters stay below 0x20, and the quote is 0x20 itself. */
	const __m128i bit1 = _mm_set1_epi8(2), most = _mm_set1_epi8(0x20), slash = _mm_set1_epi8('\\');
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i x = _mm_xor_si128(v, bit1);
	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(x, most), x), _mm_cmpeq_epi8(v, slash)));
}
#endif

/* Passes by plain bytes in large steps: all bytes in front of the returned one are plain, and the next one
 * that is not lies less than one step (64 bytes) ahead, or `end` does.  For strings that have shown to be
 * long. */
const char *tp_json_long_run(const char *p, const char *end);

enum { TP_JSON_SHORT_RUN = 64 }; /* from this length on it is worth a call */

/* The first byte in [p, end) that is not plain; end if there is none. */
static inline const char *tp_json_plain_end(const char *p, const char *end)
{
#ifdef __SSE2__
	const char *from = p;
	while (end - p >= 16) {
		unsigned hits = tp_json_no_plain16(p);
		if (hits != 0)
			return p + __builtin_ctz(hits);
		p += 16;
		if (p - from == TP_JSON_SHORT_RUN)
			p = tp_json_long_run(p, end);
	}
#else
	p = tp_json_long_run(p, end);
#endif
	while (p < end && tp_json_is_plain(*p))
		p++;
	return p;
}

#endif
