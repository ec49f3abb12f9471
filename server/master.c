#include "server/master.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/ticket_keys.h"
#include "common/base/sink.h"
#include "common/config/files.h"
#include "common/shm/marks.h"
#include "common/shm/region.h"
#include "server/admin/admin.h"
#include "server/alerts.h"
#include "server/fdlimit.h"
#include "server/instance.h"
#include "server/listeners.h"
#include "server/notify.h"
#include "server/pidfile.h"
#include "server/places.h"
#include "server/snapshots.h"
#include "server/supervise.h"
#include "server/master_parts.h"

enum {
	TRUST_MS = 1000,       /* so long a successor must live until all is let go */
	KILL_AT_ONCE_MS = 400, /* the same after a second TERM: all has ended within half a second */
	LOG_RETRY_MS = 200,
	ADMIN_PATIENCE_MS = 1000,
	SNAPSHOTS_PATIENCE_MS = 1000,
	ALERTS_PATIENCE_MS = 1000, /* the last words, as often the reason why it gave up, get through */
};

static void serve(struct master *m);
static void shut_down(struct master *m);

int tp_master_run(struct tp_config *config, const struct tp_load_options *load, bool fresh_state)
{
	struct master m = {.load = load,
			   .config = config,
			   .fds = {.lock = -1, .signal = -1, .successor = -1, .predecessor = -1}};
	bool started = tp_master_start_up(&m, fresh_state);
	if (started)
		serve(&m);
	shut_down(&m);
	return started && m.state == MASTER_GONE ? 0 : 1;
}

/* ---- the loop */

static void enter(struct master *m, enum master_state state)
{
	m->state = state;
}

/* A server whose line is lost serves all the same: it is not told again at the end, as by other commands. */
static void say(const char *line)
{
	if (printf("%s\n", line) >= 0 && fflush(stdout) == 0)
		return;
	tp_warn("cannot write to standard output where it listens: %s", strerror(errno));
	__fpurge(stdout);
	clearerr(stdout);
}

/* One line of a stable form on standard output: people and tests read the addresses from it. */
static void tell_ready(const struct master *m)
{
	struct tp_buf line = {0};
	tp_buf_add_str(&line, TP_STR("turnpike ready: listening on "));
	for (size_t i = 0; i < m->listeners.n_names; i++)
		tp_buf_printf(&line, "%s%s", i > 0 ? ", " : "", m->listeners.names[i].text);
	tp_buf_printf(&line, "; %u worker%s", m->places.n, m->places.n == 1 ? "" : "s");
	for (size_t i = 0; i < m->config->n_providers; i++)
		tp_buf_printf(&line, "%s%s", i == 0 ? "; to " : ", ", m->config->providers[i].base);
	for (size_t i = 0; tp_admin_address(m->admin, i) != NULL; i++)
		tp_buf_printf(&line, "%s%s", i == 0 ? "; admin on " : ", ", tp_admin_address(m->admin, i));
	const char *text = tp_buf_cstr(&line);
	if (text != NULL)
		say(text);
	tp_buf_free(&line);
}

static void tell_manager(void)
{
	char state[64];
	(void)snprintf(state, sizeof state, "READY=1\nMAINPID=%ld\n", (long)getpid());
	int error = tp_notify(state);
	if (error != 0)
		tp_warn("cannot tell the service manager: %s", strerror(-error));
}

void tp_master_is_ready(struct master *m)
{
	tell_ready(m);
	tell_manager();
	tp_log_copy_errors(false);
	enter(m, MASTER_READY);
}

static void begin_stop(struct master *m)
{
	tp_reload_cancel(m, "the server stops");
	tp_upgrade_cancel(m, "the server stops");
	unsigned n = tp_supervisor_serving(m->supervisor);
	tp_info("stopping: no new connections; %u worker%s finish%s what is running, for up to %u s", n,
		n == 1 ? "" : "s", n == 1 ? "es" : "", m->config->drain_ms / 1000);
	(void)tp_notify("STOPPING=1\n");
	tp_admin_drain(m->admin); /* /readyz says so before the first connection is refused */
	tp_listeners_stop(&m->listeners);
	m->closing_ends_ms = tp_clock_boot_ms() + tp_listeners_settle_ms(&m->listeners);
	enter(m, MASTER_CLOSING);
}

void tp_master_hand_over(struct master *m)
{
	tp_listeners_disown_paths(&m->listeners);
	tp_admin_retire(m->admin);
	tp_snapshots_retire(m->snapshots);
	m->closing_ends_ms = tp_clock_boot_ms() + TRUST_MS;
	enter(m, MASTER_CLOSING);
}

