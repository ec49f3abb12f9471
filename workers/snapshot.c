#include "workers/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/http/json.h"
#include "common/http/shape.h"
#include "common/shm/marks.h"
#include "workers/secrets.h"
#include "workers/turn.h"
#include "workers/worker.h"

enum {
	TELL_EVERY_MS = 60 * 1000,
	BODY_READ = 256 * 1024, /* of a request's body: more is not looked at */
	BODY_SHOWN = 64 * 1024,
	BODY_TAIL = 4096, /* not shown of a text that is cut: a credential could be cut with it */
	ATTEMPTS_SHOWN = 24 * 1024,
	HEAD_SHOWN = 24 * 1024,
	VALUE_SHOWN = 4096,
	PIECE = 4096,
};

struct tp_snapshot {
	struct tp_buf attempts; /* objects of JSON, with commas */
	struct tp_buf answer;   /* head of the present attempt's answer, as received */
	int status;             /* of it; 0 = none */
	unsigned told;          /* attempt.serial of the last one in `attempts` */
	bool more;              /* there were more than are shown */
};

/* ---- JSON */

static void add_text(struct tp_buf *out, struct tp_str text, const struct tp_mask_secrets *secrets)
{
	struct tp_buf masked = {0};
	if (tp_mask(text, secrets, &masked))
		text = tp_buf_str(&masked);
	text.n = text.n < VALUE_SHOWN ? text.n : VALUE_SHOWN; /* only now: half a credential is not found */
	tp_buf_add_str(out, TP_STR("\""));
	tp_buf_add_json(out, text);
	tp_buf_add_str(out, TP_STR("\""));
	out->failed = out->failed || masked.failed;
	tp_buf_free(&masked);
}

static void add_member(struct tp_buf *out, const char *name, const char *text,
		       const struct tp_mask_secrets *secrets)
{
	tp_buf_printf(out, ",\"%s\":", name);
	add_text(out, tp_str_from(text), secrets);
}

static void add_field(struct tp_buf *out, bool first, struct tp_str name, struct tp_str value,
		      const struct tp_mask_secrets *secrets)
{
	tp_buf_add_str(out, first ? TP_STR("[") : TP_STR(",["));
	add_text(out, name, secrets);
	tp_buf_add_str(out, TP_STR(","));
	add_text(out, tp_mask_secret_name(name) ? TP_STR("***") : value, secrets);
	tp_buf_add_str(out, TP_STR("]"));
}

/* Fields of a request whose values say how it was sent, not what: those stay in the shape of one. */
static bool is_plain_field(struct tp_str name)
{
	static const char *const starts[] = {
		"accept",     "anthropic-beta", "anthropic-version",    "connection",          "content-",
		"expect",     "host",           "openai-beta",          "transfer-encoding",   "upgrade",
		"user-agent", "x-stainless-",   "x-turnpike-max-sends", "x-turnpike-deadline",
	};
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		size_t n = strlen(starts[i]);
		if (name.n >= n && strncasecmp(name.p, starts[i], n) == 0)
			return true;
	}
	return false;
}

static void add_request_field(struct tp_buf *out, bool first, const struct tp_turn *t,
			      const struct tp_field *f, const struct tp_mask_secrets *secrets)
{
	struct tp_str name = tp_request_str(t->request, f->name),
		      value = tp_request_str(t->request, f->value);
	char length[16];
	(void)snprintf(length, sizeof length, "(%u)", (unsigned)f->value.n);
	if (!t->config->snapshots.full && !is_plain_field(name))
		value = tp_str_from(length);
	add_field(out, first, name, value, secrets);
}

/* ---- attempts */

void tp_snapshot_begin(struct tp_turn *t)
{
	if (t->worker->snapshot_fd >= 0)
		t->record.snapshot = calloc(1, sizeof *t->record.snapshot);
}

void tp_snapshot_answer(struct tp_turn *t, const struct tp_head *head, const char *bytes)
{
	struct tp_snapshot *s = t->record.snapshot;
	if (s == NULL)
		return;
	s->status = head->status;
	s->answer.len = 0;
	tp_buf_add(&s->answer, bytes, head->size);
}

