#include "workers/attempt.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/http/keep_alive.h"
#include "workers/egress.h"
#include "workers/numbers.h"

enum {
	PIECES = 16,                   /* body segments handed to one write */
	HEAD_LIMIT = TP_SCRATCH_BYTES, /* answer heads: Cloudflare and others are fond of long ones */
};

static void set_stage(struct tp_attempt *a, enum tp_stage s)
{
	if (s > a->stage)
		a->stage = s;
}

static void rest(struct tp_attempt *a)
{
	a->active = false;
	tp_worker_undefer(a->worker, &a->send);
	tp_buf_free(&a->out);
	tp_buf_free(&a->in);
	tp_worker_gauge(a->worker, TP_GAUGE_SENDS, -1);
	tp_numbers_inflight(a->provider, -1);
	tp_series_add(a->worker->region, a->worker->stamp.slot, a->target, -1);
}

static void drop_connection(struct tp_attempt *a, const char *why)
{
	tp_connect_cancel(a->connecting);
	a->connecting = NULL;
	tp_upstream_close(a->up, why);
	a->up = NULL;
}

static void fail(struct tp_attempt *a, enum tp_cause cause, const char *why)
{
	drop_connection(a, why);
	rest(a);
	a->ops->failed(a->owner, cause, why);
}

/* ---- reading */

/* Takes the connection out of the attempt after the answer's last byte. */
static void release_connection(struct tp_attempt *a)
{
	struct tp_upstream *u = a->up;
	a->up = NULL;
	bool written = a->stage >= TP_STAGE_SENT && !a->write_stopped && a->request->complete;
	if (a->keep && !a->body.excess && written)
		tp_upstream_give(u, a->keep_ms);
	else
		tp_upstream_close(u, "answered; not kept");
}

static uint64_t keep_ms(const struct tp_attempt *a, const struct tp_head *h, const char *bytes)
{
	uint64_t ms = a->provider->conf->keepalive_idle_ms;
	const struct tp_field *f = tp_head_find(h, TP_FIELD_KEEP_ALIVE);
	return f != NULL ? tp_keep_alive_ms(tp_span_str(bytes, f->value), ms) : ms;
}

static void begin_body(struct tp_attempt *a, const struct tp_head *h, const char *bytes)
{
	set_stage(a, TP_STAGE_HEAD);
	a->head_seen = true;
	tp_unframe_begin(&a->body, h);
	a->keep = h->keep_alive && h->framing != TP_FRAMING_CLOSE;
	a->keep_ms = keep_ms(a, h, bytes);
	if (!a->request->complete || a->sent < a->request->received || a->out.len > 0)
		a->write_stopped = true; /* an early answer: what is left of the upload is not wanted */
}

static void deliver(struct tp_attempt *a, struct tp_answer_piece *p)
{
	if (!tp_unframe(&a->body, &p->data, &p->n, &p->end)) {
		unsigned serial = a->serial;
		if (p->head != NULL || p->n > 0) /* what came before the fault counts */
			a->ops->answer(a->owner, p);
		if (a->serial == serial && a->active)
			fail(a, TP_CAUSE_CLOSED, "broken chunked coding");
		return;
	}
	if (p->end) {
		release_connection(a);
		rest(a);
	} else if (!a->paused) {
		tp_timer_set(&a->up->timer, a->provider->conf->idle_ms);
	}
	if (p->head != NULL || p->n > 0 || p->end)
		a->ops->answer(a->owner, p);
}

static void switch_protocol(struct tp_attempt *a, struct tp_answer_piece *p)
{
	SSL *ssl;
	int fd = tp_upstream_detach(a->up, &ssl);
	a->up = NULL;
	set_stage(a, TP_STAGE_OUTPUT);
	rest(a);
	a->ops->switched(a->owner, p, fd, ssl);
}

/* A 407 to a request that was addressed to a proxy is the proxy's: it has passed nothing on. */
static void declined_by_proxy(struct tp_attempt *a)
{
	char why[160];
	(void)snprintf(why, sizeof why, "via %s: the proxy wants other credentials (407)",
		       a->head_args.proxy->address);
	a->tried |= 1U << a->up->way;
	tp_egress_failed(a->provider, a->up->way, "the proxy wants other credentials (407)");
	fail(a, TP_CAUSE_EGRESS, why);
}

