/*
 * Requests as we read them against llhttp (of Node.js, strict build).  Where both take a request, they must
 * mean the same: fields, framing, where head and body end, what follows.  Where one refuses, the difference
 * must be one that README.md decides.
 */
#include <stdint.h>
#include <string.h>

#include <llhttp.h>

#include "common/base/buf.h"
#include "common/http/chunked.h"
#include "common/http/head.h"
#include "tests/fuzz/fuzz_check.h"

enum { LIMIT_HEAD = 8192, LIMIT_BODY = 1 << 30 };

/* What one reading of the bytes amounts to. */
struct reading {
	bool good;                                 /* a whole message */
	bool head;                                 /* a whole head, at least */
	const char *why;                           /* not good, and not only too short */
	size_t used;                               /* bytes of the message */
	uint32_t fields;                           /* lines */
	struct tp_buf target, names, values, body; /* owned */
	bool chunked, keep_alive, trailers, upgrade;
	bool tab; /* one behind a word of a framing field it takes for a part of it (against RFC 9110, 5.6.3)
		   */
	bool extension; /* what is wrong stands behind a `;` of its line */
	bool preface;   /* it is PRI, which llhttp takes for HTTP/2, whatever version is told */
};

static void reading_free(struct reading *r)
{
	tp_buf_free(&r->target);
	tp_buf_free(&r->names);
	tp_buf_free(&r->values);
	tp_buf_free(&r->body);
}

/* ---- ours */

static void our_body(const struct tp_head *h, const char *bytes, size_t size, struct reading *r)
{
	size_t left = size - h->size;
	r->used = h->size;
	if (h->framing != TP_FRAMING_CHUNKED) {
		size_t n = left < h->content_length ? left : (size_t)h->content_length;
		tp_buf_add(&r->body, bytes + h->size, n);
		r->used += n;
		r->good = n == h->content_length;
		return;
	}
	struct tp_chunked c = {0};
	for (;;) {
		size_t used = 0, n = 0;
		const char *data = NULL;
		switch (tp_chunked_feed(&c, bytes + r->used, size - r->used, LIMIT_BODY, &used, &data, &n)) {
		case TP_CHUNKED_DATA:
			tp_buf_add(&r->body, data, n);
			r->used += used;
			break;
		case TP_CHUNKED_DONE:
			r->used += used;
			r->good = true;
			return;
		case TP_CHUNKED_MORE: return;
		default: r->why = "chunked coding"; return;
		}
	}
}

static void read_ours(const char *bytes, size_t size, struct tp_head *h, struct reading *r)
{
	size_t scanned = 0;
	int status = 0;
	const char *why = NULL;
	if (tp_head_parse_request(bytes, size, LIMIT_HEAD, LIMIT_BODY, &scanned, h, &status, &why) !=
	    TP_PARSE_OK) {
		r->why = why;
		return;
	}
	r->head = true;
	r->fields = h->n_fields;
	r->chunked = h->framing == TP_FRAMING_CHUNKED;
	r->keep_alive = h->keep_alive;
	r->upgrade = h->upgrade;
	tp_buf_add_str(&r->target, tp_span_str(bytes, h->target));
	for (uint32_t i = 0; i < h->n_fields; i++) {
		tp_buf_add_str(&r->names, tp_span_str(bytes, h->fields[i].name));
		tp_buf_add_str(&r->values, tp_span_str(bytes, h->fields[i].value));
	}
	our_body(h, bytes, size, r);
}

/* ---- theirs; what is behind the head are trailers */

static struct reading *of(llhttp_t *l)
{
	return l->data;
}

static int on_url(llhttp_t *l, const char *at, size_t n)
{
	tp_buf_add(&of(l)->target, at, n);
	return 0;
}

static int on_name(llhttp_t *l, const char *at, size_t n)
{
	if (of(l)->head)
		of(l)->trailers = true;
	else
		tp_buf_add(&of(l)->names, at, n);
	return 0;
}

static int on_name_end(llhttp_t *l)
{
	if (!of(l)->head)
		of(l)->fields++;
	return 0;
}

static int on_value(llhttp_t *l, const char *at, size_t n)
{
	if (!of(l)->head)
		tp_buf_add(&of(l)->values, at, n);
	return 0;
}

/* llhttp keeps the blanks behind a value. */
static int on_value_end(llhttp_t *l)
{
	struct tp_buf *b = &of(l)->values;
	while (!of(l)->head && b->len > 0 && (b->data[b->len - 1] == ' ' || b->data[b->len - 1] == '\t'))
		b->len--;
	return 0;
}

static int on_head(llhttp_t *l)
{
	of(l)->head = true;
	of(l)->chunked = (l->flags & F_CHUNKED) != 0;
	/* in HTTP/1.0 it looks at keep-alive alone; close counts, too (RFC 9112, 9.3) */
	of(l)->keep_alive = llhttp_should_keep_alive(l) != 0 && (l->flags & F_CONNECTION_CLOSE) == 0;
	of(l)->upgrade = l->upgrade != 0;
	return 0;
}

static int on_body(llhttp_t *l, const char *at, size_t n)
{
	tp_buf_add(&of(l)->body, at, n);
	return 0;
}

static int on_end(llhttp_t *l)
{
	of(l)->good = true;
	return HPE_PAUSED;
}

static bool in_extension(const char *bytes, const char *at)
{
	while (at > bytes && at[-1] != '\n' && at[-1] != ';')
		at--;
	return at > bytes && at[-1] == ';';
}

