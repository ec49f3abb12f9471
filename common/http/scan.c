#include "common/http/scan.h"

#include <endian.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "common/http/chars.h"
#include "common/http/fields.h"

enum tp_step tp_scan_bad(struct tp_scan *s, int status, const char *reason)
{
	s->status = status;
	s->reason = reason;
	return TP_STEP_BAD;
}

enum tp_step tp_scan_fault(struct tp_scan *s, const char *p, const char *reason)
{
	if (p >= s->end || memchr(p, '\n', (size_t)(s->end - p)) == NULL)
		return TP_STEP_MORE;
	return tp_scan_bad(s, 400, reason);
}

const char *tp_scan_line_end(const struct tp_scan *s, const char *p)
{
	if (s->end - p >= 2 && p[0] == '\r' && p[1] == '\n')
		return p + 2;
	if (s->lenient && p < s->end && *p == '\n')
		return p + 1;
	return NULL;
}

/* High bit set in each byte of w that is a control character (tab too) or DEL; exact up to the
 * lowest such byte, which is all that is asked (borrows run upwards only). */
static uint64_t controls(uint64_t w)
{
	const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
	uint64_t del = w ^ ones * 0x7f;
	return (((w - ones * 0x20) & ~w) | ((del - ones) & ~del)) & high;
}

#ifdef __SSE2__
/* Bit i: p[i] is a control character other than tab, or DEL. */
static unsigned no_value16(const char *p)
{
	const __m128i last = _mm_set1_epi8(0x1f), del = _mm_set1_epi8(0x7f), tab = _mm_set1_epi8('\t');
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(v, last), v), _mm_cmpeq_epi8(v, del));
	return (unsigned)_mm_movemask_epi8(_mm_andnot_si128(_mm_cmpeq_epi8(v, tab), hit));
}

/* 0xff for each byte from `first` to `first` + `span`. */
static __m128i within(__m128i v, char first, char span)
{
	__m128i d = _mm_sub_epi8(v, _mm_set1_epi8(first));
	return _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(span)), d);
}

/* Bit i: p[i] is no letter, digit or '-': what nearly all names are made of. */
static unsigned no_name16(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i fits = within(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'a', 25);
	fits = _mm_or_si128(fits, within(v, '0', 9));
	fits = _mm_or_si128(fits, _mm_cmpeq_epi8(v, _mm_set1_epi8('-')));
	return (unsigned)_mm_movemask_epi8(fits) ^ 0xffffu;
}

/* Bit i: p[i] is not visible ASCII, or '#'. */
static unsigned no_target16(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i fits = _mm_andnot_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('#')), within(v, '!', '~' - '!'));
	return (unsigned)_mm_movemask_epi8(fits) ^ 0xffffu;
}
#endif

/* The last bytes before `end`, and all where there are no wide registers. */
static const char *value_end_narrow(const char *p, const char *end)
{
	while (end - p >= 8) {
		uint64_t w;
		memcpy(&w, p, 8);
		uint64_t hits = controls(le64toh(w));
		if (hits == 0) {
			p += 8;
			continue;
		}
		p += __builtin_ctzll(hits) / 8;
		if (*p != '\t')
			return p;
		p++;
	}
	return tp_char_skip(p, end, TP_CHAR_VALUE);
}

static inline const char *value_end(const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 16; p += 16) {
		unsigned hits = no_value16(p);
		if (hits != 0)
			return p + __builtin_ctz(hits);
	}
#endif
	return value_end_narrow(p, end);
}

const char *tp_scan_value(const char *p, const char *end)
{
	return value_end(p, end);
}

const char *tp_scan_target(const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 16; p += 16) {
		unsigned stops = no_target16(p);
		if (stops != 0)
			return p + __builtin_ctz(stops);
	}
#endif
	return tp_char_skip(p, end, TP_CHAR_TARGET);
}

