#include "server/admin/process.h"

#include <errno.h>
#include <event2/event_struct.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/history.h"
#include "common/shm/marks.h"
#include "server/admin/conn.h"
#include "server/admin/stats_file.h"
#include "workers/worker.h"

enum { STATS_EVERY_S = 10, ACCEPTS_IN_A_ROW = 16 };

struct process;

struct door {
	struct process *process;
	const struct tp_listener_conf *conf;
	struct event event;
};

struct process {
	struct event_base *base;
	struct tp_admin_view view;
	struct tp_admin_conns conns;
	struct door *doors;
	size_t n_doors;
	struct event control, sweep, stats;
	uint64_t losses_told; /* lines of the log */
	int control_fd;
	uint64_t asked; /* requests to the master */
	struct tp_buf reload_error;
	bool leaving;
};

static void write_stats(struct process *p)
{
	if (p->view.config->stats_file != NULL)
		tp_stats_file_write(p->view.config, p->view.region);
}

/* ---- events */

static void on_accept(evutil_socket_t listener, short what, void *arg)
{
	struct door *d = arg;
	(void)what;
	for (int i = 0; i < ACCEPTS_IN_A_ROW; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			tp_admin_conns_add(&d->process->conns, fd, d->conf);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			(void)event_del(&d->event); /* on_sweep() opens again: no spinning until then */
			return;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			return;
		}
	}
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct process *p = arg;
	(void)fd;
	(void)what;
	uint64_t now = tp_clock_boot_ms();
	tp_admin_conns_sweep(&p->conns, now);
	tp_history_tick(p->view.region, now);
	for (size_t i = 0; i < p->n_doors && !p->leaving; i++)
		(void)event_add(&p->doors[i].event, NULL);
	(void)tp_log_flush();
	tp_number_tell(p->view.region, TP_NUMBER_LOG_LOST, tp_log_dropped(), &p->losses_told);
}

static void on_stats(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	write_stats(arg);
}

static void note_reload(struct process *p, bool good, struct tp_str lines)
{
	tp_buf_free(&p->reload_error);
	if (!good)
		tp_buf_add_str(&p->reload_error, lines);
	p->view.reload_error = good ? NULL : tp_buf_cstr(&p->reload_error);
}

/* What waits in the queues is the successor's. */
static void leave(struct process *p)
{
	p->leaving = true;
	for (size_t i = 0; i < p->n_doors; i++)
		(void)event_del(&p->doors[i].event);
	tp_admin_conns_leave(&p->conns);
}

static void hear(struct process *p, const struct tp_admin_message *m, size_t n)
{
	struct tp_admin_answer a;
	struct tp_str lines = {m->text, n};
	switch ((enum tp_admin_control)m->what) {
	case TP_ADMIN_DRAINING: p->view.draining = true; break;
	case TP_ADMIN_REOPEN: (void)tp_log_reopen(); break; /* the master tells when it cannot be opened */
	case TP_ADMIN_LEAVE: leave(p); break;
	case TP_ADMIN_OUTCOME:
		note_reload(p, m->good, lines);
		tp_admin_reload_answer(m->good, m->generation, lines, &a);
		tp_admin_conns_told(&p->conns, m->asked, &a);
		tp_buf_free(&a.body);
		break;
	}
}

static uint64_t ask_reload(void *arg)
{
	struct process *p = arg;
	const struct tp_admin_request r = {.number = p->asked + 1};
	if (send(p->control_fd, &r, sizeof r, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)sizeof r)
		return 0;
	return ++p->asked;
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
	struct process *p = arg;
	struct tp_admin_message m;
	(void)what;
	ssize_t n = recv(fd, &m, sizeof m, MSG_DONTWAIT);
	if (n >= (ssize_t)offsetof(struct tp_admin_message, text))
		hear(p, &m, (size_t)n - offsetof(struct tp_admin_message, text));
	else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		(void)event_base_loopbreak(p->base);
}

/* ---- life */

static bool open_doors(struct process *p, const struct tp_listeners *sockets)
{
	p->doors = calloc(sockets->n_sockets, sizeof *p->doors);
	if (p->doors == NULL)
		return sockets->n_sockets == 0;
	for (; p->n_doors < sockets->n_sockets; p->n_doors++) {
		struct door *d = &p->doors[p->n_doors];
		const struct tp_worker_listener *socket = &sockets->sockets[p->n_doors];
		d->process = p;
		d->conf = &p->view.config->admin.listeners[socket->conf];
		(void)event_assign(&d->event, p->base, socket->fd, EV_READ | EV_PERSIST, on_accept, d);
		if (event_add(&d->event, NULL) != 0)
			return false;
	}
	return true;
}

static bool start_up(struct process *p, const struct tp_admin_start *start)
{
	const struct timeval second = {.tv_sec = 1}, stats_period = {.tv_sec = STATS_EVERY_S};
	p->control_fd = start->control_fd;
	p->view.ask_reload = ask_reload;
	p->view.ask_arg = p;
	if (start->reload_error != NULL)
		note_reload(p, false, tp_str_from(start->reload_error));
	p->base = event_base_new();
	if (p->base == NULL)
		return false;
	tp_admin_conns_init(&p->conns, p->base, &p->view);
	(void)event_assign(&p->control, p->base, start->control_fd, EV_READ | EV_PERSIST, on_control, p);
	(void)event_assign(&p->sweep, p->base, -1, EV_PERSIST, on_sweep, p);
	(void)event_assign(&p->stats, p->base, -1, EV_PERSIST, on_stats, p);
	return event_add(&p->control, NULL) == 0 && event_add(&p->sweep, &second) == 0 &&
	       event_add(&p->stats, &stats_period) == 0 && open_doors(p, start->sockets);
}

static void shut_down(struct process *p)
{
	tp_admin_conns_close(&p->conns);
	for (size_t i = 0; i < p->n_doors; i++)
		(void)event_del(&p->doors[i].event);
	(void)event_del(&p->control);
	(void)event_del(&p->sweep);
	(void)event_del(&p->stats);
	free(p->doors);
	tp_buf_free(&p->reload_error);
	event_base_free(p->base);
}

int tp_admin_main(const struct tp_admin_start *start)
{
	struct process p = {.view = start->view, .losses_told = tp_log_dropped()};
	if (!start_up(&p, start)) {
		tp_error("the admin process cannot start: %s", strerror(errno));
		return TP_WORKER_EXIT_CANNOT_START; /* the end of the process frees what there was */
	}
	write_stats(&p);
	tp_history_tick(p.view.region, tp_clock_boot_ms());
	(void)event_base_dispatch(p.base);
	if (!p.leaving) /* else its successor writes, of another table perhaps */
		write_stats(&p);
	shut_down(&p);
	return TP_WORKER_EXIT_OK;
}
