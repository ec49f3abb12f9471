/* Connections: the answer, from the decision to its last byte or its break. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <sys/socket.h>

#include "server/simulate/conn.h"

enum {
	/* between the last byte and a reset: a reset overtakes bytes that the peer has not read yet */
	RESET_AFTER_MS = 50,
	/* how long a FIN waits for the other side's */
	LEAVE_MS = 2000,
};

static void wait_ms(struct tp_sim_conn *c, uint32_t ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};

	(void)evtimer_add(c->timer, &tv);
}

/* ---- deciding */

/* With more than N in progress, a capacity step is a refusal that says so. */
static void refuse_capacity(struct tp_sim_step *step, char *text, size_t size)
{
	(void)snprintf(text, size, "%u/%u", step->number, step->number);
	step->kind = TP_SIM_STATUS;
	step->status = 429;
	step->first_ms = 0;
	step->code = TP_STR("model_at_capacity");
	step->message = TP_STR("The model is at capacity.");
	step->headers[step->n_headers++] =
		(struct tp_sim_header){TP_STR("X-Codex-Model-Capacity"), tp_str_from(text)};
}

static void plan_step(struct tp_sim_conn *c, struct tp_sim_turn *t, const struct tp_sim_script *script,
		      struct tp_sim_frame frame)
{
	struct tp_sim_server *s = c->server;
	uint32_t send = tp_sim_book_send(s->book, t);
	struct tp_sim_step step = *tp_sim_script_step(script, send);
	char capacity[32];

	c->serial = t->serial;
	(void)snprintf(c->id, sizeof(c->id), "%s", t->id);
	if (step.kind == TP_SIM_CAPACITY && s->in_progress >= step.number) {
		refuse_capacity(&step, capacity, sizeof(capacity));
	} else if (step.kind == TP_SIM_CAPACITY) {
		c->counted = true;
		s->in_progress++;
	}
	tp_sim_plan_make(&c->plan, &step, t, frame, send);
	tp_sim_book_step(s->book, t->serial, step.text,
			 c->plan.stop == TP_SIM_STOP_BEFORE_HEAD || c->plan.stop == TP_SIM_STOP_IN_HEAD
				 ? 0
				 : c->plan.status);
}

static void plan_turn(struct tp_sim_conn *c, struct tp_sim_frame frame)
{
	struct tp_sim_turn t = {0};
	struct tp_sim_script script;
	const char *reason = "";
	char error[256];
	int status = tp_sim_turn_read(&t, c->raw.data, &c->head, tp_buf_str(&c->body), &reason);

	if (status == 0 && !tp_sim_script_parse(&script, tp_buf_str(&t.script), error, sizeof(error))) {
		status = 400;
		reason = error;
	}
	if (status != 0)
		tp_sim_plan_refuse(&c->plan, status, reason, &t, frame);
	else
		plan_step(c, &t, &script, frame);
	tp_sim_turn_free(&t);
}

static void plan_control(struct tp_sim_conn *c, struct tp_str target, struct tp_sim_frame frame)
{
	struct tp_sim_turn none = {0};
	struct tp_buf out = {0};
	int status = tp_sim_control(c->server, tp_span_str(c->raw.data, c->head.method), target, &out);

	if (status == 200)
		tp_sim_plan_json(&c->plan, tp_buf_str(&out), frame);
	else
		tp_sim_plan_refuse(&c->plan, status, "no such endpoint below /__sim/", &none, frame);
	tp_buf_free(&out);
}

void tp_sim_conn_answer(struct tp_sim_conn *c)
{
	struct tp_str target = tp_span_str(c->raw.data, c->head.target);
	struct tp_sim_frame frame = {
		.minor = c->head.minor,
		.keep_alive = c->head.keep_alive,
		.is_head = tp_str_eq(tp_span_str(c->raw.data, c->head.method), TP_STR("HEAD")),
	};

	if (tp_str_starts(target, TP_STR("/__sim/")))
		plan_control(c, target, frame);
	else
		plan_turn(c, frame);
	c->planned = true;
	if (tp_sim_plan_failed(&c->plan)) {
		tp_sim_conn_move(c, TP_SIM_CLOSED);
		return;
	}
	tp_sim_conn_move(c, c->plan.first_ms > 0 ? TP_SIM_WAITING : TP_SIM_SENDING);
	if (c->plan.first_ms > 0)
		wait_ms(c, c->plan.first_ms);
	else
		tp_sim_conn_play(c);
}

/* ---- ends */

void tp_sim_conn_end(struct tp_sim_conn *c, enum tp_sim_end end)
{
	(void)evtimer_del(c->timer);
	if (c->counted)
		c->server->in_progress--;
	if (c->serial != 0)
		tp_sim_book_end(c->server->book, c->serial, end);
	if (c->planned)
		tp_sim_plan_free(&c->plan);
	tp_buf_free(&c->body); /* may be large */
	c->planned = c->counted = c->released = c->head_sent = false;
	c->serial = 0;
	c->scanned = c->sent = c->piece = 0;
}

