/* Connections: reading requests. */
#include "server/simulate/conn.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>

enum { HEAD_MAX = 64 * 1024, BODY_MAX = 64 * 1024 * 1024 };

void tp_sim_conn_move(struct tp_sim_conn *c, enum tp_sim_state to)
{
	if (c->state != TP_SIM_CLOSED) /* nothing leaves CLOSED */
		c->state = to;
}

static void conn_free(struct tp_sim_conn *c)
{
	tp_sim_conn_end(c, TP_SIM_GONE);
	LIST_REMOVE(c, link);
	event_free(c->timer);
	bufferevent_free(c->bev); /* closes the socket */
	tp_buf_free(&c->raw);
	tp_buf_free(&c->body);
	free(c);
}

/* A request that cannot be read is answered, and nothing behind it can be trusted. */
static void refuse_framing(struct tp_sim_conn *c, int status, const char *reason)
{
	struct tp_sim_turn none = {0};
	struct tp_sim_frame frame = {.minor = 1};

	tp_sim_plan_refuse(&c->plan, status, reason, &none, frame);
	c->planned = true;
	tp_sim_conn_move(c, TP_SIM_SENDING);
	tp_sim_conn_play(c);
}

static bool has_body(const struct tp_head *h)
{
	return h->framing == TP_FRAMING_CHUNKED || (h->framing == TP_FRAMING_LENGTH && h->content_length > 0);
}

/* False: more bytes are needed first. */
static bool read_head(struct tp_sim_conn *c, struct evbuffer *in)
{
	size_t n = evbuffer_get_length(in);
	const char *bytes = n > 0 ? (const char *)evbuffer_pullup(in, -1) : NULL;
	const char *reason = "";
	int status = 400;

	if (bytes == NULL)
		return false;
	switch (tp_head_parse_request(bytes, n, HEAD_MAX, BODY_MAX, &c->scanned, &c->head, &status,
				      &reason)) {
	case TP_PARSE_MORE: return false;
	case TP_PARSE_BAD:
		evbuffer_drain(in, n);
		refuse_framing(c, status, reason);
		return true;
	case TP_PARSE_OK: break;
	}
	c->raw.len = c->body.len = 0;
	tp_buf_add(&c->raw, bytes, c->head.size);
	evbuffer_drain(in, c->head.size);
	c->chunked = (struct tp_chunked){0};
	if (c->head.expect_continue && has_body(&c->head))
		bufferevent_write(c->bev, "HTTP/1.1 100 Continue\r\n\r\n", 25);
	tp_sim_conn_move(c, has_body(&c->head) ? TP_SIM_READ_BODY : TP_SIM_READY);
	return true;
}

static bool read_length(struct tp_sim_conn *c, struct evbuffer *in)
{
	size_t n = evbuffer_get_length(in), missing = c->head.content_length - c->body.len;

	if (n > missing)
		n = missing;
	if (n > 0 && tp_buf_reserve(&c->body, n)) {
		evbuffer_remove(in, c->body.data + c->body.len, n);
		c->body.len += n;
	}
	if (c->body.len < c->head.content_length)
		return false;
	tp_sim_conn_move(c, TP_SIM_READY);
	return true;
}

static bool read_chunks(struct tp_sim_conn *c, struct evbuffer *in)
{
	for (;;) {
		size_t n = evbuffer_get_length(in), used, n_data;
		const char *bytes = n > 0 ? (const char *)evbuffer_pullup(in, -1) : NULL, *data;
		enum tp_chunked_result r;

		if (bytes == NULL)
			return false;
		r = tp_chunked_feed(&c->chunked, bytes, n, BODY_MAX, &used, &data, &n_data);
		if (r == TP_CHUNKED_DATA)
			tp_buf_add(&c->body, data, n_data);
		evbuffer_drain(in, used);
		if (r == TP_CHUNKED_DONE)
			tp_sim_conn_move(c, TP_SIM_READY);
		else if (r == TP_CHUNKED_BAD || r == TP_CHUNKED_LARGE)
			refuse_framing(c, r == TP_CHUNKED_BAD ? 400 : 413,
				       "the chunked body is broken or too large");
		else if (r == TP_CHUNKED_DATA)
			continue;
		return r != TP_CHUNKED_MORE;
	}
}

