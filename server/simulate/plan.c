#include "server/simulate/plan.h"

#include "common/base/clock.h"
#include "common/http/date.h"

/* ---- the head */

static void begin_head(struct tp_sim_plan *p, int status, const char *type)
{
	char date[TP_DATE_SIZE];

	p->status = status;
	tp_date_format(tp_clock_wall_ms() / 1000, date);
	tp_buf_printf(&p->head, "HTTP/1.1 %d %s\r\nDate: %s\r\nServer: turnpike-simulate\r\n", status,
		      tp_sim_reason(status), date);
	if (type != NULL)
		tp_buf_printf(&p->head, "Content-Type: %s\r\n", type);
}

/* Framing and connection, when body and kind of answer are settled. */
static void end_head(struct tp_sim_plan *p, bool stream, struct tp_sim_frame frame)
{
	bool bodiless = p->status == 204 || p->status == 304;

	p->chunked = stream && frame.minor == 1;
	p->head_only = bodiless || frame.is_head;
	/* HTTP/1.0 knows no chunks: there the end of the connection is the end of a stream */
	p->close_at_end = !frame.keep_alive || (stream && !p->chunked);
	if (p->chunked && !bodiless)
		tp_buf_add_str(&p->head, TP_STR("Transfer-Encoding: chunked\r\n"));
	else if (!stream && !bodiless)
		tp_buf_printf(&p->head, "Content-Length: %zu\r\n", p->answer.body.len);
	tp_buf_add_str(&p->head, p->close_at_end ? TP_STR("Connection: close\r\n\r\n") : TP_STR("\r\n"));
}

static const struct tp_sim_header *find_header(const struct tp_sim_step *step, struct tp_str name)
{
	for (uint32_t i = 0; i < step->n_headers; i++)
		if (tp_str_ieq(step->headers[i].name, name))
			return &step->headers[i];
	return NULL;
}

static void add_step_head(struct tp_sim_plan *p, const struct tp_sim_step *step, int status, const char *type,
			  const struct tp_sim_turn *t, uint32_t send)
{
	begin_head(p, status, find_header(step, TP_STR("content-type")) == NULL ? type : NULL);
	tp_buf_printf(&p->head, "%s: req_sim%llu\r\nX-Simulate-Send: %u\r\nX-Simulate-Id: %s\r\n",
		      t->anthropic ? "request-id" : "x-request-id", (unsigned long long)t->serial, send,
		      t->id);
	for (uint32_t i = 0; i < step->n_headers; i++) {
		tp_buf_add_str(&p->head, step->headers[i].name);
		tp_buf_add_str(&p->head, TP_STR(": "));
		tp_buf_add_str(&p->head, step->headers[i].value);
		tp_buf_add_str(&p->head, TP_STR("\r\n"));
	}
}

/* ---- the body */

static struct tp_sim_error error_of(const struct tp_sim_step *step, int status, const struct tp_sim_turn *t)
{
	struct tp_sim_error e;

	tp_sim_error_default(t, status, &e);
	if (step->kind == TP_SIM_OVERLOAD && !t->anthropic)
		e.code = TP_STR("server_is_overloaded");
	if (step->type.p != NULL)
		e.type = step->type;
	if (step->code.p != NULL)
		e.code = step->code;
	if (step->message.p != NULL)
		e.message = step->message;
	return e;
}

/* Bodies that are not what the API promises. Returns their content type. */
static const char *odd_body(struct tp_sim_plan *p, const struct tp_sim_step *step)
{
	const char *type = NULL;

	if (step->body == TP_SIM_BODY_HTML) {
		tp_buf_printf(&p->answer.body,
			      "<html><head><title>%u %s</title></head><body><h1>%u %s</h1></body></html>\n",
			      step->status, tp_sim_reason(step->status), step->status,
			      tp_sim_reason(step->status));
		type = "text/html";
	} else if (step->body == TP_SIM_BODY_TEXT) {
		tp_buf_printf(&p->answer.body, "%u %s\n", step->status, tp_sim_reason(step->status));
		type = "text/plain";
	}
	tp_sim_answer_end_piece(&p->answer);
	return type;
}

static void add_stream(struct tp_sim_plan *p, const struct tp_sim_step *step, const struct tp_sim_turn *t,
		       const struct tp_sim_dialect *d)
{
	struct tp_sim_answer *a = &p->answer;
	struct tp_sim_error e;

	d->stream(t, step->tokens, a);
	if (step->kind == TP_SIM_OVERLOAD) {
		e = error_of(step, 529, t);
		tp_sim_answer_cut(a, 1); /* as early as the dialect lets an error come: after its opening */
		d->stream_error(t, &e, a);
	} else if (step->kind == TP_SIM_ERROR_MID) {
		e = error_of(step, 500, t);
		tp_sim_answer_cut(a, step->has_after ? step->after : (a->first_output + a->last_output) / 2);
		d->stream_error(t, &e, a);
	}
}

/* Fills the body for a step that answers; returns the content type. */
static const char *add_body(struct tp_sim_plan *p, const struct tp_sim_step *step, int status,
			    const struct tp_sim_turn *t, bool *ret_stream)
{
	const struct tp_sim_dialect *d = tp_sim_dialect_of(t->api);
	struct tp_sim_error e;

	*ret_stream = status < 300 && t->stream && d != NULL && d->stream != NULL;
	if (step->body != TP_SIM_BODY_JSON || status == 204) {
		*ret_stream = false;
		return odd_body(p, step);
	}
	if (*ret_stream) {
		add_stream(p, step, t, d);
		return "text/event-stream; charset=utf-8";
	}
	if (status < 300 && step->kind != TP_SIM_OVERLOAD && step->kind != TP_SIM_ERROR_MID && d != NULL) {
		d->json(t, step->tokens, &p->answer);
		return "application/json";
	}
	e = error_of(step, step->kind == TP_SIM_OVERLOAD ? 529 : status < 300 ? 500 : status, t);
	tp_sim_error_json(t, &e, &p->answer.body);
	tp_sim_answer_end_piece(&p->answer);
	return "application/json";
}

