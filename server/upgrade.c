/*
 * Replacing the binary, as the running master sees it: the new one is started with everything that must not
 * be lost, and gets it when its workers serve.  Until then nothing has changed here.
 */
#include "server/upgrade.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "server/master_parts.h"
#include "server/notify.h"

enum {
	READY_MS = 60000,
	STOP_MS = 1000,
	LEAVING_MS = 5000, /* longer than shut_down() waits in a new master that gives up */
	IDLE_MS = 1000,
	POLL_MS = 20,
	EXIT_CANNOT_RUN = 127,
};

static char **arguments; /* NULL at the end */

bool tp_upgrade_remember(int argc, char **argv)
{
	arguments = calloc((size_t)argc + 1, sizeof *arguments);
	if (arguments == NULL)
		return false;
	memcpy(arguments, argv, (size_t)argc * sizeof *arguments);
	return true;
}

/* ---- birth */

/* The child. The path is the one that this binary was started by: a package has put the new one there, while
 * /proc/self/exe is the old file. */
static _Noreturn void become_successor(const struct tp_bequest *b, int fd)
{
	char number[16];
	(void)snprintf(number, sizeof number, "%d", fd);
	if (!tp_bequest_keep_open(b, fd) || setenv(TP_INHERIT_VARIABLE, number, 1) != 0) {
		tp_error("upgrade: cannot hand over: %s", strerror(errno));
		_exit(EXIT_CANNOT_RUN);
	}
	for (int n = 1; n < NSIG; n++)
		(void)signal(n, SIG_DFL); /* what is ignored or blocked stays so over exec */
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* execvp() would have a shell read what is no program: half a file, or another machine's. */
	if (strchr(arguments[0], '/') != NULL)
		(void)execv(arguments[0], arguments);
	else
		(void)execvp(arguments[0], arguments);
	tp_error("upgrade: cannot run %s: %s", arguments[0], strerror(errno));
	(void)tp_log_flush();
	_exit(EXIT_CANNOT_RUN);
}

/* Returns the pid, or -errno. */
static pid_t start(struct master *m, int channel)
{
	static const struct tp_listeners no_sockets;
	const struct tp_listeners *admin = tp_admin_sockets(m->admin);
	const struct tp_config *c = m->config;
	bool taken[TP_SHM_SLOTS];
	tp_places_occupied(&m->places, m->region, taken);
	const struct tp_bequest b = {
		.state_name = c->state.name,
		.generation = c->generation,
		.channel_fd = channel,
		.lock_fd = m->fds.lock,
		.wake_fds = m->wake_fds,
		.snapshot_fds = tp_snapshots_ends(m->snapshots),
		.slots = m->places.slots,
		.n_slots = m->places.n,
		.taken = taken,
		.public = &m->listeners,
		.public_confs = c->listeners,
		.n_public = c->n_listeners,
		.admin = admin != NULL ? admin : &no_sockets,
		.admin_confs = c->admin.listeners,
		.n_admin = admin != NULL ? c->admin.n_listeners : 0,
	};
	int fd = tp_bequest_write(&b);
	if (fd < 0)
		return fd;
	(void)fflush(NULL); /* what stdio holds would be written by the child a second time */
	(void)tp_log_flush();
	pid_t pid = fork();
	if (pid == 0)
		become_successor(&b, fd);
	int error = -errno;
	(void)close(fd);
	return pid < 0 ? error : pid;
}

static void begin(struct master *m)
{
	int pair[2];
	m->upgrade.wanted = false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
		tp_error("upgrade: %s", strerror(errno));
		return;
	}
	pid_t pid = start(m, pair[1]);
	(void)close(pair[1]);
	if (pid < 0) {
		tp_error("upgrade: cannot start %s: %s", arguments[0], strerror(-pid));
		(void)close(pair[0]);
		return;
	}
	tp_info("upgrade: %s is started, pid %ld", arguments[0], (long)pid);
	m->fds.successor = pair[0];
	m->upgrade.pid = pid;
	m->upgrade.ends_ms = tp_clock_boot_ms() + READY_MS;
	m->upgrade.logs_renamed = m->upgrade.asked_to_stop = m->upgrade.let_go = m->upgrade.ended = false;
	m->upgrade.state = UPGRADE_STARTING;
}

