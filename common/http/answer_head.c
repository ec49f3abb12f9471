/* Answer heads: forgiving where providers are sloppy (design section 7). */
#include "common/http/chars.h"
#include "common/http/scan.h"

static enum tp_step status_line(struct tp_scan *s)
{
	static const char version[] = "HTTP/1.";
	enum { VERSION_N = sizeof version - 1, CODE_AT = VERSION_N + 2, REASON_AT = CODE_AT + 3 };
	const char *p = s->bytes;
	if (s->end - p <= REASON_AT)
		return tp_scan_fault(s, p, "status line is too short");
	if (memcmp(p, version, VERSION_N) != 0 || !tp_char_is(p[VERSION_N], TP_CHAR_DIGIT) ||
	    p[VERSION_N + 1] != ' ')
		return tp_scan_fault(s, p, "version is not HTTP/1.x");
	const char *code = p + CODE_AT;
	if (code[0] < '1' || code[0] > '5' || !tp_char_is(code[1], TP_CHAR_DIGIT) ||
	    !tp_char_is(code[2], TP_CHAR_DIGIT))
		return tp_scan_fault(s, p, "status is not a number from 100 to 599");
	s->head->minor = p[VERSION_N] == '0' ? 0 : 1;
	s->head->status = (uint16_t)((code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0'));

	p += REASON_AT;
	const char *reason = p;
	if (*p == ' ')
		reason = ++p;
	else if (tp_scan_line_end(s, p) == NULL)
		return tp_scan_fault(s, p, "status is not followed by a blank");
	p = tp_scan_value(p, s->end);
	s->at = tp_scan_line_end(s, p);
	if (s->at == NULL)
		return tp_scan_fault(s, p, "control character in the reason phrase");
	s->head->reason = (struct tp_span){(uint32_t)(reason - s->bytes), (uint32_t)(p - reason)};
	return TP_STEP_LINE;
}

/* Content-Length: it may be told several times, also as a list, if it is always the same (RFC 9110
 * section 8.6). */
static enum tp_step known_field(struct tp_scan *s, const struct tp_field *f)
{
	struct tp_str rest = tp_span_str(s->bytes, f->value), text;
	while (tp_scan_element(&rest, &text)) {
		uint64_t length;
		if (tp_scan_digits(text, &length) != TP_DIGITS_OK)
			return tp_scan_bad(s, 400, "Content-Length is not a number");
		if (s->lengths++ != 0 && length != s->head->content_length)
			s->lengths_differ = true;
		s->head->content_length = length;
	}
	return TP_STEP_LINE;
}

/* Could another reader find the end elsewhere?  A body where there can be none, a length beside a coding, a
 * coding of a sender that cannot know it: nothing behind such an answer is taken for the next one (RFC 9112
 * section 6.3). */
static bool end_is_unsure(const struct tp_scan *s)
{
	const struct tp_head *h = s->head;
	bool coding = tp_head_has(h, TP_FIELD_TRANSFER_ENCODING);
	if (h->status == 204)
		return coding || (s->lengths != 0 && h->content_length != 0);
	if (h->framing == TP_FRAMING_NONE)
		return false;
	return coding && (s->lengths != 0 || h->minor == 0);
}

/* RFC 9112 section 6.3, in its order. */
static enum tp_step finish_framing(struct tp_scan *s, bool head_request)
{
	struct tp_head *h = s->head;
	struct tp_codings c = {0};
	if (s->lengths_differ)
		return tp_scan_bad(s, 400, "several different Content-Length values");
	if (tp_head_has(h, TP_FIELD_TRANSFER_ENCODING))
		tp_scan_codings(s, &c);
	if (c.other != 0)
		return tp_scan_bad(s, 400, "transfer coding other than chunked");
	if (c.chunked > 1 || (c.chunked == 1 && !c.chunked_last))
		return tp_scan_bad(s, 400, "Transfer-Encoding does not end in chunked, once");

	if (head_request || h->status < 200 || h->status == 204 || h->status == 304) {
		h->framing = TP_FRAMING_NONE;
	} else if (c.chunked != 0) {
		h->framing = TP_FRAMING_CHUNKED;
	} else if (s->lengths != 0) {
		h->framing = TP_FRAMING_LENGTH;
	} else {
		h->framing = TP_FRAMING_CLOSE;
		h->keep_alive = false;
	}
	if (end_is_unsure(s))
		h->keep_alive = false;
	if (h->framing != TP_FRAMING_LENGTH)
		h->content_length = 0;
	return TP_STEP_END;
}

static enum tp_step finish(struct tp_scan *s, bool head_request)
{
	struct tp_head *h = s->head;
	if (!tp_scan_connection(s))
		return tp_scan_bad(s, 400, "too many connection options");
	h->expect_continue = false;
	h->method = h->target = h->authority = (struct tp_span){0};
	return finish_framing(s, head_request);
}

enum tp_parse tp_head_parse_answer(const char *bytes, size_t n, size_t limit_head, bool head_request,
				   size_t *scanned, struct tp_head *ret_head, const char **ret_reason)
{
	struct tp_scan s = {.bytes = bytes,
			    .head = ret_head,
			    .lenient = true,
			    .first_line = status_line,
			    .meant = (uint64_t)1 << TP_FIELD_CONTENT_LENGTH,
			    .known_field = known_field};
	enum tp_step step = tp_scan_head(&s, n, limit_head, scanned);
	if (step == TP_STEP_END)
		step = finish(&s, head_request);
	if (step == TP_STEP_END)
		return TP_PARSE_OK;
	if (step == TP_STEP_MORE)
		return TP_PARSE_MORE;
	*ret_reason = s.reason;
	return TP_PARSE_BAD;
}
