/* Request heads: strict (RFC 9112; design section 7). */
#include "common/http/chars.h"
#include "common/http/scan.h"

struct request_scan {
	struct tp_scan scan; /* first: the callbacks get this one */
	uint64_t limit_body;
};

static struct tp_span span_of(const struct tp_scan *s, struct tp_str text)
{
	return (struct tp_span){(uint32_t)(text.p - s->bytes), (uint32_t)text.n};
}

/* RFC 3986 section 3.2 without user information; a port is 1-65535 when there is a colon. */
static bool authority_valid(struct tp_str a)
{
	const char *p = a.p, *end = a.p + a.n;
	if (p < end && *p == '[') {
		const char *inside = ++p;
		while (p < end && (tp_char_is(*p, TP_CHAR_HEX) || *p == ':' || *p == '.'))
			p++;
		if (p == inside || p == end || *p++ != ']')
			return false;
	} else {
		p = tp_char_skip(p, end, TP_CHAR_HOST);
		if (p == a.p)
			return false;
	}
	if (p == end)
		return true;
	uint64_t port;
	return *p == ':' &&
	       tp_scan_digits((struct tp_str){p + 1, (size_t)(end - p - 1)}, &port) == TP_DIGITS_OK &&
	       port >= 1 && port <= 65535;
}

/* Length of "http://" or "https://" at the start; 0 when neither is there. */
static size_t scheme_length(struct tp_str target)
{
	static const struct tp_str schemes[] = {{"http://", 7}, {"https://", 8}};
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
		if (target.n >= schemes[i].n && strncasecmp(target.p, schemes[i].p, schemes[i].n) == 0)
			return schemes[i].n;
	return 0;
}

/* http://authority/path?query: cut down to path and query. */
static enum tp_step absolute_target(struct tp_scan *s, struct tp_str target)
{
	size_t scheme = scheme_length(target);
	if (scheme == 0)
		return tp_scan_bad(s, 400, "target is neither a path nor an absolute http address");
	const char *p = target.p + scheme, *end = target.p + target.n;
	const char *authority = p;
	while (p < end && *p != '/' && *p != '?')
		p++;
	s->absolute = (struct tp_str){authority, (size_t)(p - authority)};
	if (!authority_valid(s->absolute))
		return tp_scan_bad(s, 400, "authority of the target is not valid");
	if (p == end) /* an empty path is "/": the last slash before the authority is one */
		s->head->target = span_of(s, (struct tp_str){authority - 1, 1});
	else if (*p == '?')
		return tp_scan_bad(s, 400, "absolute target with a query but no path");
	else
		s->head->target = span_of(s, (struct tp_str){p, (size_t)(end - p)});
	return TP_STEP_LINE;
}

static enum tp_step target_form(struct tp_scan *s, struct tp_str method, struct tp_str target)
{
	s->head->method = span_of(s, method);
	s->head->target = span_of(s, target);
	if (tp_str_eq(method, TP_STR("CONNECT")))
		return tp_scan_bad(s, 501, "CONNECT is not served");
	if (target.p[0] == '/')
		return TP_STEP_LINE;
	if (tp_str_eq(target, TP_STR("*"))) {
		if (tp_str_eq(method, TP_STR("OPTIONS")))
			return TP_STEP_LINE;
		return tp_scan_bad(s, 400, "target * is for OPTIONS only");
	}
	return absolute_target(s, target);
}

static enum tp_step request_line(struct tp_scan *s)
{
	const char *p = s->bytes, *end = s->end;
	const char *skipped = tp_scan_line_end(s, p);
	if (skipped != NULL) /* RFC 9112 section 2.2: one empty line before a request */
		p = skipped;
	struct tp_str method = {p, 0}, target;
	p = tp_char_skip(p, end, TP_CHAR_TOKEN);
	method.n = (size_t)(p - method.p);
	if (method.n == 0 || p == end || *p != ' ')
		return tp_scan_fault(s, p, "method is not a token followed by one blank");
	target.p = ++p;
	p = tp_scan_target(p, end);
	target.n = (size_t)(p - target.p);
	if (target.n == 0 || p == end || *p != ' ')
		return tp_scan_fault(s, p, "target is not visible ASCII followed by one blank");
	p++;
	static const char version[] = "HTTP/1.";
	enum { VERSION_N = sizeof version - 1 };
	if (end - p < VERSION_N + 3 || memcmp(p, version, VERSION_N) != 0 ||
	    (p[VERSION_N] != '0' && p[VERSION_N] != '1'))
		return tp_scan_fault(s, p, "version is not HTTP/1.0 or HTTP/1.1");
	s->head->minor = (uint8_t)(p[VERSION_N] - '0');
	p += VERSION_N + 1;
	s->at = tp_scan_line_end(s, p);
	if (s->at == NULL)
		return tp_scan_fault(s, p, "request line does not end behind the version");
	return target_form(s, method, target);
}