/*
 * An answer head at the front of *bytes; what is behind it is delivered.  False when more is needed: then
 * *bytes and *n have moved behind interim answers, which are dealt with.
 */
static bool take_head(struct tp_attempt *a, char **bytes, size_t *n)
{
	const char *why = NULL;
	bool head_request = tp_str_eq(tp_request_str(a->request, a->request->head->method), TP_STR("HEAD"));
	for (;;) {
		struct tp_head *h = a->worker->head;
		switch (tp_head_parse_answer(*bytes, *n, HEAD_LIMIT, head_request, &a->scanned, h, &why)) {
		case TP_PARSE_MORE: return false;
		case TP_PARSE_BAD: fail(a, TP_CAUSE_BROKEN_HEAD, why); return true;
		case TP_PARSE_OK: break;
		}
		a->scanned = 0;
		struct tp_answer_piece p = {h, *bytes, *bytes + h->size, *n - h->size, false};
		if (h->status == 101) {
			if (a->head_args.tunnel && a->stage >= TP_STAGE_SENT)
				switch_protocol(a, &p);
			else
				fail(a, TP_CAUSE_BROKEN_HEAD, "101 unasked, or before its request ended");
			return true;
		}
		if (h->status == 407 && a->head_args.proxy != NULL) {
			declined_by_proxy(a);
			return true;
		}
		if (h->status >= 200) {
			begin_body(a, h, *bytes);
			deliver(a, &p);
			return true; /* the owner may have started the next attempt meanwhile */
		}
		*bytes += h->size; /* interim: nothing a client waits for */
		*n -= h->size;
	}
}

static void note_first_byte(struct tp_attempt *a)
{
	a->heard_us = tp_clock_mono_us();
	if (a->last_written_us != 0)
		tp_numbers_first_byte(a->worker, a->heard_us - a->last_written_us);
}

/* Bytes of an answer, at the front of the scratch buffer. */
static void take_input(struct tp_attempt *a, char *data, size_t n)
{
	if (a->heard_us == 0)
		note_first_byte(a);
	if (a->head_seen) {
		set_stage(a, TP_STAGE_PRELUDE);
		struct tp_answer_piece p = {NULL, NULL, data, n, false};
		deliver(a, &p);
		return;
	}
	/* A head in several pieces: the former ones go in front of this one, for which read_answer() left
	 * room. */
	size_t before = a->in.len;
	if (before > 0) {
		memmove(data + before, data, n);
		memcpy(data, a->in.data, before);
		tp_buf_free(&a->in);
		n += before;
	}
	if (take_head(a, &data, &n))
		return;
	tp_buf_add(&a->in, data, n);
	if (a->in.failed)
		fail(a, TP_CAUSE_LOCAL, "out of memory");
}

/* The server's end of the handshake failed, of which TLS 1.3 tells behind our request: a server reads no
 * request before it knows who asks (RFC 8446, 4.4.2.4), and nobody else can send that alert. */
static void unwanted(struct tp_attempt *a)
{
	a->tried = UINT_MAX; /* another way leads to the same server */
	fail(a, TP_CAUSE_TLS, "the provider does not take our certificate, or wants one");
}

static void on_end(struct tp_attempt *a, ssize_t r)
{
	bool orderly = r == TP_IO_END;
	if (a->head_seen && a->body.framing == TP_FRAMING_CLOSE && orderly) {
		struct tp_answer_piece p = {NULL, NULL, a->worker->scratch, 0, true};
		a->keep = false;
		release_connection(a);
		rest(a);
		a->ops->answer(a->owner, &p);
		return;
	}
	if (r == TP_IO_UNWANTED && !a->up->reused && !a->head_seen && a->in.len == 0)
		unwanted(a);
	else if (!a->head_seen && a->in.len > 0)
		fail(a, TP_CAUSE_BROKEN_HEAD, "the connection ended inside the answer's head");
	else if (orderly)
		fail(a, TP_CAUSE_CLOSED, "the provider closed the connection");
	else if (r == TP_IO_CUT)
		fail(a, TP_CAUSE_CLOSED, "the connection ended without close_notify");
	else
		fail(a, TP_CAUSE_RESET,
		     r == TP_IO_TLS || r == TP_IO_UNWANTED ? "TLS error" : strerror((int)-r));
}

