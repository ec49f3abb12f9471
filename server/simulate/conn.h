/* One connection of a client: its state and what the parts of the connection code share. */
#ifndef TP_SIMULATE_CONN_H
#define TP_SIMULATE_CONN_H

#include "common/http/chunked.h"
#include "server/simulate/server.h"

struct bufferevent;

enum tp_sim_state {
	TP_SIM_READ_HEAD,
	TP_SIM_READ_BODY,
	TP_SIM_READY,    /* the request is complete, nothing is decided yet */
	TP_SIM_WAITING,  /* for the plan's first byte */
	TP_SIM_SENDING,  /* pieces, with waits between them */
	TP_SIM_PAUSED,   /* until it is released */
	TP_SIM_STALLED,  /* until the client leaves */
	TP_SIM_FLUSHING, /* all is written, the break comes when the kernel took it */
	TP_SIM_LEAVING,  /* FIN sent, waiting for the client's */
	TP_SIM_CLOSED,   /* to be freed by whoever called in */
};

struct tp_sim_conn {
	LIST_ENTRY(tp_sim_conn) link;
	struct tp_sim_server *server;
	struct bufferevent *bev;
	struct event *timer;
	enum tp_sim_state state;

	/* the request */
	struct tp_buf raw; /* its head */
	struct tp_head head;
	size_t scanned;
	struct tp_buf body;
	struct tp_chunked chunked;

	/* the answer */
	struct tp_sim_plan plan;
	bool planned;  /* plan is to be freed */
	bool counted;  /* in server->in_progress */
	bool released; /* a pause was let go, perhaps before it was reached */
	bool head_sent;
	uint64_t serial; /* of the send in the book; 0 = control */
	size_t sent;     /* bytes of the body */
	size_t piece;    /* the next one */
	char id[TP_SIM_ID_MAX + 1];
};

/* The only function that changes the state. */
void tp_sim_conn_move(struct tp_sim_conn *c, enum tp_sim_state to);
/* Decides the answer of a complete request and begins it. State READY in, anything later out. */
void tp_sim_conn_answer(struct tp_sim_conn *c);
/* Goes on with the answer as far as it can now: after a wait, a release, or from the start. */
void tp_sim_conn_play(struct tp_sim_conn *c);
/* What was written is with the kernel; state FLUSHING. */
void tp_sim_conn_flushed(struct tp_sim_conn *c);
/* The timer fired. */
void tp_sim_conn_timeout(struct tp_sim_conn *c);
/* Ends the exchange in the book, frees its plan, makes the connection ready for the next request. */
void tp_sim_conn_end(struct tp_sim_conn *c, enum tp_sim_end end);

#endif
