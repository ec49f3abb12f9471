#include "server/admin/admin.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "server/admin/process.h"
#include "server/deaths.h"
#include "server/listeners.h"
#include "server/spawn.h"
#include "server/supervise.h"

enum { TICK_MS = 1000, POLL_MS = 5 };

/* Moved by start_one(), tp_admin_ended() and tp_admin_renew(). */
enum state {
	STATE_AWAY,    /* no process */
	STATE_RUNNING, /* one serves */
	STATE_LEAVING, /* it was told to leave; the next one comes when it has */
};

struct tp_admin {
	struct tp_admin_setup setup;
	struct tp_listeners sockets;
	enum state state;
	bool draining;
	pid_t pid;
	int control_fd; /* -1 = none */
	uint64_t forked_ms, due_ms;
	struct tp_slot_deaths deaths;
};

int tp_admin_open(const struct tp_admin_setup *setup, struct tp_buf *why, struct tp_admin **ret_admin)
{
	static const uint8_t one_slot[] = {0}; /* one socket for each address */
	const struct tp_config *config = setup->config;
	if (config->admin.n_listeners == 0 && config->stats_file == NULL) {
		*ret_admin = NULL;
		return 0;
	}
	struct tp_admin *a = calloc(1, sizeof *a);
	if (a == NULL) {
		tp_buf_printf(why, "out of memory");
		return -ENOMEM;
	}
	a->setup = *setup;
	a->control_fd = -1;
	int error = tp_listeners_open(config->admin.listeners, config->admin.n_listeners, one_slot, 1,
				      &a->sockets, why);
	if (error != 0) {
		free(a);
		return error;
	}
	*ret_admin = a;
	return 0;
}

const char *tp_admin_address(const struct tp_admin *a, size_t i)
{
	return a != NULL && i < a->sockets.n_names ? a->sockets.names[i] : NULL;
}

/* ---- birth */

static _Noreturn void run_child(const struct tp_admin *a, const struct tp_supervisor *s, int control_fd)
{
	(void)prctl(PR_SET_NAME, "turnpike-admin");
	tp_child_begin("admin", a->setup.lock_fd, a->setup.signal_fd);
	tp_supervisor_let_go(s);
	/* A listening socket that anybody holds goes on taking connections. */
	for (size_t i = 0; i < a->setup.public_sockets->n_sockets; i++)
		(void)close(a->setup.public_sockets->sockets[i].fd);
	struct tp_admin_start start = {
		.view = {.config = a->setup.config,
			 .region = a->setup.region,
			 .slots = a->setup.slots,
			 .n_slots = a->setup.n_slots,
			 .draining = a->draining},
		.sockets = &a->sockets,
		.control_fd = control_fd,
	};
	int status = tp_admin_main(&start);
	(void)tp_log_flush();
	exit(status);
}

/* Returns the pid, or -errno. */
static pid_t spawn(struct tp_admin *a, const struct tp_supervisor *s)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
		return -errno;
	(void)fflush(NULL); /* what stdio holds would be written by the child a second time */
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(pair[0]);
		run_child(a, s, pair[1]);
	}
	int error = -errno;
	(void)close(pair[1]);
	if (pid < 0) {
		(void)close(pair[0]);
		return error;
	}
	a->control_fd = pair[0];
	return pid;
}

static void start_one(struct tp_admin *a, const struct tp_supervisor *s, uint64_t now)
{
	pid_t pid = spawn(a, s);
	if (pid < 0) {
		a->due_ms = now + tp_deaths_note(&a->deaths, now, now);
		tp_error("cannot fork the admin process: %s", strerror(-pid));
		return;
	}
	a->pid = pid;
	a->forked_ms = now;
	a->state = STATE_RUNNING;
	tp_debug("admin process started, pid %ld", (long)pid);
}

uint64_t tp_admin_tick(struct tp_admin *a, const struct tp_supervisor *s)
{
	uint64_t now = tp_clock_boot_ms();
	if (a == NULL || a->state != STATE_AWAY)
		return TICK_MS;
	if (now >= a->due_ms)
		start_one(a, s, now);
	if (a->state == STATE_AWAY && a->due_ms > now)
		return a->due_ms - now < TICK_MS ? a->due_ms - now : TICK_MS;
	return TICK_MS;
}

/* ---- the end */

static void close_control(struct tp_admin *a)
{
	if (a->control_fd >= 0)
		(void)close(a->control_fd);
	a->control_fd = -1;
}

static void log_death(pid_t pid, int status, const char *next)
{
	if (WIFSIGNALED(status))
		tp_error("the admin process (pid %ld) was ended by signal %d (%s)%s", (long)pid,
			 WTERMSIG(status), strsignal(WTERMSIG(status)), next);
	else
		tp_error("the admin process (pid %ld) exited with status %d%s", (long)pid,
			 WEXITSTATUS(status), next);
}

bool tp_admin_ended(struct tp_admin *a, pid_t pid, int status)
{
	if (a == NULL || a->state == STATE_AWAY || a->pid != pid)
		return false;
	close_control(a);
	if (a->state == STATE_LEAVING) {
		a->due_ms = 0;
	} else {
		uint64_t now = tp_clock_boot_ms();
		uint64_t wait = tp_deaths_note(&a->deaths, a->forked_ms, now);
		a->due_ms = now + wait;
		log_death(pid, status,
			  wait == 0 ? "; another one starts at once" : "; another one starts soon");
	}
	a->state = STATE_AWAY;
	return true;
}

static void tell(const struct tp_admin *a, enum tp_admin_control what)
{
	const char message = (char)what;
	if (a->control_fd >= 0)
		(void)send(a->control_fd, &message, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void tp_admin_drain(struct tp_admin *a)
{
	if (a == NULL)
		return;
	a->draining = true;
	tell(a, TP_ADMIN_DRAINING);
}

void tp_admin_reopen(struct tp_admin *a)
{
	if (a != NULL)
		tell(a, TP_ADMIN_REOPEN);
}

void tp_admin_renew(struct tp_admin *a, struct tp_region *region)
{
	if (a == NULL)
		return;
	a->setup.region = region;
	close_control(a);
	if (a->state == STATE_RUNNING)
		a->state = STATE_LEAVING;
}

void tp_admin_let_go(const struct tp_admin *a)
{
	if (a == NULL)
		return;
	if (a->control_fd >= 0)
		(void)close(a->control_fd);
	for (size_t i = 0; i < a->sockets.n_sockets; i++)
		(void)close(a->sockets.sockets[i].fd);
}

static void wait_end(pid_t pid, uint64_t patience_ms)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
	uint64_t until = tp_clock_boot_ms() + patience_ms;
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (tp_clock_boot_ms() >= until)
			(void)kill(pid, SIGKILL);
		(void)nanosleep(&pause, NULL);
	}
}

void tp_admin_close(struct tp_admin *a, uint64_t patience_ms)
{
	if (a == NULL)
		return;
	close_control(a);
	if (a->state != STATE_AWAY)
		wait_end(a->pid, patience_ms);
	tp_listeners_close(&a->sockets);
	free(a);
}
