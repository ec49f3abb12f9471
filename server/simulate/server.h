/* Inside of the simulator: the server, its connections, and what they share. */
#ifndef TP_SIMULATE_SERVER_H
#define TP_SIMULATE_SERVER_H

#include <event2/event.h>
#include <sys/queue.h>

#include "server/simulate/book.h"
#include "server/simulate/plan.h"

struct tp_sim_conn;

struct tp_sim_server {
	struct event_base *base; /* borrowed */
	struct tp_sim_book *book;
	LIST_HEAD(, tp_sim_conn) conns;
	uint32_t in_progress; /* answers of `capacity` steps */
};

/* Takes over an accepted, non-blocking socket. */
void tp_sim_conn_open(struct tp_sim_server *s, evutil_socket_t fd);
/* Closes and frees all connections. */
void tp_sim_conn_close_all(struct tp_sim_server *s);
/* Lets held answers go on: of one logical request, or all (id.p NULL). Returns how many. */
uint32_t tp_sim_conn_release(struct tp_sim_server *s, struct tp_str id);

/*
 * The simulator's own endpoints below /__sim/.  Writes the JSON answer and returns 200, or 404.
 * May let other connections go on (release).
 */
int tp_sim_control(struct tp_sim_server *s, struct tp_str method, struct tp_str target, struct tp_buf *out);

#endif
