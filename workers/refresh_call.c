#include "workers/refresh_call.h"

#include <errno.h>

#include "common/base/clock.h"
#include "common/http/head.h"
#include "common/retry/told.h"
#include "workers/egress.h"

enum {
	ANSWER_MS =
		15000, /* from the connection to the whole answer; timeouts.first_byte if that is shorter */
	HEAD_MAX = 16 * 1024,
	BODY_MAX = 64 * 1024
};

/* ---- the end */

static void wipe(struct tp_buf *b)
{
	if (b->data != NULL)
		explicit_bzero(b->data, b->size);
	tp_buf_free(b);
}

static void rest(struct tp_refresh_call *c, const char *why)
{
	tp_connect_cancel(c->connecting);
	tp_upstream_close(c->up, why);
	wipe(&c->out);
	wipe(&c->in);
	wipe(&c->body);
	*c = (struct tp_refresh_call){0};
}

void tp_refresh_call_cancel(struct tp_refresh_call *c)
{
	if (c->active)
		rest(c, "the worker leaves");
}

/* `result` may point into what is freed here: it is told first. */
static void tell(struct tp_refresh_call *c, const struct tp_refresh_result *result)
{
	struct tp_refresh_call mine = *c;
	*c = (struct tp_refresh_call){0};
	mine.fn(mine.arg, result);
	rest(&mine, "the token endpoint has answered");
}

static void failed(struct tp_refresh_call *c, const char *why)
{
	const struct tp_refresh_result r = {.told_ms = -1, .why = why};
	tell(c, &r);
}

static void complete(struct tp_refresh_call *c)
{
	const struct tp_refresh_result r = {
		.status = c->status, .told_ms = c->told_ms, .body = tp_buf_str(&c->body), .why = "answer"};
	if (c->body.failed || c->in.failed)
		failed(c, "out of memory");
	else
		tell(c, &r);
}

/* ---- the answer */

static int64_t told_by(const struct tp_head *h, const char *bytes)
{
	struct tp_told_field fields[TP_HEAD_FIELDS_MAX];
	for (uint32_t i = 0; i < h->n_fields; i++)
		fields[i] = (struct tp_told_field){tp_span_str(bytes, h->fields[i].name),
						   tp_span_str(bytes, h->fields[i].value)};
	return tp_told_headers(fields, h->n_fields, tp_clock_wall_ms() / 1000);
}

/* False: no head yet, or the call is over. */
static bool take_head(struct tp_refresh_call *c)
{
	struct tp_head *h = c->endpoint->worker->head;
	const char *reason = NULL;
	size_t at = 0; /* behind interim answers: they go at once, as there may be thousands */
	for (;;) {
		switch (tp_head_parse_answer(c->in.data + at, c->in.len - at, HEAD_MAX, false, &c->scanned, h,
					     &reason)) {
		case TP_PARSE_MORE: tp_buf_consume(&c->in, at); return false;
		case TP_PARSE_BAD: failed(c, "what came is no HTTP answer"); return false;
		case TP_PARSE_OK: break;
		}
		if (h->status >= 200)
			break;
		at += h->size;
	}
	c->status = h->status;
	c->framing = h->framing;
	c->length = h->content_length;
	c->told_ms = told_by(h, c->in.data + at);
	c->chunked.lenient = true;
	tp_buf_consume(&c->in, at + h->size);
	if (c->framing != TP_FRAMING_LENGTH || c->length <= BODY_MAX)
		return true;
	failed(c, "the answer is too long");
	return false;
}

static void take_chunks(struct tp_refresh_call *c)
{
	enum tp_chunked_result r = TP_CHUNKED_DATA;
	size_t at = 0;
	while (r == TP_CHUNKED_DATA && at < c->in.len) {
		size_t used, n = 0;
		const char *data = NULL;
		r = tp_chunked_feed(&c->chunked, c->in.data + at, c->in.len - at, BODY_MAX, &used, &data, &n);
		if (r == TP_CHUNKED_DATA)
			tp_buf_add(&c->body, data, n);
		at += used;
	}
	tp_buf_consume(&c->in, at);
	if (r == TP_CHUNKED_DONE)
		complete(c);
	else if (r != TP_CHUNKED_MORE && r != TP_CHUNKED_DATA)
		failed(c, "the answer is broken or too long");
}