/* First byte in [p, end) that is not TP_CHAR_TOKEN. */
static const char *name_end(const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 16; p += 16) {
		unsigned stops = no_name16(p);
		if (stops == 0)
			continue;
		p += __builtin_ctz(stops);
		if (*p == ':')
			return p;
		break; /* a rarer token character, or a fault */
	}
#endif
	return tp_char_skip(p, end, TP_CHAR_TOKEN);
}

/* What stands at the start of a line and is no field name. */
static enum tp_step no_field(struct tp_scan *s)
{
	const char *p = s->at;
	const char *next = tp_scan_line_end(s, p);
	if (next != NULL) {
		s->at = next;
		return TP_STEP_END;
	}
	if (p < s->end && (*p == ' ' || *p == '\t'))
		return tp_scan_fault(s, p, "folded line, or a blank before a field name");
	return tp_scan_fault(s, p, "field line without a name");
}

#ifdef __SSE2__
enum { IN_SIGHT = 64 }; /* bytes from where on a line is tried the straight way */

/* Bit i: p[i] ends a name of the usual kind; the lower half of the bits are the first 16 bytes. */
static inline unsigned no_name32(const char *p)
{
	unsigned first = no_name16(p);
	return first != 0 ? first : no_name16(p + 16) << 16;
}

static inline bool is_pair(const char *p, char first, char second)
{
	const char pair[2] = {first, second};
	return memcmp(p, pair, sizeof pair) == 0; /* one comparison */
}

/*
 * "Name: value" and CRLF, as nearly all lines are written: one pass, and each byte is looked at once.  False:
 * it is something else, or not in sight as a whole, and field_line() has to look.
 */
static inline bool straight_line(struct tp_scan *s, struct tp_field *f)
{
	const char *name = s->at, *end = s->end;
	if (end - name < IN_SIGHT)
		return false;
	unsigned stops = no_name32(name);
	if (stops == 0)
		return false;
	unsigned name_n = (unsigned)__builtin_ctz(stops);
	const char *value = name + name_n + 2, *p = value;
	if (name_n == 0 || !is_pair(name + name_n, ':', ' ') || (unsigned char)*value <= ' ')
		return false;
	unsigned hits;
	while ((hits = no_value16(p)) == 0) {
		p += 16;
		if (end - p < 16 + 1)
			return false;
	}
	p += __builtin_ctz(hits);
	if (!is_pair(p, '\r', '\n') || (unsigned char)p[-1] <= ' ')
		return false;
	uint32_t at = (uint32_t)(name - s->bytes);
	f->name.at = at;
	f->name.n = name_n;
	f->value.at = at + name_n + 2;
	f->value.n = (uint32_t)(p - value);
	f->id = (uint8_t)tp_field_lookup_wide(name, name_n);
	f->plain = true;
	f->underscore = false;
	f->connection_named = false;
	s->at = p + 2;
	return true;
}
#else
static inline bool straight_line(struct tp_scan *s, struct tp_field *f)
{
	(void)s;
	(void)f;
	return false;
}
#endif

