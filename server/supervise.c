#include "server/supervise.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/marks.h"
#include "server/alerts.h"
#include "server/supervisor.h"

enum {
	START_POLL_MS = 20,         /* how often a starting worker is looked at */
	TICK_MS = 1000,             /* how often healthy ones are */
	RETRY_MS = 100,             /* a control channel that took no message is tried again */
	HEARTBEAT_LIMIT_MS = 10000, /* design section 3 */
	MASTER_PAUSE_MS = 5000,     /* a tick this late: the machine slept, not the workers */
	ABORT_PATIENCE_MS = 1000,   /* SIGABRT does not reach a stopped process; SIGKILL does */
	REPORTS_IN_A_ROW = 16,      /* taken from one worker; the rest with the next tick */
};

static void take_in(struct tp_supervisor *s, unsigned i, int status, uint64_t now);
static void tell_reopen(struct tp_supervisor *s);
static void hear(struct tp_supervisor *s, unsigned from);
static void start_due(struct tp_supervisor *s, uint64_t now);
static void note_ready(struct tp_supervisor *s);
static void settle_neighbours(struct tp_supervisor *s);
static void check_heartbeats(struct tp_supervisor *s, uint64_t now);
static uint64_t next_wake(const struct tp_supervisor *s, uint64_t now);

struct tp_supervisor *tp_supervisor_new(const struct tp_spawn *spawn, bool fresh_table)
{
	struct tp_supervisor *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->spawn = *spawn;
	s->fresh_table = fresh_table;
	s->n = spawn->n_slots;
	s->slots = calloc(s->n, sizeof *s->slots);
	s->control_fds = calloc(s->n, sizeof *s->control_fds);
	if (s->slots == NULL || s->control_fds == NULL) {
		s->n = 0;
		tp_supervisor_free(s);
		return NULL;
	}
	for (unsigned i = 0; i < s->n; i++) {
		s->slots[i].number = spawn->slots[i];
		s->slots[i].served_by = NOBODY;
		s->control_fds[i] = -1;
	}
	s->last_tick_ms = tp_clock_boot_ms();
	return s;
}

void tp_supervisor_free(struct tp_supervisor *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; i < s->n; i++)
		if (s->control_fds[i] >= 0)
			(void)close(s->control_fds[i]);
	free(s->slots);
	free(s->control_fds);
	tp_buf_free(&s->refusal);
	free(s);
}

void tp_supervisor_let_go(const struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->control_fds[i] >= 0)
			(void)close(s->control_fds[i]);
	tp_spawn_let_go(&s->spawn);
}

bool tp_supervisor_ended(struct tp_supervisor *s, pid_t pid, int status)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->slots[i].state != SLOT_AWAY && s->slots[i].pid == pid) {
			take_in(s, i, status, tp_clock_boot_ms());
			return true;
		}
	return false;
}

uint64_t tp_supervisor_tick(struct tp_supervisor *s)
{
	uint64_t now = tp_clock_boot_ms();
	if (now - s->last_tick_ms > MASTER_PAUSE_MS)
		s->beats_count_from_ms = now;
	s->last_tick_ms = now;
	for (unsigned i = 0; i < s->n; i++)
		hear(s, i);
	tell_reopen(s);
	start_due(s, now);
	note_ready(s);
	settle_neighbours(s);
	check_heartbeats(s, now);
	tp_leaving_tick(s, now);
	tp_handover_tick(s);
	tp_leaving_drop(s);
	return next_wake(s, now);
}

/* Workers with a process, those that start or hang included. */
static unsigned living(const struct tp_supervisor *s)
{
	unsigned n = 0;
	for (unsigned i = 0; i < s->n; i++)
		n += s->slots[i].state != SLOT_AWAY;
	return n;
}

unsigned tp_supervisor_serving(const struct tp_supervisor *s)
{
	unsigned n = 0;
	for (unsigned i = 0; i < s->n; i++)
		n += s->slots[i].state == SLOT_SERVING;
	return n;
}

