#include "server/alerts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/marks.h"

enum {
	TIME_LIMIT_MS = 30000,
	TICK_MS = 1000,
	POLL_MS = 5,
	KILLED_MS = 100,       /* by when a killed process is to be reaped */
	EXIT_CANNOT_RUN = 127, /* as shells have it */
};

/* Any pipe takes as much at once, so the master writes it all before anybody reads. */
_Static_assert((int)TP_ALERT_JSON_MAX <= (int)PIPE_BUF, "an alert fits into a pipe");

static void run(struct tp_alerts *a, enum tp_alert alert, struct tp_str json, uint64_t when_ms);

void tp_alerts_hear(struct tp_alerts *a, const struct tp_report_message *m, size_t n)
{
	const size_t head = offsetof(struct tp_report_message, json);
	if (n <= head || n > sizeof *m || m->what != TP_REPORT_ALERT || m->alert == TP_ALERT_NONE ||
	    m->alert >= TP_ALERT_COUNT)
		return;
	run(a, (enum tp_alert)m->alert, (struct tp_str){m->json, n - head}, m->when_ms);
}

void tp_alerts_enter(struct tp_alerts *a, struct tp_stamp owner)
{
	struct tp_str kind = tp_str_from(tp_alert_name(TP_ALERT_WORKER_DIED));
	a->deaths = tp_series_open(a->region, owner, TP_METRIC_ALERTS, &kind);
}

void tp_alerts_worker_died(struct tp_alerts *a, unsigned slot, pid_t pid, int status)
{
	uint64_t now = tp_clock_boot_ms();
	if (!tp_alert_due(a->region, TP_ALERT_WORKER_DIED, now))
		return;
	tp_series_add_shared(a->region, a->deaths, 1);
	char details[96];
	(void)snprintf(details, sizeof details, "\"worker\":%u,\"pid\":%ld,\"%s\":%d", slot, (long)pid,
		       WIFSIGNALED(status) ? "signal" : "exit_status",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	struct tp_buf json = {0};
	tp_alert_write(&json, TP_ALERT_WORKER_DIED, NULL, tp_clock_wall_ms(), tp_str_from(details));
	if (!json.failed)
		run(a, TP_ALERT_WORKER_DIED, tp_buf_str(&json), now);
	tp_buf_free(&json);
}

/* ---- birth */

/* The child: an ordinary process again, with the alert on its standard input. */
static _Noreturn void become_command(char *const *argv, int input)
{
	tp_log_set_role("alert");
	(void)setpgid(0, 0);
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL); /* the master ignores and blocks some; exec would keep that */
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (input == STDIN_FILENO) /* the master was started without one */
		(void)fcntl(input, F_SETFD, 0);
	else
		(void)dup2(input, STDIN_FILENO);
	(void)execvp(argv[0], argv);
	tp_error("alerts.command: cannot run %s: %s", argv[0], strerror(errno));
	_exit(EXIT_CANNOT_RUN);
}

/* A pipe with the whole text in it and no writer behind it. Returns its reading end, or -errno. */
static int pipe_with(struct tp_str text)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	ssize_t n = write(ends[1], text.p, text.n);
	int error = n == (ssize_t)text.n ? 0 : n < 0 ? -errno : -EIO;
	(void)close(ends[1]);
	if (error == 0)
		return ends[0];
	(void)close(ends[0]);
	return error;
}

/* Returns the pid, or -errno. */
static pid_t start(char *const *argv, struct tp_str json)
{
	int input = pipe_with(json);
	if (input < 0)
		return input;
	pid_t pid = fork();
	if (pid == 0)
		become_command(argv, input);
	int error = -errno;
	(void)close(input);
	if (pid < 0)
		return error;
	(void)setpgid(pid, pid); /* here as well: the group must be there before it may have to be killed */
	return pid;
}

/* Who should have heard of it has not, or says that it went wrong. */
static void lose(struct tp_alerts *a)
{
	if (a->region != NULL) /* else the server gives up */
		(void)tp_number_add(a->region, TP_NUMBER_ALERTS_LOST, 1);
}

