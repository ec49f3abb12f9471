/*
 * A plan: everything one answer will do on the wire, made before its first byte.  Bytes of
 * the head, pieces of the body, the waits between them, and where it breaks or pauses.
 */
#ifndef TP_SIMULATE_PLAN_H
#define TP_SIMULATE_PLAN_H

#include "server/simulate/answer.h"
#include "server/simulate/script.h"

enum tp_sim_stop {
	TP_SIM_STOP_NONE,
	TP_SIM_STOP_BEFORE_HEAD,
	TP_SIM_STOP_IN_HEAD, /* after half of the head's bytes */
	TP_SIM_STOP_IN_BODY, /* at stop_at */
};

enum tp_sim_pause { TP_SIM_PAUSE_NONE, TP_SIM_PAUSE_BEFORE_HEAD, TP_SIM_PAUSE_IN_BODY };

struct tp_sim_plan {
	int status;
	struct tp_buf head;
	struct tp_sim_answer answer;
	bool chunked;      /* else Content-Length, or the end of the connection */
	bool head_only;    /* HEAD, 204, 304 */
	bool close_at_end; /* the connection ends with the answer */
	uint32_t first_ms, every_ms;
	enum tp_sim_stop stop;
	enum tp_sim_how how; /* with a stop */
	size_t stop_at;      /* byte of the body */
	enum tp_sim_pause pause;
	size_t pause_at; /* byte of the body */
};

/* What the request says about the answer's framing. */
struct tp_sim_frame {
	uint8_t minor; /* of HTTP/1.x */
	bool keep_alive;
	bool is_head; /* HEAD */
};

/* The plan of one step. `send`: how often the logical request was sent. */
void tp_sim_plan_make(struct tp_sim_plan *p, const struct tp_sim_step *step, const struct tp_sim_turn *t,
		      struct tp_sim_frame frame, uint32_t send);
/* The simulator's own refusal, in the dialect of the turn. `message` is terminated text. */
void tp_sim_plan_refuse(struct tp_sim_plan *p, int status, const char *message, const struct tp_sim_turn *t,
			struct tp_sim_frame frame);
/* 200 with this JSON (copied). */
void tp_sim_plan_json(struct tp_sim_plan *p, struct tp_str json, struct tp_sim_frame frame);
/* A plan that could not be made for want of memory; its connection is best closed. */
bool tp_sim_plan_failed(const struct tp_sim_plan *p);
void tp_sim_plan_free(struct tp_sim_plan *p);

#endif