/* Has each slot served or died once? Then the start is over. */
static bool start_is_over(const struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->slots[i].state != SLOT_SERVING && s->slots[i].deaths.last_ms == 0)
			return false;
	return s->ever_served;
}

enum tp_supervision tp_supervisor_state(const struct tp_supervisor *s)
{
	switch (s->phase) {
	case PHASE_RUN:
		if (s->hopeless)
			return TP_SUPERVISION_HOPELESS;
		return start_is_over(s) ? TP_SUPERVISION_RUNNING : TP_SUPERVISION_STARTING;
	case PHASE_CLEAR: return living(s) == 0 ? TP_SUPERVISION_BAD_TABLE : TP_SUPERVISION_RUNNING;
	case PHASE_DRAIN:
	case PHASE_QUIT:
	case PHASE_KILL: break;
	}
	return living(s) == 0 ? TP_SUPERVISION_GONE : TP_SUPERVISION_STOPPING;
}

/* ---- the control channel */

bool tp_supervisor_tell(const struct tp_supervisor *s, unsigned to, enum tp_control what, unsigned about)
{
	struct tp_control_message m = {.what = (uint8_t)what, .slot = s->slots[about].number};
	return s->control_fds[to] >= 0 &&
	       send(s->control_fds[to], &m, sizeof m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof m;
}

static void tell_reopen(struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->slots[i].reopen && tp_supervisor_tell(s, i, TP_CONTROL_REOPEN, i))
			s->slots[i].reopen = false;
}

void tp_supervisor_reopen(struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++)
		s->slots[i].reopen = s->slots[i].state != SLOT_AWAY;
	tell_reopen(s);
}

/*
 * What a worker has to say.  Looked at with each tick, which is soon enough for an alert, and often during a
 * reload: polled for, a
 * channel whose worker is gone but not reaped yet would keep the master busy.
 */
static void hear(struct tp_supervisor *s, unsigned from)
{
	struct tp_report_message m;
	for (int i = 0; i < REPORTS_IN_A_ROW && s->control_fds[from] >= 0; i++) {
		ssize_t n = recv(s->control_fds[from], &m, sizeof m, MSG_DONTWAIT);
		if (n <= 0)
			return;
		if ((size_t)n >= offsetof(struct tp_report_message, json) && m.what != TP_REPORT_ALERT)
			tp_handover_hear(s, from, &m, (size_t)n);
		else
			tp_alerts_hear(s->spawn.alerts, &m, (size_t)n);
	}
}

/* ---- birth */

static void start_one(struct tp_supervisor *s, unsigned i, uint64_t now)
{
	struct slot *slot = &s->slots[i];
	struct tp_stamp stamp = tp_slot_assign(s->spawn.region, slot->number);
	tp_slot_set_ready(s->spawn.region, slot->number, false);
	tp_alerts_enter(s->spawn.alerts, stamp);
	pid_t pid = tp_spawn_worker(&s->spawn, stamp, s->control_fds, s->n, &s->control_fds[i]);
	if (pid < 0) {
		tp_slot_release_stamp(s->spawn.region, stamp);
		slot->due_ms = now + tp_deaths_note(&slot->deaths, now, now);
		tp_error("cannot fork worker %u: %s", slot->number, strerror(-pid));
		return;
	}
	slot->pid = pid;
	slot->generation = stamp.generation;
	slot->state = SLOT_STARTING;
	slot->forked_ms = now;
	slot->told = 0;
	slot->reopen = false; /* it has the log that the master has now */
	slot->reload = (struct slot_reload){0};
	if (slot->deaths.last_ms != 0)
		(void)tp_number_add(s->spawn.region, TP_NUMBER_WORKER_RESTARTS, 1);
	tp_debug("worker %u started, pid %ld", slot->number, (long)pid);
}

static void start_due(struct tp_supervisor *s, uint64_t now)
{
	if (s->phase != PHASE_RUN || s->hopeless)
		return;
	for (unsigned i = 0; i < s->n; i++)
		if (s->slots[i].state == SLOT_AWAY && !s->slots[i].retiring && s->slots[i].due_ms <= now)
			start_one(s, i, now);
}

