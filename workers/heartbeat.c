#include "workers/heartbeat.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "common/http/chunked.h"
#include "common/retry/stream_error.h"

/* One chunk, with the head in front of the first. False when the client is gone and the turn over. */
static bool write_chunk(struct tp_turn *t, struct tp_buf *head, struct tp_buf *event)
{
	char line[20];
	static const char tail[] = "\r\n";
	struct iovec v[4] = {{head->data, head->len},
			     {line, tp_chunk_line(line, event->len)},
			     {event->data, event->len},
			     {(void *)(uintptr_t)tail, 2}};
	bool alive = !head->failed && !event->failed && tp_client_write(t->client, v, 4) >= 0;
	tp_buf_free(head);
	tp_buf_free(event);
	if (!alive)
		tp_turn_client_gone(t);
	return alive;
}

static void render_head(const struct tp_turn *t, struct tp_buf *out)
{
	struct tp_answer_about about = tp_turn_about(t);
	about.framing = TP_ANSWER_CHUNKED;
	tp_answer_head_stream(out, &about);
}

/* The first one opens the answer. False when the client is gone and the turn over. */
static bool beat(struct tp_turn *t)
{
	struct tp_buf head = {0}, event = {0};
	if (!t->opened) {
		render_head(t, &head);
		tp_buf_free(&t->relay.head); /* of an answer whose prelude is held: it follows without one */
		t->relay.framing = TP_ANSWER_CHUNKED;
		t->opened = true;
	}
	tp_stream_heartbeat_render(t->family, &event);
	return write_chunk(t, &head, &event);
}

static void on_beat(void *arg)
{
	struct tp_turn *t = arg;
	if (t->state == TP_TURN_FLOW || t->state == TP_TURN_OVER)
		return; /* the answer itself speaks now */
	/* A client that does not read what was sent gets no more of it. */
	if (t->client->out.len == 0 && !beat(t))
		return;
	tp_timer_set(&t->beat, t->provider->conf->retry.heartbeat_every_ms);
}

void tp_heartbeat_begin(struct tp_turn *t)
{
	const struct tp_retry_conf *r = &t->provider->conf->retry;
	if (r->heartbeat_after_ms == 0 || !t->wants_stream || t->family == TP_FAMILY_PLAIN || t->minor == 0)
		return;
	uint64_t gone = tp_clock_boot_ms() - t->begun_ms;
	tp_timer_init(&t->beat, t->worker->base, on_beat, t);
	tp_timer_set(&t->beat, gone < r->heartbeat_after_ms ? r->heartbeat_after_ms - gone : 0);
}

void tp_heartbeat_fail(struct tp_turn *t, const struct tp_refusal *r, enum tp_turn_outcome outcome,
		       const struct tp_ledger_ending *ending)
{
	struct tp_buf none = {0}, event = {0};
	(void)snprintf(t->record.code, sizeof t->record.code, "%s", r->code != NULL ? r->code : "");
	tp_stream_error_render(t->family, r, &event);
	if (write_chunk(t, &none, &event))
		tp_turn_end(t, outcome, ending, TP_NEXT_CLOSE);
}
