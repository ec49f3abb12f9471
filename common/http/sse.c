#include "common/http/sse.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum state {
	ST_FIELD,       /* at the start of a line, or in its field name */
	ST_AFTER_COLON, /* one blank here does not belong to the value */
	ST_VALUE
};

enum field { FIELD_OTHER, FIELD_DATA, FIELD_EVENT, FIELD_ERROR, FIELD_COMMENT };

_Static_assert(sizeof(struct tp_sse) < 200, "held for each open stream");

/* ---- data ---- */

static void gather(struct tp_sse *s, const char *bytes, size_t n)
{
	size_t room = s->gathered.len < s->keep_max ? s->keep_max - s->gathered.len : 0;
	if (n > room) {
		s->data_cut = true;
		n = room;
	}
	tp_buf_add(&s->gathered, bytes, n);
	if (s->gathered.failed)
		s->data_cut = true;
}

/* What was pointed to is copied: its piece goes away, or more data follows. */
static void spill(struct tp_sse *s)
{
	if (s->span_n > 0)
		gather(s, s->span, s->span_n);
	s->span = NULL;
	s->span_n = 0;
}

static void add_data(struct tp_sse *s, const char *bytes, size_t n)
{
	if (n == 0)
		return;
	if (s->gathered.len == 0 && s->span_n == 0 && !s->data_cut) {
		s->span = bytes;
		s->span_n = n;
		return;
	}
	spill(s);
	gather(s, bytes, n);
}

/* ---- lines ---- */

static bool line_is(const struct tp_sse *s, struct tp_str name)
{
	return tp_str_eq((struct tp_str){s->line, s->line_n}, name);
}

static void add_front(char *to, uint8_t *n, bool *cut, size_t room, const char *bytes, size_t len)
{
	size_t fits = room - *n;
	if (len > fits) {
		*cut = true;
		len = fits;
	}
	memcpy(to + *n, bytes, len);
	*n = (uint8_t)(*n + len);
}

static void begin_field(struct tp_sse *s, enum field field)
{
	s->field = (uint8_t)field;
	s->state = ST_AFTER_COLON;
	if (field == FIELD_EVENT) {
		s->name_n = 0; /* the last one counts */
		s->name_cut = false;
	} else if (field == FIELD_ERROR) {
		s->name_n = 0;
		add_front(s->name, &s->name_n, &s->name_cut, sizeof s->name, "error", 5);
	}
	if (field == FIELD_DATA || field == FIELD_ERROR) {
		if (s->data_seen)
			add_data(s, "\n", 1);
		s->data_seen = true;
	}
}

/* The field's name stands in line[]. */
static void begin_value(struct tp_sse *s)
{
	enum field field = FIELD_OTHER;
	if (line_is(s, TP_STR("data")))
		field = FIELD_DATA;
	else if (line_is(s, TP_STR("event")))
		field = FIELD_EVENT;
	else if (line_is(s, TP_STR("error")))
		field = FIELD_ERROR;
	begin_field(s, field);
}

static void add_value(struct tp_sse *s, const char *bytes, size_t n)
{
	bool cut = false;
	switch (s->field) {
	case FIELD_DATA:
	case FIELD_ERROR: add_data(s, bytes, n); break;
	case FIELD_EVENT: add_front(s->name, &s->name_n, &s->name_cut, sizeof s->name, bytes, n); break;
	case FIELD_COMMENT: add_front(s->line, &s->line_n, &cut, sizeof s->line, bytes, n); break;
	default: break;
	}
}

static uint16_t status_of_comment(struct tp_str text)
{
	struct tp_str prefix = TP_STR("HTTP_STATUS/");
	if (!tp_str_starts(text, prefix) || text.n != prefix.n + 3)
		return 0;
	unsigned status = 0;
	for (size_t i = prefix.n; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return 0;
		status = status * 10 + (unsigned)(text.p[i] - '0');
	}
	return (uint16_t)status;
}

/* Behind a line's end.  True if the line was empty and so ended an event or a block of comments. */
static bool end_line(struct tp_sse *s)
{
	bool empty = s->state == ST_FIELD && s->line_n == 0;
	if (empty) {
		bool ended = s->lines;
		s->lines = s->open = false;
		return ended;
	}
	if (s->state == ST_FIELD)
		begin_value(s); /* a field name alone has the empty value */
	if (s->field == FIELD_COMMENT) {
		uint16_t status = status_of_comment((struct tp_str){s->line, s->line_n});
		if (status != 0)
			s->http_status = status;
		s->open = s->fields; /* other bytes may stand behind a comment that is outside an event */
	} else {
		s->fields = s->open = true;
	}
	s->lines = true;
	s->state = ST_FIELD;
	s->line_n = 0;
	return false;
}

#ifdef __SSE2__
/* Bit i: p[i] is CR or LF. */
static unsigned eols16(const char *p)
{
	const __m128i cr = _mm_set1_epi8('\r'), lf = _mm_set1_epi8('\n');
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(v, cr), _mm_cmpeq_epi8(v, lf)));
}
#endif

/* Bytes up to the first CR or LF. */
static size_t run_to_eol(const char *p, size_t n)
{
	size_t i = 0;
#ifdef __SSE2__
	unsigned eols = 0;
	for (; n - i >= 16; i += 16)
		if ((eols = eols16(p + i)) != 0)
			return i + (size_t)__builtin_ctz(eols);
	/* The last step overlaps the one before it: lines mostly end with the piece. */
	if (n >= 16 && i < n && (eols = eols16(p + n - 16)) != 0)
		return n - 16 + (size_t)__builtin_ctz(eols);
	if (n >= 16)
		return n;
#endif
	while (i < n && p[i] != '\r' && p[i] != '\n')
		i++;
	return i;
}

