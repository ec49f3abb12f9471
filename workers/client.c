#include "workers/client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/retry/refusal.h"
#include "workers/answer_head.h"
#include "workers/tls.h"
#include "workers/turn.h"

enum {
	READS_PER_TURN = 16,
	LINGER_MS = 2000,                /* after our last byte: time for the peer to read it */
	LINGER_BYTES = 64 * 1024 * 1024, /* upload dropped meanwhile, at most */
	FIRST_REQUEST_MS = 1000,  /* while draining: for a connection that has not asked anything yet */
	PIPELINE_MAX = 128 * 1024 /* bytes read ahead of the present turn */
};

static const char *const state_names[] = {"handshake", "idle",   "head",   "body",  "answer",
					  "flush",     "linger", "tunnel", "closed"};

static void input_loop(struct tp_client *c);

/* The one place that moves a client; each state has its own limit. */
static void set_state(struct tp_client *c, enum tp_client_state s)
{
	c->state = s;
	switch (s) {
	case TP_CLIENT_HANDSHAKE:
	case TP_CLIENT_HEAD: tp_timer_set(&c->timer, c->config->limits.client_header_ms); break;
	case TP_CLIENT_IDLE: tp_timer_set(&c->timer, c->config->limits.client_idle_ms); break;
	case TP_CLIENT_BODY: tp_timer_set(&c->timer, c->config->limits.client_body_ms); break;
	case TP_CLIENT_FLUSH: tp_timer_set(&c->timer, c->config->limits.slow_reader_ms); break;
	case TP_CLIENT_LINGER: tp_timer_set(&c->timer, LINGER_MS); break;
	case TP_CLIENT_ANSWER: /* only while something waits for a slow reader: tp_client_write() */
	case TP_CLIENT_TUNNEL:
	case TP_CLIENT_CLOSED: tp_timer_clear(&c->timer); break;
	}
}

void tp_client_close(struct tp_client *c, const char *why, bool reset)
{
	if (c->state == TP_CLIENT_CLOSED)
		return;
	struct tp_worker *w = c->worker;
	tp_debug("client closed in state %s: %s", state_names[c->state], why);
	set_state(c, TP_CLIENT_CLOSED);
	if (c->turn != NULL)
		tp_turn_client_gone(c->turn);
	tp_io_close(&c->io, !reset, reset);
	tp_timer_close(&c->timer);
	tp_buf_free(&c->in);
	tp_buf_free(&c->out);
	TAILQ_REMOVE(&w->clients, c, link);
	w->n_clients--;
	tp_worker_gauge(w, TP_GAUGE_CLIENTS, -1);
	tp_config_unref(c->config);
	tp_worker_park(w, c);
	tp_worker_check_drained(w);
}

static void on_timer(void *arg)
{
	struct tp_client *c = arg;
	if (c->state == TP_CLIENT_BODY && c->paused) {
		tp_timer_set(&c->timer, c->config->limits.client_body_ms); /* it is us who do not read */
		return;
	}
	if (c->state == TP_CLIENT_BODY && c->turn != NULL) {
		tp_turn_reject(c->turn, 408, "the request body stopped arriving");
		return;
	}
	tp_client_close(c, c->state == TP_CLIENT_ANSWER ? "slow reader" : "time limit", false);
}

/* ---- output */

static bool keep_rest(struct tp_client *c, const struct iovec *v, int n, size_t put)
{
	for (int i = 0; i < n; i++) {
		size_t skip = put < v[i].iov_len ? put : v[i].iov_len;
		put -= skip;
		tp_buf_add(&c->out, (const char *)v[i].iov_base + skip, v[i].iov_len - skip);
	}
	return !c->out.failed;
}

int tp_client_write(struct tp_client *c, const struct iovec *v, int n)
{
	size_t want = 0;
	for (int i = 0; i < n; i++)
		want += v[i].iov_len;
	size_t put = 0;
	if (c->out.len == 0 && c->io.writable) {
		ssize_t r = tp_io_writev(&c->io, v, n);
		if (r < 0)
			return -1;
		put = (size_t)r;
		tp_count(c->worker->region, c->worker->stamp.slot, TP_COUNT_BYTES_OUT, put);
	}
	if (put == want)
		return 0;
	if (!keep_rest(c, v, n, put))
		return -1;
	if (c->state == TP_CLIENT_ANSWER || c->state == TP_CLIENT_BODY)
		tp_timer_set(&c->timer, c->config->limits.slow_reader_ms);
	return 1;
}

