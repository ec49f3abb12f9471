/*
 * Two sockets after a protocol switch (101): bytes go both ways untouched until one side ends (design section
 * 7, upgrade: tunnel).
 */
#ifndef TP_WORKERS_TUNNEL_H
#define TP_WORKERS_TUNNEL_H

#include "common/base/buf.h"
#include "workers/core.h"

/* One side as it is handed over; ssl may be NULL. */
struct tp_tunnel_end {
	int fd;
	SSL *ssl;
	struct tp_buf first; /* what this side gets before anything else; owned by the tunnel now */
};

/* Takes over both sides; idle_ms: neither side says anything for so long. Closes both when out of memory. */
void tp_tunnel_start(struct tp_worker *w, struct tp_tunnel_end client, struct tp_tunnel_end provider,
		     uint64_t idle_ms);
/* Ends all tunnels of a worker that leaves. */
void tp_tunnel_close_all(struct tp_worker *w);

#endif