static void read_answer(struct tp_attempt *a)
{
	for (int i = 0; a->up != NULL && a->up->io.readable && !a->paused; i++) {
		if (i == TP_READS_PER_TURN) {
			tp_io_again(&a->up->io);
			return;
		}
		/* What is gathered of a head will stand in front and leaves that much less to read; never 0,
		 * as a head as long as the buffer was refused. */
		char *to = a->worker->scratch;
		ssize_t n = tp_io_read(&a->up->io, to, TP_SCRATCH_BYTES - a->in.len);
		if (n == -EAGAIN)
			return;
		/* Before a byte was written: whom it answers, only the provider knows. */
		if (a->stage == TP_STAGE_UNSENT && a->up->reused)
			fail(a, TP_CAUSE_POOL_CLOSED,
			     n > 0 ? "unasked bytes on a kept connection" : "the kept connection was closed");
		else if (n <= 0)
			on_end(a, n);
		else
			take_input(a, to, (size_t)n);
	}
}

/* ---- writing */

static void on_write_error(struct tp_attempt *a, int error)
{
	if (a->stage == TP_STAGE_UNSENT && a->up->reused) {
		fail(a, TP_CAUSE_POOL_CLOSED, "the kept connection was closed");
		return;
	}
	/* The provider may have answered before it closed, and that counts: it is read from the loop. */
	a->write_stopped = true;
	a->write_error = error;
	a->up->io.readable = true;
	tp_io_again(&a->up->io);
}

/* One write of head and body pieces; false when nothing more can be written now. */
static bool write_some(struct tp_attempt *a)
{
	struct iovec v[PIECES + 1];
	int n = 0;
	size_t head_n = a->out.len;
	if (head_n > 0)
		v[n++] = (struct iovec){a->out.data, head_n};
	n += tp_request_pieces(a->request, a->sent, v + n, PIECES);
	if (n == 0)
		return false;
	ssize_t put = tp_io_writev(&a->up->io, v, n);
	if (put < 0) {
		on_write_error(a, (int)put);
		return false;
	}
	if (put == 0)
		return false;
	a->last_written_us = tp_clock_mono_us();
	if (a->stage == TP_STAGE_UNSENT) {
		a->written_us = a->last_written_us;
		if (a->tried == 0) /* one send, by however many proxies */
			tp_numbers_send(a->provider, a->klass, a->head_args.key_index);
	}
	set_stage(a, TP_STAGE_SENDING);
	tp_timer_set(&a->up->timer, a->provider->conf->first_byte_ms);
	size_t of_head = (size_t)put < head_n ? (size_t)put : head_n;
	tp_buf_consume(&a->out, of_head);
	if (a->out.len == 0) /* a stream lasts for minutes: it does not hold a head that is gone */
		tp_buf_free(&a->out);
	a->sent += (uint64_t)put - of_head;
	return true;
}

static void write_request(struct tp_attempt *a)
{
	while (a->up != NULL && a->active && !a->write_stopped && a->up->io.writable && write_some(a))
		;
	if (!a->active || a->up == NULL)
		return;
	if (a->request->complete && a->out.len == 0 && a->sent == a->request->received &&
	    a->stage >= TP_STAGE_SENDING)
		set_stage(a, TP_STAGE_SENT);
	else if (!a->write_stopped)
		a->ops->room(a->owner);
}

void tp_attempt_more(struct tp_attempt *a)
{
	if (a->active && a->up != NULL)
		write_request(a);
}

