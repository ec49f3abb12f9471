#include "server/engine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/marks.h"
#include "server/spawn.h"

enum { LOGICAL_REQUESTS = 128, URLS = 16, LEAVE_MS = 500 };

/* A reader that is busy does not stop the engine: a notice that finds no room is lost. */
static void tell(void *arg, const struct tp_notice *n)
{
	(void)send(*(const int *)arg, n, sizeof *n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static _Noreturn void run(struct tp_config *config, struct tp_region *region, int control_fd, int notices_fd,
			  int client_fd)
{
	const struct tp_observer observer = {.tell = tell, .arg = &notices_fd};
	int wake_fds[TP_WAKE_FDS];
	struct tp_worker_start start = {
		.config = config,
		.region = region,
		.stamp = tp_slot_assign(region, 0),
		.control_fd = control_fd,
		.client_fd = client_fd >= 0 ? &client_fd : NULL,
		.observer = &observer,
		.wake_fds = wake_fds,
		.snapshot_fd = -1,
	};
	if (tp_wake_open(wake_fds) != 0)
		exit(TP_WORKER_EXIT_CANNOT_START);
	tp_slot_enter(region, 0);
	int status = tp_worker_main(&start);
	(void)tp_log_flush();
	tp_region_close(region);
	exit(status);
}

static void close_pair(const int pair[2])
{
	(void)close(pair[0]);
	(void)close(pair[1]);
}

int tp_engine_start(struct tp_config *config, int client_fd, int keep_fd, enum tp_log_level level,
		    struct tp_engine *ret_engine)
{
	struct tp_region *region;
	int control[2], notices[2];
	int error = tp_region_open_anonymous((struct tp_region_sizes){LOGICAL_REQUESTS, URLS}, &region);
	if (error != 0)
		return error;
	tp_number_set(region, TP_NUMBER_STARTED_MS, tp_clock_boot_ms());
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, control) != 0) {
		tp_region_close(region);
		return -errno;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, notices) != 0) {
		error = -errno;
		close_pair(control);
		tp_region_close(region);
		return error;
	}
	(void)tp_log_open(level, TP_LOG_TEXT, NULL);
	(void)fflush(NULL); /* what stdio holds would be written a second time */
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(control[0]);
		(void)close(notices[0]);
		if (keep_fd >= 0)
			(void)close(keep_fd);
		tp_child_begin("engine", NULL);
		run(config, region, control[1], notices[1], client_fd);
	}
	error = pid < 0 ? -errno : 0;
	tp_region_close(region);
	(void)close(control[1]);
	(void)close(notices[1]);
	if (error != 0) {
		(void)close(control[0]);
		(void)close(notices[0]);
		return error;
	}
	*ret_engine = (struct tp_engine){.pid = pid, .control_fd = control[0], .notices_fd = notices[0]};
	return 0;
}

int tp_engine_notice(struct tp_engine *e, struct tp_notice *ret_notice)
{
	ssize_t n = recv(e->notices_fd, ret_notice, sizeof *ret_notice, MSG_DONTWAIT);
	if (n == (ssize_t)sizeof *ret_notice)
		return 1;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* False: it is still there after a while. */
static bool wait_end(const struct tp_engine *e)
{
	uint64_t until = tp_clock_boot_ms() + LEAVE_MS;
	struct tp_notice n;
	for (uint64_t now; (now = tp_clock_boot_ms()) < until;) {
		struct pollfd p = {.fd = e->notices_fd, .events = POLLIN};
		(void)poll(&p, 1, (int)(until - now));
		if (recv(e->notices_fd, &n, sizeof n, MSG_DONTWAIT) == 0)
			return true;
	}
	return false;
}

void tp_engine_stop(struct tp_engine *e)
{
	const struct tp_control_message quit = {.what = TP_CONTROL_QUIT};
	(void)send(e->control_fd, &quit, sizeof quit, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!wait_end(e))
		(void)kill(e->pid, SIGKILL);
	while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
		;
	(void)close(e->control_fd);
	(void)close(e->notices_fd);
}