bool tp_master_take_back(struct master *m)
{
	if (m->state != MASTER_CLOSING || m->upgrade.let_go)
		return false;
	tp_listeners_own_paths(&m->listeners, m->config->listeners);
	tp_admin_resume(m->admin);
	tp_snapshots_resume(m->snapshots);
	tp_instance_sign(m->fds.lock);
	if (m->config->pid_file != NULL)
		(void)tp_pidfile_write(m->config->pid_file);
	tp_number_set(m->region, TP_NUMBER_CONFIG_GENERATION, m->config->generation);
	enter(m, MASTER_READY);
	tell_manager();
	return true;
}

static void stop_at_once(struct master *m)
{
	tp_admin_drain(m->admin);
	tp_info("stopping at once");
	tp_listeners_close(&m->listeners);
	tp_supervisor_quit(m->supervisor, KILL_AT_ONCE_MS);
	tp_alerts_kill(&m->alerts);
	enter(m, MASTER_QUITTING);
}

static void on_stop_signal(struct master *m)
{
	if (m->upgrade.state == UPGRADE_DONE && !m->upgrade.asked_to_stop) {
		m->upgrade.asked_to_stop = true; /* a service manager tells all processes of the service */
		tp_info("this one is stopping already");
	} else if (tp_succession_pending(m)) {
		stop_at_once(m);
	} else if (m->state == MASTER_STARTING || m->state == MASTER_READY)
		begin_stop(m);
	else if (m->state == MASTER_CLOSING || m->state == MASTER_DRAINING)
		stop_at_once(m);
}

static void reap(struct master *m)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (!tp_upgrade_ended(m, pid, status) && !tp_supervisor_ended(m->supervisor, pid, status) &&
		    !tp_admin_ended(m->admin, pid, status) && !tp_snapshots_ended(m->snapshots, pid, status))
			(void)tp_alerts_ended(&m->alerts, pid, status);
}

/* Somebody has renamed them. */
static void reopen_logs(struct master *m)
{
	int error = tp_log_reopen();
	if (error != 0)
		tp_error("cannot reopen the log %s: %s; the old file is used on", m->config->log.output,
			 tp_sink_error(-error));
	else
		tp_info("the logs are opened anew");
	tp_supervisor_reopen(m->supervisor);
	tp_admin_reopen(m->admin);
	tp_snapshots_reopen(m->snapshots);
}

static void on_signal(struct master *m, int number)
{
	switch (number) {
	case SIGTERM:
	case SIGINT:
	case SIGQUIT: on_stop_signal(m); break;
	case SIGCHLD: reap(m); break;
	case SIGHUP:
		if (!tp_upgrade_pass_on(m, number))
			tp_reload_want(m);
		break;
	case SIGUSR1:
		reopen_logs(m);
		(void)tp_upgrade_pass_on(m, number);
		break;
	case SIGUSR2: tp_upgrade_want(m); break;
	default: break;
	}
}

static void read_signals(struct master *m)
{
	struct signalfd_siginfo info;
	while (read(m->fds.signal, &info, sizeof info) == (ssize_t)sizeof info)
		on_signal(m, (int)info.ssi_signo);
}

/* All workers are down, three times in a row, quickly: what they share is the suspect. */
static void renew_table(struct master *m)
{
	if (tp_succession_pending(m) || (!tp_succession_settled(m) && m->fds.predecessor >= 0)) {
		tp_error("all workers died three times in a row: giving up, the table is another's");
		enter(m, MASTER_FAILED);
		return;
	}
	tp_error("all workers died three times in a row: starting over with a fresh shared table");
	tp_reload_cancel(m, "the shared table is replaced");
	tp_upgrade_cancel(m, "the shared table is replaced");
	tp_region_close(m->region);
	m->region = m->alerts.region = NULL;
	if (!tp_master_open_table(m, true)) {
		enter(m, MASTER_FAILED);
		return;
	}
	tp_places_forget_orphans(&m->places);
	m->alerts.region = m->region;
	tp_supervisor_renew(m->supervisor, m->region);
	tp_admin_renew(m->admin, m->region);
	tp_snapshots_renew(m->snapshots, m->region);
}

static void close_listeners(struct master *m)
{
	tp_supervisor_drain(m->supervisor, m->config->drain_ms);
	tp_supervisor_tick(m->supervisor); /* the workers hear of it before the sockets are let go */
	tp_listeners_close(&m->listeners);
	if (m->upgrade.state == UPGRADE_DONE) {
		tp_admin_let_retire(m->admin);
		tp_region_drop_beside(m->config->state.name); /* ours, if the successor has another one */
	}
	enter(m, MASTER_DRAINING);
}

