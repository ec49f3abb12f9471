#include "workers/worker.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/sink.h"
#include "common/config/secrets.h"
#include "common/shm/marks.h"
#include "workers/acceptor.h"
#include "workers/access_log.h"
#include "workers/client.h"
#include "workers/core.h"
#include "workers/gate.h"
#include "workers/io.h"
#include "workers/open_turns.h"
#include "workers/refresher.h"
#include "workers/reload.h"
#include "workers/resolve.h"
#include "workers/runtime.h"
#include "workers/timer.h"
#include "workers/tls.h"
#include "workers/tunnel.h"
#include "workers/turn.h"

/* ---- control by the master */

struct control {
	struct tp_worker *worker;
	int fd;
	struct event event;
	struct event beat;
	struct tp_timer drain;
	struct tp_timer flush;
	struct tp_reload *reload;
};

enum { FLUSH_AGAIN_MS = 100 };

static void stop(struct tp_worker *w)
{
	w->stopping = true;
	(void)event_base_loopbreak(w->base);
}

void tp_worker_check_drained(struct tp_worker *w)
{
	if (w->draining && w->n_clients == 0 && w->n_tunnels == 0 && LIST_EMPTY(&w->renewing))
		stop(w);
	else if (w->acceptor != NULL)
		tp_acceptor_room(w->acceptor);
}

static void drain(struct control *c)
{
	struct tp_worker *w = c->worker;
	if (w->draining)
		return;
	tp_info("draining: %u connections", w->n_clients);
	tp_acceptor_close(w->acceptor);
	w->draining = true;
	tp_timer_set(&c->drain, w->config->drain_ms);
	struct tp_client *client, *next;
	for (client = TAILQ_FIRST(&w->clients); client != NULL; client = next) {
		next = TAILQ_NEXT(client, link);
		tp_client_drain(client);
	}
	tp_worker_check_drained(w);
}

static void on_drain_over(void *arg)
{
	struct control *c = arg;
	tp_info("shutdown.drain is over with %u connections open", c->worker->n_clients);
	stop(c->worker);
}

static void reopen_logs(struct tp_worker *w)
{
	int error = tp_log_reopen();
	if (error != 0)
		tp_error("cannot reopen the log: %s; the old file is used on", tp_sink_error(-error));
	tp_access_log_reopen(w);
}

/* Takes over the descriptors. */
static void obey(struct control *c, const struct tp_control_message *m, const int *fds, size_t n_fds)
{
	switch ((enum tp_control)m->what) {
	case TP_CONTROL_DRAIN: drain(c); break;
	case TP_CONTROL_QUIT: stop(c->worker); break;
	case TP_CONTROL_ADOPT: tp_acceptor_serve(c->worker->acceptor, m->slot, true); break;
	case TP_CONTROL_REOPEN: reopen_logs(c->worker); break;
	case TP_CONTROL_RETURN: tp_acceptor_serve(c->worker->acceptor, m->slot, false); break;
	case TP_CONTROL_SOCKETS:
	case TP_CONTROL_PREPARE:
	case TP_CONTROL_SWITCH:
	case TP_CONTROL_ABORT:
	case TP_CONTROL_CLOSE:
	case TP_CONTROL_FORGET: tp_reload_hear(c->reload, m, fds, n_fds); break;
	}
}

/* recv() with the descriptors that come beside; at most TP_CONTROL_SOCKETS_MAX. Where some of them found no
 * place in this process, or the message is not whole, there are none. */
static ssize_t receive(int fd, struct tp_control_message *m, int *fds, size_t *ret_n)
{
	union {
		char bytes[CMSG_SPACE(TP_CONTROL_SOCKETS_MAX * sizeof(int))];
		struct cmsghdr align;
	} beside;
	struct iovec v = {m, sizeof *m};
	struct msghdr h = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = beside.bytes,
			   .msg_controllen = sizeof beside.bytes};
	*ret_n = 0;
	ssize_t n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*ret_n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *ret_n * sizeof(int));
	}
	if ((h.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0 || n != (ssize_t)sizeof *m)
		while (*ret_n > 0)
			(void)close(fds[--*ret_n]);
	return n;
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
	(void)what;
	struct control *c = arg;
	struct tp_control_message m;
	int fds[TP_CONTROL_SOCKETS_MAX];
	size_t n_fds;
	ssize_t n = receive(fd, &m, fds, &n_fds);
	if (n == (ssize_t)sizeof m) {
		obey(c, &m, fds, n_fds);
	} else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		tp_info("the master is gone");
		(void)event_del(&c->event);
		drain(c);
	}
}

static void tell_losses(struct tp_worker *w)
{
	tp_number_tell(w->region, TP_NUMBER_LOG_LOST, tp_log_dropped() + w->access_log.lost, &w->losses_told);
}

/* A reader that comes back finds what waits, also when no more lines come. */
static void on_flush(void *arg)
{
	struct control *c = arg;
	bool log_done = tp_log_flush(), access_done = tp_access_log_flush(c->worker);
	if (!log_done || !access_done)
		tp_timer_set(&c->flush, FLUSH_AGAIN_MS);
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	struct control *c = arg;
	struct tp_worker *w = c->worker;
	tp_slot_beat(w->region, w->stamp.slot, tp_clock_boot_ms());
	tp_timer_retry();
	tp_open_turns_publish(w);
	on_flush(c);
	tell_losses(w);
	tp_secrets_guard_tidy();
}