static enum tp_step known_field(struct tp_scan *s, const struct tp_field *f)
{
	struct tp_str value = tp_span_str(s->bytes, f->value);
	if (f->id == TP_FIELD_HOST) {
		if (!authority_valid(value))
			return tp_scan_bad(s, 400, "Host is not valid");
		s->head->authority = f->value;
	} else if (f->id == TP_FIELD_CONTENT_LENGTH) {
		enum tp_digits got = tp_scan_digits(value, &s->head->content_length);
		if (got == TP_DIGITS_NONE)
			return tp_scan_bad(s, 400, "Content-Length is not a number");
		if (got == TP_DIGITS_HUGE || s->head->content_length > ((struct request_scan *)s)->limit_body)
			return tp_scan_bad(s, 413, "Content-Length above the limit for bodies");
	}
	return TP_STEP_LINE;
}

static enum tp_step finish_host(struct tp_scan *s)
{
	struct tp_head *h = s->head;
	if (tp_scan_repeated(s, TP_FIELD_HOST))
		return tp_scan_bad(s, 400, "more than one Host");
	if (!tp_head_has(h, TP_FIELD_HOST)) {
		if (h->minor == 1)
			return tp_scan_bad(s, 400, "no Host");
		h->authority = s->absolute.p != NULL ? span_of(s, s->absolute) : (struct tp_span){0};
	} else if (s->absolute.p != NULL && !tp_str_ieq(s->absolute, tp_span_str(s->bytes, h->authority))) {
		return tp_scan_bad(s, 400, "Host is not the authority of the target");
	}
	return TP_STEP_END;
}

static enum tp_step finish_framing(struct tp_scan *s)
{
	struct tp_head *h = s->head;
	bool length = tp_head_has(h, TP_FIELD_CONTENT_LENGTH);
	if (!length)
		h->content_length = 0;
	if (tp_scan_repeated(s, TP_FIELD_CONTENT_LENGTH))
		return tp_scan_bad(s, 400, "more than one Content-Length");
	if (!tp_head_has(h, TP_FIELD_TRANSFER_ENCODING)) {
		h->framing = length ? TP_FRAMING_LENGTH : TP_FRAMING_NONE;
		return TP_STEP_END;
	}
	if (length)
		return tp_scan_bad(s, 400, "both Content-Length and Transfer-Encoding");
	if (h->minor == 0)
		return tp_scan_bad(s, 400, "Transfer-Encoding in HTTP/1.0");
	struct tp_codings c;
	tp_scan_codings(s, &c);
	if (!c.chunked_last || c.chunked != 1 || c.empty != 0)
		return tp_scan_bad(s, 400, "Transfer-Encoding does not end in chunked, once");
	if (c.other != 0 || c.identity != 0)
		return tp_scan_bad(s, 501, "transfer coding other than chunked");
	h->framing = TP_FRAMING_CHUNKED;
	return TP_STEP_END;
}

static bool expects_continue(const struct tp_scan *s)
{
	const struct tp_head *h = s->head;
	if (!tp_head_has(h, TP_FIELD_EXPECT) || h->minor == 0)
		return false;
	for (uint32_t i = h->first[TP_FIELD_EXPECT]; i < h->n_fields; i++) {
		if (h->fields[i].id != TP_FIELD_EXPECT)
			continue;
		struct tp_str rest = tp_span_str(s->bytes, h->fields[i].value), element;
		while (tp_scan_element(&rest, &element))
			if (tp_str_ieq(element, TP_STR("100-continue")))
				return true;
	}
	return false;
}

static enum tp_step finish(struct tp_scan *s)
{
	struct tp_head *h = s->head;
	enum tp_step step = finish_host(s);
	if (step == TP_STEP_END)
		step = finish_framing(s);
	if (step != TP_STEP_END)
		return step;
	if (!tp_scan_connection(s))
		return tp_scan_bad(s, 400, "too many connection options");
	h->expect_continue = expects_continue(s);
	h->status = 0;
	h->reason = (struct tp_span){0};
	return TP_STEP_END;
}

enum tp_parse tp_head_parse_request(const char *bytes, size_t n, size_t limit_head, uint64_t limit_body,
				    size_t *scanned, struct tp_head *ret_head, int *ret_status,
				    const char **ret_reason)
{
	struct request_scan r = {
		.scan = {.bytes = bytes,
			 .head = ret_head,
			 .first_line = request_line,
			 .meant = (uint64_t)1 << TP_FIELD_HOST | (uint64_t)1 << TP_FIELD_CONTENT_LENGTH,
			 .known_field = known_field},
		.limit_body = limit_body,
	};
	enum tp_step step = tp_scan_head(&r.scan, n, limit_head, scanned);
	if (step == TP_STEP_END)
		step = finish(&r.scan);
	if (step == TP_STEP_END)
		return TP_PARSE_OK;
	if (step == TP_STEP_MORE)
		return TP_PARSE_MORE;
	*ret_status = r.scan.status;
	*ret_reason = r.scan.reason;
	return TP_PARSE_BAD;
}
