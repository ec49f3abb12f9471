#include "workers/relay_parts.h"

#include <stdlib.h>

#include "common/http/model_list.h"
#include "common/http/sse_front.h"
#include "workers/models.h"

/* False when it is no JSON. */
static bool scan_json(struct tp_json *j, const char *data, size_t n)
{
	enum tp_json_event e;
	size_t at = 0, used = 0;
	do {
		e = tp_json_feed(j, data + at, n - at, &used);
		at += used;
	} while (e != TP_JSON_MORE && e != TP_JSON_BAD);
	return e != TP_JSON_BAD;
}

static bool is_json(struct tp_str body)
{
	struct tp_json j = {.ends_only = true};
	(void)scan_json(&j, body.p, body.n);
	return tp_json_finish(&j) || j.too_deep;
}

/* The list of models is whole. */
static void add_combos(struct tp_turn *t, struct tp_str body)
{
	struct tp_buf with = {0};
	if (tp_models_add(t, body, &with))
		body = tp_buf_str(&with);
	/* What only the end of the connection ended may as well have been cut: then the client sees that. */
	bool cut = with.len == 0 && t->relay.until_close && !is_json(body);
	tp_relay_commit(t);
	if (tp_relay_emit(t, body.p, body.n, !cut)) {
		if (cut)
			tp_relay_cut(t, "the provider closed the connection inside the answer");
		else
			tp_relay_finish(t);
	}
	tp_buf_free(&with);
}

void tp_relay_judge(struct tp_turn *t, struct tp_str body, const struct tp_answer_piece *p)
{
	struct tp_answer_error error;
	if (t->relay.list) {
		add_combos(t, body);
		return;
	}
	switch (tp_answer_body(t->family, body, &error)) {
	case TP_ANSWER_OK:
		if (t->opened) {
			tp_relay_no_stream(t);
			return;
		}
		tp_relay_commit(t);
		if (tp_relay_emit(t, body.p, body.n, true))
			tp_relay_finish(t);
		return;
	case TP_ANSWER_INVALID:
		/* What only the end of the connection ended may as well have been cut. */
		if (t->relay.until_close && body.n > 0)
			tp_relay_no_answer(t, TP_CAUSE_TRUNCATED, "the answer is no complete JSON");
		else
			tp_relay_no_answer(t, TP_CAUSE_INVALID, "the answer is empty or no JSON");
		return;
	case TP_ANSWER_ERROR:
		/* A whole answer in one piece was not kept yet. */
		if (t->relay.kept == NULL && (p->head == NULL || !tp_relay_keep(t, p)))
			tp_relay_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		else
			tp_relay_carries_error(t, &error);
		return;
	}
}

/* Events under another content type, or under none: clients that asked for them do not look at it either. */
static bool is_stream(struct tp_turn *t, struct tp_str front)
{
	struct tp_relay *r = &t->relay;
	if (!t->wants_stream || r->list || r->front_seen)
		return false;
	enum tp_sse_front f = tp_sse_front(front);
	r->front_seen = f != TP_SSE_FRONT_UNSURE;
	return f == TP_SSE_FRONT_EVENTS;
}

void tp_relay_hold(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_buf *held = &t->relay.held;
	struct tp_str whole = {p->data, p->n};
	if (held->len == 0 && p->end) { /* whole in one piece: nothing is copied */
		if (is_stream(t, whole))
			tp_relay_stream_after_all(t, p);
		else
			tp_relay_judge(t, whole, p);
		return;
	}
	tp_buf_add(held, p->data, p->n);
	if (held->failed)
		tp_relay_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
	else if (is_stream(t, tp_buf_str(held)))
		tp_relay_stream_after_all(t, p);
	else if (p->end)
		tp_relay_judge(t, tp_buf_str(held), p);
	else if (held->len > (t->relay.list ? TP_MODEL_LIST_MAX : t->config->hold.body_bytes))
		tp_relay_commit_held(t);
}

void tp_relay_watch_json(struct tp_turn *t)
{
	struct tp_relay *r = &t->relay;
	if (r->until_close && !r->stream && (r->json = calloc(1, sizeof *r->json)) != NULL)
		(void)scan_json(r->json, r->held.data, r->held.len);
}

/* Of the plain family anything may pass, a body that is no JSON too: only one that breaks off inside is cut.
 */
static bool breaks_off(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_json *j = t->relay.json;
	if (j == NULL)
		return false;
	bool plain = t->family == TP_FAMILY_PLAIN;
	if (!scan_json(j, p->data, p->n) && plain) {
		free(j);
		t->relay.json = NULL;
		return false;
	}
	return p->end && !tp_json_finish(j) && !j->too_deep && !(plain && j->top_type == TP_JSON_NONE);
}

void tp_relay_flow_json(struct tp_turn *t, const struct tp_answer_piece *p)
{
	if (breaks_off(t, p)) {
		if (tp_relay_emit(t, p->data, p->n, false))
			tp_relay_cut(t, "the provider closed the connection inside the answer");
		return;
	}
	if (tp_relay_emit(t, p->data, p->n, p->end) && p->end)
		tp_relay_finish(t);
}
