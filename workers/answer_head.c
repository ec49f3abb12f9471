#include "workers/answer_head.h"

#include "common/http/lines.h"
#include "common/retry/told.h"

enum { HEAD_ROOM = 192 }; /* for what is added to the provider's head, in most cases */

/* A value that is the provider's own, less the secrets it may repeat. */
static void add_value(struct tp_buf *out, struct tp_str value, const struct tp_mask_secrets *secrets)
{
	struct tp_buf masked = {0};
	bool found = tp_mask_known(value, secrets, &masked);
	tp_buf_add_str(out, found ? tp_buf_str(&masked) : value);
	out->failed = out->failed || masked.failed;
	tp_buf_free(&masked);
}

static void add_status(struct tp_buf *out, int status, struct tp_str reason,
		       const struct tp_mask_secrets *secrets)
{
	tp_buf_add_str(out, TP_STR("HTTP/1.1 "));
	tp_buf_add_uint(out, (uint64_t)status);
	tp_buf_add_str(out, TP_STR(" "));
	add_value(out, reason, secrets);
	tp_buf_add_str(out, TP_STR("\r\n"));
}

/* What ends the head of every answer. */
static void add_about(struct tp_buf *out, const struct tp_answer_about *a)
{
	if (a->stop)
		tp_buf_add_str(out, TP_STR("x-should-retry: false\r\n"));
	tp_buf_add_str(out, TP_STR("X-Turnpike-Request-Id: "));
	tp_buf_add_str(out, tp_str_from(a->request_id));
	tp_buf_add_str(out, TP_STR("\r\nX-Turnpike-Sends: "));
	tp_buf_add_uint(out, a->sends);
	if (a->target != NULL) {
		tp_buf_add_str(out, TP_STR("\r\nX-Turnpike-Target: "));
		tp_buf_add_str(out, tp_str_from(a->target));
	}
	if (a->replay_off)
		tp_buf_add_str(out, TP_STR("\r\nX-Turnpike-Replay: off"));
	if (a->framing == TP_ANSWER_LENGTH) {
		tp_buf_add_str(out, TP_STR("\r\ncontent-length: "));
		tp_buf_add_uint(out, a->length);
	} else if (a->framing == TP_ANSWER_CHUNKED) {
		tp_buf_add_str(out, TP_STR("\r\ntransfer-encoding: chunked"));
	}
	if (a->close)
		tp_buf_add_str(out, TP_STR("\r\nconnection: close"));
	else if (a->tell_keep && !a->upgrade)
		tp_buf_add_str(out, TP_STR("\r\nconnection: keep-alive"));
	tp_buf_add_str(out, TP_STR("\r\n\r\n"));
}

/* retry-after-ms stays only while it says the same as the Retry-After that is told (design section 4). */
static bool ms_agrees(struct tp_str value, const struct tp_answer_facts *facts)
{
	int64_t ms = tp_told_retry_after_ms(value);
	return ms >= 0 && facts->told_ms >= 0 &&
	       tp_told_header_seconds(ms) == tp_told_header_seconds(facts->told_ms);
}

/* What says which body this is: with another one in its place a client would keep that for too long. */
static bool tells_body(struct tp_str name)
{
	static const struct tp_str names[] = {
		TP_NAME("etag"),          TP_NAME("last-modified"),  TP_NAME("content-md5"),
		TP_NAME("digest"),        TP_NAME("content-digest"), TP_NAME("repr-digest"),
		TP_NAME("accept-ranges"), TP_NAME("content-range"),
	};
	return tp_str_is_one_of(name, names, sizeof names / sizeof names[0]);
}