/* The head was parsed before: lines, each with a colon. */
static void add_answer_fields(struct tp_buf *out, struct tp_str head, const struct tp_mask_secrets *secrets)
{
	bool first = true;
	if (head.n == 0)
		return;
	const char *p = memchr(head.p, '\n', head.n), *end = head.p + head.n;
	while (p != NULL && ++p < end && out->len < HEAD_SHOWN) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));
		struct tp_str line = {p, line_end != NULL ? (size_t)(line_end - p) : (size_t)(end - p)};
		p = line_end;
		line.n -= line.n > 0 && line.p[line.n - 1] == '\r';
		const char *colon = line.n > 0 ? memchr(line.p, ':', line.n) : NULL;
		if (colon == NULL)
			continue;
		struct tp_str value = {colon + 1, line.n - (size_t)(colon + 1 - line.p)};
		while (value.n > 0 && (value.p[0] == ' ' || value.p[0] == '\t'))
			value = (struct tp_str){value.p + 1, value.n - 1};
		add_field(out, first, (struct tp_str){line.p, (size_t)(colon - line.p)}, value, secrets);
		first = false;
	}
}

/* d is NULL for the attempt whose answer was committed. */
static void add_attempt(const struct tp_turn *t, struct tp_snapshot *s, struct tp_buf *out, const char *cause,
			const char *why, const struct tp_decision *d)
{
	struct tp_turn_secrets secrets;
	tp_turn_secrets_take(t, &secrets);
	uint64_t now = tp_clock_boot_ms(), began = t->attempt.started_ms;
	tp_buf_printf(out,
		      "{\"send\":%" PRIu32 ",\"class\":\"%s\",\"began_ms\":%" PRIu64 ",\"took_ms\":%" PRIu64,
		      t->ledger.used, tp_class_name(t->klass), began - t->begun_ms, now - began);
	add_member(out, "provider", t->provider->conf->name, &secrets.list);
	add_member(out, "stage", tp_stage_name(t->attempt.stage), NULL);
	add_member(out, "cause", cause, NULL);
	add_member(out, "why", why, &secrets.list);
	tp_buf_printf(out, ",\"status\":%d", s->status);
	if (d != NULL) {
		add_member(out, "evidence", tp_evidence_name(d->evidence), NULL);
		add_member(out, "decision", d->reason, NULL);
		tp_buf_printf(out, ",\"again_in_ms\":%" PRId64,
			      d->action == TP_ACT_SEND_AGAIN ? (int64_t)d->wait_ms : -1);
	}
	tp_buf_add_str(out, TP_STR(",\"headers\":["));
	struct tp_buf fields = {0};
	add_answer_fields(&fields, tp_buf_str(&s->answer), &secrets.list);
	tp_buf_add_str(out, tp_buf_str(&fields));
	tp_buf_add_str(out, TP_STR("]}"));
	out->failed = out->failed || fields.failed || secrets.failed || s->answer.failed;
	tp_buf_free(&fields);
	tp_turn_secrets_free(&secrets);
}

static void note(struct tp_turn *t, const char *cause, const char *why, const struct tp_decision *d)
{
	struct tp_snapshot *s = t->record.snapshot;
	struct tp_buf one = {0};
	add_attempt(t, s, &one, cause, why, d);
	if (one.failed) {
		s->attempts.failed = true;
	} else if (s->attempts.len + one.len > ATTEMPTS_SHOWN && s->attempts.len > 0) {
		s->more = true;
	} else {
		if (s->attempts.len > 0)
			tp_buf_add_str(&s->attempts, TP_STR(","));
		tp_buf_add_str(&s->attempts, tp_buf_str(&one));
	}
	tp_buf_free(&one);
	s->told = t->attempt.serial;
	s->status = 0;
	s->answer.len = 0;
}

void tp_snapshot_attempt(struct tp_turn *t, enum tp_cause cause, const char *why, const struct tp_decision *d)
{
	if (t->record.snapshot != NULL)
		note(t, tp_cause_name(cause), why, d);
}

bool tp_snapshot_wants_request(const struct tp_turn *t)
{
	return t->record.snapshot != NULL && t->request->received <= BODY_READ;
}

/* ---- the request */

