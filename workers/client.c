#include "workers/client.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/config/files.h"
#include "workers/runtime.h"
#include "workers/tls.h"
#include "workers/turn.h"

enum {
	CORK_BYTES = 16 * 1024, /* answers up to this wait for the end of the loop turn */
	LINGER_MS = 2000,       /* after our last byte: time for the peer to read it */
	FIRST_REQUEST_MS = 1000 /* while draining: for a connection that has not asked anything yet */
};

static const char *const state_names[] = {
	[TP_CLIENT_HANDSHAKE] = "handshake", [TP_CLIENT_IDLE] = "idle",     [TP_CLIENT_HEAD] = "head",
	[TP_CLIENT_BODY] = "body",           [TP_CLIENT_ANSWER] = "answer", [TP_CLIENT_FLUSH] = "flush",
	[TP_CLIENT_LINGER] = "linger",       [TP_CLIENT_TUNNEL] = "tunnel", [TP_CLIENT_CLOSED] = "closed",
};

/* Each state has its own limit. */
void tp_client_set_state(struct tp_client *c, enum tp_client_state s)
{
	c->state = s;
	switch (s) {
	case TP_CLIENT_HANDSHAKE:
	case TP_CLIENT_HEAD: tp_timer_set(&c->timer, c->config->limits.client_header_ms); break;
	case TP_CLIENT_IDLE: tp_timer_set(&c->timer, c->config->limits.client_idle_ms); break;
	case TP_CLIENT_BODY: tp_timer_set(&c->timer, c->config->limits.client_body_ms); break;
	case TP_CLIENT_FLUSH: tp_timer_set(&c->timer, c->config->limits.slow_reader_ms); break;
	case TP_CLIENT_LINGER: tp_timer_set(&c->timer, LINGER_MS); break;
	case TP_CLIENT_ANSWER:
		/* Else the limit of a slow reader goes on; bytes that only wait for the end of the loop turn
		 * have not met it: send_now() sets it when they do. */
		if (c->out.len == 0 || c->send.queued)
			tp_timer_clear(&c->timer);
		break;
	case TP_CLIENT_TUNNEL:
	case TP_CLIENT_CLOSED: tp_timer_clear(&c->timer); break;
	}
}

static bool send_now(struct tp_client *c);

void tp_client_close(struct tp_client *c, const char *why, bool reset)
{
	if (c->state == TP_CLIENT_CLOSED)
		return;
	struct tp_worker *w = c->worker;
	if (c->state == TP_CLIENT_HANDSHAKE)
		tp_worker_count(w, TP_COUNT_TLS_FAILED);
	tp_debug("client closed in state %s: %s", state_names[c->state], why);
	/* What waits for the end of the loop turn only was given to the client before this end. */
	if (c->send.queued && !send_now(c))
		reset = true;
	tp_client_set_state(c, TP_CLIENT_CLOSED);
	if (c->turn != NULL)
		tp_turn_client_gone(c->turn);
	reset = reset || c->out.len > 0; /* what is still owed must be seen to be missing */
	tp_io_close(&c->io, !reset, reset);
	tp_timer_close(&c->timer);
	tp_worker_undefer(w, &c->send);
	tp_buf_free(&c->in);
	tp_client_note_gathered(c);
	tp_buf_free(&c->out);
	TAILQ_REMOVE(&w->clients, c, link);
	w->n_clients--;
	tp_worker_gauge(w, TP_GAUGE_CLIENTS, -1);
	tp_runtime_unref(c->runtime);
	tp_worker_park(w, c);
	tp_worker_check_drained(w);
}