/* ---- the connection */

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	struct tp_attempt *a = arg;
	unsigned serial = a->serial;
	/* First what the provider says: an early answer stops the upload. */
	if ((what & (EV_READ | EV_CLOSED)) != 0)
		read_answer(a);
	if (a->serial == serial && a->active && a->write_error != 0 && !a->head_seen) {
		fail(a, TP_CAUSE_RESET,
		     a->write_error == TP_IO_TLS ? "TLS error" : strerror(-a->write_error));
		return;
	}
	if (a->active && a->up != NULL && (what & EV_WRITE) != 0 && a->stage < TP_STAGE_SENT)
		write_request(a);
}

static void on_timer(void *arg)
{
	struct tp_attempt *a = arg;
	if (a->head_seen)
		fail(a, TP_CAUSE_STALLED, "the provider stopped sending");
	else
		fail(a, TP_CAUSE_FIRST_BYTE_TIMEOUT, "no answer in time");
}

static const struct tp_upstream_user upstream_calls = {on_event, on_timer};

static void on_send(void *arg)
{
	write_request(arg);
}

static void begin_writing(struct tp_attempt *a)
{
	a->head_args.proxy = tp_egress_addressed(a->provider->conf, a->up->way);
	tp_upstream_head(a->request, &a->head_args, &a->out);
	if (a->out.failed) {
		fail(a, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	tp_timer_set(&a->up->timer, a->provider->conf->first_byte_ms);
	tp_worker_defer(a->worker, &a->send);
}

static void on_connected(void *arg, const struct tp_connected *r)
{
	struct tp_attempt *a = arg;
	a->connecting = NULL;
	a->connected_us = tp_clock_mono_us();
	if (r->fd < 0) {
		a->tried = UINT_MAX; /* all of them */
		fail(a, r->cause, r->why);
		return;
	}
	a->up = tp_upstream_new(a->provider, r->fd, r->ssl, r->way, &upstream_calls, a);
	if (a->up == NULL)
		fail(a, TP_CAUSE_LOCAL, "out of memory");
	else
		begin_writing(a);
}

void tp_attempt_init(struct tp_attempt *a, struct tp_worker *w, const struct tp_attempt_ops *ops, void *owner)
{
	*a = (struct tp_attempt){.ops = ops,
				 .owner = owner,
				 .worker = w,
				 .send = {.fn = on_send, .arg = a},
				 .target = TP_SERIES_NONE};
}

void tp_attempt_start(struct tp_attempt *a, struct tp_provider_rt *p, struct tp_request *r,
		      const struct tp_upstream_head_args *args, bool fresh)
{
	a->serial++;
	a->provider = p;
	a->request = r;
	a->head_args = *args;
	a->stage = TP_STAGE_UNSENT;
	a->active = true;
	a->paused = a->write_stopped = a->head_seen = a->keep = false;
	a->write_error = 0;
	a->sent = 0;
	a->scanned = 0;
	a->started_ms = tp_clock_boot_ms();
	a->dialled_us = a->connected_us = a->written_us = a->last_written_us = a->heard_us = 0;
	tp_worker_gauge(a->worker, TP_GAUGE_SENDS, 1);
	tp_numbers_inflight(a->provider, 1);
	tp_series_add(a->worker->region, a->worker->stamp.slot, a->target, 1);
	a->up = fresh ? NULL : tp_upstream_take(p, &upstream_calls, a);
	if (a->up != NULL) {
		begin_writing(a);
		return;
	}
	a->dialled_us = tp_clock_mono_us();
	a->connecting = tp_connect_start(p, a->tried, on_connected, a);
	if (a->connecting == NULL)
		fail(a, TP_CAUSE_LOCAL, "out of memory");
}

void tp_attempt_pause(struct tp_attempt *a)
{
	a->paused = true;
	if (a->up != NULL)
		tp_timer_clear(&a->up->timer); /* it is the client who is slow */
}

void tp_attempt_resume(struct tp_attempt *a)
{
	if (!a->paused)
		return;
	a->paused = false;
	if (a->up == NULL)
		return;
	tp_timer_set(&a->up->timer, a->provider->conf->idle_ms);
	a->up->io.readable = true;
	tp_io_again(&a->up->io);
}

void tp_attempt_cancel(struct tp_attempt *a, const char *why)
{
	if (!a->active)
		return;
	drop_connection(a, why);
	rest(a);
}