/* A text that is cut is no JSON any more, and loses its end. */
static void add_full(struct tp_buf *out, struct tp_str body, bool cut, const struct tp_mask_secrets *secrets)
{
	struct tp_buf masked = {0};
	struct tp_json json = {.ends_only = true};
	struct tp_str shown = body;
	if (tp_mask(body, secrets, &masked))
		shown = tp_buf_str(&masked);
	bool bad = cut;
	for (size_t at = 0, used = 0; !bad && at < shown.n; at += used)
		bad = tp_json_feed(&json, shown.p + at, shown.n - at, &used) == TP_JSON_BAD;
	if (cut)
		shown.n -= shown.n < BODY_TAIL ? shown.n : BODY_TAIL;
	struct tp_buf mended = {0};
	if (!bad && tp_json_finish(&json)) {
		tp_buf_add_str(out, tp_buf_add_utf8(&mended, shown) ? tp_buf_str(&mended) : shown);
	} else {
		/* Escaping can grow it sixfold. */
		for (tp_buf_add_json(&mended, shown); mended.len > BODY_SHOWN;
		     tp_buf_add_json(&mended, shown)) {
			shown.n /= 2;
			mended.len = 0;
		}
		tp_buf_add_str(out, TP_STR("\""));
		tp_buf_add_str(out, tp_buf_str(&mended));
		tp_buf_add_str(out, TP_STR("\""));
	}
	out->failed = out->failed || masked.failed || mended.failed;
	tp_buf_free(&masked);
	tp_buf_free(&mended);
}

static void add_shape(const struct tp_request *r, struct tp_buf *out, const struct tp_mask_secrets *secrets)
{
	struct tp_shape shape = {0};
	struct tp_buf text = {0}, masked = {0};
	struct iovec v;
	for (uint64_t at = 0; at < BODY_READ && text.len < BODY_SHOWN; at += v.iov_len) {
		if (tp_request_pieces(r, at, &v, 1) != 1)
			break;
		v.iov_len = v.iov_len < PIECE ? v.iov_len : PIECE;
		(void)tp_shape_feed(&shape, v.iov_base, v.iov_len, &text);
	}
	(void)tp_shape_finish(&shape, &text);
	tp_buf_add_str(out, tp_mask(tp_buf_str(&text), secrets, &masked) ? tp_buf_str(&masked)
									 : tp_buf_str(&text));
	out->failed = out->failed || text.failed || masked.failed;
	tp_buf_free(&text);
	tp_buf_free(&masked);
}

static void add_body(const struct tp_turn *t, struct tp_buf *out, const struct tp_mask_secrets *secrets)
{
	const struct tp_request *r = t->request;
	bool coded = tp_head_has(r->head, TP_FIELD_CONTENT_ENCODING) && !r->decoded;
	tp_buf_add_str(out, TP_STR(",\"body\":"));
	if (r->received == 0 || r->dropped > 0 || coded) {
		tp_buf_add_str(out, TP_STR("null"));
	} else if (!t->config->snapshots.full) {
		add_shape(r, out, secrets);
	} else {
		struct tp_buf body = {0};
		struct iovec v;
		for (uint64_t at = 0; body.len < BODY_SHOWN && tp_request_pieces(r, at, &v, 1) == 1;
		     at += v.iov_len) {
			size_t room = BODY_SHOWN - body.len;
			tp_buf_add(&body, v.iov_base, v.iov_len < room ? v.iov_len : room);
		}
		add_full(out, tp_buf_str(&body), body.len < r->received, secrets);
		out->failed = out->failed || body.failed;
		tp_buf_free(&body);
	}
}

static void add_request(const struct tp_turn *t, struct tp_buf *out, const struct tp_mask_secrets *secrets)
{
	const struct tp_request *r = t->request;
	tp_buf_printf(out, ",\"request\":{\"bytes\":%" PRIu64, r->received);
	if (r->head != NULL) {
		struct tp_buf fields = {0};
		tp_buf_add_str(out, TP_STR(",\"method\":"));
		add_text(out, tp_request_str(r, r->head->method), secrets);
		tp_buf_add_str(out, TP_STR(",\"target\":"));
		add_text(out, tp_request_str(r, r->head->target), secrets);
		for (uint32_t i = 0; i < r->head->n_fields && fields.len < HEAD_SHOWN; i++) {
			const struct tp_field *f = &r->head->fields[i];
			add_request_field(&fields, i == 0, t, f, secrets);
		}
		tp_buf_add_str(out, TP_STR(",\"headers\":["));
		tp_buf_add_str(out, tp_buf_str(&fields));
		tp_buf_add_str(out, TP_STR("]"));
		out->failed = out->failed || fields.failed;
		tp_buf_free(&fields);
		add_body(t, out, secrets);
	}
	tp_buf_add_str(out, TP_STR("}"));
}

/* ---- the end */