/* A length belongs to the provider's framing, except where there is no body to frame. */
static bool passes(const struct tp_field *f, struct tp_str value, struct tp_str name,
		   const struct tp_answer_facts *facts, const struct tp_answer_about *about)
{
	switch (f->id) {
	/* alt-svc would lead the client around us. */
	case TP_FIELD_OTHER:
		return !f->connection_named && !tp_str_ieq(name, TP_STR("alt-svc")) &&
		       !(about->changed && tells_body(name));
	case TP_FIELD_CONTENT_LENGTH: return about->framing == TP_ANSWER_NO_BODY;
	case TP_FIELD_CONNECTION:
	case TP_FIELD_UPGRADE: return about->upgrade;
	case TP_FIELD_RETRY_AFTER_MS: return ms_agrees(value, facts);
	case TP_FIELD_X_SHOULD_RETRY: return facts->should_retry == 0 && !about->stop;
	case TP_FIELD_CONTENT_TYPE:
		if (about->json)
			return false;
		break;
	case TP_FIELD_CONTENT_ENCODING:
		if (about->json || about->decoded)
			return false;
		break;
	default: break;
	}
	return !tp_field_ends_here(f);
}

/* The true wait, whatever form it came in; what could not be read is left out. */
static void add_retry_after(struct tp_buf *out, struct tp_str name, const struct tp_answer_facts *facts)
{
	if (facts->told_ms < 0)
		return;
	tp_buf_add_str(out, name);
	tp_buf_add_str(out, TP_STR(": "));
	tp_buf_add_uint(out, tp_told_header_seconds(facts->told_ms));
	tp_buf_add_str(out, TP_STR("\r\n"));
}

void tp_answer_head_relay(struct tp_buf *out, int status, const struct tp_head *h, const char *bytes,
			  const struct tp_answer_facts *facts, const struct tp_answer_about *about)
{
	struct tp_str reason = tp_span_str(bytes, h->reason);
	if (status != h->status || reason.n == 0)
		reason = tp_str_from(tp_reason_phrase(status));
	(void)tp_buf_reserve(out, h->size + HEAD_ROOM);
	add_status(out, status, reason, about->secrets);
	struct tp_lines lines = {.out = out, .bytes = bytes};
	bool told = false;
	for (uint32_t i = 0; i < h->n_fields; i++) {
		const struct tp_field *f = &h->fields[i];
		struct tp_str name = tp_span_str(bytes, f->name), value = tp_span_str(bytes, f->value);
		if (f->id == TP_FIELD_RETRY_AFTER) { /* told anew, under the provider's name for it */
			tp_lines_flush(&lines);
			if (!told)
				add_retry_after(out, name, facts);
			told = true;
			continue;
		}
		/* RFC 9110 section 8.6: a 204 has no length, clients may wait for its bytes. */
		if (!passes(f, value, name, facts, about) ||
		    (status == 204 && f->id == TP_FIELD_CONTENT_LENGTH))
			continue;
		if (about->secrets == NULL) {
			tp_lines_add(&lines, f);
			continue;
		}
		tp_buf_add_str(out, name);
		tp_buf_add_str(out, TP_STR(": "));
		add_value(out, value, about->secrets);
		tp_buf_add_str(out, TP_STR("\r\n"));
	}
	tp_lines_flush(&lines);
	if (about->json)
		tp_buf_add_str(out, TP_STR("content-type: application/json\r\n"));
	if (!told)
		add_retry_after(out, TP_STR("retry-after"), facts);
	add_about(out, about);
}

void tp_answer_head_local(struct tp_buf *out, const struct tp_refusal *r, const struct tp_answer_about *about)
{
	struct tp_answer_about with = *about;
	with.stop = r->stop;
	add_status(out, r->status, tp_str_from(tp_reason_phrase(r->status)), NULL);
	tp_buf_add_str(out, TP_STR("content-type: application/json\r\n"));
	if (r->retry_after_s > 0) {
		tp_buf_add_str(out, TP_STR("retry-after: "));
		tp_buf_add_uint(out, r->retry_after_s);
		tp_buf_add_str(out, TP_STR("\r\n"));
	}
	add_about(out, &with);
}

void tp_answer_head_stream(struct tp_buf *out, const struct tp_answer_about *about)
{
	add_status(out, 200, TP_STR("OK"), NULL);
	tp_buf_add_str(out, TP_STR("content-type: text/event-stream\r\ncache-control: no-cache\r\n"));
	add_about(out, about);
}