static void note_ready(struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];
		if (slot->state != SLOT_STARTING || !tp_slot_ready(s->spawn.region, slot->number))
			continue;
		slot->state = SLOT_SERVING;
		s->ever_served = true;
		if (slot->deaths.last_ms != 0)
			tp_info("worker %u is back, pid %ld", slot->number, (long)slot->pid);
	}
}

/* ---- death */

/* In plain words, once for each. Exits that were asked for are nothing special. */
static void log_death(const struct slot *slot, int status, bool asked, const char *next)
{
	unsigned i = slot->number;
	long pid = (long)slot->pid;
	if (WIFSIGNALED(status))
		tp_log(asked ? TP_LOG_WARN : TP_LOG_ERROR,
		       "worker %u (pid %ld) was ended by signal %d (%s)%s%s", i, pid, WTERMSIG(status),
		       strsignal(WTERMSIG(status)),
		       slot->state == SLOT_ABORTED ? ", as it gave no heartbeat" : "", next);
	else if (asked && WEXITSTATUS(status) == TP_WORKER_EXIT_OK)
		tp_debug("worker %u (pid %ld) has left", i, pid);
	else if (WEXITSTATUS(status) == TP_WORKER_EXIT_CANNOT_START)
		tp_error("worker %u (pid %ld) could not start%s", i, pid, next);
	else
		tp_log(asked ? TP_LOG_WARN : TP_LOG_ERROR, "worker %u (pid %ld) exited with status %d%s", i,
		       pid, WEXITSTATUS(status), next);
}

/* All workers have died together, for the `count`th time in a row. */
static void note_round(struct tp_supervisor *s, unsigned count_in_row, uint64_t now)
{
	bool cannot_start = true;
	for (unsigned i = 0; i < s->n; i++)
		cannot_start = cannot_start && s->slots[i].deaths.cannot_start;
	if (!s->ever_served && (cannot_start || (count_in_row >= TP_ROUNDS_LIMIT && s->fresh_table))) {
		s->hopeless = true;
	} else if (count_in_row >= TP_ROUNDS_LIMIT) {
		s->phase = PHASE_CLEAR;
		s->phase_ends_ms = now + TP_QUIT_PATIENCE_MS;
	}
}

static void take_in(struct tp_supervisor *s, unsigned i, int status, uint64_t now)
{
	struct slot *slot = &s->slots[i];
	/* First of all: every claim of the dead in the table is void. */
	tp_slot_release_stamp(s->spawn.region, (struct tp_stamp){slot->generation, slot->number});
	hear(s, i); /* its last words */
	(void)close(s->control_fds[i]);
	s->control_fds[i] = -1;
	slot->deaths.cannot_start = WIFEXITED(status) && WEXITSTATUS(status) == TP_WORKER_EXIT_CANNOT_START;
	if (s->phase != PHASE_RUN || slot->retiring) {
		log_death(slot, status, true, "");
		slot->state = SLOT_AWAY;
		return;
	}
	uint64_t wait = tp_deaths_note(&slot->deaths, slot->forked_ms, now);
	log_death(slot, status, false,
		  wait == 0 ? "; another one starts at once" : "; another one starts soon");
	tp_alerts_worker_died(s->spawn.alerts, slot->number, slot->pid, status);
	slot->due_ms = now + wait;
	slot->state = SLOT_AWAY;
	for (unsigned k = 0; k < s->n; k++)
		if (s->slots[k].served_by == (int)i)
			s->slots[k].served_by = NOBODY; /* the successor knows nothing of it */
	const struct tp_slot_deaths *all[TP_SHM_SLOTS];
	unsigned n = 0;
	for (unsigned k = 0; k < s->n && n < TP_SHM_SLOTS; k++)
		if (!s->slots[k].retiring)
			all[n++] = &s->slots[k].deaths;
	unsigned in_row = tp_rounds_note(&s->rounds, all, n, living(s) == 0, now);
	if (in_row > 0)
		note_round(s, in_row, now);
}

