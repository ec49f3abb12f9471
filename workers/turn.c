#include "workers/turn.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/block.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/told.h"
#include "workers/admit.h"
#include "workers/dispatch.h"
#include "workers/heartbeat.h"
#include "workers/identity.h"
#include "workers/join.h"
#include "workers/models.h"
#include "workers/numbers.h"
#include "workers/relay.h"
#include "workers/runtime.h"
#include "workers/snapshot.h"
#include "workers/targets.h"
#include "workers/tunnel.h"
#include "workers/unpack.h"
#include "workers/waits.h"

enum { STREAM_AHEAD = 256 * 1024 }; /* body bytes kept in memory of a request that streams through */

static const char *const state_names[] = {"receive", "join", "send", "wait", "flow", "over"};

void tp_turn_set_state(struct tp_turn *t, enum tp_turn_state s)
{
	if (s == TP_TURN_WAIT || s == TP_TURN_JOIN || s == TP_TURN_FLOW)
		tp_overhead_stand(&t->overhead);
	if (s == t->state)
		return;
	tp_debug("turn %s: %s -> %s", t->id, state_names[t->state], state_names[s]);
	if (t->state == TP_TURN_WAIT) {
		tp_worker_gauge(t->worker, TP_GAUGE_WAITING, -1);
		t->record.waited_ms += tp_clock_boot_ms() - t->record.waiting_since_ms;
	}
	if (s == TP_TURN_WAIT) {
		tp_worker_gauge(t->worker, TP_GAUGE_WAITING, 1);
		t->record.waiting_since_ms = tp_clock_boot_ms();
	}
	if (t->state == TP_TURN_WAIT || t->state == TP_TURN_JOIN || s == TP_TURN_FLOW || s == TP_TURN_OVER)
		tp_timer_clear(&t->timer);
	t->state = s;
}

void tp_turn_wait_for(struct tp_turn *t, enum tp_open_wait wait, uint64_t until_ms)
{
	tp_turn_set_state(t, TP_TURN_WAIT);
	t->open.wait = (uint8_t)wait;
	t->open.until_ms = until_ms;
}

/* ---- the end */

static void free_turn(struct tp_turn *t)
{
	tp_timer_close(&t->timer);
	tp_timer_close(&t->beat);
	tp_relay_reset(t);
	tp_saved_answer_free(t->saved);
	t->saved = NULL;
	tp_refresh_end(t);
	tp_identity_drop(t);
	tp_targets_drop(t);
	tp_request_free(t->request);
	t->request = NULL;
	tp_runtime_unref(t->runtime);
	tp_worker_park_block(t->worker, t, sizeof *t);
}

static const enum tp_counter outcome_counters[] = {
	[TP_TURN_OK] = TP_COUNT_TURNS_OK,           [TP_TURN_ERROR] = TP_COUNT_TURNS_ERROR,
	[TP_TURN_REFUSED] = TP_COUNT_TURNS_REFUSED, [TP_TURN_CUT] = TP_COUNT_TURNS_CUT,
	[TP_TURN_GONE] = TP_COUNT_TURNS_GONE,       [TP_TURN_BAD] = TP_COUNT_TURNS_BAD,
};

/* Provably nothing was written: the charge returns. */
void tp_turn_give_back(struct tp_turn *t)
{
	tp_ledger_give_back(&t->ledger, t->klass);
	tp_worker_count(t->worker, TP_COUNT_GIVEN_BACK);
	t->record.sends[t->klass]--;
}

/* The turn is over; its client goes on without it. */
static void leave(struct tp_turn *t, enum tp_turn_outcome outcome, const struct tp_ledger_ending *ending)
{
	bool unsent = t->attempt.active && t->attempt.stage == TP_STAGE_UNSENT;
	tp_blacklist_over(t, outcome == TP_TURN_OK);
	tp_turn_set_state(t, TP_TURN_OVER);
	tp_attempt_cancel(&t->attempt, "its turn is over");
	tp_turn_gate_leave(t);
	tp_targets_end(t);
	tp_keys_end(t);
	tp_waits_end(t);
	if (t->joined && unsent)
		tp_turn_give_back(t);
	tp_record_end(t, outcome); /* while the ledger knows the number of sends */
	if (t->joined) {
		tp_ledger_settle(&t->ledger);
		tp_ledger_end(&t->ledger, ending, tp_clock_boot_ms());
		t->joined = false;
	}
	tp_worker_count(t->worker, outcome_counters[outcome]);
	tp_numbers_turn(t, outcome);
	tp_worker_gauge(t->worker, TP_GAUGE_TURNS, -1);
	tp_open_turns_end(t);
	t->client->turn = NULL;
	t->client = NULL;
	free_turn(t);
}