/* ---- the stream ---- */

static bool is_bom(struct tp_str line)
{
	return tp_str_eq(line, TP_STR("\xef\xbb\xbf"));
}

/* A byte order mark is no part of the first field's name. */
static void cut_bom(struct tp_sse *s)
{
	if (s->past_first || s->line_n < 3 || !is_bom((struct tp_str){s->line, 3}))
		return;
	s->line_n = (uint8_t)(s->line_n - 3);
	memmove(s->line, s->line + 3, s->line_n);
}

/* Looks at the first bytes that mean something.  `c` belongs to a field name, behind what is in line[]. */
static void look_at_start(struct tp_sse *s, char c)
{
	bool in_bom = !s->past_first && s->line_n < 3 && c == "\xef\xbb\xbf"[s->line_n];
	if (c == ' ' || c == '\t' || in_bom)
		return;
	s->started = true;
	s->foreign = c == '{' || c == '[' || c == '<';
}

/* The two fields that events are made of, where name and colon lie in sight; the bytes used, 0 = neither. */
static size_t plain_field(struct tp_sse *s, const char *p, size_t n)
{
	static const struct {
		struct tp_str front;
		enum field field;
	} fields[] = {{{"data:", 5}, FIELD_DATA}, {{"event:", 6}, FIELD_EVENT}};
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (n >= fields[i].front.n && memcmp(p, fields[i].front.p, fields[i].front.n) == 0) {
			begin_field(s, fields[i].field);
			return fields[i].front.n;
		}
	return 0;
}

static size_t in_field(struct tp_sse *s, const char *p, size_t n)
{
	size_t i = 0;
	if (s->past_first && s->started && s->line_n == 0 && (i = plain_field(s, p, n)) > 0)
		return i;
	for (; i < n && p[i] != '\r' && p[i] != '\n'; i++) {
		if (!s->started)
			look_at_start(s, p[i]);
		if (p[i] == ':') {
			cut_bom(s);
			if (s->line_n == 0) {
				s->field = FIELD_COMMENT;
				s->state = ST_VALUE;
			} else {
				begin_value(s);
				s->line_n = 0;
			}
			return i + 1;
		}
		/* The last place is only ever taken by names too long to be known. */
		if (s->line_n < sizeof s->line)
			s->line[s->line_n++] = p[i];
	}
	return i;
}

/* Bytes of one line, up to its end. */
static size_t in_line(struct tp_sse *s, const char *p, size_t n)
{
	size_t i = 0;
	if (s->state == ST_FIELD)
		i = in_field(s, p, n);
	if (s->state == ST_AFTER_COLON && i < n) {
		i += p[i] == ' ';
		s->state = ST_VALUE;
	}
	if (s->state == ST_VALUE && i < n) {
		size_t run = run_to_eol(p + i, n - i);
		add_value(s, p + i, run);
		i += run;
	}
	return i;
}

static void forget_event(struct tp_sse *s)
{
	if (!s->reported)
		return;
	tp_buf_free(&s->gathered);
	s->span = NULL;
	s->span_n = 0;
	s->name_n = 0;
	s->http_status = 0;
	s->data_seen = s->data_cut = s->name_cut = s->fields = s->reported = false;
}

static enum tp_sse_result report(struct tp_sse *s)
{
	if (s->gathered.len > 0)
		spill(s);
	s->events += s->data_seen;
	s->reported = true;
	return TP_SSE_EVENT;
}

/* bytes[0] is a CR or LF; *ret_used = 1, or 2 for CRLF. */
static bool at_eol(struct tp_sse *s, const char *bytes, size_t n, size_t *ret_used)
{
	*ret_used = 1;
	if (bytes[0] == '\r') {
		s->skip_lf = n == 1;
		if (n > 1 && bytes[1] == '\n')
			*ret_used = 2;
	}
	if (s->state == ST_FIELD)
		cut_bom(s);
	s->past_first = true;
	return end_line(s);
}

enum tp_sse_result tp_sse_feed(struct tp_sse *s, const char *bytes, size_t n, size_t *ret_used)
{
	size_t i = 0;
	forget_event(s);
	while (i < n) {
		if (s->skip_lf) {
			s->skip_lf = false;
			if (bytes[i] == '\n') {
				i++;
				continue;
			}
		}
		size_t used = in_line(s, bytes + i, n - i);
		s->open |= used > 0;
		i += used;
		if (i == n)
			break;
		bool event = at_eol(s, bytes + i, n - i, &used);
		i += used;
		if (event) {
			*ret_used = i;
			return report(s);
		}
	}
	spill(s);
	*ret_used = i;
	return TP_SSE_MORE;
}

enum tp_sse_result tp_sse_finish(struct tp_sse *s)
{
	forget_event(s);
	if (s->state != ST_FIELD || s->line_n > 0) {
		if (s->state == ST_FIELD)
			cut_bom(s);
		end_line(s);
	}
	s->open = s->lines = false;
	return s->fields ? report(s) : TP_SSE_MORE;
}

struct tp_sse_event tp_sse_event(const struct tp_sse *s)
{
	struct tp_sse_event event = {
		.name = {s->name, s->name_n},
		.data_cut = s->data_cut,
		.name_cut = s->name_cut,
		.http_status = s->http_status,
	};
	if (s->span_n > 0)
		event.data = (struct tp_str){s->span, s->span_n};
	else if (s->gathered.len > 0)
		event.data = tp_buf_str(&s->gathered);
	else if (s->data_seen)
		event.data = TP_STR("");
	return event;
}

void tp_sse_free(struct tp_sse *s)
{
	tp_buf_free(&s->gathered);
	s->span = NULL;
	s->span_n = 0;
}
