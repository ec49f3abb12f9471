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
#include "server/listeners_pass.h"
#include "server/spawn.h"
#include "server/supervise.h"

enum { TICK_MS = 1000, POLL_MS = 5 };

static const uint8_t one_slot[] = {0}; /* one socket for each address */

/* Moved by start_one(), tp_admin_ended() and tp_admin_renew(). */
enum state {
	STATE_AWAY,    /* no process */
	STATE_RUNNING, /* one serves */
	STATE_LEAVING, /* it was told to leave; the next one comes when it has */
};

struct tp_admin {
	struct tp_admin_setup setup;
	struct tp_listeners sockets;
	struct tp_listeners added;   /* by a reload that is under way */
	struct tp_listeners leaving; /* of an earlier master, until tp_admin_settle() */
	enum state state;
	bool retired;            /* a successor has the addresses */
	bool draining, outdated; /* it is to be replaced when nobody waits for it */
	bool deaf;               /* its channel has ended; its death is not known yet */
	uint64_t asked, answers,
		answered;           /* numbers of its requests: the last one, of the reload under way, done */
	struct tp_buf reload_error; /* lines; empty = the last one was good */
	pid_t pid;
	int control_fd; /* -1 = none */
	uint64_t forked_ms, due_ms;
	struct tp_slot_deaths deaths;
};

int tp_admin_open(const struct tp_admin_setup *setup, struct tp_buf *why, struct tp_admin **ret_admin)
{
	const struct tp_config *config = setup->config;
	struct tp_admin *a = calloc(1, sizeof *a);
	if (a == NULL) {
		tp_buf_printf(why, "out of memory");
		return -ENOMEM;
	}
	a->setup = *setup;
	a->control_fd = -1;
	const struct tp_listeners_want want = {config->admin.listeners, config->admin.n_listeners, one_slot,
					       1};
	int error = setup->inherited != NULL
			    ? tp_listeners_take_over(setup->inherited, one_slot, 1, &want, &a->sockets,
						     &a->leaving, why)
			    : tp_listeners_open(want.confs, want.n_confs, one_slot, 1, &a->sockets, why);
	if (error != 0) {
		free(a);
		return error;
	}
	*ret_admin = a;
	return 0;
}

const char *tp_admin_address(const struct tp_admin *a, size_t i)
{
	return a != NULL && i < a->sockets.n_names ? a->sockets.names[i].text : NULL;
}

/* ---- the channel */

