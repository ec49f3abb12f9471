#include "server/admin/conn.h"

#include <errno.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/http/date.h"
#include "server/admin/access.h"

enum {
	MOST_CONNS = 64,
	HEAD_LIMIT = 8 * 1024,
	BODY_LIMIT = 8 * 1024,
	READ_SIZE = 4096,
	REQUEST_MS = 10000, /* from the first byte of a request, or the accept, to its end */
	IDLE_MS = 120000,   /* between requests: longer than people scrape apart */
	ANSWER_MS = 30000,  /* until the client has taken its answer */
	AWAIT_MS = 60000,   /* the master's answer */
	LINGER_MS = 2000,
	LEAVE_MS = 1000, /* for a request that is on its way when this process is replaced */
};

/* Moved by enter() alone. */
enum state {
	STATE_IDLE,      /* nothing of a request yet */
	STATE_READING,   /* a part of one */
	STATE_AWAITING,  /* the master has the word */
	STATE_WRITING,   /* the answer is on its way */
	STATE_LINGERING, /* said the last word; what still comes is thrown away, so that no reset eats it */
};

struct tp_admin_conn {
	TAILQ_ENTRY(tp_admin_conn) link;
	struct tp_admin_conns *all;
	const struct tp_listener_conf *listener;
	int fd;
	struct event readable, writable;
	enum state state;
	uint64_t deadline_ms;
	struct tp_buf in, out;
	size_t scanned, written;
	size_t request_size; /* of the request that is being answered: cut off the buffer behind it */
	bool last, told_continue, served;
	uint64_t awaited; /* in AWAITING: the number of the request to the master */
};

static bool takes_input(enum state s)
{
	return s != STATE_WRITING && s != STATE_AWAITING;
}

static void enter(struct tp_admin_conn *c, enum state state)
{
	static const unsigned limits[] = {IDLE_MS, REQUEST_MS, AWAIT_MS, ANSWER_MS, LINGER_MS};
	bool reads_before = takes_input(c->state), reads = takes_input(state);
	c->state = state;
	c->deadline_ms = tp_clock_boot_ms() + limits[state];
	if (reads && !reads_before)
		(void)event_add(&c->readable, NULL);
	else if (!reads && reads_before)
		(void)event_del(&c->readable);
}

static void close_conn(struct tp_admin_conn *c)
{
	(void)event_del(&c->readable);
	(void)event_del(&c->writable);
	(void)close(c->fd);
	TAILQ_REMOVE(&c->all->all, c, link);
	c->all->n--;
	struct tp_admin_conns *all = c->all;
	tp_buf_free(&c->in);
	tp_buf_free(&c->out);
	free(c);
	if (all->leaving && all->n == 0)
		(void)event_base_loopbreak(all->base);
}

/* ---- answers */