void tp_supervisor_renew(struct tp_supervisor *s, struct tp_region *region)
{
	s->spawn.region = region;
	s->fresh_table = true;
	s->rounds = (struct tp_rounds){0};
	s->phase = PHASE_RUN;
	for (unsigned i = 0; i < s->n; i++) {
		s->slots[i].due_ms = 0;
		s->slots[i].deaths.in_row = 0;
	}
}

/* ---- neighbours */

static int find_neighbour(const struct tp_supervisor *s, unsigned away)
{
	for (unsigned step = 1; step < s->n; step++) {
		unsigned i = (away + step) % s->n;
		if (s->slots[i].state == SLOT_SERVING && !s->slots[i].retiring)
			return (int)i;
	}
	return NOBODY;
}

/*
 * Brings who serves whose sockets in line with who lives, from whatever it was: nothing to undo when two die
 * at once.  A slot whose very first worker is just coming is left alone.
 */
static void settle_neighbours(struct tp_supervisor *s)
{
	if (s->phase != PHASE_RUN)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];
		int by = slot->served_by;
		if (by != NOBODY && s->slots[by].state != SLOT_SERVING)
			by = slot->served_by = NOBODY;
		if (slot->state == SLOT_SERVING) {
			if (by != NOBODY && tp_supervisor_tell(s, (unsigned)by, TP_CONTROL_RETURN, i))
				slot->served_by = NOBODY;
		} else if (by == NOBODY && (slot->state != SLOT_STARTING || slot->deaths.last_ms != 0)) {
			by = find_neighbour(s, i);
			if (by != NOBODY && tp_supervisor_tell(s, (unsigned)by, TP_CONTROL_ADOPT, i))
				slot->served_by = by;
		}
	}
}

/* ---- heartbeats */

static uint64_t max3(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t most = a > b ? a : b;
	return most > c ? most : c;
}

static void check_heartbeats(struct tp_supervisor *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];
		if (slot->state == SLOT_AWAY)
			continue;
		if (slot->state == SLOT_ABORTED) {
			if (now - slot->aborted_ms >= ABORT_PATIENCE_MS)
				(void)kill(slot->pid, SIGKILL);
			continue;
		}
		uint64_t seen = max3(slot->forked_ms, tp_slot_last_beat(s->spawn.region, slot->number),
				     s->beats_count_from_ms);
		if (seen >= now || now - seen < HEARTBEAT_LIMIT_MS)
			continue;
		tp_error("worker %u (pid %ld) gave no heartbeat for %llu s: aborting it", slot->number,
			 (long)slot->pid, (unsigned long long)(now - seen) / 1000);
		slot->state = SLOT_ABORTED;
		slot->aborted_ms = now;
		(void)kill(slot->pid, SIGABRT);
	}
}

/* ---- when next */

static uint64_t until(uint64_t when, uint64_t now)
{
	return when > now ? when - now : 0;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_wake(const struct tp_supervisor *s, uint64_t now)
{
	uint64_t wake = TICK_MS;
	bool stopping = s->phase != PHASE_RUN;
	if (s->phase == PHASE_DRAIN || s->phase == PHASE_QUIT || s->phase == PHASE_CLEAR)
		wake = min_of(wake, until(s->phase_ends_ms, now));
	for (unsigned i = 0; i < s->n; i++) {
		const struct slot *slot = &s->slots[i];
		if (slot->state == SLOT_STARTING)
			wake = min_of(wake, START_POLL_MS);
		else if (slot->state == SLOT_AWAY && !stopping && !slot->retiring)
			wake = min_of(wake, until(slot->due_ms, now));
		else if (slot->state == SLOT_ABORTED)
			wake = min_of(wake, until(slot->aborted_ms + ABORT_PATIENCE_MS, now));
		if (stopping && slot->state != SLOT_AWAY && slot->told == 0)
			wake = min_of(wake, RETRY_MS);
	}
	wake = min_of(wake, tp_handover_wake(s));
	return wake > 0 ? wake : 1;
}