/* What the state of the workers means for the master. True: the supervisor has something to do at once. */
static bool follow_workers(struct master *m)
{
	switch (tp_supervisor_state(m->supervisor)) {
	case TP_SUPERVISION_STARTING:
	case TP_SUPERVISION_STOPPING: break;
	case TP_SUPERVISION_RUNNING:
		if (m->succession.state == SUCCESSION_STARTING) {
			if (tp_supervisor_serving(m->supervisor) == m->places.n)
				tp_succession_ready(m);
		} else if (m->state == MASTER_STARTING && !tp_succession_pending(m)) {
			tp_master_is_ready(m);
		}
		break;
	case TP_SUPERVISION_BAD_TABLE: renew_table(m); return true;
	case TP_SUPERVISION_HOPELESS:
		tp_error("no worker could start: giving up");
		enter(m, MASTER_FAILED);
		break;
	case TP_SUPERVISION_GONE: enter(m, MASTER_GONE); break;
	}
	return false;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns how long there is nothing to do, in ms. */
static uint64_t turn(struct master *m)
{
	uint64_t wait = tp_supervisor_tick(m->supervisor);
	if (follow_workers(m))
		return 0;
	if (!tp_succession_pending(m)) { /* else the predecessor's still do their work */
		wait = min_of(wait, tp_admin_tick(m->admin, m->supervisor));
		wait = min_of(wait, tp_snapshots_tick(m->snapshots, m->supervisor));
	}
	wait = min_of(wait, tp_reload_tick(m));
	wait = min_of(wait, tp_upgrade_tick(m));
	wait = min_of(wait, tp_succession_tick(m));
	wait = min_of(wait, tp_alerts_tick(&m->alerts));
	tp_places_watch(&m->places, m->region);
	tp_ticket_keys_advance(tp_clock_boot_ms());
	if (m->state == MASTER_CLOSING) {
		uint64_t now = tp_clock_boot_ms();
		if (now >= m->closing_ends_ms) {
			read_signals(m); /* late ourselves: the end of the new master may wait there */
			if (m->state != MASTER_CLOSING)
				return 0;
			if (m->upgrade.state == UPGRADE_DONE && !m->upgrade.let_go)
				tp_upgrade_let_go(m);
			else
				close_listeners(m);
			return 0;
		}
		uint64_t left = m->closing_ends_ms - now;
		wait = wait < left ? wait : left;
	}
	tp_number_tell(m->region, TP_NUMBER_LOG_LOST, tp_log_dropped(), &m->losses_told);
	if (!tp_log_flush() && wait > LOG_RETRY_MS)
		wait = LOG_RETRY_MS;
	return wait;
}

static void serve(struct master *m)
{
	tp_files_wait_briefly(); /* a reload reads again what the start has read */
	enter(m, MASTER_STARTING);
	while (m->state != MASTER_GONE && m->state != MASTER_FAILED) {
		uint64_t wait = turn(m);
		struct pollfd p[] = {{.fd = m->fds.signal, .events = POLLIN},
				     {.fd = tp_admin_fd(m->admin), .events = POLLIN},
				     {.fd = m->fds.successor, .events = POLLIN},
				     {.fd = m->fds.predecessor, .events = POLLIN}};
		if (m->state != MASTER_GONE && m->state != MASTER_FAILED &&
		    poll(p, sizeof p / sizeof p[0], (int)wait) > 0)
			read_signals(m);
	}
}

/* ---- the end */

static void shut_down(struct master *m)
{
	tp_succession_end(m);
	tp_listeners_close(&m->listeners);
	tp_admin_close(m->admin, ADMIN_PATIENCE_MS); /* last: the workers' last numbers are in its file */
	tp_snapshots_close(m->snapshots, SNAPSHOTS_PATIENCE_MS);
	tp_alerts_close(&m->alerts, ALERTS_PATIENCE_MS);
	tp_supervisor_free(m->supervisor);
	tp_region_close(m->region);
	if (m->config->pid_file != NULL)
		tp_pidfile_remove(m->config->pid_file);
	tp_config_unref(m->config);
	if (m->state == MASTER_GONE)
		tp_info("stopped");
	if (m->fds.lock >= 0)
		(void)close(m->fds.lock);
	if (m->fds.successor >= 0)
		(void)close(m->fds.successor);
	if (m->fds.signal >= 0)
		(void)close(m->fds.signal);
	(void)tp_log_flush();
}
