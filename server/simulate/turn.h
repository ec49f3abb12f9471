/* One request to the simulator, read: which API, which model, which script, which logical request. */
#ifndef TP_SIMULATE_TURN_H
#define TP_SIMULATE_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/http/head.h"

enum tp_sim_api {
	TP_SIM_API_CHAT,
	TP_SIM_API_RESPONSES,
	TP_SIM_API_MESSAGES,
	TP_SIM_API_COUNT_TOKENS,
	TP_SIM_API_MODELS,
	TP_SIM_API_HEALTH, /* "/", /health: any provider answers something there */
	TP_SIM_API_NONE,   /* 404 */
};

enum { TP_SIM_ID_MAX = 128 };

struct tp_sim_turn {
	enum tp_sim_api api;
	bool anthropic;     /* speaks the Anthropic dialect: by path, or header anthropic-version */
	bool stream;        /* body: "stream": true */
	bool include_usage; /* chat: stream_options.include_usage */
	uint32_t input_tokens;
	uint64_t serial;       /* of the send, for made-up ids */
	struct tp_str path;    /* without query; borrowed from the head */
	struct tp_buf model;   /* as written; "" = none */
	struct tp_buf escaped; /* model, escaped for JSON and terminated */
	struct tp_buf script;  /* the fault script, without "sim:"; "200" when none was asked for */
	char id[TP_SIM_ID_MAX + 1];
};

/*
 * Reads a complete request.  Returns 0, or the status of the refusal with its reason (static text).
 * The turn owns its buffers in both cases: tp_sim_turn_free().
 */
int tp_sim_turn_read(struct tp_sim_turn *t, const char *bytes, const struct tp_head *h, struct tp_str body,
		     const char **ret_reason);
void tp_sim_turn_free(struct tp_sim_turn *t);

#endif
