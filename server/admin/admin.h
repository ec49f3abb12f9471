/*
 * The master's side of the admin process: its addresses, its birth, its replacement, its end.
 *
 * There is no process while neither admin.listen nor stats_file is set.  All functions but tp_admin_open()
 * accept NULL.
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
struct tp_inherited_listeners;
struct tp_listeners;
struct tp_master_fds;
struct tp_supervisor;

/* All of it belongs to the master and outlives the admin. */
struct tp_admin_setup {
	const struct tp_config *config;
	const char *file; /* that it is read from; NULL = from none */
	struct tp_region *region;
	const uint8_t *slots; /* of the workers */
	unsigned n_slots;
	const struct tp_master_fds *fds;           /* the child closes its copies, */
	const struct tp_listeners *public_sockets; /* these too */
	struct tp_inherited_listeners *inherited;  /* of an earlier master, used up; NULL = none */
};

/* Opens the admin addresses; no process yet. Returns 0 or -errno;
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
/* The descriptor that becomes readable when the process asks for something; -1: none. */
int tp_admin_fd(const struct tp_admin *a);
/* Has it asked for a reload since the last outcome? */
bool tp_admin_asked(struct tp_admin *a);
/* A reload begins: it answers what was asked until now. */
void tp_admin_reload_begins(struct tp_admin *a);
/* How it ended: with lines that say why it was refused, or warnings. Kept for successors of the process. */
void tp_admin_reload_ended(struct tp_admin *a, bool good, uint64_t generation, struct tp_str lines);
/* The addresses of `next`: opened, not listening. 0 or -errno, with a line in `why`. Undone by
 * tp_admin_abort(). */
int tp_admin_prepare(struct tp_admin *a, const struct tp_config *next, struct tp_buf *why);
void tp_admin_abort(struct tp_admin *a);
/* They serve; the process is replaced by one that knows `next`, once its questions are answered. */
void tp_admin_switch(struct tp_admin *a, const struct tp_config *next, unsigned n_slots);
/* Another table: the process is replaced by one that knows it. */
void tp_admin_renew(struct tp_admin *a, struct tp_region *region);
/* The addresses, for a successor. NULL if there are none. */
const struct tp_listeners *tp_admin_sockets(const struct tp_admin *a);
/* A successor serves them from now on: the process answers what is here and leaves, and there is no other. */
void tp_admin_retire(struct tp_admin *a);
/* The successor has proved itself: the sockets are closed, too. */
void tp_admin_let_retire(struct tp_admin *a);
/* It has died instead: this one serves again. */
void tp_admin_resume(struct tp_admin *a);
/* The reverse: what was inherited is this master's from now on, */
void tp_admin_take_over(struct tp_admin *a);
/* and the predecessor does not take it back: addresses that are not wanted go. `in`: as in the setup. */
void tp_admin_settle(struct tp_admin *a, const struct tp_inherited_listeners *in);
/* In another child of the master: closes its copies of the admin's descriptors. */
void tp_admin_let_go(const struct tp_admin *a);
/* Lets the process write its last numbers and leave, kills it if it does not within `patience_ms`; closes the
 * addresses, frees. */
void tp_admin_close(struct tp_admin *a, uint64_t patience_ms);

#endif