void tp_upgrade_want(struct master *m)
{
	if (tp_upgrade_runs(m) || m->upgrade.state == UPGRADE_DONE)
		tp_warn("SIGUSR2: an upgrade is under way; this one is ignored");
	else if (m->state > MASTER_READY)
		tp_warn("SIGUSR2: the server stops: the upgrade is ignored");
	else
		m->upgrade.wanted = true;
}

bool tp_upgrade_runs(const struct master *m)
{
	return m->upgrade.state == UPGRADE_STARTING || m->upgrade.state == UPGRADE_KILLED;
}

/* ---- how it ends */

static void close_channel(struct master *m)
{
	if (m->fds.successor >= 0)
		(void)close(m->fds.successor);
	m->fds.successor = -1;
}

/* Its workers, if there were any, see their master go and leave; this table may be theirs. */
static void end_failed(struct master *m)
{
	close_channel(m);
	tp_region_drop_beside(m->config->state.name);
	tp_places_adopt(&m->places, m->region);
	m->upgrade.state = UPGRADE_NONE;
}

/* Somebody has removed the file of this one's table. What has the name is the new master's: of that nobody
 * shall read, and in it nobody clear anything. */
static void lose_name(const char *name, uint64_t mine, int error)
{
	uint64_t there = tp_region_identity(name);
	if (there != 0 && there != mine)
		tp_region_drop(name);
	tp_error("the shared table does not get its name %s back: %s; no command finds it until a restart",
		 name, strerror(-error));
}

enum { END_TEXT = 80 };