void tp_turn_end(struct tp_turn *t, enum tp_turn_outcome outcome, const struct tp_ledger_ending *ending,
		 enum tp_client_next next)
{
	struct tp_client *c = t->client;
	if (next == TP_NEXT_KEEP && (!t->keep_alive || t->worker->draining || t->client->leaving))
		next = TP_NEXT_CLOSE;
	leave(t, outcome, ending);
	tp_client_turn_over(c, next);
}

struct tp_answer_about tp_turn_about(const struct tp_turn *t)
{
	return (struct tp_answer_about){
		.request_id = t->id,
		.sends = t->sends_told != 0 ? t->sends_told : t->ledger.used,
		.target = tp_targets_name(t) != NULL ? tp_targets_name(t)
			  : t->provider != NULL      ? t->provider->conf->name
						     : NULL,
		.close = !t->keep_alive || t->worker->draining || t->client->leaving || t->request == NULL ||
			 !t->request->complete,
		.tell_keep = t->minor == 0, /* RFC 9112 section 9.3 */
		.replay_off = t->streaming,
	};
}

/* `r` is what the head says. */
static void answer_with(struct tp_turn *t, const struct tp_refusal *r, struct tp_str body,
			enum tp_turn_outcome outcome, const struct tp_ledger_ending *ending)
{
	struct tp_buf head = {0};
	struct tp_answer_about about = tp_turn_about(t);
	about.framing = TP_ANSWER_LENGTH;
	about.length = body.n;
	about.replay_off = false;
	tp_answer_head_local(&head, r, &about);
	struct iovec v[2] = {{head.data, head.len},
			     {(void *)(uintptr_t)body.p, t->head_request ? 0 : body.n}};
	bool failed = head.failed || tp_client_write(t->client, v, 2) < 0;
	tp_buf_free(&head);
	tp_turn_end(t, outcome, ending, failed ? TP_NEXT_CUT : about.close ? TP_NEXT_CLOSE : TP_NEXT_KEEP);
}

void tp_turn_answer_local(struct tp_turn *t, const struct tp_refusal *r, enum tp_turn_outcome outcome,
			  const struct tp_ledger_ending *ending)
{
	struct tp_buf body = {0};
	if (t->opened) {
		tp_heartbeat_fail(t, r, outcome, ending);
		return;
	}
	(void)snprintf(t->record.code, sizeof t->record.code, "%s", r->code != NULL ? r->code : "");
	tp_refusal_render(r, t->family, &body);
	if (body.failed)
		tp_turn_end(t, outcome, ending, TP_NEXT_CUT);
	else
		answer_with(t, r, tp_buf_str(&body), outcome, ending);
	tp_buf_free(&body);
}

void tp_turn_answer_until(struct tp_turn *t, const struct tp_refusal *r, uint64_t left_ms)
{
	struct tp_ledger_ending e = {.end = TP_END_DECLINED,
				     .retry_after_ms = left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX};
	tp_turn_answer_local(t, r, TP_TURN_ERROR, &e);
}

void tp_turn_answer_later(struct tp_turn *t, enum tp_code code, uint64_t left_ms)
{
	struct tp_refusal r = tp_refusal_for(
		code, tp_told_header_seconds(left_ms < INT64_MAX ? (int64_t)left_ms : INT64_MAX));
	tp_numbers_refusal(t->worker, code);
	tp_turn_answer_until(t, &r, left_ms);
}

void tp_turn_answer_json(struct tp_turn *t, struct tp_str body)
{
	struct tp_refusal good = {.status = 200};
	answer_with(t, &good, body, TP_TURN_OK, NULL);
}

void tp_turn_reject(struct tp_turn *t, int status, const char *detail)
{
	struct tp_refusal r = tp_refusal_client_error(status, detail);
	struct tp_ledger_ending e = {.end = TP_END_LEFT};
	tp_blacklist_neutral(t);
	if (t->state == TP_TURN_FLOW) {
		tp_relay_cut(t, detail);
		return;
	}
	tp_record_reason(t, detail, NULL);
	tp_turn_answer_local(t, &r, TP_TURN_BAD, &e);
}

void tp_turn_client_gone(struct tp_turn *t)
{
	struct tp_ledger_ending e = {.end = TP_END_LEFT};
	tp_record_reason(t, "the client left", NULL);
	tp_turn_end(t, TP_TURN_GONE, &e, TP_NEXT_CUT);
}

