#include "server/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/log.h"
#include "server/admin/admin.h"
#include "server/load.h"
#include "server/snapshots.h"
#include "workers/worker.h"

/* SIGXFSZ: a log that may not grow costs lines, not the process. */
/* A child obeys its control channel only.  Ctrl-C and service managers signal whole groups: the master
 * answers with a drain, which a worker that died of the same signal could not do. */
static const int ignored_signals[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ};

static void set_signals(void)
{
	for (size_t i = 0; i < sizeof ignored_signals / sizeof ignored_signals[0]; i++)
		(void)signal(ignored_signals[i], SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_all(const struct tp_master_fds *fds)
{
	const int all[] = {fds->lock, fds->signal, fds->successor, fds->predecessor};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i] >= 0)
			(void)close(all[i]);
}

void tp_child_begin(const char *role, const struct tp_master_fds *fds)
{
	tp_log_set_role(role);
	tp_log_copy_errors(false);
	if (fds != NULL)
		close_all(fds);
	set_signals();
}

void tp_spawn_let_go(const struct tp_spawn *spawn)
{
	if (spawn->handover != NULL) {
		(void)close(spawn->handover->bundle_fd);
		tp_listeners_let_go(spawn->handover->added);
	}
	tp_listeners_let_go(spawn->leaving);
}

static struct tp_config *load(const void *arg, struct tp_buf *errors)
{
	return tp_load_config(arg, errors);
}

static _Noreturn void run_child(const struct tp_spawn *spawn, struct tp_stamp stamp, int control_fd)
{
	char role[16];
	(void)snprintf(role, sizeof role, "worker %u", (unsigned)stamp.slot);
	tp_child_begin(role, spawn->fds);
	tp_admin_let_go(spawn->admin);
	tp_snapshots_let_go(spawn->snapshots);
	tp_spawn_let_go(spawn);
	tp_slot_enter(spawn->region, stamp.slot);
	struct tp_worker_start start = {
		.config = spawn->config,
		.region = spawn->region,
		.stamp = stamp,
		.control_fd = control_fd,
		.snapshot_fd = tp_snapshots_fd(spawn->snapshots),
		.wake_fds = spawn->wake_fds,
		.listeners = spawn->listeners->sockets,
		.n_listeners = spawn->listeners->n_sockets,
		.load = load,
		.load_arg = spawn->load,
	};
	int status = tp_worker_main(&start);
	(void)tp_log_flush();
	exit(status);
}

int tp_wake_open(int fds[TP_WAKE_FDS])
{
	for (int i = 0; i < TP_WAKE_FDS; i++)
		if ((fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
			return -errno;
	return 0;
}

pid_t tp_spawn_worker(const struct tp_spawn *spawn, struct tp_stamp stamp, const int *control_fds, size_t n,
		      int *ret_control_fd)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
		return -errno;
	/* What stdio holds would be written by the child a second time. */
	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid < 0) {
		int error = -errno;
		(void)close(pair[0]);
		(void)close(pair[1]);
		return error;
	}
	if (pid == 0) {
		(void)close(pair[0]);
		for (size_t i = 0; i < n; i++)
			if (control_fds[i] >= 0)
				(void)close(control_fds[i]);
		run_child(spawn, stamp, pair[1]);
	}
	(void)close(pair[1]);
	*ret_control_fd = pair[0];
	return pid;
}
