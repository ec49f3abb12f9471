/*
 * What an answer of a provider says, per family: facts only, no policy (design section 6).
 * Words inside model output never count; only the place of a member does.
 */
#ifndef TP_HTTP_ANSWER_H
#define TP_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/http/path.h"
#include "common/http/sse.h"

/* An error as the provider words it.  Strings are terminated, cut at their size (UTF-8 kept
 * whole), control characters replaced by blanks; "" = absent. */
struct tp_answer_error {
	int status;    /* HTTP status the error names for itself (numeric code, status, ":HTTP_STATUS/"); 0 =
			  none */
	char code[64]; /* error.code; numbers as written */
	char type[64]; /* error.type, else Google's status word ("UNAVAILABLE") */
	char reason[64]; /* details.error_code, details[].reason, metadata.error_type, innererror.code */
	char message[512];
	int64_t resets_in_ms;   /* resets_in_seconds; -1 = absent, like the next two */
	int64_t resets_at_s;    /* resets_at, seconds since 1970 */
	int64_t retry_delay_ms; /* google.rpc.RetryInfo retryDelay, rounded up */
	bool ends;    /* stream events: clients stop here. Not so Codex at a bare `error` of responses */
	bool per_day; /* QuotaFailure names a quotaId "...PerDay...": retryDelay misleads */
};

enum tp_answer_verdict {
	TP_ANSWER_OK,      /* a result (an empty list of results is one) */
	TP_ANSWER_INVALID, /* empty, null, HTML, not parsable */
	TP_ANSWER_ERROR    /* an error under a 2xx; ret_error is written */
};

/*
 * The complete body of a 2xx answer.  For TP_FAMILY_PLAIN never INVALID.  ret_error may be NULL.
 * Cheap for good answers: one scan, no allocation.
 */
enum tp_answer_verdict tp_answer_body(enum tp_family family, struct tp_str body,
				      struct tp_answer_error *ret_error);

/*
 * The body of an error answer (4xx, 5xx), of any shape that is known: {"error": {...}}, {"error": "..."},
 * flat (Mistral, DashScope, vLLM, xAI), {"detail": ...}, [{"error": ...}].  False (ret_error is written all
 * the same, empty) when there is nothing to read: HTML, plain text, broken JSON.
 */
bool tp_answer_error_body(struct tp_str body, struct tp_answer_error *ret_error);

enum tp_answer_event {
	TP_EVENT_NEUTRAL, /* comment, ping, created, in_progress, queued, role-only or empty delta, usage ...
			   */
	TP_EVENT_OUTPUT,  /* text, reasoning, a tool call, a refusal: commits */
	TP_EVENT_FINISH, /* chat: a finish_reason. Commits; the answer is whole, even if [DONE] never comes */
	TP_EVENT_TERMINAL, /* the stream's proper end: [DONE], message_stop, response.completed / incomplete
			    */
	TP_EVENT_ERROR     /* ret_error is written; error->ends says whether clients take it for the end */
};

/*
 * One event of a stream, for the time before commit: looks into the event.  An event that is not known or
 * whose data is cut counts as output, since holding output back is worse than committing early.
 */
enum tp_answer_event tp_answer_event(enum tp_family family, const struct tp_sse_event *event,
				     struct tp_answer_error *ret_error);
/*
 * The same after commit, where only terminal and error matter: everything else is OUTPUT.  Looks at the name
 * and the bytes, and into the event only when it may be an error.  ret_error may be NULL.
 */
enum tp_answer_event tp_answer_event_committed(enum tp_family family, const struct tp_sse_event *event,
					       struct tp_answer_error *ret_error);

#endif
