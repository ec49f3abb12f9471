/*
 * The failure model: how far a send got (stage), what ended it (cause), what that proves about
 * the provider (evidence).  Words of design section 1; rules of design section 4.
 */
#ifndef TP_RETRY_MODEL_H
#define TP_RETRY_MODEL_H

#include <stdbool.h>

enum tp_stage {
	TP_STAGE_UNSENT,  /* not one byte written */
	TP_STAGE_SENDING, /* some bytes written */
	TP_STAGE_SENT,    /* all written, no answer yet */
	TP_STAGE_HEAD,    /* a complete answer head was read */
	TP_STAGE_PRELUDE, /* body bytes, but no output yet */
	TP_STAGE_OUTPUT,  /* first output seen (committed to the client) */
	TP_STAGE_DONE,    /* the answer is complete */
	TP_STAGE_COUNT
};

enum tp_cause {
	TP_CAUSE_ANSWER,  /* a complete answer; its status decides */
	TP_CAUSE_REFUSED, /* connection refused or host unreachable */
	TP_CAUSE_CONNECT_TIMEOUT,
	TP_CAUSE_DNS,
	TP_CAUSE_TLS,         /* handshake failed */
	TP_CAUSE_EGRESS,      /* a proxy of `via` could not be used, or declined */
	TP_CAUSE_POOL_CLOSED, /* a kept connection was found closed before the first byte */
	TP_CAUSE_RESET,       /* RST, or a write that failed */
	TP_CAUSE_CLOSED,      /* FIN, or TLS end without close_notify */
	TP_CAUSE_BROKEN_HEAD, /* what came is no HTTP answer, however it ended */
	TP_CAUSE_FIRST_BYTE_TIMEOUT,
	TP_CAUSE_TRUNCATED, /* a 200 cut before commit */
	TP_CAUSE_INVALID,   /* a 200 that is empty, HTML or unparsable where the family has JSON or SSE */
	TP_CAUSE_STALLED,   /* no byte for timeouts.idle (or no output for timeouts.token) */
	TP_CAUSE_LOCAL,     /* out of memory, descriptors ...: our own fault */
	TP_CAUSE_CLIENT_GONE,
	TP_CAUSE_COUNT
};

enum tp_evidence {
	TP_EVIDENCE_NOT_PROCESSED,
	TP_EVIDENCE_DECLINED,
	TP_EVIDENCE_UNKNOWN,
	TP_EVIDENCE_PROCESSED
};

/* Classes of sends (design 3.1): the first three draw on the base only, the rest may take the reserve. */
enum tp_class {
	TP_CLASS_INITIAL,
	TP_CLASS_RESET,
	TP_CLASS_TRANSIENT,
	TP_CLASS_OVERLOAD,
	TP_CLASS_REFRESH,
	TP_CLASS_ROTATE,
	TP_CLASS_HOP,
	TP_CLASS_COUNT
};

/* Whether a send of this class may use what budget.reserve holds back (design 3.1). */
static inline bool tp_class_may_take_reserve(enum tp_class c)
{
	return c >= TP_CLASS_OVERLOAD;
}

/* Codes of refusals and local answers (design section 4); the names are relied on outside. */
enum tp_code {
	TP_CODE_NONE,
	/* refusals: 429, stop, no Retry-After */
	TP_CODE_RESET_REPLAY_REFUSED,   /* upstream_reset_replay_refused */
	TP_CODE_CLOSED_BEFORE_RESPONSE, /* upstream_closed_before_response */
	TP_CODE_NO_RESPONSE,            /* upstream_no_response */
	TP_CODE_RESPONSE_TRUNCATED,     /* upstream_response_truncated */
	TP_CODE_RESPONSE_INVALID,       /* upstream_response_invalid */
	TP_CODE_BUDGET_EXHAUSTED,       /* request_send_budget_exhausted */
	/* local answers that made no send */
	TP_CODE_UNREACHABLE,           /* 502 upstream_unreachable */
	TP_CODE_CREDENTIAL_REJECTED,   /* 502 upstream_credential_rejected, stop */
	TP_CODE_IN_FLIGHT,             /* 409 logical_request_in_flight, Retry-After: 1 */
	TP_CODE_MODEL_NOT_FOUND,       /* 404 model_not_found */
	TP_CODE_RATE_LIMIT_SHARED,     /* 429 rate_limit_shared, Retry-After */
	TP_CODE_BLACKLISTED,           /* 503 upstream_blacklisted, Retry-After: the next probe */
	TP_CODE_COMBO_UNAVAILABLE,     /* 503 combo_unavailable, a true Retry-After */
	TP_CODE_KEYS_COOLING,          /* 429 keys_cooling, Retry-After */
	TP_CODE_CAPACITY_QUEUE_FULL,   /* 503 capacity_queue_full, a true Retry-After */
	TP_CODE_CAPACITY_WAIT_EXPIRED, /* 503 capacity_wait_expired, a true Retry-After */
	TP_CODE_TOKEN_WAIT_EXPIRED,    /* 503 access_token_wait_expired, Retry-After: 1 */
	TP_CODE_COUNT
};

/* Static words for the log and for metrics; those of classes and codes are relied on outside. */
const char *tp_stage_name(enum tp_stage s);
const char *tp_cause_name(enum tp_cause c);
const char *tp_evidence_name(enum tp_evidence e);
const char *tp_class_name(enum tp_class c);
const char *tp_code_name(enum tp_code c);

/* What an end at this stage for this reason proves; total over all combinations. For
 * TP_CAUSE_ANSWER the status is looked at as well. */
enum tp_evidence tp_evidence_of(enum tp_stage stage, enum tp_cause cause, int status);

#endif