static void on_timer(void *arg)
{
	struct tp_client *c = arg;
	if (c->out.len > 0 && !c->send.queued) {
		tp_client_close(c, "slow reader", true);
		return;
	}
	if (c->state == TP_CLIENT_BODY && c->turn != NULL) {
		/* It is us who do not read, or an answer that came early is under way: it has timers of its
		 * own. */
		if (c->paused || c->turn->state == TP_TURN_FLOW)
			tp_timer_set(&c->timer, c->config->limits.client_body_ms);
		else
			tp_turn_reject(c->turn, 408, "the request body stopped arriving");
		return;
	}
	tp_client_close(c, "time limit", false);
}

/* ---- output */

static bool keep_rest(struct tp_client *c, const struct iovec *v, int n, size_t put)
{
	for (int i = 0; i < n; i++) {
		size_t skip = put < v[i].iov_len ? put : v[i].iov_len;
		put -= skip;
		if (v[i].iov_len > skip)
			tp_buf_add(&c->out, (const char *)v[i].iov_base + skip, v[i].iov_len - skip);
	}
	return !c->out.failed;
}

/* Writes what is queued; what the peer does not take stays, watched by the slow reader's limit. False when
 * the connection is dead. */
static bool send_now(struct tp_client *c)
{
	tp_worker_undefer(c->worker, &c->send);
	while (c->out.len > 0 && c->io.writable) {
		struct iovec v = {c->out.data, c->out.len};
		ssize_t put = tp_io_writev(&c->io, &v, 1);
		if (put < 0)
			return false;
		tp_worker_add(c->worker, TP_COUNT_BYTES_OUT, (uint64_t)put);
		tp_buf_consume(&c->out, (size_t)put);
	}
	if (c->out.len == 0)
		tp_buf_free(&c->out);
	else if (c->turn == NULL && c->state != TP_CLIENT_LINGER)
		tp_client_set_state(c, TP_CLIENT_FLUSH);
	else
		tp_timer_set(&c->timer, c->config->limits.slow_reader_ms);
	return true;
}

static void on_send(void *arg)
{
	struct tp_client *c = arg;
	if (!send_now(c))
		tp_client_close(c, "write failed", true);
}

static bool may_cork(const struct tp_client *c, size_t n)
{
	return n <= CORK_BYTES && c->io.writable && (c->out.len == 0 || c->send.queued) &&
	       c->out.len < CORK_BYTES;
}

static size_t total(const struct iovec *v, int n)
{
	size_t sum = 0;
	for (int i = 0; i < n; i++)
		sum += v[i].iov_len;
	return sum;
}

int tp_client_write(struct tp_client *c, const struct iovec *v, int n)
{
	size_t want = total(v, n), put = 0;
	if (c->turn != NULL)
		tp_record_out(c->turn, v, n);
	if (may_cork(c, want)) {
		tp_worker_defer(c->worker, &c->send);
		return keep_rest(c, v, n, 0) ? 0 : -1;
	}
	if (c->send.queued && !send_now(c))
		return -1;
	if (c->out.len == 0 && c->io.writable) {
		ssize_t r = tp_io_writev(&c->io, v, n);
		if (r < 0)
			return -1;
		put = (size_t)r;
		tp_worker_add(c->worker, TP_COUNT_BYTES_OUT, put);
	}
	if (put == want)
		return 0;
	if (!keep_rest(c, v, n, put))
		return -1;
	if (c->state == TP_CLIENT_ANSWER || c->state == TP_CLIENT_BODY)
		tp_timer_set(&c->timer, c->config->limits.slow_reader_ms);
	return 1;
}

