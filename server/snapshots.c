#include "server/snapshots.h"

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
#include "common/config/keep.h"
#include "server/admin/admin.h"
#include "server/deaths.h"
#include "server/snapshot_writer.h"
#include "server/spawn.h"
#include "server/supervise.h"
#include "workers/worker.h"

enum { TICK_MS = 1000, POLL_MS = 5, RETRY_MS = 100, BUFFER_BYTES = 1024 * 1024 };

/* Moved by start_one() and tp_snapshots_ended(). */
enum state { STATE_AWAY, STATE_RUNNING, STATE_KILLED };

struct tp_snapshots {
	struct tp_snapshots_setup setup;
	enum state state;
	pid_t pid;
	int ends[2];  /* read, write */
	bool retired; /* another master's process reads what is sent */
	bool reopen;  /* it is still to be told to open the log anew */
	uint64_t forked_ms, due_ms;
	struct tp_slot_deaths deaths;
};

static int open_ends(int ends[2])
{
	const int bytes = BUFFER_BYTES; /* the system may give less */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	(void)setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	return 0;
}

int tp_snapshots_open(const struct tp_snapshots_setup *setup, struct tp_snapshots **ret)
{
	*ret = NULL;
	if (setup->config->snapshots.directory == NULL)
		return 0;
	struct tp_snapshots *s = calloc(1, sizeof *s);
	if (s == NULL)
		return -ENOMEM;
	s->setup = *setup;
	int error = 0;
	if (setup->inherited[0] >= 0)
		memcpy(s->ends, setup->inherited, sizeof s->ends);
	else
		error = open_ends(s->ends);
	if (error != 0) {
		free(s);
		return error;
	}
	*ret = s;
	return 0;
}

const int *tp_snapshots_ends(const struct tp_snapshots *s)
{
	static const int none[] = {-1, -1};
	return s != NULL ? s->ends : none;
}

int tp_snapshots_fd(const struct tp_snapshots *s)
{
	return s != NULL ? s->ends[1] : -1;
}

void tp_snapshots_let_go(const struct tp_snapshots *s)
{
	if (s != NULL)
		(void)close(s->ends[0]);
}

/* ---- birth */

/* Should this new master die at once, the one before it goes on with a process of its own, and two would keep
 * twice as many files. Returns whether that is so. */
static bool follow(const struct tp_snapshots *s, pid_t master)
{
	if (s->setup.fds->predecessor < 0)
		return false;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != master)
		_exit(0);
	return true;
}

static _Noreturn void run_child(const struct tp_snapshots *s, const struct tp_supervisor *supervisor,
				pid_t master)
{
	bool on_trial = follow(s, master);
	(void)prctl(PR_SET_NAME, "turnpike-snaps");
	tp_child_begin("snapshots", s->setup.fds);
	tp_supervisor_let_go(supervisor);
	tp_admin_let_go(s->setup.admin);
	/* A listening socket that anybody holds goes on taking connections. */
	for (size_t i = 0; i < s->setup.public_sockets->n_sockets; i++)
		(void)close(s->setup.public_sockets->sockets[i].fd);
	(void)close(s->ends[1]); /* the end of all others is seen */
	tp_snapshot_writer_main(s->setup.config, s->setup.region, s->ends[0], on_trial);
	(void)tp_log_flush();
	exit(0);
}

static void start_one(struct tp_snapshots *s, const struct tp_supervisor *supervisor, uint64_t now)
{
	(void)fflush(NULL); /* what stdio holds would be written by the child a second time */
	pid_t master = getpid(), pid = fork();
	if (pid == 0)
		run_child(s, supervisor, master);
	if (pid < 0) {
		tp_error("cannot fork the process for snapshots: %s", strerror(errno));
		s->due_ms = now + tp_deaths_note(&s->deaths, now, now);
		return;
	}
	s->pid = pid;
	s->forked_ms = now;
	s->reopen = false;
	s->state = STATE_RUNNING;
}

static void tell_reopen(struct tp_snapshots *s)
{
	const struct tp_snapshot_head m = {.what = TP_SNAPSHOT_REOPEN};
	if (s->reopen && send(s->ends[1], &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		s->reopen = false;
}

uint64_t tp_snapshots_tick(struct tp_snapshots *s, const struct tp_supervisor *supervisor)
{
	uint64_t now = tp_clock_boot_ms();
	if (s == NULL)
		return TICK_MS;
	if (s->state == STATE_AWAY && !s->retired && now >= s->due_ms)
		start_one(s, supervisor, now);
	tell_reopen(s);
	if (s->reopen)
		return RETRY_MS;
	if (s->state == STATE_AWAY && !s->retired && s->due_ms > now)
		return s->due_ms - now < TICK_MS ? s->due_ms - now : TICK_MS;
	return TICK_MS;
}

void tp_snapshots_reopen(struct tp_snapshots *s)
{
	if (s == NULL)
		return;
	s->reopen = s->state == STATE_RUNNING;
	tell_reopen(s);
}

/* ---- the end */

bool tp_snapshots_ended(struct tp_snapshots *s, pid_t pid, int status)
{
	if (s == NULL || s->state == STATE_AWAY || s->pid != pid)
		return false;
	uint64_t now = tp_clock_boot_ms();
	s->due_ms = s->state == STATE_KILLED ? 0 : now + tp_deaths_note(&s->deaths, s->forked_ms, now);
	if (s->state == STATE_RUNNING && WIFSIGNALED(status))
		tp_error(
			"the process for snapshots (pid %ld) was ended by signal %d (%s); another one starts",
			(long)pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (s->state == STATE_RUNNING)
		tp_error("the process for snapshots (pid %ld) exited with status %d; another one starts",
			 (long)pid, WEXITSTATUS(status));
	s->state = STATE_AWAY;
	return true;
}

void tp_snapshots_renew(struct tp_snapshots *s, struct tp_region *region)
{
	if (s == NULL)
		return;
	s->setup.region = region;
	if (s->state == STATE_RUNNING) {
		(void)kill(s->pid, SIGKILL); /* a file appears under its name when it is whole */
		s->state = STATE_KILLED;
	}
}

void tp_snapshots_retire(struct tp_snapshots *s)
{
	if (s == NULL)
		return;
	s->retired = true;
	if (s->state == STATE_RUNNING && kill(s->pid, SIGKILL) == 0) /* as above */
		s->state = STATE_KILLED;
}

void tp_snapshots_resume(struct tp_snapshots *s)
{
	if (s != NULL)
		s->retired = false;
}

void tp_snapshots_close(struct tp_snapshots *s, uint64_t patience_ms)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
	uint64_t until = tp_clock_boot_ms() + patience_ms;
	if (s == NULL)
		return;
	(void)close(s->ends[0]);
	(void)close(s->ends[1]);
	while (s->state != STATE_AWAY && waitpid(s->pid, NULL, WNOHANG) == 0) {
		if (tp_clock_boot_ms() >= until)
			(void)kill(s->pid, SIGKILL);
		(void)nanosleep(&pause, NULL);
	}
	free(s);
}

/* A writer that logs to another place is replaced. What is queued waits in the socket for the next one. */
void tp_snapshots_switch(struct tp_snapshots *s, const struct tp_config *next)
{
	if (s == NULL)
		return;
	bool same = tp_config_same_log(s->setup.config, next);
	s->setup.config = next;
	if (!same && s->state == STATE_RUNNING && kill(s->pid, SIGKILL) == 0)
		s->state = STATE_KILLED;
}