/* One step on the way of a request; false when nothing more can be done now. */
static bool step(struct tp_sim_conn *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);

	if (c->raw.failed || c->body.failed) {
		tp_sim_conn_move(c, TP_SIM_CLOSED);
		return false;
	}
	switch (c->state) {
	case TP_SIM_READ_HEAD: return read_head(c, in);
	case TP_SIM_READ_BODY:
		return c->head.framing == TP_FRAMING_CHUNKED ? read_chunks(c, in) : read_length(c, in);
	case TP_SIM_READY: tp_sim_conn_answer(c); return true;
	case TP_SIM_WAITING:
	case TP_SIM_SENDING:
	case TP_SIM_PAUSED:
	case TP_SIM_STALLED:
	case TP_SIM_FLUSHING:
	case TP_SIM_LEAVING:
	case TP_SIM_CLOSED: break;
	}
	return false;
}

/* Reads and answers as many requests as there are; frees the connection when it is closed. */
static void advance(struct tp_sim_conn *c)
{
	while (step(c))
		;
	if (c->state == TP_SIM_CLOSED)
		conn_free(c);
}

/* ---- calls from the event loop: each ends in advance() */

static void on_read(struct bufferevent *bev, void *arg)
{
	(void)bev;
	advance(arg);
}

static void on_written(struct bufferevent *bev, void *arg)
{
	struct tp_sim_conn *c = arg;

	(void)bev;
	if (c->state == TP_SIM_FLUSHING)
		tp_sim_conn_flushed(c);
	advance(c);
}

/* A FIN counts as having left: no client of a provider half-closes and goes on reading. */
static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct tp_sim_conn *c = arg;

	(void)bev;
	if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0)
		tp_sim_conn_move(c, TP_SIM_CLOSED);
	advance(c);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct tp_sim_conn *c = arg;

	(void)fd;
	(void)what;
	tp_sim_conn_timeout(c);
	advance(c);
}

void tp_sim_conn_open(struct tp_sim_server *s, evutil_socket_t fd)
{
	struct tp_sim_conn *c = calloc(1, sizeof(*c));

	if (c != NULL) {
		c->bev = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
		c->timer = evtimer_new(s->base, on_timer, c);
	}
	if (c == NULL || c->bev == NULL || c->timer == NULL) {
		if (c != NULL && c->bev != NULL)
			bufferevent_free(c->bev);
		else
			evutil_closesocket(fd);
		if (c != NULL && c->timer != NULL)
			event_free(c->timer);
		free(c);
		return;
	}
	c->server = s;
	LIST_INSERT_HEAD(&s->conns, c, link);
	bufferevent_setcb(c->bev, on_read, on_written, on_event, c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

void tp_sim_conn_close_all(struct tp_sim_server *s)
{
	struct tp_sim_conn *c, *next;

	for (c = LIST_FIRST(&s->conns); c != NULL; c = next) {
		next = LIST_NEXT(c, link);
		conn_free(c);
	}
}

uint32_t tp_sim_conn_release(struct tp_sim_server *s, struct tp_str id)
{
	struct tp_sim_conn *c, *next;
	uint32_t n = 0;

	for (c = LIST_FIRST(&s->conns); c != NULL; c = next) {
		next = LIST_NEXT(c, link);
		if (!c->planned || c->plan.pause == TP_SIM_PAUSE_NONE || c->released ||
		    (id.p != NULL && !tp_str_eq(tp_str_from(c->id), id)))
			continue;
		c->released = true;
		n++;
		/* not from here: this runs inside the callback of another connection */
		if (c->state == TP_SIM_PAUSED)
			event_active(c->timer, EV_TIMEOUT, 0);
	}
	return n;
}