static void flush_then_break(struct tp_sim_conn *c)
{
	tp_sim_conn_move(c, TP_SIM_FLUSHING);
	if (evbuffer_get_length(bufferevent_get_output(c->bev)) == 0)
		tp_sim_conn_flushed(c);
}

static void reset_now(struct tp_sim_conn *c)
{
	struct linger hard = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(bufferevent_getfd(c->bev), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	tp_sim_conn_end(c, TP_SIM_BROKEN);
	tp_sim_conn_move(c, TP_SIM_CLOSED);
}

static void leave(struct tp_sim_conn *c, enum tp_sim_end end)
{
	tp_sim_conn_end(c, end);
	(void)shutdown(bufferevent_getfd(c->bev), SHUT_WR);
	tp_sim_conn_move(c, TP_SIM_LEAVING);
	wait_ms(c, LEAVE_MS);
}

void tp_sim_conn_flushed(struct tp_sim_conn *c)
{
	if (c->plan.stop == TP_SIM_STOP_NONE)
		leave(c, TP_SIM_DONE);
	else if (c->plan.how == TP_SIM_CLOSE)
		leave(c, TP_SIM_BROKEN);
	else if (c->head_sent || c->plan.stop == TP_SIM_STOP_IN_HEAD)
		wait_ms(c, RESET_AFTER_MS);
	else
		reset_now(c);
}

static void do_break(struct tp_sim_conn *c)
{
	if (c->plan.how == TP_SIM_STALL)
		tp_sim_conn_move(c, TP_SIM_STALLED);
	else
		flush_then_break(c);
}

static void finish(struct tp_sim_conn *c)
{
	if (c->plan.chunked && !c->plan.head_only)
		bufferevent_write(c->bev, "0\r\n\r\n", 5);
	if (c->plan.close_at_end) {
		flush_then_break(c);
		return;
	}
	tp_sim_conn_end(c, TP_SIM_DONE);
	tp_sim_conn_move(c, TP_SIM_READ_HEAD);
}

/* ---- playing */

/* True: the head is out and the body may follow. */
static bool play_head(struct tp_sim_conn *c)
{
	const struct tp_sim_plan *p = &c->plan;

	if (c->head_sent)
		return true;
	if (p->stop == TP_SIM_STOP_BEFORE_HEAD) {
		do_break(c);
		return false;
	}
	if (p->pause == TP_SIM_PAUSE_BEFORE_HEAD && !c->released) {
		tp_sim_conn_move(c, TP_SIM_PAUSED);
		return false;
	}
	bufferevent_write(c->bev, p->head.data,
			  p->stop == TP_SIM_STOP_IN_HEAD ? p->head.len / 2 : p->head.len);
	if (p->stop == TP_SIM_STOP_IN_HEAD) {
		do_break(c);
		return false;
	}
	c->head_sent = true;
	return true;
}

/* Body bytes up to `end`, as one chunk where the answer is chunked. */
static void write_body(struct tp_sim_conn *c, size_t end)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	const struct tp_sim_plan *p = &c->plan;

	if (end <= c->sent)
		return;
	if (p->chunked)
		evbuffer_add_printf(out, "%zx\r\n", end - c->sent);
	evbuffer_add(out, p->answer.body.data + c->sent, end - c->sent);
	if (p->chunked)
		evbuffer_add(out, "\r\n", 2);
	c->sent = end;
}

/* Writes one piece, or the part of it that comes before a break. False: playing stops here. */
static bool play_piece(struct tp_sim_conn *c)
{
	const struct tp_sim_plan *p = &c->plan;
	size_t end = p->answer.ends[c->piece];

	if (p->stop == TP_SIM_STOP_IN_BODY && p->stop_at <= end) {
		write_body(c, p->stop_at);
		do_break(c);
		return false;
	}
	write_body(c, end);
	c->piece++;
	if (p->pause == TP_SIM_PAUSE_IN_BODY && p->pause_at <= c->sent && !c->released) {
		tp_sim_conn_move(c, TP_SIM_PAUSED);
		return false;
	}
	return true;
}

void tp_sim_conn_play(struct tp_sim_conn *c)
{
	const struct tp_sim_plan *p = &c->plan;

	if (!play_head(c))
		return;
	while (!p->head_only && c->piece < p->answer.n_pieces) {
		if (!play_piece(c))
			return;
		if (p->every_ms > 0 && c->piece < p->answer.n_pieces) {
			wait_ms(c, p->every_ms);
			return;
		}
	}
	finish(c);
}

void tp_sim_conn_timeout(struct tp_sim_conn *c)
{
	switch (c->state) {
	case TP_SIM_WAITING:
	case TP_SIM_SENDING:
	case TP_SIM_PAUSED:
		tp_sim_conn_move(c, TP_SIM_SENDING);
		tp_sim_conn_play(c);
		break;
	case TP_SIM_FLUSHING: reset_now(c); break;
	case TP_SIM_LEAVING: tp_sim_conn_move(c, TP_SIM_CLOSED); break;
	case TP_SIM_READ_HEAD:
	case TP_SIM_READ_BODY:
	case TP_SIM_READY:
	case TP_SIM_STALLED:
	case TP_SIM_CLOSED: break;
	}
}