void tp_turn_abort(struct tp_turn *t)
{
	tp_blacklist_neutral(t);
	if (t->state == TP_TURN_FLOW) {
		tp_relay_cut(t, "the server is shutting down");
		return;
	}
	/* It is us who leave: the client will send again, and what was open, or was to be replaced, may have
	 * run. */
	bool open = t->attempt.active && t->attempt.stage > TP_STAGE_UNSENT;
	struct tp_ledger_ending e = {.end = open || t->replaced != TP_CODE_NONE ? TP_END_UNKNOWN
										: TP_END_DECLINED};
	tp_record_reason(t, "the server is shutting down", NULL);
	tp_turn_end(t, TP_TURN_CUT, &e, TP_NEXT_CUT);
}

void tp_turn_refuse(struct tp_turn *t, enum tp_code code)
{
	struct tp_refusal r = tp_refusal_for(code, 0);
	struct tp_ledger_ending e = {.end = TP_END_REFUSED, .code = code};
	tp_numbers_refusal(t->worker, code);
	tp_turn_answer_local(t, &r, TP_TURN_REFUSED, &e);
}

/* ---- the request arrives */

void tp_turn_start(struct tp_turn *t)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	if (!tp_turn_admit(t) || tp_models_begin(t))
		return;
	const struct tp_head *h = t->request->head;
	bool too_long = h->framing == TP_FRAMING_LENGTH && h->content_length > t->config->limits.replay_body;
	if (!too_long && tp_identity_wants_fingerprint(t))
		tp_identity_begin(t);
	if (h->expect_continue && !t->request->complete &&
	    tp_client_write(t->client, &(struct iovec){(void *)(uintptr_t)go_on, sizeof go_on - 1}, 1) < 0)
		tp_turn_client_gone(t);
}

/* Too large to be kept: it is sent while it arrives, once, and nothing can be sent again. */
static void begin_streaming(struct tp_turn *t)
{
	tp_request_stream(t->request);
	t->streaming = true;
	tp_identity_drop(t);
	tp_turn_identify(t);
}

char *tp_turn_body_room(struct tp_turn *t, size_t *ret_n)
{
	return t->streaming || t->attempt.head_seen ? NULL : tp_request_room(t->request, ret_n);
}

void tp_turn_body(struct tp_turn *t, const char *data, size_t n)
{
	struct tp_request *r = t->request;
	if (r->head == NULL || t->attempt.head_seen)
		return; /* answered already: the rest of the upload is dropped */
	if (!tp_request_add(r, data, n)) {
		tp_turn_reject(t, 503, "out of memory");
		return;
	}
	if (t->streaming) {
		tp_attempt_more(&t->attempt);
		/* The attempt may have failed and ended the turn. */
		if (t->state != TP_TURN_OVER && r->received - r->dropped > STREAM_AHEAD)
			tp_client_pause(t->client);
		return;
	}
	if (t->fingerprint != NULL && !tp_identity_feed(t, data, n)) {
		tp_turn_reject(t, 413, TP_BODY_TOO_LARGE_DECODED);
		return;
	}
	bool too_long = r->head->framing == TP_FRAMING_LENGTH &&
			r->head->content_length > t->config->limits.replay_body;
	if (too_long || !tp_request_may_hold(r, 0))
		begin_streaming(t);
}

void tp_turn_body_done(struct tp_turn *t)
{
	if (t->request->head == NULL)
		return;
	if (!tp_request_end(t->request)) {
		tp_turn_reject(t, 503, "out of memory");
		return;
	}
	if (t->streaming) {
		tp_attempt_more(&t->attempt);
		return;
	}
	tp_overhead_run(&t->overhead);
	tp_turn_identify(t);
}

static void wait_over(struct tp_turn *t)
{
	switch (t->open.wait) {
	case TP_OPEN_WAIT_COOLDOWN: tp_targets_start(t); break;
	case TP_OPEN_WAIT_CAPACITY: tp_dispatch_queue_over(t); break;
	default: tp_dispatch_again(t); break;
	}
}

static void on_timer(void *arg)
{
	struct tp_turn *t = arg;
	if (t->state == TP_TURN_WAIT || t->state == TP_TURN_JOIN)
		tp_overhead_run(&t->overhead);
	switch (t->state) {
	case TP_TURN_JOIN: tp_turn_join(t); break;
	case TP_TURN_WAIT: wait_over(t); break;
	case TP_TURN_SEND: tp_relay_time_over(t); break;
	case TP_TURN_FLOW: tp_relay_output_gap(t); break;
	default: break;
	}
}

