/*
 * Making one worker process: fork, and all that the child must let go of before it becomes a worker.
 */
#ifndef TP_SERVER_SPAWN_H
#define TP_SERVER_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

#include "common/config/config.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"
#include "server/listeners.h"
#include "workers/worker.h"

/* What a master alone may have; -1 = none. */
struct tp_master_fds {
	int lock;                   /* the instance lock */
	int signal;                 /* its signals */
	int successor, predecessor; /* channels to another master during an upgrade */
};

/* What every worker gets. All of it belongs to the master and outlives the supervisor. */
struct tp_admin;
struct tp_alerts;
struct tp_handover;
struct tp_load_options;
struct tp_snapshots;

struct tp_spawn {
	struct tp_config *config;
	struct tp_region *region;
	const struct tp_listeners *listeners;
	const uint8_t *slots; /* where the workers live, as tp_listeners_open() was told */
	unsigned n_slots;
	const struct tp_master_fds *fds;      /* the child closes its copies */
	const struct tp_admin *admin;         /* its descriptors: the same; or NULL */
	const struct tp_snapshots *snapshots; /* where snapshots go; or NULL */
	const int *
		wake_fds; /* TP_WAKE_FDS, by which workers wake each other, for as long as the master lives */
	struct tp_alerts *alerts;           /* hears what workers report, and of their deaths */
	const struct tp_load_options *load; /* how workers read a bundle: as the master reads its files */
	const struct tp_handover
		*handover; /* a reload is under way; or NULL. A child closes its descriptors, */
	const struct tp_listeners *leaving; /* and those of sockets that are about to be closed; or NULL */
};

/* What a reload hands to every worker. All of it belongs to the master. */
struct tp_handover {
	uint64_t attempt;                 /* 1, 2, ...: answers to an earlier one count for nothing */
	int bundle_fd;                    /* the files, as tp_files_pack() writes them */
	const struct tp_listeners *added; /* the sockets that it brings */
};

/* In any child: closes its copies of what a reload holds open. */
void tp_spawn_let_go(const struct tp_spawn *spawn);

/* In any child, first of all: its name in the log, nothing of the master's own (NULL: there is no master), no
 * signals but those of its own faults. */
void tp_child_begin(const char *role, const struct tp_master_fds *fds);

/* The descriptors of tp_spawn.wake_fds, close-on-exec. 0 or -errno. */
int tp_wake_open(int fds[TP_WAKE_FDS]);

/*
 * Forks a worker that lives under `stamp`.  `control_fds`: the master's ends of all workers' control pairs
 * (-1 = none), which the child closes, or a worker would not see its master go.  On success returns the pid
 * and sets *ret_control_fd to the master's end for this worker (close-on-exec, non-blocking); else -errno.
 */
pid_t tp_spawn_worker(const struct tp_spawn *spawn, struct tp_stamp stamp, const int *control_fds, size_t n,
		      int *ret_control_fd);

#endif