/* RFC 3339, or the same without what file names had better not have. */
static void add_time(struct tp_buf *out, bool compact)
{
	int64_t now = tp_clock_wall_ms();
	time_t seconds = (time_t)(now / 1000);
	struct tm t;
	(void)gmtime_r(&seconds, &t);
	tp_buf_printf(
		out, compact ? "%04d%02d%02dT%02d%02d%02d.%03dZ" : "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
		t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(now % 1000));
}

static void render(const struct tp_turn *t, unsigned outcome, struct tp_buf *out)
{
	const struct tp_turn_record *r = &t->record;
	struct tp_answer_about about = tp_turn_about(t);
	struct tp_turn_secrets secrets;
	char logical[TP_LOGICAL_SIZE];
	tp_record_logical(t, logical);
	tp_turn_secrets_take(t, &secrets);
	tp_buf_add_str(out, TP_STR("{\"time\":\""));
	add_time(out, false);
	tp_buf_printf(out, "\",\"id\":\"%s\",\"logical\":\"%s\"", t->id, logical);
	add_member(out, "client", t->who != NULL ? t->who->name : "", &secrets.list);
	add_member(out, "family", tp_family_name(t->family), NULL);
	add_member(out, "route", t->route != NULL ? t->route->path : "", &secrets.list);
	add_member(out, "target", about.target != NULL ? about.target : "", &secrets.list);
	add_member(out, "outcome", tp_record_outcome(outcome), NULL);
	add_member(out, "code", r->code, &secrets.list);
	add_member(out, "reason", tp_record_why(t), &secrets.list);
	tp_buf_printf(out,
		      ",\"status\":%d,\"sends\":%u,\"waited_ms\":%" PRIu64 ",\"first_byte_ms\":%" PRIu64
		      ",\"total_ms\":%" PRIu64 ",\"bytes_out\":%" PRIu64,
		      r->status, (unsigned)about.sends, r->waited_ms, r->first_byte_ms,
		      tp_clock_boot_ms() - t->begun_ms, r->bytes_out);
	add_request(t, out, &secrets.list);
	tp_buf_add_str(out, TP_STR(",\"attempts\":["));
	tp_buf_add_str(out, tp_buf_str(&r->snapshot->attempts));
	tp_buf_printf(out, "],\"attempts_cut\":%s}\n", r->snapshot->more ? "true" : "false");
	out->failed = out->failed || secrets.failed || r->snapshot->attempts.failed;
	tp_turn_secrets_free(&secrets);
}

/* The socket's buffer bounds what waits for the disk. False: errno. */
static bool hand_over(const struct tp_turn *t, const struct tp_buf *text)
{
	struct tp_snapshot_head head = {.what = TP_SNAPSHOT_FILE};
	struct tp_buf time = {0};
	add_time(&time, true);
	const char *when = tp_buf_cstr(&time);
	bool fits = when != NULL && !text->failed && text->len <= TP_SNAPSHOT_TEXT_MAX;
	if (fits)
		(void)snprintf(head.name, sizeof head.name, "turnpike-%s-%s.json", when, t->id);
	tp_buf_free(&time);
	if (!fits) {
		errno = when == NULL || text->failed ? ENOMEM : EMSGSIZE;
		return false;
	}
	struct iovec v[2] = {{&head, sizeof head}, {text->data, text->len}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	return sendmsg(t->worker->snapshot_fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static void lose(struct tp_region *region, int why)
{
	(void)tp_number_add(region, TP_NUMBER_SNAPSHOTS_LOST, 1);
	/* Not while the log loses its lines: then nobody would hear of it. */
	if (tp_log_flush() && tp_mark_due(region, TP_MARK_SNAPSHOT, TELL_EVERY_MS, tp_clock_boot_ms()))
		tp_warn("a snapshot is lost: %s",
			why == EAGAIN ? "more turns fail than are written" : strerror(why));
}

void tp_snapshot_end(struct tp_turn *t, unsigned outcome)
{
	struct tp_snapshot *s = t->record.snapshot;
	if (s == NULL)
		return;
	if (outcome == TP_TURN_ERROR || outcome == TP_TURN_REFUSED || outcome == TP_TURN_CUT) {
		struct tp_buf text = {0};
		if (t->attempt.serial != s->told)
			note(t, "committed", tp_record_why(t), NULL);
		render(t, outcome, &text);
		if (!hand_over(t, &text))
			lose(t->worker->region, errno);
		tp_buf_free(&text);
	}
	tp_buf_free(&s->attempts);
	tp_buf_free(&s->answer);
	free(s);
	t->record.snapshot = NULL;
}