static enum llhttp_errno read_theirs(const char *bytes, size_t size, struct reading *r)
{
	llhttp_settings_t calls;
	llhttp_settings_init(&calls);
	calls.on_url = on_url;
	calls.on_header_field = on_name;
	calls.on_header_field_complete = on_name_end;
	calls.on_header_value = on_value;
	calls.on_header_value_complete = on_value_end;
	calls.on_headers_complete = on_head;
	calls.on_body = on_body;
	calls.on_message_complete = on_end;
	llhttp_t l;
	llhttp_init(&l, HTTP_REQUEST, &calls);
	l.data = r;
	enum llhttp_errno e = llhttp_execute(&l, bytes, size);
	r->preface = l.method == HTTP_PRI;
	r->tab = size > 0 && memchr(bytes, '\t', size) != NULL;
	if (r->good) {
		r->used = (size_t)(llhttp_get_error_pos(&l) - bytes);
	} else if (e != HPE_OK && e != HPE_PAUSED) {
		r->why = llhttp_get_error_reason(&l);
		r->extension = in_extension(bytes, llhttp_get_error_pos(&l));
	}
	return e;
}

/* ---- what is decided: README.md gives the sections of RFC 9112 */

/* Refused by us only. */
static const char *const ours_is_stricter[] = {
	"method is not a token followed by one blank",
	"target is not visible ASCII followed by one blank",
	"target is neither a path nor an absolute http address",
	"target * is for OPTIONS only",
	"authority of the target is not valid",
	"absolute target with a query but no path",
	"version is not HTTP/1.0 or HTTP/1.1",
	"request line does not end behind the version",
	"CONNECT is not served",
	"field name is not a token followed by a colon",
	"field line without a name",
	"folded line, or a blank before a field name",
	"control character in a field value",
	"no Host",
	"more than one Host",
	"Host is not valid",
	"Host is not the authority of the target",
	"Content-Length is not a number",
	"Content-Length above the limit for bodies",
	"more than one Content-Length",
	"both Content-Length and Transfer-Encoding",
	"Transfer-Encoding in HTTP/1.0",
	"Transfer-Encoding does not end in chunked, once",
	"transfer coding other than chunked",
	"too many connection options",
	"too many fields",
	"first line above the limit for heads",
	"head above its limit",
	"chunked coding",
};

static bool is_decided(const char *why)
{
	for (size_t i = 0; i < sizeof ours_is_stricter / sizeof *ours_is_stricter; i++)
		if (strcmp(why, ours_is_stricter[i]) == 0)
			return true;
	return false;
}

/* Refused by llhttp only. */
static bool theirs_may_refuse(enum llhttp_errno e, const struct reading *them)
{
	static const char extension[] = "Invalid character in chunk extensions",
			  method[] = "Invalid method for HTTP/x.x request";
	switch (e) {
	case HPE_INVALID_METHOD: /* methods beyond its list; the set is open */
	case HPE_INVALID_URL: /* it takes targets apart; ours go on as they are */ return true;
	case HPE_INVALID_CONSTANT: return strcmp(them->why, method) == 0; /* one of RTSP, as REDIRECT */
	case HPE_INVALID_CHUNK_SIZE: return them->extension; /* some of what it refuses in one, it calls so */
	case HPE_STRICT: /* ours end with the line, whatever they say, and are dropped */
		return strncmp(them->why, extension, sizeof extension - 1) == 0;
	case HPE_INVALID_TRANSFER_ENCODING: /* ours drops trailers, whatever their names */
	case HPE_UNEXPECTED_CONTENT_LENGTH:
	case HPE_INVALID_CONTENT_LENGTH: return them->trailers || them->tab;
	default: return false;
	}
}

static bool same(const struct tp_buf *a, const struct tp_buf *b)
{
	return tp_str_eq(tp_buf_str(a), tp_buf_str(b));
}

static void compare(const struct reading *us, const struct reading *them, enum llhttp_errno e)
{
	if (us->why != NULL) {
		if (them->good && !is_decided(us->why)) {
			(void)fprintf(stderr, "undecided: %s\n", us->why);
			FUZZ_CHECK(false);
		}
		return;
	}
	if (them->preface)
		return;
	if (them->why != NULL) {
		if (us->good && !theirs_may_refuse(e, them)) {
			(void)fprintf(stderr, "undecided: %s: %s\n", llhttp_errno_name(e), them->why);
			FUZZ_CHECK(false);
		}
		return;
	}
	if (us->head && them->head) {
		FUZZ_CHECK(us->fields == them->fields && us->chunked == them->chunked);
		FUZZ_CHECK(same(&us->names, &them->names) && same(&us->values, &them->values));
		FUZZ_CHECK(us->keep_alive == them->keep_alive || them->tab);
	}
	if (them->upgrade) /* llhttp reads no body then */
		return;
	FUZZ_CHECK(us->good == them->good);
	if (us->good)
		FUZZ_CHECK(us->used == them->used && same(&us->body, &them->body));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_head h;
	struct reading us = {0}, them = {0};
	if (size > LIMIT_HEAD)
		return 0;
	read_ours((const char *)data, size, &h, &us);
	enum llhttp_errno e = read_theirs((const char *)data, size, &them);
	compare(&us, &them, e);
	reading_free(&us);
	reading_free(&them);
	return 0;
}
