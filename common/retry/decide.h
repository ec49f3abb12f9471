/*
 * The retry decision: one pure function of what happened, the policy, and what the
 * budget and the clock still allow (design sections 3.1, 4, 5).  `workers` acts on it and
 * decides nothing by itself.
 */
#ifndef TP_RETRY_DECIDE_H
#define TP_RETRY_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/config.h"
#include "common/retry/model.h"

/* How one attempt ended. */
struct tp_outcome {
	enum tp_stage stage;
	enum tp_cause cause;
	int status;          /* with TP_CAUSE_ANSWER; else 0 */
	int64_t told_ms;     /* what the provider told to wait, floor already applied; -1 = nothing */
	uint32_t took_ms;    /* from dispatch to this outcome */
	int8_t should_retry; /* upstream x-should-retry: 1 true, 0 false, -1 absent */
	bool overload;       /* evidence of overload beside the status (codes, X-Codex-*) */
	bool quota;          /* an exhausted quota or billing code */
	bool drowning;       /* X-Codex-System-Load at or above 90% */
	bool replay_safe;    /* the request may be sent twice: GET, HEAD, OPTIONS, replay_safe paths */
	bool committed;      /* a byte of the answer went to the client */
	bool own_credential; /* the credential was Turnpike's, not the client's */
};

/* What this turn may still do. */
struct tp_allowance {
	uint32_t class_sends[TP_CLASS_COUNT]; /* retries already made in this turn, per class */
	bool base_left;                       /* one more send of a base class fits the budget */
	bool reserve_left;                    /* one more send of a reserve class fits the budget */
	uint64_t deadline_left_ms;            /* until the turn's deadline */
	bool forced_retry_used;               /* the one retry that x-should-retry: true grants was made */
};

enum tp_action {
	TP_ACT_RELAY,      /* show the provider's answer */
	TP_ACT_SEND_AGAIN, /* same target, after wait_ms, charged to `klass` */
	TP_ACT_RECONNECT,  /* pooled connection was dead: new connection, same (already charged) send */
	TP_ACT_REFUSE,     /* answer with `code`: never sent again by anybody */
	TP_ACT_LOCAL,      /* local answer with `code` that is no refusal (upstream_unreachable) */
	TP_ACT_END_STREAM, /* committed: end the answer correctly for its family */
	TP_ACT_CANCEL      /* the client is gone */
};

struct tp_decision {
	enum tp_action action;
	enum tp_evidence evidence;
	enum tp_class klass; /* with SEND_AGAIN */
	uint32_t wait_ms;    /* with SEND_AGAIN; jitter included, never below told_ms */
	enum tp_code code;   /* with REFUSE and LOCAL; END_STREAM: the code of the family's terminal event */
	bool stop; /* RELAY: the answer carries x-should-retry: false (once; an upstream's own included) */
	bool give_back; /* the charge is returned: provably nothing was written */
	bool forced; /* SEND_AGAIN: the one retry that x-should-retry: true grants; sets forced_retry_used */
	const char *reason; /* static, for the log: why not (or why) sent again */
};

/* `random` = 64 fresh random bits; equal arguments give equal decisions. */
struct tp_decision tp_decide(const struct tp_retry_conf *policy, const struct tp_outcome *o,
			     const struct tp_allowance *a, uint64_t random);

#endif
