#include "workers/relay.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/stream_error.h"
#include "workers/heartbeat.h"
#include "workers/outcome.h"
#include "workers/secrets.h"
#include "workers/snapshot.h"
#include "workers/unpack.h"
#include "workers/waits.h"

enum { ERROR_BODY_MAX = 64 * 1024, ERROR_BODY_MS = 5000 }; /* design section 7 */

/* ---- answers that are kept */

void tp_saved_answer_free(struct tp_saved_answer *s)
{
	if (s == NULL)
		return;
	free(s->head);
	free(s->error);
	tp_buf_free(&s->body);
	free(s);
}

/* Keeps the head that is being delivered, in place of what was kept before. False when out of memory. */
static bool save(struct tp_turn *t, const struct tp_answer_piece *p, int status)
{
	struct tp_saved_answer *s = calloc(1, sizeof *s);
	if (s == NULL || (s->head = tp_head_copy(p->head, p->bytes, &s->bytes)) == NULL) {
		free(s);
		return false;
	}
	s->status = status;
	s->facts = t->relay.facts;
	tp_saved_answer_free(t->saved);
	t->saved = s;
	return true;
}

void tp_relay_reset(struct tp_turn *t)
{
	tp_buf_free(&t->relay.head);
	tp_buf_free(&t->relay.held);
	tp_sse_free(&t->relay.sse);
	free(t->relay.json);
	tp_buf_free(&t->relay.coded);
	tp_buf_free(&t->relay.rest);
	tp_decoder_free(t->relay.decoder);
	t->relay = (struct tp_relay){0};
}

/* ---- towards the client */

static enum tp_answer_framing client_framing(const struct tp_turn *t, const struct tp_head *h)
{
	if (h->framing == TP_FRAMING_NONE)
		return TP_ANSWER_NO_BODY;
	if (h->framing == TP_FRAMING_LENGTH)
		return TP_ANSWER_LENGTH;
	return t->minor >= 1 ? TP_ANSWER_CHUNKED : TP_ANSWER_CLOSE;
}

static void render_head(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	struct tp_answer_about about = tp_turn_about(t);
	if (t->opened) { /* heartbeats have sent one already */
		r->framing = TP_ANSWER_CHUNKED;
		return;
	}
	about.framing = r->framing;
	about.length = p->head->content_length;
	about.decoded = r->decoder != NULL;
	if (r->framing == TP_ANSWER_CLOSE) {
		about.close = true;
		t->keep_alive = false;
	}
	tp_answer_head_relay(&r->head, p->head->status, p->head, p->bytes, &r->facts, &about);
}

/*
 * Writes one piece of body, framed, with the head in front if it still waits.  The piece goes out as it came,
 * in one system call.  False when the turn is over (the client is gone).
 */
static bool emit(struct tp_turn *t, const char *data, size_t n, bool end)
{
	struct tp_relay *r = &t->relay;
	char line[20];
	struct iovec v[3];
	int count = 0;
	bool chunked = r->framing == TP_ANSWER_CHUNKED;
	if (chunked && n > 0)
		v[count++] = (struct iovec){line, tp_chunk_line(line, n)};
	if (n > 0 && r->framing != TP_ANSWER_NO_BODY)
		v[count++] = (struct iovec){(void *)(uintptr_t)data, n};
	static const char tail[] = "\r\n0\r\n\r\n";
	if (chunked && n > 0)
		v[count++] = (struct iovec){(void *)(uintptr_t)tail, end ? 7 : 2};
	else if (chunked && end)
		v[count++] = (struct iovec){(void *)(uintptr_t)(tail + 2), 5};
	int w = 0;
	if (r->head.len > 0 || r->head.failed)
		w = tp_client_write_head(t->client, &r->head, v, count);
	else if (count > 0)
		w = tp_client_write(t->client, v, count);
	if (w < 0) {
		tp_turn_client_gone(t);
		return false;
	}
	if (w > 0)
		tp_attempt_pause(&t->attempt);
	return true;
}

/* timeouts.token runs from output to output; comments and pings do not count. */
static void output_seen(struct tp_turn *t)
{
	if (t->relay.stream && t->provider->conf->token_ms > 0)
		tp_timer_set(&t->timer, t->provider->conf->token_ms);
}

