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

struct tp_unix_path;

struct tp_listeners {
	struct tp_worker_listener *sockets; /* of all addresses and slots; owned */
	size_t n_sockets;
	struct tp_unix_path *paths; /* files to remove; owned */
	size_t n_paths;
	char **names; /* "http://127.0.0.1:8080", "unix:/run/x.sock": actual addresses, port 0 resolved */
	size_t n_names;
	const uint8_t *slots; /* whose sockets they are; borrowed */
	unsigned n_slots;
	bool remote; /* one of them can be reached from outside this machine */
};

/*
 * Opens the n_confs addresses of `confs`, one TCP socket for each of the n (1..256) `slots`; all or nothing.
 * An address that the workers of a dying predecessor still hold is tried again for a second.  Returns 0 or
 * -errno; `why` then has one line of plain words that names the address.
 */
int tp_listeners_open(const struct tp_listener_conf *confs, size_t n_confs, const uint8_t *slots, unsigned n,
		      struct tp_listeners *ret_listeners, struct tp_buf *why);

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

/* Closes the master's copies, removes the unix paths that are still its own. The worker's copies are the
 * worker's affair. Safe on a zeroed struct, and a second time. */
void tp_listeners_close(struct tp_listeners *l);

#endif
