/* The inside of the master: for master.c, master_start.c, reload.c, upgrade.c and succession.c only. */
#ifndef TP_SERVER_MASTER_PARTS_H
#define TP_SERVER_MASTER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/config.h"
#include "common/shm/region.h"
#include "server/admin/admin.h"
#include "server/alerts.h"
#include "server/inherit.h"
#include "server/listeners.h"
#include "server/load.h"
#include "server/places.h"
#include "server/snapshots.h"
#include "server/supervise.h"

/* Moved by functions of reload.c alone. */
enum reload_state {
	RELOAD_IDLE,
	RELOAD_PREPARING, /* workers make the next generation */
	RELOAD_SWITCHING, /* they take it over */
	RELOAD_SETTLING,  /* sockets that go: handshakes that had begun come to their end */
};

struct reload {
	enum reload_state state;
	bool wanted; /* by a signal */
	uint64_t attempts, ends_ms;
	struct tp_config *next; /* one reference */
	struct tp_places places;
	struct tp_listeners added, leaving;
	struct tp_handover handover;
	struct tp_buf warnings; /* lines */
};

/* Moved by functions of upgrade.c alone. */
enum upgrade_state {
	UPGRADE_NONE,
	UPGRADE_STARTING, /* the new binary runs and is not ready */
	UPGRADE_KILLED,   /* it is not to be any more; its end is awaited */
	UPGRADE_DONE,     /* it serves; this master drains */
};

struct upgrade {
	enum upgrade_state state;
	bool wanted;        /* by a signal */
	bool asked_to_stop; /* DONE, and a stop was asked for: it stops anyway */
	bool let_go;        /* DONE, and for good */
	bool ended;         /* DONE, and the new one has ended since */
	bool logs_renamed;  /* STARTING, and USR1 has come since */
	pid_t pid;
	uint64_t ends_ms;
	uint64_t table; /* DONE: tp_region_identity() of ours, before the new one could put its own there */
};

/* Moved by functions of succession.c alone. */
enum succession_state {
	SUCCESSION_NONE,     /* an ordinary start */
	SUCCESSION_STARTING, /* the first workers come up; everything still belongs to the predecessor */
	SUCCESSION_TOLD,     /* the predecessor knows that they are there */
	SUCCESSION_DONE,     /* everything is ours */
};

struct succession {
	enum succession_state state;
	struct tp_inheritance *from; /* NULL when the predecessor has let go, or is lost */
	uint64_t settles_ms;         /* DONE: when that is taken for granted */
	struct tp_listeners leaving; /* sockets of the predecessor's that this configuration does not want */
	bool beside;                 /* the table is a fresh one under another name */
	bool nameless;               /* DONE, and it did not get the name, which is the predecessor's still */
};

/* Moved by enter() alone. */
enum master_state {
	MASTER_STARTING, /* the first workers are coming up */
	MASTER_READY,
	MASTER_CLOSING,  /* no new connections; handshakes that had begun come to their end */
	MASTER_DRAINING, /* listeners closed, workers finish their turns */
	MASTER_QUITTING, /* workers end at once */
	MASTER_GONE,     /* no worker is left */
	MASTER_FAILED,   /* no worker ever served, or no table could be made */
};

struct master {
	const struct tp_load_options *load;
	struct tp_config *config; /* that serves; one reference */
	enum master_state state;
	uint64_t closing_ends_ms;
	struct tp_master_fds fds;
	int wake_fds[TP_WAKE_FDS]; /* see tp_spawn */
	struct tp_region *region;
	bool fresh_table;
	struct tp_places places;
	struct tp_listeners listeners;
	struct tp_admin *admin; /* NULL: none is wanted */
	struct tp_alerts alerts;
	struct tp_snapshots *snapshots; /* NULL: none are written */
	struct tp_supervisor *supervisor;
	struct reload reload;
	struct upgrade upgrade;
	struct succession succession;
	uint64_t losses_told; /* lines of the log */
};

/* ---- master_start.c */

/* Everything until the first worker can be forked. False: it cannot start; logged. */
bool tp_master_start_up(struct master *m, bool fresh_state);
/* m->region: attached to or made. `fresh`: made in any case. False: logged. */
bool tp_master_open_table(struct master *m, bool fresh);

/* ---- master.c */

/* Another master serves: this one drains, and what they share is left as it is. */
void tp_master_hand_over(struct master *m);
/* It has died within its first second: this one goes on, where nothing was let go yet. False: too late. */
bool tp_master_take_back(struct master *m);
/* Everything is this master's: it is ready, and says so. */
void tp_master_is_ready(struct master *m);

/* ---- upgrade.c: another binary is to replace this one */

/* USR2. */
void tp_upgrade_want(struct master *m);
/* Everything that is due. Returns the time until it has to be called again, in ms. */
uint64_t tp_upgrade_tick(struct master *m);
/* A child has ended. True: it was the new master. */
bool tp_upgrade_ended(struct master *m, pid_t pid, int status);
/* What is under way comes to nothing: the server stops, or its table goes. */
void tp_upgrade_cancel(struct master *m, const char *why);
/* It has lived for its first second: it is told that nothing is taken back. Its answer, or a second without
 * one, ends m->closing_ends_ms. */
void tp_upgrade_let_go(struct master *m);
/* A signal that is meant for the one that serves. True: that is the new one, which has it now. */
bool tp_upgrade_pass_on(struct master *m, int number);
/* One is under way, and nothing may change that it has been told. */
bool tp_upgrade_runs(const struct master *m);

/* ---- succession.c: this one replaces another */

/* False: what was handed over cannot be used; logged. An ordinary start is none of this and true. */
bool tp_succession_begin(struct master *m);
/* Not everything is this master's yet. */
bool tp_succession_pending(const struct master *m);
/* While it is pending, in place of what an ordinary start does. */
bool tp_succession_lock(struct master *m);
int tp_succession_open_table(struct master *m, struct tp_region_sizes sizes, struct tp_buf *why,
			     enum tp_region_result *ret_result);
int tp_succession_open_listeners(struct master *m, struct tp_buf *why);
/* The workers are ready. */
void tp_succession_ready(struct master *m);
uint64_t tp_succession_tick(struct master *m);
/* The predecessor, if there was one, cannot take anything back any more. */
bool tp_succession_settled(const struct master *m);
void tp_succession_end(struct master *m);

/* ---- reload.c */

/* HUP. Several before the first one begins are one. */
void tp_reload_want(struct master *m);
/* Everything that is due. Returns the time until it has to be called again, in ms. */
uint64_t tp_reload_tick(struct master *m);
/* What is under way comes to nothing: the server stops, or its table goes. */
void tp_reload_cancel(struct master *m, const char *why);

#endif
