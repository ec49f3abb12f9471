/* The inside of the master: for master.c and reload.c only. */
#ifndef TP_SERVER_MASTER_PARTS_H
#define TP_SERVER_MASTER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/config.h"
#include "common/shm/region.h"
#include "server/admin/admin.h"
#include "server/alerts.h"
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
	int lock_fd, signal_fd;
	struct tp_region *region;
	bool fresh_table;
	struct tp_places places;
	struct tp_listeners listeners;
	struct tp_admin *admin; /* NULL: none is wanted */
	struct tp_alerts alerts;
	struct tp_snapshots *snapshots; /* NULL: none are written */
	struct tp_supervisor *supervisor;
	struct reload reload;
	uint64_t losses_told; /* lines of the log */
};

/* ---- reload.c */

/* HUP. Several before the first one begins are one. */
void tp_reload_want(struct master *m);
/* Everything that is due. Returns the time until it has to be called again, in ms. */
uint64_t tp_reload_tick(struct master *m);
/* What is under way comes to nothing: the server stops, or its table goes. */
void tp_reload_cancel(struct master *m, const char *why);

#endif
