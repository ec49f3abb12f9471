/*
 * What the head of a provider's answer says to the retry decision, and to the client about waiting (design
 * sections 4, 5).  Pure; no allocation.
 */
#ifndef TP_RETRY_FACTS_H
#define TP_RETRY_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/http/head.h"

struct tp_answer_facts {
	int status;
	int64_t told_ms;        /* what the headers told to wait; no floor; -1 = nothing readable */
	int8_t should_retry;    /* x-should-retry: 1, 0, or -1 = absent or neither */
	bool status_overloaded; /* X-Codex-Status: overloaded */
	bool event_stream;      /* content-type text/event-stream */
	bool html;              /* content-type text/html */
	bool json;              /* content-type application/json */
	bool encoded;           /* content-encoding other than identity */
};

/* now_s: wall clock, seconds since 1970. */
void tp_answer_facts(const struct tp_head *h, const char *bytes, int64_t now_s,
		     struct tp_answer_facts *ret_facts);

#endif
