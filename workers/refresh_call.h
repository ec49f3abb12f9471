/*
 * One question to the endpoint that renews access tokens (design section 9): a POST on a connection of its
 * own, bounded in time and size.  Redirects are not followed.
 */
#ifndef TP_WORKERS_REFRESH_CALL_H
#define TP_WORKERS_REFRESH_CALL_H

#include "common/base/buf.h"
#include "common/http/chunked.h"
#include "workers/connect.h"
#include "workers/core.h"
#include "workers/upstream.h"

/* What came of it. `body` and `why` are valid inside the call. */
struct tp_refresh_result {
	int status;      /* 0 = no whole answer: `why` says in words what happened */
	int64_t told_ms; /* what its headers told to wait; -1 = nothing */
	struct tp_str body;
	const char *why;
};

typedef void tp_refresh_told_fn(void *arg, const struct tp_refresh_result *result);

/* Zeroed: none under way. */
struct tp_refresh_call {
	struct tp_provider_rt *endpoint;
	tp_refresh_told_fn *fn;
	void *arg;
	struct tp_connecting *connecting;
	struct tp_upstream *up;
	struct tp_buf out, in;
	struct tp_buf body;
	struct tp_chunked chunked;
	size_t scanned;
	uint64_t length;
	int64_t told_ms;
	int status; /* 0 = the head is not there yet */
	uint8_t framing;
	bool active;
};

/* `body` is sent as it is, with this content type. fn is called once, from the loop, never from here. False
 * when out of memory. */
bool tp_refresh_call_begin(struct tp_refresh_call *c, struct tp_provider_rt *endpoint, struct tp_str body,
			   const char *content_type, tp_refresh_told_fn *fn, void *arg);
/* fn will not be called. */
void tp_refresh_call_cancel(struct tp_refresh_call *c);

#endif
