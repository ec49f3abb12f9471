/*
 * `snapshots`: the process that writes the files (design 10), a child of the master beside the workers, so
 * that a slow disk delays nobody.  Workers hand texts over through one socket, whose buffer is all that
 * waits; both its ends belong to the master, so that what waits outlives a writer that dies.  Stopping, it
 * writes what is left.
 */
#ifndef TP_SERVER_SNAPSHOTS_H
#define TP_SERVER_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/config/config.h"
#include "common/shm/region.h"
#include "server/listeners.h"

struct tp_admin;
struct tp_master_fds;
struct tp_snapshots;
struct tp_supervisor;

/* All stays owned by the master. */
struct tp_snapshots_setup {
	const struct tp_config *config;
	struct tp_region *region;
	const struct tp_master_fds *fds; /* the child closes its copies */
	int inherited[2];                /* ends of the socket of an earlier master, taken over; -1 = none */
	const struct tp_admin *admin;    /* the same; or NULL */
	const struct tp_listeners *public_sockets;
};

/* *ret is NULL when none are configured; all other functions take that. 0 or -errno. */
int tp_snapshots_open(const struct tp_snapshots_setup *setup, struct tp_snapshots **ret);
/* Where workers send; -1 = nowhere. */
int tp_snapshots_fd(const struct tp_snapshots *s);
/* In a worker: closes its copy of the other end. */
void tp_snapshots_let_go(const struct tp_snapshots *s);
/* Starts the process when it is due. Returns the milliseconds until it has to be called again. */
uint64_t tp_snapshots_tick(struct tp_snapshots *s, const struct tp_supervisor *supervisor);
/* A child has ended. True: it was this one; logged, and another one is due. */
bool tp_snapshots_ended(struct tp_snapshots *s, pid_t pid, int status);
/* The log was renamed: the process opens it anew. */
/* `next` serves from now on: it is borrowed as the one in the setup was, which may be freed. NULL is ignored.
 */
void tp_snapshots_switch(struct tp_snapshots *s, const struct tp_config *next);
void tp_snapshots_reopen(struct tp_snapshots *s);
/* Another table: the process is replaced by one that knows it. */
void tp_snapshots_renew(struct tp_snapshots *s, struct tp_region *region);
/* Both ends of the socket, for a successor, or two times -1. */
const int *tp_snapshots_ends(const struct tp_snapshots *s);
/* The successor's process reads from now on: this one's ends, and there is no other. NULL is ignored. */
void tp_snapshots_retire(struct tp_snapshots *s);
/* It has died: this one has a process again. NULL is ignored. */
void tp_snapshots_resume(struct tp_snapshots *s);
/* After the workers are gone: waits for what is left to be written, for patience_ms at most. Frees. */
void tp_snapshots_close(struct tp_snapshots *s, uint64_t patience_ms);

#endif