static void run(struct tp_alerts *a, enum tp_alert alert, struct tp_str json, uint64_t when_ms)
{
	struct tp_alert_run *r = &a->runs[alert];
	if (a->config->alerts.n_command == 0)
		return;
	/* The mark in the table says the same, until a fresh table comes. */
	if (r->told && when_ms < r->told_when_ms + TP_ALERT_EVERY_MS)
		return;
	if (r->state != TP_ALERT_RUN_NONE) {
		lose(a);
		tp_warn("alert %s is not told: the command of the last one has not ended",
			tp_alert_name(alert));
		return;
	}
	pid_t pid = start(a->config->alerts.command, json);
	if (pid < 0) {
		lose(a);
		tp_error("alerts.command: cannot start a process: %s", strerror(-pid));
		return;
	}
	*r = (struct tp_alert_run){.state = TP_ALERT_RUN_GOING,
				   .pid = pid,
				   .started_ms = tp_clock_boot_ms(),
				   .told = true,
				   .told_when_ms = when_ms};
}

/* ---- the end */

static void note_end(struct tp_alerts *a, enum tp_alert alert, const struct tp_alert_run *r, int status)
{
	const char *name = tp_alert_name(alert);
	if (status != 0)
		lose(a);
	if (r->state == TP_ALERT_RUN_KILLED)
		return; /* that was said when it was killed */
	if (WIFSIGNALED(status))
		tp_warn("alerts.command for %s was ended by signal %d (%s)", name, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		tp_warn("alerts.command for %s exited with status %d", name, WEXITSTATUS(status));
	else
		tp_debug("alerts.command for %s is done", name);
}

bool tp_alerts_ended(struct tp_alerts *a, pid_t pid, int status)
{
	for (unsigned i = 0; i < TP_ALERT_COUNT; i++) {
		struct tp_alert_run *r = &a->runs[i];
		if (r->state == TP_ALERT_RUN_NONE || r->pid != pid)
			continue;
		note_end(a, (enum tp_alert)i, r, status);
		r->state = TP_ALERT_RUN_NONE;
		return true;
	}
	return false;
}

static void kill_run(struct tp_alert_run *r)
{
	(void)kill(-r->pid, SIGKILL);
	r->state = TP_ALERT_RUN_KILLED;
}

uint64_t tp_alerts_tick(struct tp_alerts *a)
{
	uint64_t now = tp_clock_boot_ms(), wait = TICK_MS;
	for (unsigned i = 0; i < TP_ALERT_COUNT; i++) {
		struct tp_alert_run *r = &a->runs[i];
		if (r->state != TP_ALERT_RUN_GOING)
			continue;
		uint64_t ends = r->started_ms + TIME_LIMIT_MS;
		if (now >= ends) {
			tp_warn("alerts.command for %s ran for %d s: killed", tp_alert_name((enum tp_alert)i),
				TIME_LIMIT_MS / 1000);
			kill_run(r);
		} else if (ends - now < wait) {
			wait = ends - now;
		}
	}
	return wait;
}

void tp_alerts_kill(struct tp_alerts *a)
{
	for (unsigned i = 0; i < TP_ALERT_COUNT; i++) {
		struct tp_alert_run *r = &a->runs[i];
		if (r->state != TP_ALERT_RUN_GOING)
			continue;
		tp_warn("alerts.command for %s is killed, as the server stops",
			tp_alert_name((enum tp_alert)i));
		kill_run(r);
	}
}

static void reap(struct tp_alerts *a)
{
	for (unsigned i = 0; i < TP_ALERT_COUNT; i++) {
		int status;
		pid_t pid = a->runs[i].pid;
		if (a->runs[i].state != TP_ALERT_RUN_NONE && waitpid(pid, &status, WNOHANG) == pid)
			(void)tp_alerts_ended(a, pid, status);
	}
}

static bool any_runs(const struct tp_alerts *a)
{
	for (unsigned i = 0; i < TP_ALERT_COUNT; i++)
		if (a->runs[i].state != TP_ALERT_RUN_NONE)
			return true;
	return false;
}

static void wait_for_all(struct tp_alerts *a, uint64_t patience_ms)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
	uint64_t until = tp_clock_boot_ms() + patience_ms;
	for (reap(a); any_runs(a) && tp_clock_boot_ms() < until; reap(a))
		(void)nanosleep(&pause, NULL);
}

void tp_alerts_close(struct tp_alerts *a, uint64_t patience_ms)
{
	wait_for_all(a, patience_ms);
	tp_alerts_kill(a);
	wait_for_all(a, KILLED_MS); /* whoever does not go even now is init's */
}