int tp_client_write_head(struct tp_client *c, struct tp_buf *head, const struct iovec *v, int n)
{
	enum { MOST = 6 };
	int w = -1;
	if (head->failed) {
		w = -1;
	} else if (c->out.data == NULL && may_cork(c, head->len + total(v, n))) {
		if (c->turn != NULL) {
			tp_record_out(c->turn, &(struct iovec){head->data, head->len}, 1);
			tp_record_out(c->turn, v, n);
		}
		/* The head's own memory becomes the queue. */
		c->out = *head;
		*head = (struct tp_buf){0};
		tp_worker_defer(c->worker, &c->send);
		w = keep_rest(c, v, n, 0) ? 0 : -1;
	} else if (n < MOST) {
		struct iovec all[MOST] = {{head->data, head->len}};
		memcpy(all + 1, v, (size_t)n * sizeof *v);
		w = tp_client_write(c, all, n + 1);
	}
	tp_buf_free(head);
	return w;
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
		tp_worker_add(c->worker, TP_COUNT_BYTES_OUT, (uint64_t)put);
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
		tp_client_set_state(c, c->state); /* the limit of the state itself again */
		tp_turn_writable(c->turn);
	}
}

/* ---- after a turn */

static void begin_linger(struct tp_client *c)
{
	if (c->send.queued) { /* all is to be said before our side ends */
		c->next = TP_NEXT_CLOSE;
		on_send(c);
		if (c->out.len > 0 || c->state == TP_CLIENT_CLOSED)
			return;
	}
	if (c->input_gone || c->io.hup) {
		tp_client_close(c, "answered", false);
		return;
	}
	tp_io_end(&c->io);
	tp_buf_free(&c->in);
	tp_client_note_gathered(c);
	tp_client_set_state(c, TP_CLIENT_LINGER);
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
	bool next_is_here = c->in.len > 0 && (!c->input_gone || c->listener->client_half_close_serve);
	if (!next_is_here && (c->input_gone || c->worker->draining || c->leaving)) {
		begin_linger(c);
		return;
	}
	tp_client_set_state(c, TP_CLIENT_IDLE);
	c->scanned = 0;
	if (c->in.len > 0 || c->io.readable)
		tp_client_input(c);
}

void tp_client_turn_over(struct tp_client *c, enum tp_client_next next)
{
	if (c->state == TP_CLIENT_CLOSED)
		return;
	/* A request that was not read to its end leaves no place where the next one could begin. */
	c->next = next == TP_NEXT_KEEP && c->state == TP_CLIENT_BODY ? TP_NEXT_CLOSE : next;
	c->paused = false;
	if (c->send.queued && c->next != TP_NEXT_KEEP) {
		on_send(c);
		if (c->state == TP_CLIENT_CLOSED)
			return;
	}
	if (c->out.len > 0 && !c->send.queued)
		tp_client_set_state(c, TP_CLIENT_FLUSH);
	else
		next_step(c);
}

/* ---- events */

/* Our alert says why. A close with unread bytes - the client may have sent its request already - would take
 * it back, so what comes is read and dropped for a while, in clear. */
static void refuse_handshake(struct tp_client *c)
{
	char why[160];
	tp_tls_why(c->io.ssl, why, sizeof why);
	tp_debug("no TLS with a client: %s", why);
	tp_worker_count(c->worker, TP_COUNT_TLS_FAILED);
	tp_io_drop_tls(&c->io);
	c->io.readable = true;
	begin_linger(c);
}