/* One field line at s->at into *f. */
static __attribute__((noinline)) enum tp_step field_line(struct tp_scan *s, struct tp_field *f)
{
	const char *name = s->at, *end = s->end;
	if (name < end && *name == '\r') /* mostly the end of the head */
		return no_field(s);
	const char *p = name_end(name, end);
	if (p == name)
		return no_field(s);
	if (p == end || *p != ':')
		return tp_scan_fault(s, p, "field name is not a token followed by a colon");
	f->name = (struct tp_span){(uint32_t)(name - s->bytes), (uint32_t)(p - name)};

	do
		p++;
	while (p < end && (*p == ' ' || *p == '\t'));
	const char *value = p;
	p = value_end(p, end);
	const char *next = tp_scan_line_end(s, p);
	if (next == NULL)
		return tp_scan_fault(s, p, "control character in a field value");
	while (p > value && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	f->value = (struct tp_span){(uint32_t)(value - s->bytes), (uint32_t)(p - value)};
	f->id = (uint8_t)tp_field_lookup(name, f->name.n);
	f->underscore = memchr(name, '_', f->name.n) != NULL;
	f->plain = value == name + f->name.n + 2 && value[-1] == ' ' && *p == '\r';
	f->connection_named = false;
	s->at = next;
	return TP_STEP_LINE;
}

/* Field lines from s->at to the empty line. */
static enum tp_step field_lines(struct tp_scan *s)
{
	struct tp_head *h = s->head;
	uint64_t seen = 0;
	/* What has no room is still read, so that its faults are found in their order. */
	struct tp_field no_room, *const beyond = h->fields + TP_HEAD_FIELDS_MAX;
	struct tp_field *f = s->lines < TP_HEAD_FIELDS_MAX ? h->fields + s->lines : &no_room;
	for (;;) {
		enum tp_step step = straight_line(s, f) ? TP_STEP_LINE : field_line(s, f);
		if (step == TP_STEP_END) {
			h->seen = seen;
			h->size = (uint32_t)(s->at - s->bytes);
			h->n_fields = s->lines < TP_HEAD_FIELDS_MAX ? s->lines : TP_HEAD_FIELDS_MAX;
		}
		if (step != TP_STEP_LINE)
			return step;
		s->lines++;
		uint64_t bit = (uint64_t)1 << f->id;
		if ((s->meant & bit) != 0 && s->known_field(s, f) == TP_STEP_BAD)
			return TP_STEP_BAD;
		if ((seen & bit) == 0)
			h->first[f->id] = (uint8_t)(s->lines - 1);
		s->repeated |= seen & bit;
		seen |= bit;
		if (f != &no_room && ++f == beyond)
			f = &no_room;
	}
}

/* The whole head from its first byte. */
static enum tp_step whole_head(struct tp_scan *s)
{
	s->at = s->bytes;
	s->lines = 0;
	s->repeated = 0;
	s->lengths = 0;
	s->lengths_differ = false;
	enum tp_step step = s->first_line(s);
	return step == TP_STEP_LINE ? field_lines(s) : step;
}

/*
 * More of a head that was not complete before: only its new complete lines are looked at, and
 * the whole head once more when it is complete, so that each byte is read twice at most.
 */
static enum tp_step rest_of_head(struct tp_scan *s, size_t scanned)
{
	const char *news = s->bytes + scanned;
	if (memchr(news, '\n', (size_t)(s->end - news)) == NULL)
		return TP_STEP_MORE;
	const char *before = memrchr(s->bytes, '\n', scanned);
	/* Within the first two bytes: the empty line that may precede a request. */
	if (before == NULL || before - s->bytes < 2)
		return whole_head(s);
	s->at = before + 1;
	enum tp_step step = field_lines(s);
	return step == TP_STEP_END ? whole_head(s) : step;
}

/* The limit is reached and the head is not complete. */
static enum tp_step too_large(struct tp_scan *s)
{
	const char *line = s->bytes;
	if (s->end - line >= 2 && line[0] == '\r' && line[1] == '\n')
		line += 2;
	if (memchr(line, '\n', (size_t)(s->end - line)) == NULL)
		return tp_scan_bad(s, 414, "first line above the limit for heads");
	return tp_scan_bad(s, 431, "head above its limit");
}

enum tp_step tp_scan_head(struct tp_scan *s, size_t n, size_t limit, size_t *scanned)
{
	if (limit > UINT32_MAX)
		limit = UINT32_MAX; /* offsets are 32 bits wide */
	s->end = s->bytes + (n < limit ? n : limit);
	enum tp_step step;
	if (*scanned == 0 || *scanned > (size_t)(s->end - s->bytes))
		step = whole_head(s);
	else
		step = rest_of_head(s, *scanned);
	if (step == TP_STEP_MORE && n >= limit)
		step = too_large(s);
	*scanned = step == TP_STEP_MORE ? n : 0;
	if (step == TP_STEP_END && s->lines > TP_HEAD_FIELDS_MAX)
		return tp_scan_bad(s, 431, "too many fields");
	return step;
}
