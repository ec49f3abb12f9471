#include "workers/proxy_tunnel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "workers/egress.h"

enum { HEAD_LIMIT = 16 * 1024 };

void tp_proxy_tunnel_init(struct tp_proxy_tunnel *t, struct tp_worker *w, tp_proxy_tunnel_fn *fn, void *arg)
{
	*t = (struct tp_proxy_tunnel){.worker = w, .fn = fn, .arg = arg, .io = {.fd = -1}};
}

static void rest(struct tp_proxy_tunnel *t)
{
	tp_buf_free(&t->out);
	tp_buf_free(&t->in);
	t->scanned = 0;
}

void tp_proxy_tunnel_close(struct tp_proxy_tunnel *t)
{
	tp_io_close(&t->io, false, false);
	rest(t);
}

int tp_proxy_tunnel_release(struct tp_proxy_tunnel *t)
{
	SSL *none;
	rest(t);
	return tp_io_release(&t->io, &none);
}

static void fail(struct tp_proxy_tunnel *t, const char *why)
{
	tp_proxy_tunnel_close(t);
	t->fn(t->arg, why);
}

static void fail_head(struct tp_proxy_tunnel *t, const char *reason)
{
	char why[160];
	(void)snprintf(why, sizeof why, "broken answer to CONNECT: %s", reason);
	fail(t, why);
}

/* The answer is whole. Inside a tunnel the client speaks first (TLS), so what stands behind the head is not
 * of the provider: who sent it could just as well answer in its place. */
static void judge(struct tp_proxy_tunnel *t, const struct tp_head *h)
{
	char why[64];
	if (h->status == 407) {
		fail(t, "the proxy wants other credentials (407)");
	} else if (h->status / 100 != 2) {
		(void)snprintf(why, sizeof why, "the proxy refused the tunnel (%u)", h->status);
		fail(t, why);
	} else if (t->in.len > h->size) {
		fail(t, "bytes behind the proxy's answer to CONNECT");
	} else {
		t->fn(t->arg, NULL);
	}
}

/* True when the dialogue has ended. */
static bool take_head(struct tp_proxy_tunnel *t)
{
	struct tp_head *h = t->worker->head;
	const char *why = NULL;
	size_t at = 0; /* behind interim answers: they go at once, as there may be hundreds */
	for (;;) {
		switch (tp_head_parse_answer(t->in.data + at, t->in.len - at, HEAD_LIMIT, true, &t->scanned,
					     h, &why)) {
		case TP_PARSE_MORE: tp_buf_consume(&t->in, at); return false;
		case TP_PARSE_BAD: fail_head(t, why); return true;
		case TP_PARSE_OK: break;
		}
		if (h->status >= 200 || h->status == 101) {
			tp_buf_consume(&t->in, at);
			judge(t, h);
			return true;
		}
		at += h->size;
	}
}

static void read_answer(struct tp_proxy_tunnel *t)
{
	for (int i = 0; t->io.readable; i++) {
		if (i == TP_READS_PER_TURN) { /* of interim answers there may be many */
			tp_io_again(&t->io);
			return;
		}
		char *to = t->worker->scratch;
		ssize_t n = tp_io_read(&t->io, to, HEAD_LIMIT);
		if (n == -EAGAIN)
			return;
		if (n <= 0) {
			fail(t, n == TP_IO_END ? "the proxy closed the connection" : strerror((int)-n));
			return;
		}
		tp_buf_add(&t->in, to, (size_t)n);
		if (t->in.failed) {
			fail(t, "out of memory");
			return;
		}
		if (take_head(t))
			return;
	}
}

static void write_question(struct tp_proxy_tunnel *t)
{
	if (tp_io_write_buf(&t->io, &t->out) == 0)
		return;
	tp_buf_free(&t->out); /* it may have said why before it closed */
	t->io.readable = true;
	tp_io_again(&t->io);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct tp_proxy_tunnel *t = arg;
	(void)fd;
	tp_io_note(&t->io, what);
	write_question(t);
	read_answer(t);
}

bool tp_proxy_tunnel_start(struct tp_proxy_tunnel *t, int fd, const struct tp_egress_conf *proxy,
			   const struct tp_provider_conf *to)
{
	char authority[300];
	bool v6 = strchr(to->host, ':') != NULL;
	(void)snprintf(authority, sizeof authority, "%s%s%s:%u", v6 ? "[" : "", to->host, v6 ? "]" : "",
		       to->port);
	tp_buf_printf(&t->out, "CONNECT %s HTTP/1.1\r\nhost: %s\r\n", authority, authority);
	tp_egress_credential(&t->out, proxy);
	tp_buf_add_str(&t->out, TP_STR("\r\n"));
	if (t->out.failed || tp_io_open(&t->io, t->worker->base, fd, NULL, on_event, t) != 0) {
		rest(t);
		(void)close(fd);
		return false;
	}
	write_question(t);
	return true;
}