static void finish_handshake(struct tp_client *c)
{
	int r = tp_io_handshake(&c->io);
	if (r == -EAGAIN)
		return;
	if (r != 0) {
		refuse_handshake(c);
		return;
	}
	tp_worker_count(c->worker, TP_COUNT_TLS_HANDSHAKES);
	if (SSL_session_reused(c->io.ssl) == 1)
		tp_worker_count(c->worker, TP_COUNT_TLS_RESUMED);
	tp_client_set_state(c, TP_CLIENT_IDLE);
	if (c->worker->draining || c->leaving)
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
	if (unread && !tp_client_wants_input(c) && was_reset(c)) {
		tp_client_close(c, "the client is gone", true);
		return;
	}
	if (c->state != TP_CLIENT_CLOSED && c->out.len > 0 && c->io.writable && !c->send.queued)
		flush(c);
	if (c->state != TP_CLIENT_CLOSED && c->io.readable)
		tp_client_input(c);
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

void tp_client_new(struct tp_runtime *r, size_t listener, int fd)
{
	struct tp_worker *w = r->worker;
	struct tp_client *c = calloc(1, sizeof *c);
	SSL *ssl = NULL;
	if (c == NULL || (r->listener_tls[listener] != NULL &&
			  (ssl = tp_tls_accept(r->listener_tls[listener], fd)) == NULL)) {
		free(c);
		(void)close(fd);
		return;
	}
	c->worker = w;
	c->send = (struct tp_deferred){.fn = on_send, .arg = c};
	c->listener = &r->config->listeners[listener];
	if (tp_io_open(&c->io, w->base, fd, ssl, on_event, c) != 0) {
		SSL_free(ssl);
		(void)close(fd);
		free(c);
		return;
	}
	c->runtime = tp_runtime_ref(r);
	c->leaving = r->retired;
	c->config = c->runtime->config;
	tp_timer_init(&c->timer, w->base, on_timer, c);
	TAILQ_INSERT_TAIL(&w->clients, c, link);
	w->n_clients++;
	tp_worker_count(w, TP_COUNT_CONNECTIONS);
	tp_worker_gauge(w, TP_GAUGE_CLIENTS, 1);
	tp_client_set_state(c, ssl != NULL ? TP_CLIENT_HANDSHAKE : TP_CLIENT_IDLE);
}

void tp_client_detach(struct tp_client *c, int *ret_fd, SSL **ret_ssl, struct tp_buf *ret_unsent,
		      struct tp_buf *ret_unread)
{
	tp_worker_undefer(c->worker, &c->send);
	*ret_unsent = c->out;
	c->out = (struct tp_buf){0};
	*ret_fd = tp_io_release(&c->io, ret_ssl);
	*ret_unread = c->in;
	c->in = (struct tp_buf){0};
	tp_client_set_state(c, TP_CLIENT_TUNNEL);
}

void tp_client_drain(struct tp_client *c)
{
	if (c->state == TP_CLIENT_IDLE && c->in.len == 0) {
		/* Its request may have arrived already, or, on a connection that has just come, be on its
		 * way: closing now would make the client send it twice. */
		c->io.readable = true;
		tp_client_input(c);
	}
	if (c->state == TP_CLIENT_IDLE && c->in.len == 0) {
		if (c->served)
			begin_linger(c);
		else
			tp_timer_set(&c->timer, FIRST_REQUEST_MS);
	}
}

/* Where the listener that it came by stands in another configuration; NULL: nowhere. */
static const struct tp_listener_conf *find_listener(const struct tp_config *c, const char *address)
{
	for (size_t i = 0; i < c->n_listeners; i++)
		if (strcmp(c->listeners[i].address, address) == 0)
			return &c->listeners[i];
	return NULL;
}

/* Does the next configuration ask of clients what they had to show when they came? */
static bool same_client_ca(const struct tp_config *a, const struct tp_listener_conf *of_a,
			   const struct tp_config *b, const struct tp_listener_conf *of_b)
{
	const char *x = of_a->tls.client_ca, *y = of_b->tls.client_ca;
	if (x == NULL || y == NULL)
		return y == NULL;
	return tp_str_eq(tp_files_find(a->files, x), tp_files_find(b->files, y));
}

void tp_client_follow(struct tp_client *c)
{
	struct tp_runtime *next = c->worker->runtime;
	if (c->runtime == next || c->leaving)
		return;
	const struct tp_listener_conf *listener = find_listener(next->config, c->listener->address);
	if (listener == NULL || !same_client_ca(c->config, c->listener, next->config, listener)) {
		c->leaving = true;
		tp_client_drain(c);
		return;
	}
	if (c->turn != NULL)
		return;
	tp_runtime_unref(c->runtime);
	c->runtime = tp_runtime_ref(next);
	c->config = next->config;
	c->listener = listener;
}
