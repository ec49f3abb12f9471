/* How workers leave: all of them when the server stops or the table is bad, some when the configuration wants
 * fewer. */
#include <signal.h>
#include <string.h>

#include "common/base/clock.h"
#include "server/supervisor.h"

static void enter(struct tp_supervisor *s, enum phase phase, uint64_t ends_ms)
{
	s->phase = phase;
	s->phase_ends_ms = ends_ms;
}

void tp_supervisor_drain(struct tp_supervisor *s, uint64_t drain_ms)
{
	enter(s, PHASE_DRAIN, tp_clock_boot_ms() + drain_ms);
}

void tp_supervisor_quit(struct tp_supervisor *s, uint64_t kill_ms)
{
	enter(s, PHASE_QUIT, tp_clock_boot_ms() + kill_ms);
}

/* Whoever did not get it is told again with the next tick. */
static void tell_all(struct tp_supervisor *s, enum tp_control what)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];
		if (slot->state != SLOT_AWAY && slot->told != what && tp_supervisor_tell(s, i, what, i))
			slot->told = what;
	}
}

static void kill_all(const struct tp_supervisor *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->slots[i].state != SLOT_AWAY)
			(void)kill(s->slots[i].pid, SIGKILL);
}

/* Like a drain, of those that the configuration does not want any more. */
static void retire(struct tp_supervisor *s, uint64_t now)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct slot *slot = &s->slots[i];
		if (slot->retire_ends_ms == 0 || slot->state == SLOT_AWAY)
			continue;
		enum tp_control what = now < slot->retire_ends_ms ? TP_CONTROL_DRAIN : TP_CONTROL_QUIT;
		if (now >= slot->retire_ends_ms + TP_QUIT_PATIENCE_MS)
			(void)kill(slot->pid, SIGKILL);
		else if (slot->told != what && tp_supervisor_tell(s, i, what, i))
			slot->told = what;
	}
}

void tp_leaving_drop(struct tp_supervisor *s)
{
	for (unsigned i = s->n; i-- > 0;) {
		if (s->slots[i].retire_ends_ms == 0 || s->slots[i].state != SLOT_AWAY)
			continue;
		s->n--;
		memmove(&s->slots[i], &s->slots[i + 1], (s->n - i) * sizeof s->slots[0]);
		memmove(&s->control_fds[i], &s->control_fds[i + 1], (s->n - i) * sizeof s->control_fds[0]);
		for (unsigned k = 0; k < s->n; k++) {
			int by = s->slots[k].served_by;
			s->slots[k].served_by = by == (int)i ? NOBODY : by > (int)i ? by - 1 : by;
		}
	}
}

void tp_leaving_tick(struct tp_supervisor *s, uint64_t now)
{
	bool ends = now >= s->phase_ends_ms;
	switch (s->phase) {
	case PHASE_RUN: retire(s, now); break;
	case PHASE_DRAIN:
		if (ends)
			enter(s, PHASE_QUIT, now + TP_QUIT_PATIENCE_MS);
		tell_all(s, s->phase == PHASE_DRAIN ? TP_CONTROL_DRAIN : TP_CONTROL_QUIT);
		break;
	case PHASE_CLEAR:
	case PHASE_QUIT:
		if (ends)
			kill_all(s);
		else
			tell_all(s, TP_CONTROL_QUIT);
		if (ends && s->phase == PHASE_QUIT)
			enter(s, PHASE_KILL, now);
		break;
	case PHASE_KILL: kill_all(s); break;
	}
}
