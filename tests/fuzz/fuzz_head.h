/* What holds for each head that a parser accepts. */
#ifndef TP_TESTS_FUZZ_HEAD_H
#define TP_TESTS_FUZZ_HEAD_H

#include <string.h>

#include "common/http/chars.h"
#include "common/http/head.h"
#include "tests/fuzz/fuzz_check.h"

static inline void fuzz_span_holds(const struct tp_head *h, const char *bytes, struct tp_span s,
				   unsigned classes)
{
	FUZZ_CHECK(s.at <= h->size && s.n <= h->size - s.at);
	const char *p = bytes + s.at, *end = p + s.n;
	FUZZ_CHECK(tp_char_skip(p, end, classes) == end);
}

static inline void fuzz_head_holds(const struct tp_head *h, const char *bytes, size_t n)
{
	FUZZ_CHECK(h->size <= n && h->size >= 4 && bytes[h->size - 1] == '\n');
	FUZZ_CHECK(h->n_fields <= TP_HEAD_FIELDS_MAX && h->minor <= 1 && h->framing <= TP_FRAMING_CLOSE);
	FUZZ_CHECK(h->framing == TP_FRAMING_LENGTH || h->content_length == 0);
	uint64_t seen = 0;
	for (uint32_t i = 0; i < h->n_fields; i++) {
		const struct tp_field *f = &h->fields[i];
		FUZZ_CHECK(f->name.n > 0 && f->id < TP_FIELD_COUNT);
		fuzz_span_holds(h, bytes, f->name, TP_CHAR_TOKEN);
		fuzz_span_holds(h, bytes, f->value, TP_CHAR_VALUE);
		struct tp_str value = tp_span_str(bytes, f->value);
		FUZZ_CHECK(tp_str_trim(value).n == value.n);
		FUZZ_CHECK(f->underscore == (memchr(bytes + f->name.at, '_', f->name.n) != NULL));
		if ((seen >> f->id & 1) == 0)
			FUZZ_CHECK(h->first[f->id] == i);
		seen |= (uint64_t)1 << f->id;
	}
	FUZZ_CHECK(seen == h->seen);
}

#endif