static void next_step(struct tp_client *c);

static void flush(struct tp_client *c)
{
	while (c->out.len > 0 && c->io.writable) {
		struct iovec v = {c->out.data, c->out.len};
		ssize_t put = tp_io_writev(&c->io, &v, 1);
		if (put < 0) {
			tp_client_close(c, "write failed", true);
			return;
		}
		tp_count(c->worker->region, c->worker->stamp.slot, TP_COUNT_BYTES_OUT, (uint64_t)put);
		tp_buf_consume(&c->out, (size_t)put);
		if (put > 0 && c->state != TP_CLIENT_LINGER)
			tp_timer_set(&c->timer, c->config->limits.slow_reader_ms);
	}
	if (c->out.len > 0)
		return;
	tp_buf_free(&c->out);
	if (c->state == TP_CLIENT_FLUSH)
		next_step(c);
	else if (c->turn != NULL) {
		set_state(c, c->state); /* the limit of the state itself again */
		tp_turn_writable(c->turn);
	}
}

/* ---- after a turn */

static void begin_linger(struct tp_client *c)
{
	if (c->input_gone || c->io.hup) {
		tp_client_close(c, "answered", false);
		return;
	}
	if (c->io.ssl != NULL)
		(void)SSL_shutdown(c->io.ssl);
	(void)shutdown(c->io.fd, SHUT_WR);
	tp_buf_free(&c->in);
	set_state(c, TP_CLIENT_LINGER);
	if (c->io.readable)
		tp_io_again(&c->io);
}

/* The turn is over and its bytes are written. */
static void next_step(struct tp_client *c)
{
	switch (c->next) {
	case TP_NEXT_CUT: tp_client_close(c, "the answer was cut", true); return;
	case TP_NEXT_CLOSE: begin_linger(c); return;
	case TP_NEXT_KEEP: break;
	}
	if (c->input_gone || (c->worker->draining && c->in.len == 0)) {
		begin_linger(c);
		return;
	}
	set_state(c, TP_CLIENT_IDLE);
	c->scanned = 0;
	if (c->in.len > 0 || c->io.readable)
		input_loop(c);
}

void tp_client_turn_over(struct tp_client *c, enum tp_client_next next)
{
	if (c->state == TP_CLIENT_CLOSED)
		return;
	/* A request that was not read to its end leaves no place where the next one could begin. */
	c->next = next == TP_NEXT_KEEP && c->state == TP_CLIENT_BODY ? TP_NEXT_CLOSE : next;
	c->paused = false;
	if (c->out.len > 0)
		set_state(c, TP_CLIENT_FLUSH);
	else
		next_step(c);
}

/* ---- errors before there is a turn */

/* Whose shape the error takes when only the first line could be read. */
static enum tp_family guess_family(const char *bytes, size_t n)
{
	const char *line_end = memchr(bytes, '\r', n);
	size_t line_n = line_end != NULL ? (size_t)(line_end - bytes) : n;
	const char *from = memchr(bytes, ' ', line_n);
	if (from == NULL)
		return TP_FAMILY_PLAIN;
	from++;
	size_t rest = line_n - (size_t)(from - bytes);
	const char *to = memchr(from, ' ', rest);
	return tp_family_of((struct tp_str){from, to != NULL ? (size_t)(to - from) : rest});
}

static void refuse_head(struct tp_client *c, const char *bytes, size_t n, int status, const char *reason)
{
	struct tp_refusal r = tp_refusal_client_error(status, reason);
	struct tp_buf body = {0}, head = {0};
	char id[25];
	(void)snprintf(id, sizeof id, "%016llx%08llx", (unsigned long long)c->worker->id_prefix,
		       (unsigned long long)(c->worker->id_next++ & 0xffffffffu));
	tp_refusal_render(&r, guess_family(bytes, n), &body);
	struct tp_answer_about about = {
		.request_id = id, .framing = TP_ANSWER_LENGTH, .length = body.len, .close = true};
	tp_answer_head_local(&head, &r, &about);
	tp_debug("request %s refused with %d: %s", id, status, reason);
	tp_worker_count(c->worker, TP_COUNT_TURNS);
	tp_worker_count(c->worker, TP_COUNT_TURNS_BAD);
	struct iovec v[2] = {{head.data, head.len}, {body.data, body.len}};
	int w = head.failed || body.failed ? -1 : tp_client_write(c, v, 2);
	tp_buf_free(&head);
	tp_buf_free(&body);
	if (w < 0)
		tp_client_close(c, "write failed", true);
	else
		tp_client_turn_over(c, TP_NEXT_CLOSE);
}

