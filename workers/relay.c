#include "workers/relay_parts.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/stream_error.h"
#include "workers/cooling.h"
#include "workers/heartbeat.h"
#include "workers/snapshot.h"
#include "workers/unpack.h"
#include "workers/waits.h"

void tp_relay_reset(struct tp_turn *t)
{
	tp_buf_free(&t->relay.head);
	tp_buf_free(&t->relay.held);
	tp_sse_free(&t->relay.sse);
	free(t->relay.json);
	tp_saved_answer_free(t->relay.kept);
	tp_buf_free(&t->relay.coded);
	tp_buf_free(&t->relay.rest);
	tp_decoder_free(t->relay.decoder);
	t->relay = (struct tp_relay){0};
}

/* ---- committed */

void tp_relay_output_seen(struct tp_turn *t)
{
	if (t->relay.stream && t->provider->conf->token_ms > 0)
		tp_timer_set(&t->timer, t->provider->conf->token_ms);
}

void tp_relay_output_gap(struct tp_turn *t)
{
	if (t->attempt.paused)
		tp_relay_output_seen(t); /* it is the client who is slow */
	else
		tp_relay_cut(t, "no output within timeouts.token");
}

void tp_relay_commit(struct tp_turn *t)
{
	tp_ledger_commit(&t->ledger);
	tp_targets_good(t);
	if (t->relay.facts.status < 300) {
		tp_waits_good(t);
		tp_keys_good(t);
		tp_refresh_good(t);
	}
	tp_blacklist_committed(t);
	tp_turn_set_state(t, TP_TURN_FLOW);
	t->relay.mode = TP_RELAY_FLOW;
	t->relay.sse.keep_max = TP_SSE_KEEP_COMMITTED;
	tp_relay_output_seen(t);
	tp_saved_answer_free(t->saved);
	tp_saved_answer_free(t->relay.kept);
	t->saved = t->relay.kept = NULL;
	if (t->request->complete && !tp_snapshot_wants_request(t))
		tp_request_release(t->request);
}

void tp_relay_finish(struct tp_turn *t)
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
		if (tp_relay_emit(t, NULL, 0, true))
			tp_relay_finish(t);
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
	bool alive = event.len == 0 || event.failed || tp_relay_emit(t, event.data, event.len, false);
	tp_buf_free(&event);
	if (alive)
		tp_turn_end(t, TP_TURN_CUT, &e, next);
}

/* ---- no answer after all */

void tp_relay_no_answer(struct tp_turn *t, enum tp_cause cause, const char *why)
{
	tp_attempt_cancel(&t->attempt, why);
	tp_turn_decide(t, cause, why);
}

void tp_relay_no_stream(struct tp_turn *t)
{
	struct tp_refusal r = tp_refusal_no_stream();
	struct tp_ledger_ending e = {.end = TP_END_UNKNOWN};
	tp_heartbeat_fail(t, &r, TP_TURN_ERROR, &e);
}

/* ---- begin */

void tp_relay_time_over(struct tp_turn *t)
{
	if (t->relay.mode == TP_RELAY_COLLECT)
		tp_relay_collected(t, true);
	else
		tp_relay_commit_held(t);
}

void tp_relay_commit_held(struct tp_turn *t)
{
	struct tp_relay *r = &t->relay;
	if (t->opened && !r->stream) {
		tp_relay_no_stream(t);
		return;
	}
	tp_relay_watch_json(t);
	tp_relay_commit(t);
	struct tp_buf held = r->held;
	r->held = (struct tp_buf){0};
	(void)tp_relay_emit(t, held.data, held.len, false);
	tp_buf_free(&held);
}

/* An error that is as long as what may be held is still read whole: `response.failed` repeats the
 * instructions and tools of its request. */
static uint32_t prelude_keep(const struct tp_config *c)
{
	uint64_t most = c->hold.total_bytes;
	return most > TP_SSE_KEEP_PRELUDE ? (uint32_t)most : TP_SSE_KEEP_PRELUDE;
}

/* A 2xx of a family: may still turn out to be no answer. */
static void begin_held(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	if (r->facts.html) {
		tp_relay_no_answer(t, TP_CAUSE_INVALID, "HTML where the family has JSON");
		return;
	}
	r->stream = r->facts.event_stream && !r->list;
	r->sse.keep_max = prelude_keep(t->config);
	/* Inside a length a cut could only be told by leaving it unfilled, and our error event would fill it.
	 * How long a list will be is not known yet. */
	if ((r->stream || r->list) && r->framing == TP_ANSWER_LENGTH)
		r->framing = t->minor >= 1 ? TP_ANSWER_CHUNKED : TP_ANSWER_CLOSE;
	tp_relay_render_head(t, p);
	if (p->end && !r->stream) {
		r->mode = TP_RELAY_HOLD;
		return;
	}
	if (!tp_relay_keep(t, p)) {
		tp_relay_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	r->mode = r->stream ? TP_RELAY_PRELUDE : TP_RELAY_HOLD;
	tp_timer_set(&t->timer, t->config->hold.time_ms);
}

static void begin(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	tp_answer_facts(p->head, p->bytes, tp_clock_wall_ms() / 1000, &r->facts);
	r->framing = tp_relay_framing(t, p->head);
	r->until_close = p->head->framing == TP_FRAMING_CLOSE;
	if (p->head->status >= 400) {
		tp_relay_collect_begin(t, p, p->head->status);
		return;
	}
	r->list = t->lists_models && p->head->status == 200 && r->facts.json;
	bool inspect = (t->family != TP_FAMILY_PLAIN || r->list) && p->head->status < 300 &&
		       r->framing != TP_ANSWER_NO_BODY;
	if (inspect && r->facts.status_overloaded) {
		tp_relay_collect_begin(t, p, 503);
		return;
	}
	enum tp_coding coding = inspect ? tp_coding_of_head(p->head, p->bytes) : TP_CODING_NONE;
	if (coding == TP_CODING_OTHER)
		tp_info("turn %s: the answer's content coding is not known: it is relayed as it is, not "
			"inspected",
			t->id);
	else if (coding != TP_CODING_NONE && !tp_unpack_begin(t, coding)) {
		tp_relay_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	} else if (inspect) {
		begin_held(t, p);
		return;
	}
	if (t->opened) {
		tp_relay_no_stream(t);
		return;
	}
	tp_relay_render_head(t, p);
	if (r->facts.json && !r->facts.encoded)
		tp_relay_watch_json(t);
	tp_relay_commit(t);
}

/* ---- pieces */

void tp_relay_take(struct tp_turn *t, const struct tp_answer_piece *p)
{
	switch (t->relay.mode) {
	case TP_RELAY_COLLECT: tp_relay_collect(t, p); return;
	case TP_RELAY_HOLD: tp_relay_hold(t, p); return;
	case TP_RELAY_PRELUDE: tp_relay_prelude(t, p); return;
	case TP_RELAY_FLOW:
		if (t->relay.stream)
			tp_relay_flow_stream(t, p);
		else
			tp_relay_flow_json(t, p);
		return;
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
	case TP_RELAY_COLLECT: tp_relay_collected(t, true); return;
	case TP_RELAY_HOLD:
		if (!t->relay.list) {
			tp_turn_decide(t, TP_CAUSE_TRUNCATED, why);
			return;
		}
		tp_relay_commit_held(t); /* without combos it would have gone out as it came */
		if (t->state == TP_TURN_FLOW)
			tp_relay_cut(t, why);
		return;
	case TP_RELAY_FLOW: tp_relay_cut(t, why); return;
	default: tp_turn_decide(t, cause, why); return;
	}
}
