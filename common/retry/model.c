#include "common/retry/model.h"

#include "common/retry/failure.h"

#include <stddef.h>

#define N TP_EVIDENCE_NOT_PROCESSED
#define U TP_EVIDENCE_UNKNOWN
#define P TP_EVIDENCE_PROCESSED

/*
 * The failure table (design section 4): one row for each cause.  What an end proves hangs on three
 * spans of stages: nothing written; written, no output yet; output seen.  Rows whose cause
 * cannot come at a stage (a DNS failure after the request went out) still say the careful thing there: a byte
 * was written, so nobody knows.
 */
/* clang-format off */
static const struct tp_failure_row failures[TP_CAUSE_COUNT] = {
	/* cause                          name                    unsent, written, output; refused with; why */
	[TP_CAUSE_ANSWER]             = { "answer",                 U, U, P, TP_CODE_NONE,
		"the status is read instead: see statuses[]" },
	[TP_CAUSE_REFUSED]            = { "connection refused",     N, U, P, TP_CODE_CLOSED_BEFORE_RESPONSE,
		"no connection, so no request" },
	[TP_CAUSE_CONNECT_TIMEOUT]    = { "connect timeout",        N, U, P, TP_CODE_NO_RESPONSE,
		"no connection, so no request" },
	[TP_CAUSE_DNS]                = { "name not resolved",      N, U, P, TP_CODE_CLOSED_BEFORE_RESPONSE,
		"no address, so no connection" },
	[TP_CAUSE_TLS]                = { "TLS handshake failed",   N, N, P, TP_CODE_CLOSED_BEFORE_RESPONSE,
		"the request is written after the handshake; an alert about our certificate ends that of TLS 1.3" },
	[TP_CAUSE_EGRESS]             = { "egress failed",          N, N, P, TP_CODE_CLOSED_BEFORE_RESPONSE,
		"no tunnel, so no request; a proxy that wants credentials (407) has passed nothing on" },
	[TP_CAUSE_POOL_CLOSED]        = { "kept connection closed", N, U, P, TP_CODE_CLOSED_BEFORE_RESPONSE,
		"seen before the first byte was written" },
	[TP_CAUSE_RESET]              = { "connection reset",       N, U, P, TP_CODE_RESET_REPLAY_REFUSED,
		"the provider may have read the request before it reset" },
	[TP_CAUSE_CLOSED]             = { "connection closed",      N, U, P, TP_CODE_CLOSED_BEFORE_RESPONSE,
		"the provider may have worked on it before it closed" },
	[TP_CAUSE_BROKEN_HEAD]        = { "broken answer head",     N, U, P, TP_CODE_CLOSED_BEFORE_RESPONSE,
		"something answered, nobody can say what" },
	[TP_CAUSE_FIRST_BYTE_TIMEOUT] = { "first byte timeout",     N, U, P, TP_CODE_NO_RESPONSE,
		"it may be working on the request this very moment" },
	[TP_CAUSE_TRUNCATED]          = { "truncated answer",       P, P, P, TP_CODE_RESPONSE_TRUNCATED,
		"a 200 began: it ran" },
	[TP_CAUSE_INVALID]            = { "invalid answer",         P, P, P, TP_CODE_RESPONSE_INVALID,
		"a 200 came: it ran, whatever the body says" },
	[TP_CAUSE_STALLED]            = { "stalled answer",         N, U, P, TP_CODE_NO_RESPONSE,
		"it may be working on the request this very moment" },
	[TP_CAUSE_LOCAL]              = { "local failure",          N, U, P, TP_CODE_CLOSED_BEFORE_RESPONSE,
		"our fault, but the provider may have got it" },
	[TP_CAUSE_CLIENT_GONE]        = { "client gone",            N, U, P, TP_CODE_NONE,
		"says nothing about the provider" },
};
/* clang-format on */

#undef N
#undef U
#undef P

/* What a complete answer proves, by its status; the first row that fits counts. */
static const struct {
	int from, to;
	enum tp_evidence evidence;
	const char *why;
} statuses[] = {
	{200, 299, TP_EVIDENCE_PROCESSED, "an answer"},
	{300, 399, TP_EVIDENCE_DECLINED, "sent elsewhere instead of being run"},
	{408, 408, TP_EVIDENCE_UNKNOWN, "accepted, then ran out of time"},
	{499, 499, TP_EVIDENCE_UNKNOWN, "a gateway gave up on something that was under way"},
	{400, 498, TP_EVIDENCE_DECLINED, "said no before it ran"},
	{500, 500, TP_EVIDENCE_DECLINED, "by convention: retry.transient.statuses"},
	{501, 501, TP_EVIDENCE_DECLINED, "cannot do it"},
	{502, 504, TP_EVIDENCE_DECLINED, "by convention: retry.transient.statuses"},
	{505, 508, TP_EVIDENCE_DECLINED, "cannot do it"},
	{510, 511, TP_EVIDENCE_DECLINED, "cannot do it"},
	{520, 522, TP_EVIDENCE_DECLINED, "by convention: retry.transient.statuses"},
	{523, 523, TP_EVIDENCE_DECLINED, "the edge never reached the application"},
	{524, 524, TP_EVIDENCE_UNKNOWN, "accepted, then ran out of time"},
	{525, 527, TP_EVIDENCE_DECLINED, "the edge never reached the application"},
	{529, 529, TP_EVIDENCE_DECLINED, "overloaded"},
	{530, 530, TP_EVIDENCE_DECLINED, "the edge never reached the application"},
};