static void take_body(struct tp_refresh_call *c, bool end)
{
	if (c->framing == TP_FRAMING_CHUNKED) {
		take_chunks(c);
		if (c->active && end)
			failed(c, "the connection ended inside its answer");
		return;
	}
	tp_buf_add_str(&c->body, tp_buf_str(&c->in));
	tp_buf_consume(&c->in, c->in.len);
	if (c->framing == TP_FRAMING_NONE || (c->framing == TP_FRAMING_CLOSE && end))
		complete(c);
	else if (c->framing == TP_FRAMING_LENGTH && c->body.len >= c->length)
		complete(c);
	else if (c->body.len > BODY_MAX)
		failed(c, "the answer is too long");
	else if (end)
		failed(c, "the connection ended inside its answer");
}

static void read_answer(struct tp_refresh_call *c)
{
	struct tp_worker *w = c->endpoint->worker;
	for (int i = 0; c->active; i++) {
		if (i == TP_READS_PER_TURN) { /* of interim answers there may be many */
			tp_io_again(&c->up->io);
			return;
		}
		ssize_t n = tp_io_read(&c->up->io, w->scratch, TP_SCRATCH_BYTES);
		if (n == -EAGAIN)
			return;
		if (n > 0)
			tp_buf_add(&c->in, w->scratch, (size_t)n);
		if (c->status == 0 && !take_head(c)) {
			if (c->active && n <= 0)
				failed(c, "the connection ended before its answer");
			continue;
		}
		take_body(c, n <= 0);
	}
}

/* ---- the question */

static void write_question(struct tp_refresh_call *c)
{
	if (tp_io_write_buf(&c->up->io, &c->out) < 0)
		failed(c, "the connection broke");
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct tp_refresh_call *c = arg;
	(void)fd;
	if ((what & (EV_READ | EV_CLOSED)) != 0)
		read_answer(c);
	if (c->active && (what & EV_WRITE) != 0)
		write_question(c);
}

static void on_timeout(void *arg)
{
	failed(arg, "no whole answer in time");
}

static const struct tp_upstream_user calls = {on_event, on_timeout};

/* Whom a request is addressed to is known with the connection: the rest of it waits in c->out. */
static bool address(struct tp_refresh_call *c)
{
	const struct tp_provider_conf *e = c->endpoint->conf;
	const struct tp_egress_conf *proxy = tp_egress_addressed(e, c->up->way);
	struct tp_buf head = {0};
	tp_buf_add_str(&head, TP_STR("POST "));
	tp_egress_target(&head, proxy, e);
	tp_buf_printf(&head, "%s HTTP/1.1\r\n", e->path[0] != '\0' ? e->path : "/");
	tp_egress_credential(&head, proxy);
	tp_buf_add_str(&head, tp_buf_str(&c->out));
	tp_buf_free(&c->out);
	c->out = head;
	return !head.failed;
}

static void on_connected(void *arg, const struct tp_connected *r)
{
	struct tp_refresh_call *c = arg;
	uint32_t most = c->endpoint->conf->first_byte_ms;
	c->connecting = NULL;
	if (r->fd < 0) {
		failed(c, r->why);
		return;
	}
	c->up = tp_upstream_new(c->endpoint, r->fd, r->ssl, r->way, &calls, c);
	if (c->up == NULL || !address(c)) {
		failed(c, "out of memory");
		return;
	}
	tp_timer_set(&c->up->timer, most < ANSWER_MS ? most : ANSWER_MS);
	write_question(c);
}

bool tp_refresh_call_begin(struct tp_refresh_call *c, struct tp_provider_rt *endpoint, struct tp_str body,
			   const char *content_type, tp_refresh_told_fn *fn, void *arg)
{
	const struct tp_provider_conf *e = endpoint->conf;
	*c = (struct tp_refresh_call){.endpoint = endpoint, .fn = fn, .arg = arg, .active = true};
	tp_buf_printf(&c->out,
		      "host: %s\r\naccept: application/json\r\n"
		      "accept-encoding: identity\r\nconnection: close\r\ncontent-type: %s\r\n"
		      "content-length: %zu\r\n\r\n",
		      e->authority, content_type, body.n);
	tp_buf_add_str(&c->out, body);
	c->connecting = c->out.failed ? NULL : tp_connect_start(endpoint, 0, on_connected, c);
	if (c->connecting != NULL)
		return true;
	rest(c, "out of memory");
	return false;
}
