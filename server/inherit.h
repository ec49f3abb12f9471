/*
 * What one master leaves to the next over exec (binary upgrade, design section 11): a description in a memory
 * file, whose descriptor the environment variable TURNPIKE_UPGRADE names.
 */
#ifndef TP_SERVER_INHERIT_H
#define TP_SERVER_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/shm/region.h"
#include "server/listeners_pass.h"
#include "workers/worker.h"

#define TP_INHERIT_VARIABLE "TURNPIKE_UPGRADE"

struct tp_inheritance {
	char *state_name;
	uint64_t generation; /* of the configuration that serves */
	int channel_fd; /* SOCK_SEQPACKET, see enum tp_upgrade_word; end of file: the other one is gone */
	int lock_fd;
	int wake_fds[TP_WAKE_FDS];
	int snapshot_fds[2];         /* -1 = none */
	uint8_t slots[TP_SHM_SLOTS]; /* whose sockets there are */
	unsigned n_slots;
	bool taken[TP_SHM_SLOTS]; /* slots in which the predecessor has workers */
	struct tp_inherited_listeners public, admin;
};

/* What the two say to each other: one byte each. */
enum tp_upgrade_word {
	TP_UPGRADE_READY = 'r',   /* the new one: my workers serve */
	TP_UPGRADE_GO = 'g',      /* the old one: then it is yours */
	TP_UPGRADE_LET_GO = 'l',  /* the old one, a second later: I take nothing back any more, and drain */
	TP_UPGRADE_STOPPED = 's', /* the new one: nobody enters the queues that I do not want; empty them */
};

/* The same from the other side; all of it is borrowed. */
struct tp_bequest {
	const char *state_name;
	uint64_t generation;
	int channel_fd, lock_fd;
	const int *wake_fds;
	const int *snapshot_fds;
	const uint8_t *slots;
	unsigned n_slots;
	const bool *taken;
	const struct tp_listeners *public, *admin;
	const struct tp_listener_conf *public_confs, *admin_confs;
	size_t n_public, n_admin;
};

/* A memory file (close-on-exec), or -errno. */
int tp_bequest_write(const struct tp_bequest *b);
/* In the child, before exec: all that is described, and `fd` itself, stays open. False: errno. */
bool tp_bequest_keep_open(const struct tp_bequest *b, int fd);

/*
 * What this process was started with; the variable is taken out of the environment.  NULL with an empty
 * `why`: nothing, it is an ordinary start. NULL with a line: what there is cannot be used.
 */
struct tp_inheritance *tp_inherit(struct tp_buf *why);
/* Closes what nobody has taken (fields >= 0), frees. NULL is ignored. */
void tp_inheritance_free(struct tp_inheritance *in);

#endif