static enum tp_evidence evidence_of_status(int status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (status >= statuses[i].from && status <= statuses[i].to)
			return statuses[i].evidence;
	return TP_EVIDENCE_UNKNOWN; /* a status nobody defined proves nothing */
}

const struct tp_failure_row *tp_failure_row(enum tp_cause cause)
{
	unsigned i = (unsigned)cause;

	/* Out of range is a bug elsewhere; a row that never sends again does the least harm. */
	return &failures[i < TP_CAUSE_COUNT ? i : TP_CAUSE_BROKEN_HEAD];
}

enum tp_evidence tp_evidence_of(enum tp_stage stage, enum tp_cause cause, int status)
{
	const struct tp_failure_row *row = tp_failure_row(cause);

	if (cause == TP_CAUSE_ANSWER)
		return evidence_of_status(status);
	if (stage == TP_STAGE_UNSENT)
		return row->unsent;
	return (unsigned)stage < TP_STAGE_OUTPUT ? row->before_output : row->after_output;
}

/* Index out of range: "?" rather than a crash in a log line. */
#define NAME_IN(table, i)                                                                                    \
	((unsigned)(i) < sizeof(table) / sizeof((table)[0]) && (table)[(unsigned)(i)] != NULL                \
		 ? (table)[(unsigned)(i)]                                                                    \
		 : "?")

const char *tp_stage_name(enum tp_stage s)
{
	static const char *const names[TP_STAGE_COUNT] = {
		[TP_STAGE_UNSENT] = "unsent", [TP_STAGE_SENDING] = "sending", [TP_STAGE_SENT] = "sent",
		[TP_STAGE_HEAD] = "head",     [TP_STAGE_PRELUDE] = "prelude", [TP_STAGE_OUTPUT] = "output",
		[TP_STAGE_DONE] = "done",
	};

	return NAME_IN(names, s);
}

const char *tp_cause_name(enum tp_cause c)
{
	return (unsigned)c < TP_CAUSE_COUNT ? failures[(unsigned)c].name : "?";
}

const char *tp_evidence_name(enum tp_evidence e)
{
	static const char *const names[] = {
		[TP_EVIDENCE_NOT_PROCESSED] = "not_processed",
		[TP_EVIDENCE_DECLINED] = "declined",
		[TP_EVIDENCE_UNKNOWN] = "unknown",
		[TP_EVIDENCE_PROCESSED] = "processed",
	};

	return NAME_IN(names, e);
}

const char *tp_class_name(enum tp_class c)
{
	static const char *const names[TP_CLASS_COUNT] = {
		[TP_CLASS_INITIAL] = "initial",
		[TP_CLASS_RESET] = "reset",
		[TP_CLASS_TRANSIENT] = "transient",
		[TP_CLASS_OVERLOAD] = "overload",
		[TP_CLASS_REFRESH] = "refresh",
		[TP_CLASS_ROTATE] = "rotate",
		[TP_CLASS_HOP] = "hop",
	};

	return NAME_IN(names, c);
}

const char *tp_code_name(enum tp_code c)
{
	static const char *const names[TP_CODE_COUNT] = {
		[TP_CODE_NONE] = "none",
		[TP_CODE_RESET_REPLAY_REFUSED] = "upstream_reset_replay_refused",
		[TP_CODE_CLOSED_BEFORE_RESPONSE] = "upstream_closed_before_response",
		[TP_CODE_NO_RESPONSE] = "upstream_no_response",
		[TP_CODE_RESPONSE_TRUNCATED] = "upstream_response_truncated",
		[TP_CODE_RESPONSE_INVALID] = "upstream_response_invalid",
		[TP_CODE_BUDGET_EXHAUSTED] = "request_send_budget_exhausted",
		[TP_CODE_UNREACHABLE] = "upstream_unreachable",
		[TP_CODE_CREDENTIAL_REJECTED] = "upstream_credential_rejected",
		[TP_CODE_IN_FLIGHT] = "logical_request_in_flight",
		[TP_CODE_MODEL_NOT_FOUND] = "model_not_found",
		[TP_CODE_RATE_LIMIT_SHARED] = "rate_limit_shared",
		[TP_CODE_BLACKLISTED] = "upstream_blacklisted",
		[TP_CODE_COMBO_UNAVAILABLE] = "combo_unavailable",
		[TP_CODE_KEYS_COOLING] = "keys_cooling",
		[TP_CODE_CAPACITY_QUEUE_FULL] = "capacity_queue_full",
		[TP_CODE_CAPACITY_WAIT_EXPIRED] = "capacity_wait_expired",
		[TP_CODE_TOKEN_WAIT_EXPIRED] = "access_token_wait_expired",
	};

	return NAME_IN(names, c);
}
