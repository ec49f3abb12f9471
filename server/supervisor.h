/* The inside of the supervisor: for supervise.c, leaving.c and handover.c only. */
#ifndef TP_SERVER_SUPERVISOR_H
#define TP_SERVER_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "server/deaths.h"
#include "server/supervise.h"
#include "workers/worker.h"

enum slot_state {
	SLOT_AWAY,     /* no process */
	SLOT_STARTING, /* forked, not ready */
	SLOT_SERVING,  /* ready */
	SLOT_ABORTED,  /* without a heartbeat: SIGABRT was sent, its end is awaited */
};

enum { NOBODY = -1 };

/* What the worker of a slot knows of a reload. */
struct slot_reload {
	size_t sockets_told; /* of the handover's */
	bool told, ready, refused;
	bool switched;      /* it has said so */
	uint8_t due;        /* enum slot_due: still to be told, in this order */
	uint8_t forget[32]; /* the slots of DUE_FORGET, by bit */
};

enum slot_due { DUE_SWITCH = 1, DUE_ABORT = 2, DUE_CLOSE = 4, DUE_FORGET = 8 };

struct slot {
	enum slot_state state;
	uint8_t number;      /* in the shared table; messages and the log call a worker by it */
	uint16_t generation; /* of its stamp */
	pid_t pid;
	uint64_t forked_ms, aborted_ms;
	uint64_t due_ms;      /* AWAY: when the next one may be forked */
	int served_by;        /* the neighbour that serves this slot's sockets, or NOBODY */
	enum tp_control told; /* the last of DRAIN and QUIT that its channel took; 0 = none */
	bool reopen;          /* it is still to be told to open the logs anew */
	struct tp_slot_deaths deaths;

	bool retiring;           /* the configuration has fewer workers: it finishes its turns and leaves */
	uint64_t retire_ends_ms; /* 0 = it serves on for a moment; then when it is told to quit, and killed */
	struct slot_reload reload;
};

enum phase {
	PHASE_RUN,
	PHASE_CLEAR, /* the table is bad: the living leave, none is started */
	PHASE_DRAIN,
	PHASE_QUIT,
	PHASE_KILL,
};

struct tp_supervisor {
	struct tp_spawn spawn;
	enum phase phase;
	uint64_t phase_ends_ms; /* when DRAIN becomes QUIT, QUIT and CLEAR kill */
	bool ever_served, hopeless, fresh_table;
	uint64_t last_tick_ms, beats_count_from_ms;
	struct tp_rounds rounds;
	uint64_t attempt;      /* of the last reload */
	struct tp_buf refusal; /* of it: the first worker's that could not */
	unsigned n;
	struct slot *slots;
	int *control_fds; /* master's ends by slot, -1 = none; not in slots: a child closes them all */
};

/* Tells the worker of slot `to` something about slot `about`. False: its channel is full or gone. Never
 * waits: a worker may be stuck. */
bool tp_supervisor_tell(const struct tp_supervisor *s, unsigned to, enum tp_control what, unsigned about);

/* ---- leaving.c, called by supervise.c */

enum { TP_QUIT_PATIENCE_MS = 2000 }; /* from QUIT to SIGKILL */

/* Tells those that are to leave so, quits or kills whoever takes too long. */
void tp_leaving_tick(struct tp_supervisor *s, uint64_t now);
/* Slots that are retired and away are gone: what stands behind them moves up. */
void tp_leaving_drop(struct tp_supervisor *s);

/* ---- handover.c, called by supervise.c */

/* A worker's word about a reload. */
void tp_handover_hear(struct tp_supervisor *s, unsigned from, const struct tp_report_message *m, size_t n);
/* Tells workers what they have not been told yet. */
void tp_handover_tick(struct tp_supervisor *s);
/* The time until it has something to do, in ms. */
uint64_t tp_handover_wake(const struct tp_supervisor *s);

#endif