static void begin_control(struct control *c, struct tp_worker *w, int fd)
{
	c->worker = w;
	c->fd = fd;
	(void)event_assign(&c->event, w->base, fd, EV_READ | EV_PERSIST, on_control, c);
	(void)event_add(&c->event, NULL);
	struct timeval second = {1, 0};
	(void)event_assign(&c->beat, w->base, -1, EV_PERSIST, on_beat, c);
	(void)event_add(&c->beat, &second);
	tp_timer_init(&c->drain, w->base, on_drain_over, c);
	tp_timer_init(&c->flush, w->base, on_flush, c);
	on_beat(-1, 0, c);
}

/* ---- begin and end */

/* libevent with edges and early end of stream: epoll. */
static struct event_base *new_base(void)
{
	struct event_config *config = event_config_new();
	if (config == NULL)
		return NULL;
	struct event_base *base = NULL;
	if (event_config_require_features(config, EV_FEATURE_ET | EV_FEATURE_O1 | EV_FEATURE_EARLY_CLOSE) ==
		    0 &&
	    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0)
		base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

static bool open_runtime(struct tp_worker *w, struct tp_config *config, struct tp_buf *why)
{
	struct tp_runtime *r = tp_runtime_new(w, config, why);
	if (r != NULL)
		tp_runtime_enter(r);
	return r != NULL;
}

/*
 * Bodies that are held come and go by the loop turn, and glibc gives the heap's end back as soon as 128 KiB
 * of it are free: then each turn pays for getting them again, page by page, zeroed.  Segments of large bodies
 * (256 KiB) are taken from the heap as well.
 */
static void keep_heap(void)
{
#ifdef M_TRIM_THRESHOLD
	enum { KEPT = 2 * 1024 * 1024, MAPPED_FROM = 512 * 1024 };
	(void)mallopt(M_TRIM_THRESHOLD, KEPT);
	(void)mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
#endif
}

static bool open_worker(struct tp_worker *w, const struct tp_worker_start *start, struct tp_buf *why)
{
	*w = (struct tp_worker){.region = start->region,
				.stamp = start->stamp,
				.control_fd = start->control_fd,
				.observer = start->observer,
				.snapshot_fd = start->snapshot_fd};
	w->losses_told = tp_log_dropped(); /* the master's, before the fork */
	if (w->observer == NULL)
		tp_access_log_open(w, start->config);
	TAILQ_INIT(&w->clients);
	TAILQ_INIT(&w->turns);
	TAILQ_INIT(&w->tunnels);
	TAILQ_INIT(&w->deferred);
	LIST_INIT(&w->renewing);
	uint64_t random[3];
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return false;
	w->random[0] = random[0] | 1;
	w->random[1] = random[1];
	tp_worker_begin_ids(w, random[2]);
	return (w->scratch = malloc(TP_SCRATCH_BYTES)) != NULL &&
	       (w->head = malloc(sizeof *w->head)) != NULL && (w->base = new_base()) != NULL &&
	       tp_io_begin_loop(w->base) && (w->resolver = tp_resolver_new(w->base)) != NULL &&
	       (w->gates = tp_gates_new(w, start->wake_fds)) != NULL && open_runtime(w, start->config, why) &&
	       (w->acceptor = tp_acceptor_new(w, start->listeners, start->n_listeners)) != NULL;
}

static void abort_clients(struct tp_worker *w)
{
	struct tp_client *c;
	while ((c = TAILQ_FIRST(&w->clients)) != NULL) {
		if (c->turn != NULL)
			tp_turn_abort(c->turn);
		tp_client_close(c, "the worker leaves", false);
	}
	tp_tunnel_close_all(w);
}

static void close_worker(struct tp_worker *w)
{
	abort_clients(w);
	tp_refresher_cancel_all(w);
	tp_runtime_unref(w->runtime);
	w->runtime = NULL;
	tp_runtime_free_ended(w);
	tp_gates_free(w->gates);
	tp_acceptor_free(w->acceptor);
	w->acceptor = NULL;
	tp_resolver_free(w->resolver);
	tp_worker_free_parked(w);
	tp_io_end_loop();
	if (w->base != NULL)
		event_base_free(w->base);
	tp_access_log_close(w);
	tp_fingerprint_free(w->spare_fingerprint);
	free(w->scratch);
	free(w->head);
}

bool tp_worker_can_load(const struct tp_config *c, struct tp_buf *why)
{
	return tp_tls_check(c, why);
}

int tp_worker_main(const struct tp_worker_start *start)
{
	struct tp_worker w;
	struct control control = {0};
	struct tp_buf why = {0};
	keep_heap();
	if (!open_worker(&w, start, &why) || (control.reload = tp_reload_new(&w, start)) == NULL) {
		tp_error("cannot start: %s", tp_buf_reason(&why));
		tp_buf_free(&why);
		close_worker(&w);
		return TP_WORKER_EXIT_CANNOT_START;
	}
	tp_config_unref(start->config); /* the generation that serves has its own */
	begin_control(&control, &w, start->control_fd);
	tp_slot_set_ready(w.region, w.stamp.slot, true);
	if (start->client_fd != NULL)
		tp_client_new(w.runtime, 0, *start->client_fd);
	tp_clock_next_turn();
	while (!w.stopping) {
		if (event_base_loop(w.base, EVLOOP_ONCE) < 0)
			break;
		tp_worker_run_deferred(&w);
		tp_runtime_free_ended(&w);
		tp_worker_free_parked(&w);
		tp_io_next_turn();
		tp_clock_next_turn();
	}
	tp_slot_set_ready(w.region, w.stamp.slot, false);
	(void)event_del(&control.event);
	(void)event_del(&control.beat);
	tp_timer_close(&control.drain);
	tp_timer_close(&control.flush);
	tp_reload_free(control.reload);
	close_worker(&w);
	tell_losses(&w);
	tp_buf_free(&why);
	return TP_WORKER_EXIT_OK;
}