static void tell(struct tp_admin *a, const struct tp_admin_message *m, size_t n)
{
	if (a->control_fd >= 0)
		(void)send(a->control_fd, m, offsetof(struct tp_admin_message, text) + n,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
}

int tp_admin_fd(const struct tp_admin *a)
{
	return a == NULL || a->deaf ? -1 : a->control_fd;
}

bool tp_admin_asked(struct tp_admin *a)
{
	struct tp_admin_request r;
	ssize_t n = -1;
	if (a == NULL)
		return false;
	while (!a->deaf && a->control_fd >= 0 && (n = recv(a->control_fd, &r, sizeof r, MSG_DONTWAIT)) > 0)
		if (n == (ssize_t)sizeof r)
			a->asked = r.number;
	a->deaf = a->deaf || n == 0;
	return a->asked > a->answers;
}

void tp_admin_reload_begins(struct tp_admin *a)
{
	if (a != NULL)
		a->answers = a->asked;
}

void tp_admin_reload_ended(struct tp_admin *a, bool good, uint64_t generation, struct tp_str lines)
{
	if (a == NULL)
		return;
	struct tp_admin_message m = {
		.what = TP_ADMIN_OUTCOME, .good = good, .asked = a->answers, .generation = generation};
	size_t n = lines.n < sizeof m.text ? lines.n : sizeof m.text;
	if (n > 0)
		memcpy(m.text, lines.p, n);
	a->answered = a->answers;
	tp_buf_free(&a->reload_error);
	if (!good)
		tp_buf_add(&a->reload_error, m.text, n);
	tell(a, &m, n);
}

static void close_control(struct tp_admin *a)
{
	if (a->control_fd >= 0)
		(void)close(a->control_fd);
	a->control_fd = -1;
}

static void let_leave(struct tp_admin *a)
{
	close_control(a);
	if (a->state == STATE_RUNNING)
		a->state = STATE_LEAVING;
}

/* ---- a reload */

int tp_admin_prepare(struct tp_admin *a, const struct tp_config *next, struct tp_buf *why)
{
	const struct tp_config *now = a->setup.config;
	const struct tp_listeners_want want = {next->admin.listeners, next->admin.n_listeners, one_slot, 1};
	return tp_listeners_prepare(&a->sockets, now->admin.listeners, now->admin.n_listeners, &want,
				    &a->added, why);
}

void tp_admin_abort(struct tp_admin *a)
{
	tp_listeners_close(&a->added);
}

void tp_admin_switch(struct tp_admin *a, const struct tp_config *next, unsigned n_slots)
{
	const struct tp_config *now = a->setup.config;
	const struct tp_listeners_want want = {next->admin.listeners, next->admin.n_listeners, one_slot, 1};
	struct tp_listeners removed = {0};
	tp_listeners_switch(&a->sockets, now->admin.listeners, now->admin.n_listeners, &want, &a->added,
			    &removed);
	tp_listeners_begin(&a->sockets);
	tp_listeners_close(&removed);
	a->setup.config = next;
	a->setup.n_slots = n_slots;
	a->outdated = true;
}

static void replace_outdated(struct tp_admin *a)
{
	if (!a->outdated || tp_admin_asked(a) || a->answered < a->answers)
		return;
	static const struct tp_admin_message m = {.what = TP_ADMIN_LEAVE};
	a->outdated = false;
	if (a->state != STATE_RUNNING)
		return;
	tell(a, &m, 0);
	a->state = STATE_LEAVING;
}

/* ---- birth */

static bool is_wanted(const struct tp_admin *a)
{
	return !a->retired && (a->setup.config->admin.n_listeners > 0 || a->setup.config->stats_file != NULL);
}

static _Noreturn void run_child(const struct tp_admin *a, const struct tp_supervisor *s, int control_fd)
{
	(void)prctl(PR_SET_NAME, "turnpike-admin");
	tp_child_begin("admin", a->setup.fds);
	tp_supervisor_let_go(s);
	/* A listening socket that anybody holds goes on taking connections. */
	tp_listeners_let_go(a->setup.public_sockets);
	tp_listeners_let_go(&a->added);
	tp_listeners_let_go(&a->leaving);
	struct tp_admin_start start = {
		.view = {.config = a->setup.config,
			 .file = a->setup.file,
			 .region = a->setup.region,
			 .slots = a->setup.slots,
			 .n_slots = a->setup.n_slots,
			 .draining = a->draining},
		.sockets = &a->sockets,
		.control_fd = control_fd,
		.reload_error = a->reload_error.len > 0
					? tp_buf_cstr((struct tp_buf *)(uintptr_t)&a->reload_error)
					: NULL,
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
	a->deaf = false;
	a->asked = a->answers = a->answered = 0;
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
	if (a == NULL)
		return TICK_MS;
	replace_outdated(a);
	if (a->state != STATE_AWAY || !is_wanted(a))
		return TICK_MS;
	if (now >= a->due_ms)
		start_one(a, s, now);
	if (a->state == STATE_AWAY && a->due_ms > now)
		return a->due_ms - now < TICK_MS ? a->due_ms - now : TICK_MS;
	return TICK_MS;
}

/* ---- the end */

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

void tp_admin_drain(struct tp_admin *a)
{
	static const struct tp_admin_message m = {.what = TP_ADMIN_DRAINING};
	if (a == NULL)
		return;
	a->draining = true;
	tell(a, &m, 0);
}

void tp_admin_reopen(struct tp_admin *a)
{
	static const struct tp_admin_message m = {.what = TP_ADMIN_REOPEN};
	if (a != NULL)
		tell(a, &m, 0);
}

void tp_admin_renew(struct tp_admin *a, struct tp_region *region)
{
	if (a == NULL)
		return;
	a->setup.region = region;
	let_leave(a);
}

void tp_admin_let_go(const struct tp_admin *a)
{
	if (a == NULL)
		return;
	if (a->control_fd >= 0)
		(void)close(a->control_fd);
	tp_listeners_let_go(&a->sockets);
	tp_listeners_let_go(&a->added);
	tp_listeners_let_go(&a->leaving);
}

/* ---- an upgrade */

const struct tp_listeners *tp_admin_sockets(const struct tp_admin *a)
{
	return a != NULL ? &a->sockets : NULL;
}

void tp_admin_retire(struct tp_admin *a)
{
	static const struct tp_admin_message m = {.what = TP_ADMIN_LEAVE};
	if (a == NULL)
		return;
	a->retired = true;
	a->outdated = false;
	tp_listeners_disown_paths(&a->sockets);
	if (a->state != STATE_RUNNING)
		return;
	tell(a, &m, 0);
	a->state = STATE_LEAVING;
}

void tp_admin_let_retire(struct tp_admin *a)
{
	if (a != NULL)
		tp_listeners_close(&a->sockets);
}

void tp_admin_resume(struct tp_admin *a)
{
	if (a == NULL)
		return;
	a->retired = false;
	tp_listeners_own_paths(&a->sockets, a->setup.config->admin.listeners);
}

void tp_admin_take_over(struct tp_admin *a)
{
	if (a == NULL)
		return;
	tp_listeners_begin(&a->sockets);
	tp_listeners_own_paths(&a->sockets, a->setup.config->admin.listeners);
}

void tp_admin_settle(struct tp_admin *a, const struct tp_inherited_listeners *in)
{
	if (a == NULL)
		return;
	tp_listeners_own_paths(&a->leaving, in->confs);
	tp_listeners_close(&a->leaving);
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
	tp_listeners_close(&a->added);
	tp_listeners_close(&a->leaving);
	tp_buf_free(&a->reload_error);
	free(a);
}
