/*
 * Fault scripts: "503x2;retry-after=1,200".  What a model name or the header x-simulate asks
 * for, as a list of steps; each send of a logical request plays the next one.
 * The grammar is in docs/simulate.md; parsing is strict: what does nothing is an error.
 * Pure functions; a script owns all its text.
 */
#ifndef TP_SIMULATE_SCRIPT_H
#define TP_SIMULATE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"

enum {
	TP_SIM_SCRIPT_MAX = 1024, /* bytes of a script */
	TP_SIM_STEPS_MAX = 32,
	TP_SIM_HEADERS_MAX = 8, /* for each step */
	TP_SIM_TOKENS = 6,      /* words of an answer, unless told */
};

enum tp_sim_kind {
	TP_SIM_STATUS,    /* an answer with this status: 2xx good, else an error */
	TP_SIM_BREAK,     /* `how` the exchange breaks, and `where` */
	TP_SIM_TRUNCATE,  /* `number` bytes of the body, then FIN */
	TP_SIM_HOLD,      /* pauses until POST /__sim/release */
	TP_SIM_OVERLOAD,  /* an overload error inside a 200 */
	TP_SIM_ERROR_MID, /* an error event after some output */
	TP_SIM_CAPACITY,  /* good, or 429 with more than `number` in progress */
};

enum tp_sim_how {
	TP_SIM_RESET, /* RST */
	TP_SIM_CLOSE, /* FIN, the framing unfinished */
	TP_SIM_END,   /* a clean end of the framing, the content unfinished */
	TP_SIM_STALL, /* silence until the peer leaves */
};

enum tp_sim_where { TP_SIM_BEFORE_HEAD, TP_SIM_IN_HEAD, TP_SIM_AFTER_HEAD, TP_SIM_MID };

enum tp_sim_body { TP_SIM_BODY_JSON, TP_SIM_BODY_HTML, TP_SIM_BODY_TEXT, TP_SIM_BODY_EMPTY };

struct tp_sim_header {
	struct tp_str name, value;
};

struct tp_sim_step {
	struct tp_str text; /* the step as written, for the log */
	uint8_t kind, how, where, body;
	bool again; /* the script begins anew after this step */
	bool has_after;
	uint16_t status;
	uint32_t number;             /* of truncate and capacity */
	uint32_t repeat;             /* at least 1 */
	uint32_t after;              /* with has_after: events (JSON: bytes) before the fault */
	uint32_t first_ms, every_ms; /* waits before the head, and between events */
	uint32_t tokens;
	struct tp_str code, type, message; /* p NULL = the default of the status */
	uint32_t n_headers;
	struct tp_sim_header headers[TP_SIM_HEADERS_MAX + 1]; /* one spare, for capacity */
};

struct tp_sim_script {
	uint32_t n_steps; /* at least 1 after a successful parse */
	struct tp_sim_step steps[TP_SIM_STEPS_MAX];
	size_t used;
	char text[3 * TP_SIM_SCRIPT_MAX]; /* a copy of the script, then decoded values */
};

/*
 * False: `error` (size bytes) says in one sentence what is wrong and names it.  On success the
 * script's strings point into itself: it must not be moved.
 */
bool tp_sim_script_parse(struct tp_sim_script *s, struct tp_str text, char *error, size_t size);

/* The step for the `send`th send (from 1); the last repeats. Never NULL; owned by the script. */
const struct tp_sim_step *tp_sim_script_step(const struct tp_sim_script *s, uint64_t send);

#endif
