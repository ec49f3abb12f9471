/*
 * What an error answer means (design sections 4, 5; kinds as the fixtures of tests/data name them): quota or
 * rate limit, overload or capacity, credential, model, size, safety.  A pure function of strings that
 * somebody else took out of the head and the body; one table of patterns.
 *
 * Only error answers are to be given: a status of 300 and up, or a 2xx whose body or head says that it
 * is an error (design section 6). The text of a good answer is never looked at here.
 */
#ifndef TP_RETRY_CLASSIFY_H
#define TP_RETRY_CLASSIFY_H

#include <stdbool.h>

#include "common/base/str.h"

enum tp_error_kind {
	TP_ERROR_OVERLOAD,
	TP_ERROR_RATE_LIMIT,
	TP_ERROR_QUOTA,
	TP_ERROR_AUTH,
	TP_ERROR_CLIENT,    /* the request is at fault */
	TP_ERROR_SERVER,    /* the provider is at fault */
	TP_ERROR_TRANSIENT, /* something on the way is at fault */
	TP_ERROR_KIND_COUNT
};

/* What is known of an error answer. Borrowed; empty = absent. */
struct tp_error_facts {
	int status; /* of the head */
	/* the error object, wherever the dialect has it; numbers as they are written */
	struct tp_str code;    /* error.code, or "code" at the top */
	struct tp_str type;    /* error.type; Google: error.status */
	struct tp_str message; /* error.message, "error" or "detail" as a string, "message" at the top */
	struct tp_str reason;  /* details: Anthropic error_code, Google ErrorInfo reason, OpenRouter
				* error_type */
	bool per_day;          /* Google's QuotaFailure names a quota of a day: its retryDelay misleads */
	/* header values */
	struct tp_str codex_status, codex_system_load, codex_model_capacity;
	struct tp_str unified_status; /* anthropic-ratelimit-unified-status */
	struct tp_str location;
};

struct tp_error_class {
	enum tp_error_kind kind;
	int status;               /* the head's, or for a 2xx the one it stands for */
	bool overload;            /* the provider said so, beside its status: evidence for the decision */
	bool quota;               /* a code or text of an exhausted quota: never sent again with this key */
	bool auth;                /* the credential is at fault */
	bool model_unavailable;   /* another target may have the model */
	bool context_too_long;    /* a target with a larger context may do it */
	bool too_large_for_limit; /* larger than the rate limit ever allows: waiting does not help */
	bool safety;              /* refused for its content: no target is asked instead */
	bool drowning;            /* X-Codex-System-Load at or above 90%: the gateway itself */
	bool capacity;            /* a busy model (X-Codex-Model-Capacity, "at capacity"): full retries */
};

/* What an error answer says: its status, then codes and words of its body, then headers. Total: facts that
 * say nothing give the class of their status. */
struct tp_error_class tp_classify(const struct tp_error_facts *facts);
/* "98%", "98", "0.98": at or above 90%. Unreadable = false. */
bool tp_load_is_drowning(struct tp_str system_load);
/* "4/4": nothing free. Unreadable = false. */
bool tp_capacity_is_full(struct tp_str model_capacity);

#endif