static const char *reason_of(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
		{200, "OK"},
		{304, "Not Modified"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{409, "Conflict"},
		{411, "Length Required"},
		{413, "Content Too Large"},
		{414, "URI Too Long"},
		{422, "Unprocessable Content"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{503, "Service Unavailable"},
	};
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "";
}

/* Takes the body out of a. */
static void put_answer(struct tp_admin_conn *c, struct tp_admin_answer *a, bool head_only)
{
	char date[TP_DATE_SIZE];
	if (a->body.failed) {
		tp_buf_free(&a->body);
		tp_admin_error(500, "out of memory", a);
	}
	tp_date_format(tp_clock_wall_ms() / 1000, date);
	tp_buf_printf(&c->out,
		      "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\n"
		      "%sX-Content-Type-Options: nosniff\r\n",
		      a->status, reason_of(a->status), date, a->type,
		      a->fields != NULL ? a->fields : "Cache-Control: no-store\r\n");
	if (a->status != 304) /* which would speak of the body that is not sent */
		tp_buf_printf(&c->out, "Content-Length: %zu\r\n", a->body.len);
	if (a->allow != NULL)
		tp_buf_printf(&c->out, "Allow: %s\r\n", a->allow);
	if (a->status == 401)
		tp_buf_add_str(&c->out, TP_STR("WWW-Authenticate: Bearer\r\n"));
	tp_buf_add_str(&c->out, c->last ? TP_STR("Connection: close\r\n\r\n") : TP_STR("\r\n"));
	if (!head_only)
		tp_buf_add_str(&c->out, tp_buf_str(&a->body));
	tp_buf_free(&a->body);
}

/* ---- requests */

/* The request cannot be read to its end, or should not be: the last one of this connection. */
static void refuse(struct tp_admin_conn *c, int status, const char *why, bool head_only)
{
	struct tp_admin_answer a;
	tp_admin_error(status, why, &a);
	c->last = true;
	c->request_size = c->in.len;
	put_answer(c, &a, head_only);
	enter(c, STATE_WRITING);
}

static struct tp_str field(const struct tp_admin_conn *c, const struct tp_head *h, struct tp_str name)
{
	const struct tp_field *f = tp_head_find_name(h, c->in.data, name);
	return f != NULL ? tp_span_str(c->in.data, f->value) : (struct tp_str){NULL, 0};
}

static struct tp_admin_question question_of(const struct tp_admin_conn *c, const struct tp_head *h)
{
	struct tp_str target = tp_span_str(c->in.data, h->target);
	const char *mark = memchr(target.p, '?', target.n);
	size_t path = mark != NULL ? (size_t)(mark - target.p) : target.n;
	struct tp_admin_question q = {
		.method = tp_span_str(c->in.data, h->method),
		.path = {target.p, path},
		.body = {c->in.data + h->size, (size_t)h->content_length},
		.known = field(c, h, TP_STR("if-none-match")),
		.local = c->listener->is_unix,
	};
	if (mark != NULL)
		q.query = (struct tp_str){mark + 1, target.n - path - 1};
	if (h->framing != TP_FRAMING_LENGTH)
		q.body.n = 0;
	return q;
}

static void answer(struct tp_admin_conn *c, const struct tp_head *h)
{
	struct tp_admin_question q = question_of(c, h);
	struct tp_admin_answer a;
	c->request_size = h->size + q.body.n;
	c->last = !h->keep_alive || c->all->leaving;
	c->served = true;
	tp_admin_answer(c->all->view, &q, &a);
	c->awaited = a.awaited;
	if (a.awaited != 0) {
		enter(c, STATE_AWAITING);
		return;
	}
	put_answer(c, &a, tp_str_eq(q.method, TP_STR("HEAD")));
	enter(c, STATE_WRITING);
}

/* A client that waits for leave to send its body; once. Should the socket not take it, it will go ahead. */
static void tell_continue(struct tp_admin_conn *c)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	if (!c->told_continue)
		(void)send(c->fd, text, sizeof text - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	c->told_continue = true;
}

/* Looks at what has come: WRITING afterwards if there is something to answer. */
static void take_request(struct tp_admin_conn *c)
{
	struct tp_head *h = &c->all->head;
	int status = 400;
	const char *why = NULL;
	if (c->in.len == 0)
		return;
	if (c->state == STATE_IDLE)
		enter(c, STATE_READING);
	size_t scanned = c->scanned;
	switch (tp_head_parse_request(c->in.data, c->in.len, HEAD_LIMIT, BODY_LIMIT, &scanned, h, &status,
				      &why)) {
	case TP_PARSE_MORE: c->scanned = scanned; return;
	case TP_PARSE_BAD: refuse(c, status, why, false); return;
	case TP_PARSE_OK: break;
	}
	struct tp_admin_access access =
		tp_admin_access_check(c->all->view->config, c->listener, c->in.data, h);
	if (access.status != 0)
		refuse(c, access.status, access.why,
		       tp_str_eq(tp_span_str(c->in.data, h->method), TP_STR("HEAD")));
	else if (h->framing == TP_FRAMING_CHUNKED)
		refuse(c, 411, "a body needs a Content-Length here", false);
	else if (h->framing != TP_FRAMING_LENGTH || c->in.len - h->size >= h->content_length)
		answer(c, h);
	else if (h->expect_continue)
		tell_continue(c);
}

/* ---- the socket */

/* The answer is out. */
static void end_answer(struct tp_admin_conn *c)
{
	tp_buf_free(&c->out);
	c->written = 0;
	c->scanned = 0;
	c->told_continue = false;
	tp_buf_consume(&c->in, c->request_size);
	if (c->last) {
		(void)shutdown(c->fd, SHUT_WR);
		enter(c, STATE_LINGERING);
		return;
	}
	if (c->in.len == 0)
		tp_buf_free(&c->in); /* nothing is held for those who sit and wait */
	enter(c, STATE_IDLE);
}

/* Writes what is there, and goes on with requests that came in one go. May close the connection. */
static void flush(struct tp_admin_conn *c)
{
	while (c->state == STATE_WRITING) {
		if (c->out.failed) {
			close_conn(c);
			return;
		}
		ssize_t n = send(c->fd, c->out.data + c->written, c->out.len - c->written,
				 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			close_conn(c);
			return;
		}
		if (n < 0) {
			(void)event_add(&c->writable, NULL);
			return;
		}
		c->written += (size_t)n;
		if (c->written < c->out.len)
			continue;
		end_answer(c);
		if (c->all->leaving && c->state == STATE_LINGERING) {
			close_conn(c); /* a successor waits */
			return;
		}
		if (c->state == STATE_IDLE)
			take_request(c);
	}
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	flush(arg);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct tp_admin_conn *c = arg;
	(void)what;
	if (!tp_buf_reserve(&c->in, READ_SIZE)) {
		close_conn(c);
		return;
	}
	ssize_t n = recv(fd, c->in.data + c->in.len, READ_SIZE, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close_conn(c);
		return;
	}
	if (n < 0 || c->state == STATE_LINGERING)
		return; /* what is not counted into len is overwritten next time */
	c->in.len += (size_t)n;
	take_request(c);
	flush(c);
}

/* ---- all of them */

void tp_admin_conns_init(struct tp_admin_conns *c, struct event_base *base, const struct tp_admin_view *view)
{
	*c = (struct tp_admin_conns){.base = base, .view = view};
	TAILQ_INIT(&c->all);
}

/* Who has to go first: one that asks nothing now, else who has been taking an answer for the longest. Not one
 * that waits for the master. */
static struct tp_admin_conn *least_needed(const struct tp_admin_conns *all)
{
	struct tp_admin_conn *c, *slowest = NULL;
	TAILQ_FOREACH(c, &all->all, link)
	{
		if (takes_input(c->state))
			return c;
		if (c->state == STATE_WRITING && (slowest == NULL || c->deadline_ms < slowest->deadline_ms))
			slowest = c;
	}
	return slowest;
}

static bool make_room(struct tp_admin_conns *all)
{
	if (all->n < MOST_CONNS)
		return true;
	struct tp_admin_conn *c = least_needed(all);
	if (c != NULL)
		close_conn(c);
	return c != NULL;
}

void tp_admin_conns_add(struct tp_admin_conns *all, int fd, const struct tp_listener_conf *listener)
{
	struct tp_admin_conn *c = make_room(all) ? calloc(1, sizeof *c) : NULL;
	if (c == NULL) {
		(void)close(fd);
		return;
	}
	c->all = all;
	c->fd = fd;
	c->listener = listener;
	c->deadline_ms = tp_clock_boot_ms() + REQUEST_MS;
	(void)event_assign(&c->readable, all->base, fd, EV_READ | EV_PERSIST, on_readable, c);
	(void)event_assign(&c->writable, all->base, fd, EV_WRITE, on_writable, c);
	TAILQ_INSERT_TAIL(&all->all, c, link);
	all->n++;
	if (event_add(&c->readable, NULL) != 0)
		close_conn(c);
}

void tp_admin_conns_sweep(struct tp_admin_conns *all, uint64_t now_ms)
{
	struct tp_admin_conn *next;
	for (struct tp_admin_conn *c = TAILQ_FIRST(&all->all); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (now_ms >= c->deadline_ms)
			close_conn(c);
	}
}

void tp_admin_conns_leave(struct tp_admin_conns *all)
{
	struct tp_admin_conn *next;
	uint64_t latest = tp_clock_boot_ms() + LEAVE_MS;
	all->leaving = true;
	for (struct tp_admin_conn *c = TAILQ_FIRST(&all->all); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state == STATE_LINGERING || (c->state == STATE_IDLE && c->served))
			close_conn(c);
		else if (takes_input(c->state) && c->deadline_ms > latest)
			c->deadline_ms = latest;
	}
	if (all->n == 0)
		(void)event_base_loopbreak(all->base);
}

void tp_admin_conns_told(struct tp_admin_conns *all, uint64_t asked, const struct tp_admin_answer *a)
{
	struct tp_admin_conn *next;
	for (struct tp_admin_conn *c = TAILQ_FIRST(&all->all); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->state != STATE_AWAITING || c->awaited > asked)
			continue;
		struct tp_admin_answer own = {.status = a->status, .type = a->type};
		tp_buf_add_str(&own.body, tp_buf_str(&a->body));
		put_answer(c, &own, false);
		enter(c, STATE_WRITING);
		flush(c);
	}
}

void tp_admin_conns_close(struct tp_admin_conns *all)
{
	while (!TAILQ_EMPTY(&all->all))
		close_conn(TAILQ_FIRST(&all->all));
}
