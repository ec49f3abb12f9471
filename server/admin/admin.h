/*
 * The master's side of the admin process: its addresses, its birth, its replacement, its end.
 *
 * All functions but tp_admin_open() accept NULL: there is none when neither admin.listen nor stats_file is
 * set.
 */
#ifndef TP_SERVER_ADMIN_ADMIN_H
#define TP_SERVER_ADMIN_ADMIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "common/config/config.h"
#include "common/shm/region.h"

struct tp_admin;
struct tp_listeners;
struct tp_supervisor;

/* All of it belongs to the master and outlives the admin. */
struct tp_admin_setup {
	const struct tp_config *config;
	struct tp_region *region;
	const uint8_t *slots; /* of the workers */
	unsigned n_slots;
	int lock_fd, signal_fd;                    /* the child closes its copies, */
	const struct tp_listeners *public_sockets; /* these too */
};

/* Opens the admin addresses; no process yet. *ret_admin is NULL when none is wanted. Returns 0 or -errno;
 * `why` then has one line of plain words. */
int tp_admin_open(const struct tp_admin_setup *setup, struct tp_buf *why, struct tp_admin **ret_admin);
/* "http://127.0.0.1:9090", ...: actual addresses. NULL at the end. */
const char *tp_admin_address(const struct tp_admin *a, size_t i);

/* Forks when one is due. `s`: whose control channels the child closes, or a worker would not see its master
 * go. Returns the milliseconds until it has to be called again. */
uint64_t tp_admin_tick(struct tp_admin *a, const struct tp_supervisor *s);
/* A child has ended. True: it was this one; logged, and another one is due. */
bool tp_admin_ended(struct tp_admin *a, pid_t pid, int status);
/* Not ready from now on; a successor knows it too. */
void tp_admin_drain(struct tp_admin *a);
/* The log was renamed: the process opens it anew. NULL is ignored. */
void tp_admin_reopen(struct tp_admin *a);
/* Another table: the process is replaced by one that knows it. */
void tp_admin_renew(struct tp_admin *a, struct tp_region *region);
/* In another child of the master: closes its copies of the admin's descriptors. */
void tp_admin_let_go(const struct tp_admin *a);
/* Lets the process write its last numbers and leave, kills it if it does not within `patience_ms`; closes the
 * addresses, frees. */
void tp_admin_close(struct tp_admin *a, uint64_t patience_ms);

#endif
