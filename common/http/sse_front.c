#include "common/http/sse_front.h"

enum { BLANK_MOST = 1024 }; /* of empty lines: each piece looks at them anew, and so many precede no event */

static const struct tp_str bom = {"\xef\xbb\xbf", 3};

static size_t skipped(struct tp_str s)
{
	size_t i = tp_str_starts(s, bom) ? bom.n : 0;
	while (i < s.n && i < BLANK_MOST && (s.p[i] == '\n' || s.p[i] == '\r'))
		i++;
	return i;
}

enum tp_sse_front tp_sse_front(struct tp_str s)
{
	static const struct tp_str fronts[] = {TP_NAME("data:"), TP_NAME("event:"), TP_NAME("id:"),
					       TP_NAME("retry:"), TP_NAME(":")};
	size_t skip = skipped(s);
	if (skip == s.n)
		return skip < BLANK_MOST ? TP_SSE_FRONT_UNSURE : TP_SSE_FRONT_OTHER;
	s.p += skip;
	s.n -= skip;
	if (skip == 0 && tp_str_starts(bom, s))
		return TP_SSE_FRONT_UNSURE;
	for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++) {
		if (tp_str_starts(s, fronts[i]))
			return TP_SSE_FRONT_EVENTS;
		if (tp_str_starts(fronts[i], s))
			return TP_SSE_FRONT_UNSURE;
	}
	return TP_SSE_FRONT_OTHER;
}
