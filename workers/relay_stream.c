#include "workers/relay_parts.h"

#include "workers/waits.h"

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
		tp_relay_output_seen(t);
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
	/* `ended` may be an error too: not a bare `error` of responses, behind which clients wait for more.
	 */
	if (!t->relay.whole && !t->relay.ended) {
		if (n == 0 || tp_relay_emit(t, data, n, false))
			tp_relay_cut(t, "the provider ended the stream before its last event");
		return;
	}
	if (tp_relay_emit(t, data, n, true))
		tp_relay_finish(t);
}

/* The stream is over and nothing of it was output. */
static void prelude_ended(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	struct tp_answer_error error;
	if (r->sse.foreign) {
		tp_relay_judge(t, tp_buf_str(&r->held), p);
		return;
	}
	if (tp_sse_finish(&r->sse) == TP_SSE_EVENT) {
		enum scan last = scan_event(t, false, &error);
		if (last == SCAN_ERROR) {
			tp_relay_carries_error(t, &error);
			return;
		}
		if (last == SCAN_OUTPUT) {
			tp_relay_commit(t);
			stream_ended(t, r->held.data, r->held.len);
			return;
		}
	}
	if (r->sse.events == 0)
		tp_relay_no_answer(t, TP_CAUSE_INVALID, "the stream has no event");
	else
		tp_relay_no_answer(t, TP_CAUSE_CLOSED, "the stream ended before its first output");
}

void tp_relay_prelude(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	struct tp_answer_error error;
	enum scan found = scan_piece(t, p->data, p->n, &error);
	if (found == SCAN_ERROR) {
		tp_relay_carries_error(t, &error);
		return;
	}
	if (r->sse.events > 0) /* its first output may be long in coming, and others wait for this */
		tp_waits_good(t);
	if (found == SCAN_OUTPUT && r->held.len == 0) {
		tp_relay_commit(t);
		if (p->end)
			stream_ended(t, p->data, p->n);
		else
			(void)tp_relay_emit(t, p->data, p->n, false);
		return;
	}
	tp_buf_add(&r->held, p->data, p->n);
	if (r->held.failed)
		tp_relay_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
	else if (found == SCAN_OUTPUT && p->end) {
		tp_relay_commit(t);
		stream_ended(t, r->held.data, r->held.len);
	} else if (found == SCAN_OUTPUT)
		tp_relay_commit_held(t);
	else if (p->end)
		prelude_ended(t, p);
	else if (r->held.len > t->config->hold.total_bytes)
		tp_relay_commit_held(t);
}

void tp_relay_stream_after_all(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	/* What came in one piece was not kept yet. */
	if (r->kept == NULL && (p->head == NULL || !tp_relay_keep(t, p))) {
		tp_relay_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	struct tp_buf held = r->held;
	struct tp_answer_piece head = {.head = r->kept->head, .bytes = r->kept->bytes};
	struct tp_answer_piece all = *p;
	if (held.len > 0) {
		all.data = held.data;
		all.n = held.len;
	}
	r->held = (struct tp_buf){0};
	r->stream = true;
	r->mode = TP_RELAY_PRELUDE;
	if (r->framing == TP_ANSWER_LENGTH)
		r->framing = t->minor >= 1 ? TP_ANSWER_CHUNKED : TP_ANSWER_CLOSE;
	tp_buf_free(&r->head); /* it may have told a length */
	tp_relay_render_head(t, &head);
	tp_relay_prelude(t, &all);
	tp_buf_free(&held);
}

void tp_relay_flow_stream(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_answer_error error;
	(void)scan_piece(t, p->data, p->n, &error);
	if (p->end)
		stream_ended(t, p->data, p->n);
	else
		(void)tp_relay_emit(t, p->data, p->n, false);
}
