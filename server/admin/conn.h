/*
 * Connections to the admin endpoints: HTTP/1.1 with small requests, on the admin process's own loop.
 */
#ifndef TP_SERVER_ADMIN_CONN_H
#define TP_SERVER_ADMIN_CONN_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/http/head.h"
#include "server/admin/endpoints.h"

struct tp_admin_conn;

struct tp_admin_conns {
	struct event_base *base;
	const struct tp_admin_view *view;
	TAILQ_HEAD(, tp_admin_conn) all; /* oldest first */
	unsigned n;
	bool leaving;        /* the loop ends with the last one */
	struct tp_head head; /* workspace of the parser */
};

/* Borrows both; they outlive it. */
void tp_admin_conns_init(struct tp_admin_conns *c, struct event_base *base, const struct tp_admin_view *view);
/* Takes over fd. `listener`: where it came in; outlives the connection. When there are too many, the oldest
 * one that has asked nothing makes room: whoever sits there must not lock out a scraper. */
void tp_admin_conns_add(struct tp_admin_conns *c, int fd, const struct tp_listener_conf *listener);
/* The master has answered: those that wait for a request up to `asked` get `a`. */
void tp_admin_conns_told(struct tp_admin_conns *c, uint64_t asked, const struct tp_admin_answer *a);
/* Closes those that have asked nothing since their last answer; the others get one more, those that have just
 * come for a second; then the loop is broken. */
void tp_admin_conns_leave(struct tp_admin_conns *c);
/* Closes those whose time is over; once a second. */
void tp_admin_conns_sweep(struct tp_admin_conns *c, uint64_t now_ms);
void tp_admin_conns_close(struct tp_admin_conns *c);

#endif