/* ---- input */

static void begin_turn(struct tp_client *c, const struct tp_head *h, const char *bytes)
{
	c->served = true;
	c->turn = tp_turn_new(c, h, bytes);
	if (c->turn == NULL) {
		tp_client_close(c, "out of memory", true);
		return;
	}
	bool body = h->framing == TP_FRAMING_CHUNKED ||
		    (h->framing == TP_FRAMING_LENGTH && h->content_length > 0);
	c->chunked_body = h->framing == TP_FRAMING_CHUNKED;
	c->chunked = (struct tp_chunked){0};
	c->body_left = h->framing == TP_FRAMING_LENGTH ? h->content_length : 0;
	set_state(c, body ? TP_CLIENT_BODY : TP_CLIENT_ANSWER);
	tp_turn_start(c->turn);
	if (c->turn != NULL && c->state == TP_CLIENT_ANSWER)
		tp_turn_body_done(c->turn);
}

/* Uses a head at the front; returns the bytes used, 0 = more is needed (or the client is refused). */
static size_t take_head(struct tp_client *c, const char *bytes, size_t n)
{
	struct tp_head *h = c->worker->head;
	int status = 0;
	const char *reason = NULL;
	switch (tp_head_parse_request(bytes, n, c->config->limits.header, c->config->limits.body, &c->scanned,
				      h, &status, &reason)) {
	case TP_PARSE_MORE:
		if (c->state == TP_CLIENT_IDLE)
			set_state(c, TP_CLIENT_HEAD);
		return 0;
	case TP_PARSE_BAD: refuse_head(c, bytes, n, status, reason); return 0;
	case TP_PARSE_OK: break;
	}
	c->scanned = 0;
	size_t size = h->size;
	begin_turn(c, h, bytes);
	return size;
}

static void body_complete(struct tp_client *c)
{
	/* An answer that came early may be under way already: only the input changes. */
	if (c->out.len > 0)
		c->state = TP_CLIENT_ANSWER;
	else
		set_state(c, TP_CLIENT_ANSWER);
	tp_turn_body_done(c->turn);
}

static size_t take_chunked(struct tp_client *c, const char *bytes, size_t n)
{
	size_t at = 0;
	while (c->turn != NULL && c->state == TP_CLIENT_BODY && !c->paused) {
		size_t used = 0, data_n = 0;
		const char *data = NULL;
		enum tp_chunked_result r = tp_chunked_feed(&c->chunked, bytes + at, n - at,
							   c->config->limits.body, &used, &data, &data_n);
		at += used;
		switch (r) {
		case TP_CHUNKED_DATA: tp_turn_body(c->turn, data, data_n); break;
		case TP_CHUNKED_MORE: return at;
		case TP_CHUNKED_DONE: body_complete(c); return at;
		case TP_CHUNKED_BAD: tp_turn_reject(c->turn, 400, "broken chunked coding"); return at;
		case TP_CHUNKED_LARGE:
			tp_turn_reject(c->turn, 413, "the body is larger than limits.body");
			return at;
		}
	}
	return at;
}

static size_t take_body(struct tp_client *c, const char *bytes, size_t n)
{
	tp_timer_set(&c->timer, c->config->limits.client_body_ms);
	if (c->chunked_body)
		return take_chunked(c, bytes, n);
	size_t use = n < c->body_left ? n : (size_t)c->body_left;
	c->body_left -= use;
	tp_turn_body(c->turn, bytes, use);
	if (c->turn != NULL && c->state == TP_CLIENT_BODY && c->body_left == 0)
		body_complete(c);
	return use;
}

