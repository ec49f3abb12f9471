/*
 * Supervision of the workers (design section 3): who lives, who is replaced when, who serves the sockets of
 * those who are away.  It never waits; the master calls it when a child ended and when time has passed.
 */
#ifndef TP_SERVER_SUPERVISE_H
#define TP_SERVER_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/spawn.h"

struct tp_supervisor;

enum tp_supervision {
	TP_SUPERVISION_STARTING,  /* some worker of the first start has neither served nor died yet */
	TP_SUPERVISION_RUNNING,   /* at least one worker has served */
	TP_SUPERVISION_BAD_TABLE, /* three quick deaths of all workers; none lives now, none is started: give
				     it a fresh table (tp_supervisor_renew) */
	TP_SUPERVISION_HOPELESS,  /* no worker of a fresh start ever served */
	TP_SUPERVISION_STOPPING,  /* told to drain or quit; workers are left */
	TP_SUPERVISION_GONE,      /* the same, and none is left */
};

/* `spawn` is copied. fresh_table: nothing older than this start is in the region. No worker is started before
 * the first tick. NULL: out of memory. */
struct tp_supervisor *tp_supervisor_new(const struct tp_spawn *spawn, bool fresh_table);
/* Frees; NULL is ignored. Workers that still live see their master go. */
void tp_supervisor_free(struct tp_supervisor *s);

/* A child has ended. True: it was a worker, and is taken in. */
bool tp_supervisor_ended(struct tp_supervisor *s, pid_t pid, int status);
/* Everything that is due: forks, ready reports, neighbours, heartbeats, escalation of a stop. Returns the
 * milliseconds until it has to be called again. */
uint64_t tp_supervisor_tick(struct tp_supervisor *s);
enum tp_supervision tp_supervisor_state(const struct tp_supervisor *s);

/* Goes on with a fresh table: forgets all deaths. Only in TP_SUPERVISION_BAD_TABLE. */
void tp_supervisor_renew(struct tp_supervisor *s, struct tp_region *region);

/* No more replacements; each worker is told to empty its queues and finish its turns. Those that are left
 * after drain_ms are told to quit. */
void tp_supervisor_drain(struct tp_supervisor *s, uint64_t drain_ms);
/* Each worker is told to end at once; those that are left after kill_ms are killed. */
void tp_supervisor_quit(struct tp_supervisor *s, uint64_t kill_ms);

/* The logs were renamed: each worker is told to open them anew, at the latest with the next tick. */
void tp_supervisor_reopen(struct tp_supervisor *s);
/* ---- a reload (design section 11): handover.c */

enum tp_handed {
	TP_HANDED_PENDING, /* some worker has not answered */
	TP_HANDED_READY,   /* each living worker can serve it */
	TP_HANDED_REFUSED, /* one cannot */
};

/* Nothing of an earlier reload is still on its way to a worker. */
bool tp_supervisor_idle(const struct tp_supervisor *s);
/* Hands `h` to each living worker, also to those that are forked meanwhile. `h` must live until
 * tp_supervisor_switch() or tp_supervisor_abort(). `n`: how many slots the switch will name. False: out of
 * memory, nothing changed. */
bool tp_supervisor_prepare(struct tp_supervisor *s, const struct tp_handover *h, unsigned n);
/* REFUSED: the reason was appended to `why`. PENDING: who is awaited. */
enum tp_handed tp_supervisor_handed(const struct tp_supervisor *s, struct tp_buf *why);
/* The reload is off: whoever was told of it is told so, and `h` is not used any more. */
void tp_supervisor_abort(struct tp_supervisor *s);
/* Workers serve `config` from now on, as do those that are forked; there are n of them, in `slots`
 * (borrowed). `leaving`: sockets that tp_supervisor_close_leaving() will speak of. */
void tp_supervisor_switch(struct tp_supervisor *s, struct tp_config *config, const uint8_t *slots, unsigned n,
			  const struct tp_listeners *leaving);
/* Each living worker has switched, or died since. */
bool tp_supervisor_switched(const struct tp_supervisor *s);
/* Workers close sockets that are gone, after they have emptied their queues; those that retire drain for up
 * to drain_ms. */
void tp_supervisor_close_leaving(struct tp_supervisor *s, uint64_t drain_ms);

/* In a child that is no worker: closes its copies of the control channels. */
void tp_supervisor_let_go(const struct tp_supervisor *s);

/* Number of workers that serve. */
unsigned tp_supervisor_serving(const struct tp_supervisor *s);

#endif