void tp_relay_output_gap(struct tp_turn *t)
{
	if (t->attempt.paused)
		output_seen(t); /* it is the client who is slow */
	else
		tp_relay_cut(t, "no output within timeouts.token");
}

/* From here on no other send can serve the turn: what was kept for one is freed. */
static void commit(struct tp_turn *t)
{
	tp_ledger_commit(&t->ledger);
	tp_targets_good(t);
	if (t->relay.facts.status < 300)
		tp_waits_good(t);
	tp_blacklist_committed(t);
	tp_turn_set_state(t, TP_TURN_FLOW);
	t->relay.mode = TP_RELAY_FLOW;
	t->relay.sse.keep_max = TP_SSE_KEEP_COMMITTED;
	output_seen(t);
	tp_saved_answer_free(t->saved);
	t->saved = NULL;
	if (t->request->complete && !tp_snapshot_wants_request(t))
		tp_request_release(t->request);
}

static void finish(struct tp_turn *t)
{
	bool failed = t->relay.failed;
	if (!failed)
		tp_streak_next(t->worker->region, t->provider->long_waits, -1);
	struct tp_ledger_ending e = {.end = failed ? TP_END_UNKNOWN : TP_END_SUCCESS};
	tp_turn_end(t, failed ? TP_TURN_CUT : TP_TURN_OK, &e, t->keep_alive ? TP_NEXT_KEEP : TP_NEXT_CLOSE);
}

void tp_relay_cut(struct tp_turn *t, const char *why)
{
	struct tp_relay *r = &t->relay;
	tp_attempt_cancel(&t->attempt, why);
	if (r->ended) { /* the terminal event is out: nothing is missing */
		if (emit(t, NULL, 0, true))
			finish(t);
		return;
	}
	tp_debug("turn %s: cut after commit: %s", t->id, why);
	tp_record_reason(t, "cut after commit", why);
	tp_blacklist_note(t, TP_CAUSE_TRUNCATED, 0);
	struct tp_ledger_ending e = {.end = TP_END_UNKNOWN};
	struct tp_buf event = {0};
	enum tp_client_next next = TP_NEXT_CUT;
	if (r->stream) {
		/* An event that stands half written is ended first, so that ours is one of its own. */
		if (!tp_sse_at_border(&r->sse))
			tp_buf_add_str(&event, TP_STR("\n\n"));
		tp_stream_cut_render(t->family, why, &event);
		/* Without its last chunk the answer is still seen to be cut; only a body that ends with the
		 * connection needs the reset. */
		if (r->framing == TP_ANSWER_CHUNKED)
			next = TP_NEXT_CLOSE;
	}
	bool alive = event.len == 0 || event.failed || emit(t, event.data, event.len, false);
	tp_buf_free(&event);
	if (alive)
		tp_turn_end(t, TP_TURN_CUT, &e, next);
}

/* ---- error answers */

static bool needs_own_body(const struct tp_turn *t, const struct tp_saved_answer *s)
{
	return s->error != NULL || s->cut || s->facts.html || (s->body.len == 0 && !t->head_request);
}

/* The provider's error as a value of our own; `text` holds what it borrows. */
static struct tp_refusal as_refusal(const struct tp_saved_answer *s, const struct tp_answer_error *e,
				    struct tp_buf *text)
{
	tp_buf_printf(text, "The provider answered %d (%s) without a readable error message.", s->status,
		      tp_reason_phrase(s->status));
	return (struct tp_refusal){
		.status = s->status,
		.code = e != NULL && e->code[0] != '\0' ? e->code : "upstream_error",
		.type = e != NULL && e->type[0] != '\0' ? e->type
			: s->status < 500               ? "invalid_request_error"
							: "server_error",
		.message = e != NULL && e->message[0] != '\0' ? e->message : tp_buf_cstr(text),
	};
}

static void render_own_body(const struct tp_turn *t, const struct tp_saved_answer *s, struct tp_buf *out)
{
	struct tp_buf text = {0};
	struct tp_refusal r = as_refusal(s, s->error, &text);
	tp_refusal_render(&r, t->family, out);
	tp_buf_free(&text);
}