/* Uses what it can of bytes[0..n) in the present state; the number of bytes used. */
static size_t take_some(struct tp_client *c, const char *bytes, size_t n)
{
	size_t at = 0;
	while (at < n) {
		size_t used = 0;
		switch (c->state) {
		case TP_CLIENT_IDLE:
		case TP_CLIENT_HEAD: used = take_head(c, bytes + at, n - at); break;
		case TP_CLIENT_BODY:
			if (c->turn == NULL || c->paused)
				return at;
			used = take_body(c, bytes + at, n - at);
			break;
		default: return at;
		}
		if (used == 0)
			return at;
		at += used;
	}
	return at;
}

static void take_input(struct tp_client *c, const char *bytes, size_t n)
{
	tp_count(c->worker->region, c->worker->stamp.slot, TP_COUNT_BYTES_IN, n);
	if (c->in.len > 0) {
		tp_buf_add(&c->in, bytes, n);
		return; /* input_loop() works on what was gathered */
	}
	size_t used = take_some(c, bytes, n);
	if (c->state != TP_CLIENT_CLOSED && c->state != TP_CLIENT_LINGER)
		tp_buf_add(&c->in, bytes + used, n - used);
}

/* What was gathered goes first. False when the client is closed. */
static bool use_gathered(struct tp_client *c)
{
	while (c->in.len > 0) {
		struct tp_buf in = c->in;
		c->in = (struct tp_buf){0};
		size_t used = take_some(c, in.data, in.len);
		if (c->state == TP_CLIENT_CLOSED || c->state == TP_CLIENT_LINGER) {
			tp_buf_free(&in);
			return c->state != TP_CLIENT_CLOSED;
		}
		tp_buf_consume(&in, used);
		c->in = in;
		if (c->in.len == 0)
			tp_buf_free(&c->in);
		if (used == 0)
			return true;
	}
	return true;
}

static void input_ended(struct tp_client *c, ssize_t r)
{
	c->input_gone = true;
	if (r == TP_IO_END && c->state == TP_CLIENT_ANSWER && c->listener->client_half_close_serve)
		return; /* a write will tell when it is really gone */
	if (r == TP_IO_END && c->state == TP_CLIENT_FLUSH)
		return;
	tp_client_close(c, r == TP_IO_END ? "the client closed" : "the client is gone", r != TP_IO_END);
}

static void drop_input(struct tp_client *c, size_t n)
{
	c->lingered += n;
	if (c->lingered > LINGER_BYTES)
		tp_client_close(c, "still uploading after its answer", true);
}

/* True while reading makes sense: there is a taker, or little enough was read ahead. */
static bool wants_input(const struct tp_client *c)
{
	switch (c->state) {
	case TP_CLIENT_IDLE:
	case TP_CLIENT_HEAD:
	case TP_CLIENT_LINGER: return true;
	case TP_CLIENT_BODY: return !c->paused && c->in.len < PIPELINE_MAX;
	case TP_CLIENT_ANSWER:
	case TP_CLIENT_FLUSH: return !c->input_gone && c->in.len < PIPELINE_MAX;
	default: return false;
	}
}

static void input_loop(struct tp_client *c)
{
	if (c->working)
		return; /* the loop further up the stack goes on */
	c->working = true;
	bool open = use_gathered(c);
	for (int i = 0; open && c->io.readable && wants_input(c); i++) {
		if (i == READS_PER_TURN) {
			tp_io_again(&c->io);
			break;
		}
		ssize_t n = tp_io_read(&c->io, c->worker->scratch, TP_SCRATCH_BYTES);
		if (n == -EAGAIN)
			break;
		if (n <= 0)
			input_ended(c, n);
		else if (c->state == TP_CLIENT_LINGER)
			drop_input(c, (size_t)n);
		else
			take_input(c, c->worker->scratch, (size_t)n);
		open = c->state != TP_CLIENT_CLOSED && use_gathered(c);
		if (n <= 0)
			break;
	}
	c->working = false;
}

static void finish_handshake(struct tp_client *c)
{
	int r = tp_io_handshake(&c->io);
	if (r == -EAGAIN)
		return;
	if (r != 0) {
		char why[160];
		tp_tls_why(c->io.ssl, why, sizeof why);
		tp_client_close(c, why, true);
		return;
	}
	set_state(c, TP_CLIENT_IDLE);
	if (c->worker->draining)
		tp_timer_set(&c->timer, FIRST_REQUEST_MS);
	c->io.readable = true;
}