void tp_turn_writable(struct tp_turn *t)
{
	tp_attempt_resume(&t->attempt);
	tp_unpack_rest(t);
}

/* ---- an attempt tells */

static void on_answer(void *owner, const struct tp_answer_piece *p)
{
	struct tp_turn *t = owner;
	bool flows = t->state == TP_TURN_FLOW;
	unsigned serial = t->attempt.serial;
	if (!flows) {
		tp_ledger_prefetch(&t->ledger);
		tp_overhead_heard(&t->overhead, &t->attempt);
	}
	if (p->head != NULL)
		tp_snapshot_answer(t, p->head, p->bytes);
	tp_relay_piece(t, p);
	/* A turn that is over is parked. One that sends again at once goes on running. */
	if (!flows && t->attempt.serial == serial)
		tp_overhead_stand(&t->overhead);
	/* The provider is done, whatever the client still has to take of it. */
	if (p->end && t->state == TP_TURN_FLOW)
		tp_turn_gate_leave(t);
}

static void on_failed(void *owner, enum tp_cause cause, const char *why)
{
	struct tp_turn *t = owner;
	if (t->state != TP_TURN_FLOW)
		tp_overhead_heard(&t->overhead, &t->attempt);
	if (t->relay.mode == TP_RELAY_NONE)
		tp_turn_decide(t, cause, why);
	else
		tp_relay_broken(t, cause, why);
}

static void on_room(void *owner)
{
	struct tp_turn *t = owner;
	if (!t->streaming)
		return;
	tp_request_drop(t->request, t->attempt.sent);
	if (t->request->received - t->request->dropped <= STREAM_AHEAD)
		tp_client_resume(t->client);
}

/* The provider speaks another protocol from here on: both sockets go to a tunnel. */
static void on_switched(void *owner, const struct tp_answer_piece *head, int fd, SSL *ssl)
{
	struct tp_turn *t = owner;
	struct tp_client *c = t->client;
	struct tp_worker *w = t->worker;
	uint64_t idle_ms = t->provider->conf->idle_ms;
	struct tp_tunnel_end provider = {.fd = fd, .ssl = ssl}, client = {.fd = -1};
	struct tp_answer_facts facts;
	struct tp_answer_about about = tp_turn_about(t);
	about.framing = TP_ANSWER_NO_BODY;
	about.close = false;
	about.upgrade = true;
	tp_answer_facts(head->head, head->bytes, tp_clock_wall_ms() / 1000, &facts);
	struct tp_buf first = {0};
	tp_answer_head_relay(&first, 101, head->head, head->bytes, &facts, &about);
	tp_buf_add(&first, head->data, head->n);
	struct tp_ledger_ending e = {.end = TP_END_SUCCESS};
	t->record.status = 101;
	leave(t, TP_TURN_OK, &e);
	tp_client_detach(c, &client.fd, &client.ssl, &client.first, &provider.first);
	tp_buf_add(&client.first, first.data, first.len); /* behind an answer before it */
	client.first.failed = client.first.failed || first.failed;
	tp_buf_free(&first);
	tp_tunnel_start(w, client, provider, idle_ms);
	/* Not before there is a tunnel: a worker that drains leaves with the last of both. */
	tp_client_close(c, "it goes on as a tunnel", false);
}

static const struct tp_attempt_ops attempt_ops = {on_answer, on_failed, on_room, on_switched};

/* ---- begin */

struct tp_turn *tp_turn_new(struct tp_client *c, const struct tp_head *head, const char *bytes)
{
	struct tp_worker *w = c->worker;
	struct tp_turn *t = tp_block_zeroed(sizeof *t);
	if (t == NULL)
		return NULL;
	if ((t->request = tp_request_new(w, c->config, head, bytes)) == NULL) {
		tp_block_free(t, sizeof *t);
		return NULL;
	}
	t->worker = w;
	t->client = c;
	t->runtime = tp_runtime_ref(c->runtime);
	t->config = t->runtime->config;
	t->family = t->request->family;
	t->minor = head->minor;
	t->keep_alive = head->keep_alive;
	t->head_request = tp_str_eq(tp_span_str(bytes, head->method), TP_STR("HEAD"));
	t->begun_ms = tp_clock_boot_ms();
	tp_worker_request_id(w, t->id);
	tp_timer_init(&t->timer, w->base, on_timer, t);
	tp_attempt_init(&t->attempt, w, &attempt_ops, t);
	tp_record_begin(t);
	tp_worker_count(w, TP_COUNT_TURNS);
	tp_worker_gauge(w, TP_GAUGE_TURNS, 1);
	tp_open_turns_begin(t);
	return t;
}