/* ---- where it breaks or pauses */

/* The byte after `after` events of a stream or bytes of JSON; by default the middle of the output. */
static size_t middle(const struct tp_sim_plan *p, const struct tp_sim_step *step, bool stream)
{
	const struct tp_sim_answer *a = &p->answer;
	size_t pieces;

	if (!stream) {
		size_t bytes = step->has_after ? step->after : a->body.len / 2;

		return bytes < a->body.len ? bytes : a->body.len;
	}
	pieces = step->has_after ? step->after : (a->first_output + a->last_output) / 2;
	if (pieces > a->n_pieces)
		pieces = a->n_pieces;
	return pieces > 0 ? a->ends[pieces - 1] : 0;
}

/* `end`: the content stops short, the framing does not. */
static void cut_body(struct tp_sim_answer *a, size_t bytes)
{
	size_t keep = 0;

	while (keep < a->n_pieces && a->ends[keep] < bytes)
		keep++;
	if (keep < a->n_pieces) {
		a->ends[keep] = bytes;
		a->n_pieces = keep + 1;
		a->body.len = bytes;
	}
}

static void set_break(struct tp_sim_plan *p, const struct tp_sim_step *step, bool stream)
{
	static const enum tp_sim_stop stops[] = {
		[TP_SIM_BEFORE_HEAD] = TP_SIM_STOP_BEFORE_HEAD,
		[TP_SIM_IN_HEAD] = TP_SIM_STOP_IN_HEAD,
		[TP_SIM_AFTER_HEAD] = TP_SIM_STOP_IN_BODY,
		[TP_SIM_MID] = TP_SIM_STOP_IN_BODY,
	};

	if (step->how == TP_SIM_END) {
		cut_body(&p->answer, middle(p, step, stream));
		return;
	}
	p->stop = stops[step->where];
	p->how = (enum tp_sim_how)step->how;
	p->stop_at = step->where == TP_SIM_MID ? middle(p, step, stream) : 0;
}

static void set_pause(struct tp_sim_plan *p, const struct tp_sim_step *step, bool stream)
{
	const struct tp_sim_answer *a = &p->answer;

	if (!stream) {
		p->pause = TP_SIM_PAUSE_BEFORE_HEAD;
		return;
	}
	p->pause = TP_SIM_PAUSE_IN_BODY;
	p->pause_at = step->has_after ? middle(p, step, true) : a->ends[a->first_output - 1];
}

static void set_faults(struct tp_sim_plan *p, const struct tp_sim_step *step, bool stream)
{
	if (step->kind == TP_SIM_BREAK) {
		set_break(p, step, stream);
	} else if (step->kind == TP_SIM_TRUNCATE) {
		p->stop = TP_SIM_STOP_IN_BODY;
		p->how = TP_SIM_CLOSE;
		p->stop_at = step->number < p->answer.body.len ? step->number : p->answer.body.len;
	} else if (step->kind == TP_SIM_HOLD) {
		set_pause(p, step, stream);
	}
}

/* ---- the plan */

static int status_of(const struct tp_sim_step *step, const struct tp_sim_turn *t)
{
	/* a path that no provider has is 404, unless the script says what comes there */
	return t->api == TP_SIM_API_NONE && step->kind == TP_SIM_STATUS && step->status == 200 ? 404
											       : step->status;
}

void tp_sim_plan_make(struct tp_sim_plan *p, const struct tp_sim_step *step, const struct tp_sim_turn *t,
		      struct tp_sim_frame frame, uint32_t send)
{
	int status = status_of(step, t);
	const char *type;
	bool stream;

	*p = (struct tp_sim_plan){.first_ms = step->first_ms, .every_ms = step->every_ms};
	type = add_body(p, step, status, t, &stream);
	if (tp_sim_plan_failed(p))
		return;
	/* a JSON answer takes as long as its tokens would */
	if (!stream)
		p->first_ms += step->every_ms * step->tokens;
	set_faults(p, step, stream);
	add_step_head(p, step, status, type, t, send);
	end_head(p, stream, frame);
}

void tp_sim_plan_refuse(struct tp_sim_plan *p, int status, const char *message, const struct tp_sim_turn *t,
			struct tp_sim_frame frame)
{
	struct tp_sim_error e;

	*p = (struct tp_sim_plan){0};
	tp_sim_error_default(t, status, &e);
	e.message = tp_str_from(message);
	if (status == 400)
		e.code = TP_STR("simulate_bad_request");
	tp_sim_error_json(t, &e, &p->answer.body);
	tp_sim_answer_end_piece(&p->answer);
	begin_head(p, status, "application/json");
	end_head(p, false, frame);
}

void tp_sim_plan_json(struct tp_sim_plan *p, struct tp_str json, struct tp_sim_frame frame)
{
	*p = (struct tp_sim_plan){0};
	tp_buf_add_str(&p->answer.body, json);
	tp_sim_answer_end_piece(&p->answer);
	begin_head(p, 200, "application/json");
	end_head(p, false, frame);
}

bool tp_sim_plan_failed(const struct tp_sim_plan *p)
{
	return p->answer.failed || p->head.failed;
}

void tp_sim_plan_free(struct tp_sim_plan *p)
{
	tp_buf_free(&p->head);
	tp_sim_answer_free(&p->answer);
}
