/*
 * The listening sockets: opened, kept and closed by the master (design section 3).
 *
 * TCP: one SO_REUSEPORT socket per worker slot, so that the kernel spreads connections and a worker's death
 * loses none that are queued.  Unix: one socket for all.
 */
#ifndef TP_SERVER_LISTENERS_H
#define TP_SERVER_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/config/config.h"
#include "workers/worker.h"

struct tp_listeners_room;
struct tp_unix_path;

/* "http://127.0.0.1:8080", "unix:/run/x.sock": the actual address, port 0 resolved. */
struct tp_listener_name {
	char *text;
	size_t conf;
};

struct tp_listeners {
	struct tp_worker_listener *sockets; /* of all addresses and slots; owned */
	size_t n_sockets;
	struct tp_unix_path *paths; /* files to remove; owned */
	size_t n_paths;
	struct tp_listener_name *names; /* owned */
	size_t n_names;
	const uint8_t *slots; /* whose sockets they are; borrowed */
	unsigned n_slots;
	bool remote; /* one of them can be reached from outside this machine */
	bool held;   /* bound, but not listening yet */
	bool joins;  /* while they are opened: other sockets of ours may have the port */
	/* Of those that a reload adds: memory for its second step; owned. */
	struct tp_listeners_room *room;
};

/*
 * Opens the n_confs addresses of `confs`, one TCP socket for each of the n (1..256) `slots`; all or nothing.
 * An address that the workers of a dying predecessor still hold is tried again for a second.  Returns 0 or
 * -errno; `why` then has one line of plain words that names the address.
 */
int tp_listeners_open(const struct tp_listener_conf *confs, size_t n_confs, const uint8_t *slots, unsigned n,
		      struct tp_listeners *ret_listeners, struct tp_buf *why);

/* The addresses and slots of a configuration that is to replace the one in `l`. */
struct tp_listeners_want {
	const struct tp_listener_conf *confs;
	size_t n_confs;
	const uint8_t *slots;
	unsigned n_slots;
};

/*
 * A reload, in two steps.  The first opens what `l` lacks, and nobody can see it yet: the sockets are bound
 * and do not listen; an address is the same one if its text is.  `had` are the configurations of `l`. Returns
 * 0 or -errno with one line in `why`; *ret_added is closed by tp_listeners_close(), or used up by the second.
 */
int tp_listeners_prepare(const struct tp_listeners *l, const struct tp_listener_conf *had, size_t n_had,
			 const struct tp_listeners_want *want, struct tp_listeners *ret_added,
			 struct tp_buf *why);
/* The second, which cannot fail: the new ones are l's, and listen with tp_listeners_begin(); those that are
 * no longer wanted go to *ret_removed, still open and listening.  `l` and `want` as before; its slots are
 * borrowed from now on. */
void tp_listeners_switch(struct tp_listeners *l, const struct tp_listener_conf *had, size_t n_had,
			 const struct tp_listeners_want *want, struct tp_listeners *added,
			 struct tp_listeners *ret_removed);
/* All of them listen; those that do already go on. */
void tp_listeners_begin(struct tp_listeners *l);
/* In a child: closes its copies of the sockets; paths and names stay the master's. NULL is ignored. */
void tp_listeners_let_go(const struct tp_listeners *l);

/*
 * First step of shutdown: no further connection enters a queue; those that are in one stay to be accepted.
 * A closed listener resets its queue, and shutdown(2) on a TCP one does so too; hence a packet filter that
 * drops SYNs: whoever tries now sends its SYN again a second later and is then refused, as the socket is
 * closed.
 */
void tp_listeners_stop(struct tp_listeners *l);
/* How long after tp_listeners_stop() a handshake that had begun may still bring a connection: the workers
 * should empty their queues not before. Milliseconds. */
uint64_t tp_listeners_settle_ms(const struct tp_listeners *l);

/* Another master has the sockets too, and their files are its own from now on. */
void tp_listeners_disown_paths(struct tp_listeners *l);
/* The reverse: files of unix sockets that came from another master. `confs`: those of `l`. */
void tp_listeners_own_paths(struct tp_listeners *l, const struct tp_listener_conf *confs);

/* Closes the master's copies, removes the unix paths that are still its own. The worker's copies are the
 * worker's affair. Safe on a zeroed struct, and a second time. */
void tp_listeners_close(struct tp_listeners *l);

#endif