/* Heartbeats have opened the answer: the provider's error is told in the stream. */
static void tell_in_stream(struct tp_turn *t, const struct tp_ledger_ending *ending)
{
	struct tp_saved_answer *s = t->saved;
	struct tp_answer_error read;
	struct tp_buf text = {0};
	const struct tp_answer_error *e = s->error;
	if (e == NULL && !s->cut && tp_answer_error_body(tp_buf_str(&s->body), &read))
		e = &read;
	struct tp_refusal r = as_refusal(s, e, &text);
	struct tp_turn_secrets secrets;
	struct tp_buf masked = {0};
	tp_turn_secrets_take(t, &secrets);
	if (tp_mask(tp_str_from(r.message), &secrets.list, &masked))
		r.message = tp_buf_cstr(&masked);
	if (secrets.failed || masked.failed)
		r.message = "out of memory";
	tp_heartbeat_fail(t, &r, TP_TURN_ERROR, ending);
	tp_buf_free(&masked);
	tp_buf_free(&text);
	tp_turn_secrets_free(&secrets);
}

static struct tp_ledger_ending ending_of(const struct tp_saved_answer *s, enum tp_evidence evidence)
{
	bool told = s->facts.told_ms > 0 && s->facts.told_ms < UINT32_MAX;
	return (struct tp_ledger_ending){
		.end = evidence == TP_EVIDENCE_UNKNOWN ? TP_END_UNKNOWN : TP_END_DECLINED,
		.status = (uint16_t)s->status,
		.code_index = tp_outcome_code_index(s),
		.retry_after_ms = told ? (uint32_t)s->facts.told_ms : 0,
	};
}

void tp_relay_saved(struct tp_turn *t, bool stop, enum tp_evidence evidence)
{
	struct tp_saved_answer *s = t->saved;
	struct tp_ledger_ending ending = ending_of(s, evidence);
	if (t->opened) {
		tell_in_stream(t, &ending);
		return;
	}
	struct tp_buf head = {0}, own = {0}, masked = {0}, mended = {0};
	struct tp_turn_secrets secrets;
	struct tp_answer_about about = tp_turn_about(t);
	about.stop = stop;
	about.json = needs_own_body(t, s);
	about.decoded = s->decoded;
	if (about.json)
		render_own_body(t, s, &own);
	struct tp_str body = about.json ? tp_buf_str(&own) : tp_buf_str(&s->body);
	tp_turn_secrets_take(t, &secrets);
	about.secrets = &secrets.list;
	bool plain = about.json || s->decoded || !s->facts.encoded;
	/* JSON is UTF-8 or nothing: parsers of clients give up on a GBK message instead of showing the error.
	 */
	if (plain && s->facts.json && tp_buf_add_utf8(&mended, body))
		body = tp_buf_str(&mended);
	if (plain && tp_mask(body, &secrets.list, &masked))
		body = tp_buf_str(&masked);
	about.framing = t->head_request ? TP_ANSWER_NO_BODY : TP_ANSWER_LENGTH;
	about.length = body.n;
	tp_answer_head_relay(&head, s->status, s->head, s->bytes, &s->facts, &about);
	struct iovec v[2] = {{head.data, head.len},
			     {(void *)(uintptr_t)body.p, t->head_request ? 0 : body.n}};
	bool failed = secrets.failed || head.failed || own.failed || mended.failed || masked.failed ||
		      tp_client_write(t->client, v, 2) < 0;
	tp_buf_free(&head);
	tp_buf_free(&own);
	tp_buf_free(&mended);
	tp_buf_free(&masked);
	tp_turn_secrets_free(&secrets);
	tp_turn_end(t, TP_TURN_ERROR, &ending,
		    failed        ? TP_NEXT_CUT
		    : about.close ? TP_NEXT_CLOSE
				  : TP_NEXT_KEEP);
}

/* The status has been told: what there is of the body is enough to decide. */
static void collected(struct tp_turn *t, bool cut)
{
	t->saved->cut = cut;
	if (!cut)
		tp_unpack_saved(t->saved, ERROR_BODY_MAX);
	tp_attempt_cancel(&t->attempt, "enough of an error's body");
	tp_turn_decide(t, TP_CAUSE_ANSWER, "answer");
}

static void collect(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_buf *body = &t->saved->body;
	size_t room = ERROR_BODY_MAX - body->len;
	tp_buf_add(body, p->data, p->n < room ? p->n : room);
	if (p->n > room)
		collected(t, true);
	else if (p->end)
		collected(t, false);
}