static const char *how_ended(int status, char text[END_TEXT])
{
	if (WIFSIGNALED(status))
		(void)snprintf(text, END_TEXT, "was ended by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else
		(void)snprintf(text, END_TEXT, "exited with status %d", WEXITSTATUS(status));
	return text;
}

/* A new master that was stopped is obeyed; one that fails at once is not worth the service. Its workers
 * leave, as their master has gone. */
static void take_back(struct master *m, int status)
{
	const char *name = m->config->state.name;
	char how[END_TEXT];
	if (status == 0 || m->upgrade.asked_to_stop || !tp_master_take_back(m))
		return;
	/* they change places again, and its table is dropped */
	bool changed = m->upgrade.table != 0 && tp_region_identity(name) != m->upgrade.table;
	int error = changed ? tp_region_put_in_place(name) : 0;
	if (error != 0)
		lose_name(name, m->upgrade.table, error);
	tp_error("upgrade: the new master (pid %ld) %s in its first second; this one goes on serving",
		 (long)m->upgrade.pid, how_ended(status, how));
	end_failed(m);
}

bool tp_upgrade_ended(struct master *m, pid_t pid, int status)
{
	struct upgrade *u = &m->upgrade;
	char how[END_TEXT];
	if (u->state == UPGRADE_NONE || u->pid != pid)
		return false;
	if (u->state == UPGRADE_DONE) {
		u->ended = true; /* its pid may be anybody's from now on */
		take_back(m, status);
		if (m->state == MASTER_CLOSING && !u->let_go)
			m->closing_ends_ms = tp_clock_boot_ms(); /* nothing is awaited any more */
		return true;
	}
	if (u->state == UPGRADE_STARTING)
		tp_error("upgrade: the new binary (pid %ld) %s before it was ready, see above; this one goes "
			 "on serving",
			 (long)pid, how_ended(status, how));
	end_failed(m);
	return true;
}

static void kill_successor(struct master *m)
{
	(void)kill(m->upgrade.pid, SIGKILL);
	close_channel(m);
	m->upgrade.state = UPGRADE_KILLED;
}

/* To the new master, which takes signals when it has said that it is ready, and not before. */
static void pass_signal_on(const struct master *m, int number)
{
	(void)kill(m->upgrade.pid, number);
}

bool tp_upgrade_pass_on(struct master *m, int number)
{
	struct upgrade *u = &m->upgrade;
	if (u->state == UPGRADE_STARTING) {
		u->logs_renamed |= number == SIGUSR1; /* it may have opened the old ones */
		return false;
	}
	if (u->state != UPGRADE_DONE || u->ended)
		return false;
	pass_signal_on(m, number);
	return true;
}

void tp_upgrade_cancel(struct master *m, const char *why)
{
	m->upgrade.wanted = false;
	if (m->upgrade.state != UPGRADE_STARTING)
		return;
	tp_warn("upgrade: %s: the new binary (pid %ld) is killed", why, (long)m->upgrade.pid);
	kill_successor(m);
}

/* A reload that was asked for meanwhile: by signal it is the new master's affair, which may have read the
 * configuration before. Whoever asked over HTTP is told. */
static void pass_reload_on(struct master *m)
{
	struct tp_buf why = {0};
	if (m->reload.wanted)
		pass_signal_on(m, SIGHUP);
	m->reload.wanted = false;
	if (!tp_admin_asked(m->admin))
		return;
	tp_admin_reload_begins(m->admin);
	tp_buf_add_str(&why, TP_STR("the binary was replaced meanwhile: ask again"));
	tp_admin_reload_ended(m->admin, false, m->config->generation, tp_buf_str(&why));
	tp_buf_free(&why);
}

/*
 * From here on everything is the new one's, but nothing is closed yet: see take_back().  The service manager
 * hears of its new main process first, from the one that it knows; then the new one is told that everything
 * is its own.
 */
static void finish(struct master *m)
{
	const char go = TP_UPGRADE_GO;
	char line[40];
	(void)snprintf(line, sizeof line, "MAINPID=%ld\n", (long)m->upgrade.pid);
	(void)tp_notify(line);
	m->upgrade.table = tp_region_identity(m->config->state.name);
	m->upgrade.state = UPGRADE_DONE;
	pass_reload_on(m);
	if (m->upgrade.logs_renamed)
		pass_signal_on(m, SIGUSR1);
	tp_info("upgrade: pid %ld serves; this one finishes what is running, for up to %u s",
		(long)m->upgrade.pid, m->config->drain_ms / 1000);
	tp_master_hand_over(m);
	(void)send(m->fds.successor, &go, sizeof go, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void hear(struct master *m)
{
	char word;
	ssize_t n = m->fds.successor >= 0 ? recv(m->fds.successor, &word, sizeof word, MSG_DONTWAIT) : -1;
	if (n == 0) {
		close_channel(m); /* it ends, or has closed everything; its end or the time will tell */
		if (m->upgrade.state == UPGRADE_DONE && !m->upgrade.let_go && m->state == MASTER_CLOSING)
			m->closing_ends_ms = tp_clock_boot_ms() + LEAVING_MS;
	} else if (n == 1 && word == TP_UPGRADE_READY && m->upgrade.state == UPGRADE_STARTING)
		finish(m);
	else if (n == 1 && word == TP_UPGRADE_STOPPED && m->upgrade.let_go && m->state == MASTER_CLOSING)
		m->closing_ends_ms = tp_clock_boot_ms() + tp_listeners_settle_ms(&m->listeners);
}

void tp_upgrade_let_go(struct master *m)
{
	const char word = TP_UPGRADE_LET_GO;
	m->upgrade.let_go = true;
	(void)send(m->fds.successor, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
	m->closing_ends_ms = tp_clock_boot_ms() + STOP_MS;
}

uint64_t tp_upgrade_tick(struct master *m)
{
	struct upgrade *u = &m->upgrade;
	uint64_t now = tp_clock_boot_ms();
	switch (u->state) {
	case UPGRADE_NONE:
		if (!u->wanted || m->state != MASTER_READY || !tp_succession_settled(m))
			return IDLE_MS;
		/* What a reload changes would be told to neither. */
		if (m->reload.state != RELOAD_IDLE || !tp_supervisor_idle(m->supervisor))
			return POLL_MS;
		begin(m);
		return 1;
	case UPGRADE_STARTING:
		hear(m);
		if (u->state != UPGRADE_STARTING)
			return 1;
		if (now < u->ends_ms)
			return u->ends_ms - now;
		tp_error("upgrade: the new binary (pid %ld) was not ready within %d s: it is killed; this "
			 "one goes on serving",
			 (long)u->pid, READY_MS / 1000);
		kill_successor(m);
		return IDLE_MS;
	case UPGRADE_KILLED: return IDLE_MS;
	case UPGRADE_DONE: hear(m); return IDLE_MS;
	}
	return IDLE_MS;
}