/* While nothing is read, a reset shows only as the socket's error. */
static bool was_reset(const struct tp_client *c)
{
	int e = 0;
	socklen_t len = sizeof e;
	return getsockopt(c->io.fd, SOL_SOCKET, SO_ERROR, &e, &len) == 0 && e != 0;
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	struct tp_client *c = arg;
	tp_io_note(&c->io, what);
	if (c->state == TP_CLIENT_HANDSHAKE)
		finish_handshake(c);
	if (c->state == TP_CLIENT_HANDSHAKE)
		return;
	/* A FIN behind unread bytes (pipelined ones, or of an upload that we do not read at present): the
	 * kernel tells it before we get there. */
	bool unread = c->state == TP_CLIENT_ANSWER || (c->state == TP_CLIENT_BODY && c->paused);
	if ((what & EV_CLOSED) != 0 && unread && !c->listener->client_half_close_serve) {
		tp_client_close(c, "the client closed", true);
		return;
	}
	if (unread && !wants_input(c) && was_reset(c)) {
		tp_client_close(c, "the client is gone", true);
		return;
	}
	if (c->state != TP_CLIENT_CLOSED && c->out.len > 0 && c->io.writable)
		flush(c);
	if (c->state != TP_CLIENT_CLOSED && c->io.readable)
		input_loop(c);
}

void tp_client_pause(struct tp_client *c)
{
	c->paused = true;
}

void tp_client_resume(struct tp_client *c)
{
	if (!c->paused)
		return;
	c->paused = false;
	if (c->state == TP_CLIENT_BODY)
		tp_timer_set(&c->timer, c->config->limits.client_body_ms);
	c->io.readable = true;
	tp_io_again(&c->io);
}

/* ---- begin and end */

static void tune_socket(int fd)
{
	int on = 1, idle = 30, step = 10, tries = 3, vanished_ms = 30000;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &step, sizeof step);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &vanished_ms, sizeof vanished_ms);
}

void tp_client_new(struct tp_worker *w, size_t listener, int fd)
{
	struct tp_client *c = calloc(1, sizeof *c);
	SSL *ssl = NULL;
	if (c == NULL || (w->listener_tls[listener] != NULL &&
			  (ssl = tp_tls_accept(w->listener_tls[listener], fd)) == NULL)) {
		free(c);
		(void)close(fd);
		return;
	}
	c->worker = w;
	c->listener = &w->config->listeners[listener];
	if (!c->listener->is_unix)
		tune_socket(fd);
	if (tp_io_open(&c->io, w->base, fd, ssl, on_event, c) != 0) {
		SSL_free(ssl);
		(void)close(fd);
		free(c);
		return;
	}
	c->config = tp_config_ref(w->config);
	tp_timer_init(&c->timer, w->base, on_timer, c);
	TAILQ_INSERT_TAIL(&w->clients, c, link);
	w->n_clients++;
	tp_worker_count(w, TP_COUNT_CONNECTIONS);
	tp_worker_gauge(w, TP_GAUGE_CLIENTS, 1);
	set_state(c, ssl != NULL ? TP_CLIENT_HANDSHAKE : TP_CLIENT_IDLE);
}

void tp_client_detach(struct tp_client *c, int *ret_fd, SSL **ret_ssl, struct tp_buf *ret_unread)
{
	*ret_fd = tp_io_release(&c->io, ret_ssl);
	*ret_unread = c->in;
	c->in = (struct tp_buf){0};
	set_state(c, TP_CLIENT_TUNNEL);
	tp_client_close(c, "it goes on as a tunnel", false);
}

void tp_client_drain(struct tp_client *c)
{
	if (c->state == TP_CLIENT_IDLE && c->in.len == 0) {
		/* Its request may have arrived already, or, on a connection that has just come, be on its
		 * way: closing now would make the client send it twice. */
		c->io.readable = true;
		input_loop(c);
	}
	if (c->state == TP_CLIENT_IDLE && c->in.len == 0) {
		if (c->served)
			begin_linger(c);
		else
			tp_timer_set(&c->timer, FIRST_REQUEST_MS);
	}
}