/* A 200 that carries an error: from here on it is the status it stands for. */
static void carries_error(struct tp_turn *t, const struct tp_answer_error *error)
{
	t->saved->error = malloc(sizeof *error);
	if (t->saved->error == NULL) {
		tp_turn_decide(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	*t->saved->error = *error;
	tp_attempt_cancel(&t->attempt, "a 200 that carries an error");
	tp_turn_decide(t, TP_CAUSE_ANSWER, "a 200 that carries an error");
}

static void is_no_answer(struct tp_turn *t, enum tp_cause cause, const char *why)
{
	tp_attempt_cancel(&t->attempt, why);
	tp_turn_decide(t, cause, why);
}

/* Heartbeats have promised the client a stream, and this is none. */
static void no_stream(struct tp_turn *t)
{
	struct tp_refusal r = {.status = 502,
			       .code = "upstream_error",
			       .type = "server_error",
			       .message = "The provider did not answer with the stream that was asked for."};
	struct tp_ledger_ending e = {.end = TP_END_UNKNOWN};
	tp_heartbeat_fail(t, &r, TP_TURN_ERROR, &e);
}

/* ---- JSON under a 2xx: held until complete */

static void judge(struct tp_turn *t, struct tp_str body, const struct tp_answer_piece *p)
{
	struct tp_answer_error error;
	switch (tp_answer_body(t->family, body, &error)) {
	case TP_ANSWER_OK:
		if (t->opened) {
			no_stream(t);
			return;
		}
		commit(t);
		if (emit(t, body.p, body.n, true))
			finish(t);
		return;
	case TP_ANSWER_INVALID:
		/* What only the end of the connection ended may as well have been cut. */
		if (t->relay.until_close && body.n > 0)
			is_no_answer(t, TP_CAUSE_TRUNCATED, "the answer is no complete JSON");
		else
			is_no_answer(t, TP_CAUSE_INVALID, "the answer is empty or no JSON");
		return;
	case TP_ANSWER_ERROR:
		/* What is kept may be an earlier attempt's: a whole answer in one piece was not kept yet. */
		if (p->head != NULL && !save(t, p, 200))
			is_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		else
			carries_error(t, &error);
		return;
	}
}

static void hold(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_buf *held = &t->relay.held;
	if (held->len == 0 && p->end) { /* whole in one piece: nothing is copied */
		judge(t, (struct tp_str){p->data, p->n}, p);
		return;
	}
	tp_buf_add(held, p->data, p->n);
	if (held->failed)
		is_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
	else if (p->end)
		judge(t, tp_buf_str(held), p);
	else if (held->len > t->config->hold.body_bytes)
		tp_relay_hold_over(t);
}

/* ---- streams */

enum scan { SCAN_NOTHING, SCAN_OUTPUT, SCAN_ERROR };

/* Looks at the event just ended. */
static enum scan scan_event(struct tp_turn *t, bool committed, struct tp_answer_error *error)
{
	struct tp_relay *r = &t->relay;
	struct tp_sse_event event = tp_sse_event(&r->sse);
	bool closely = !committed || t->provider->conf->token_ms > 0; /* is it output? costs a look inside */
	enum tp_answer_event kind = closely ? tp_answer_event(t->family, &event, error)
					    : tp_answer_event_committed(t->family, &event, error);
	if (committed && kind != TP_EVENT_NEUTRAL)
		output_seen(t);
	switch (kind) {
	case TP_EVENT_NEUTRAL: return SCAN_NOTHING;
	case TP_EVENT_OUTPUT: return SCAN_OUTPUT;
	case TP_EVENT_FINISH: r->whole = true; return SCAN_OUTPUT;
	case TP_EVENT_TERMINAL: r->whole = r->ended = true; return SCAN_OUTPUT;
	case TP_EVENT_ERROR: break;
	}
	if (!committed)
		return SCAN_ERROR;
	r->failed = true;
	r->ended = r->ended || error->ends;
	return SCAN_OUTPUT;
}

/* One pass over a piece: its first output or error while nothing is committed, terminal events behind that.
 */
static enum scan scan_piece(struct tp_turn *t, const char *data, size_t n, struct tp_answer_error *error)
{
	struct tp_sse *s = &t->relay.sse;
	bool committed = t->relay.mode == TP_RELAY_FLOW;
	enum scan found = SCAN_NOTHING;
	size_t at = 0, used = 0;
	while (tp_sse_feed(s, data + at, n - at, &used) == TP_SSE_EVENT) {
		at += used;
		enum scan one = scan_event(t, committed || found == SCAN_OUTPUT, error);
		if (one == SCAN_ERROR)
			return one;
		if (one == SCAN_OUTPUT)
			found = one;
	}
	return found;
}

static void stream_ended(struct tp_turn *t, const char *data, size_t n)
{
	struct tp_answer_error error;
	if (tp_sse_finish(&t->relay.sse) == TP_SSE_EVENT) /* the last one, without its empty line */
		(void)scan_event(t, true, &error);
	if (!t->relay.whole && !t->relay.failed) {
		if (n == 0 || emit(t, data, n, false))
			tp_relay_cut(t, "the provider ended the stream before its last event");
		return;
	}
	if (emit(t, data, n, true))
		finish(t);
}

/* The stream is over and nothing of it was output. */
static void prelude_ended(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	struct tp_answer_error error;
	if (r->sse.foreign) {
		judge(t, tp_buf_str(&r->held), p);
		return;
	}
	if (tp_sse_finish(&r->sse) == TP_SSE_EVENT) {
		enum scan last = scan_event(t, false, &error);
		if (last == SCAN_ERROR) {
			carries_error(t, &error);
			return;
		}
		if (last == SCAN_OUTPUT) {
			commit(t);
			stream_ended(t, r->held.data, r->held.len);
			return;
		}
	}
	if (r->sse.events == 0)
		is_no_answer(t, TP_CAUSE_INVALID, "the stream has no event");
	else
		is_no_answer(t, TP_CAUSE_CLOSED, "the stream ended before its first output");
}

static void prelude(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	struct tp_answer_error error;
	enum scan found = scan_piece(t, p->data, p->n, &error);
	if (found == SCAN_ERROR) {
		carries_error(t, &error);
		return;
	}
	if (r->sse.events > 0) /* its first output may be long in coming, and others wait for this */
		tp_waits_good(t);
	if (found == SCAN_OUTPUT && r->held.len == 0) {
		commit(t);
		if (p->end)
			stream_ended(t, p->data, p->n);
		else
			(void)emit(t, p->data, p->n, false);
		return;
	}
	tp_buf_add(&r->held, p->data, p->n);
	if (r->held.failed)
		is_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
	else if (found == SCAN_OUTPUT && p->end) {
		commit(t);
		stream_ended(t, r->held.data, r->held.len);
	} else if (found == SCAN_OUTPUT)
		tp_relay_hold_over(t);
	else if (p->end)
		prelude_ended(t, p);
	else if (r->held.len > t->config->hold.total_bytes)
		tp_relay_hold_over(t);
}

/* ---- committed */

static void scan_json(struct tp_json *j, const char *data, size_t n)
{
	enum tp_json_event e;
	size_t at = 0, used = 0;
	do {
		e = tp_json_feed(j, data + at, n - at, &used);
		at += used;
	} while (e != TP_JSON_MORE && e != TP_JSON_BAD);
}

static void flow_body(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_json *j = t->relay.json;
	if (j != NULL)
		scan_json(j, p->data, p->n);
	if (p->end && j != NULL && !tp_json_finish(j) && !j->too_deep) {
		if (emit(t, p->data, p->n, false))
			tp_relay_cut(t, "the provider closed the connection inside the answer");
		return;
	}
	if (emit(t, p->data, p->n, p->end) && p->end)
		finish(t);
}

static void flow(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	if (!r->stream) {
		flow_body(t, p);
		return;
	}
	struct tp_answer_error error;
	(void)scan_piece(t, p->data, p->n, &error);
	if (!p->end) {
		(void)emit(t, p->data, p->n, false);
		return;
	}
	stream_ended(t, p->data, p->n);
}

void tp_relay_hold_over(struct tp_turn *t)
{
	struct tp_relay *r = &t->relay;
	if (r->mode == TP_RELAY_COLLECT) {
		collected(t, true);
		return;
	}
	if (t->opened && !r->stream) {
		no_stream(t);
		return;
	}
	if (r->until_close && !r->stream && (r->json = calloc(1, sizeof *r->json)) != NULL)
		scan_json(r->json, r->held.data, r->held.len);
	commit(t);
	struct tp_buf held = r->held;
	r->held = (struct tp_buf){0};
	(void)emit(t, held.data, held.len, false);
	tp_buf_free(&held);
}

/* ---- begin */

static void begin_collect(struct tp_turn *t, const struct tp_answer_piece *p, int status)
{
	if (!save(t, p, status)) {
		is_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	t->relay.mode = TP_RELAY_COLLECT;
	tp_timer_set(&t->timer, ERROR_BODY_MS);
}

/* A 2xx of a family: may still turn out to be no answer. */
static void begin_held(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	if (r->facts.html) {
		is_no_answer(t, TP_CAUSE_INVALID, "HTML where the family has JSON");
		return;
	}
	r->stream = r->facts.event_stream;
	r->sse.keep_max = TP_SSE_KEEP_PRELUDE;
	/* Inside a length a cut could only be told by leaving it unfilled, and our error event would fill it.
	 */
	if (r->stream && r->framing == TP_ANSWER_LENGTH)
		r->framing = t->minor >= 1 ? TP_ANSWER_CHUNKED : TP_ANSWER_CLOSE;
	render_head(t, p);
	if (p->end && !r->stream) {
		r->mode = TP_RELAY_HOLD;
		return;
	}
	if (!save(t, p, 200)) {
		is_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	r->mode = r->stream ? TP_RELAY_PRELUDE : TP_RELAY_HOLD;
	tp_timer_set(&t->timer, t->config->hold.time_ms);
}

static void begin(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	tp_answer_facts(p->head, p->bytes, tp_clock_wall_ms() / 1000, &r->facts);
	r->framing = client_framing(t, p->head);
	r->until_close = p->head->framing == TP_FRAMING_CLOSE;
	if (p->head->status >= 400) {
		begin_collect(t, p, p->head->status);
		return;
	}
	bool inspect =
		t->family != TP_FAMILY_PLAIN && p->head->status < 300 && r->framing != TP_ANSWER_NO_BODY;
	if (inspect && r->facts.status_overloaded) {
		begin_collect(t, p, 503);
		return;
	}
	enum tp_coding coding = inspect ? tp_coding_of_head(p->head, p->bytes) : TP_CODING_NONE;
	if (coding == TP_CODING_OTHER)
		tp_info("turn %s: the answer's content coding is not known: it is relayed as it is, not "
			"inspected",
			t->id);
	else if (coding != TP_CODING_NONE && !tp_unpack_begin(t, coding)) {
		is_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	} else if (inspect) {
		begin_held(t, p);
		return;
	}
	if (t->opened) {
		no_stream(t);
		return;
	}
	render_head(t, p);
	commit(t);
}

void tp_relay_take(struct tp_turn *t, const struct tp_answer_piece *p)
{
	switch (t->relay.mode) {
	case TP_RELAY_COLLECT: collect(t, p); return;
	case TP_RELAY_HOLD: hold(t, p); return;
	case TP_RELAY_PRELUDE: prelude(t, p); return;
	case TP_RELAY_FLOW: flow(t, p); return;
	case TP_RELAY_NONE: return;
	}
}

void tp_relay_piece(struct tp_turn *t, const struct tp_answer_piece *p)
{
	if (p->head != NULL) {
		unsigned serial = t->attempt.serial;
		begin(t, p);
		if (t->state == TP_TURN_OVER || t->relay.mode == TP_RELAY_NONE || t->attempt.serial != serial)
			return;
	}
	if (t->relay.decoder != NULL)
		tp_unpack_piece(t, p);
	else
		tp_relay_take(t, p);
}

void tp_relay_broken(struct tp_turn *t, enum tp_cause cause, const char *why)
{
	switch (t->relay.mode) {
	case TP_RELAY_COLLECT: collected(t, true); return;
	case TP_RELAY_HOLD: tp_turn_decide(t, TP_CAUSE_TRUNCATED, why); return;
	case TP_RELAY_FLOW: tp_relay_cut(t, why); return;
	default: tp_turn_decide(t, cause, why); return;
	}
}
