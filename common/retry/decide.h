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
#include "common/retry/alert.h"
#include "common/retry/model.h"

/* How one attempt ended. */
struct tp_outcome {
	enum tp_stage stage;
	enum tp_cause cause;
	int status;             /* with TP_CAUSE_ANSWER; else 0 */
	int64_t told_ms;        /* what the provider told to wait, floor already applied; -1 = nothing */
	uint32_t took_ms;       /* from dispatch to this outcome */
	int8_t should_retry;    /* upstream x-should-retry: 1 true, 0 false, -1 absent */
	bool overload;          /* evidence of overload beside the status (codes, X-Codex-*) */
	bool quota;             /* an exhausted quota or billing code */
	bool drowning;          /* X-Codex-System-Load at or above 90% */
	bool rate_limit;        /* 429 of a rate limit, neither quota nor overload: its told wait is shared */
	bool capacity;          /* it is busy with as many requests as it takes at once */
	uint32_t capacity_told; /* how many that is, as it named them; 0 = it did not */
	bool model_unavailable; /* another target may have the model */
	bool too_large;         /* for this model's context, or for what the rate limit ever allows */
	bool auth;              /* a code or the status says that the credential is at fault */
	bool safety;            /* refused for its content: no target is asked instead */
	bool replay_safe;       /* the request may be sent twice: GET, HEAD, OPTIONS, replay_safe paths */
	bool egress_left;       /* with TP_CAUSE_EGRESS: another way of `via` was not tried by this send */
	bool committed;         /* a byte of the answer went to the client */
	bool own_credential;    /* the credential was Turnpike's, not the client's */
	/* The body refers to nothing but itself: `store: false`, no previous_response_id, conversation or
	 * background, client-side tools only. The caller has checked it. */
	bool self_contained;
	/* This attempt replaced one that may have run: the code that one would have been refused with, as
	 * tp_decide() gave it with `ambiguous`; else TP_CODE_NONE. */
	enum tp_code replaced;
};

/* What this turn may still do. */
struct tp_allowance {
	uint32_t class_sends[TP_CLASS_COUNT]; /* retries already made in this turn, per class */
	bool base_left;                       /* one more send of a base class fits the budget */
	bool reserve_left;                    /* one more send of a reserve class fits the budget */
	uint64_t deadline_left_ms;            /* until the turn's deadline */
	bool forced_retry_used;               /* the one retry that x-should-retry: true grants was made */
	bool ambiguous_left;                  /* this logical request has not replaced a lost send yet */
	uint32_t overload_limit;              /* of this turn: the last decision's, 0 before the first */
	uint32_t long_waits;                  /* of the provider, over all turns: see tp_long_waits_next() */
	/* Combos (design section 8). All zero: there is one target. For each target still to come one send is
	 * held back: base_left and reserve_left are what is left beside those. */
	uint32_t more_targets;     /* that have not been asked in this turn, and may be */
	bool hop_left;             /* one more send of class hop fits the budget */
	uint32_t target_sends;     /* sends to the present target so far, this one included */
	bool refresh_left;         /* the access token may be renewed, which this turn has not done yet */
	uint32_t sends_per_target; /* most of them, as long as there are more targets */
	uint32_t more_keys;        /* of the provider that were not used at this target, and may be */
};

enum tp_action {
	TP_ACT_RELAY,       /* show the provider's answer */
	TP_ACT_SEND_AGAIN,  /* same target, after wait_ms, charged to `klass` */
	TP_ACT_NEXT_TARGET, /* of the combo, at once, charged to class hop */
	TP_ACT_REFRESH,   /* a newer access token first, then the same target again, charged to class refresh;
			   * when there is none: decide again with refresh_left false */
	TP_ACT_NEXT_KEY,  /* same target with another key, at once, charged to class rotate */
	TP_ACT_RECONNECT, /* pooled connection was dead, or a proxy declined: new connection, same (already
			     charged) send */
	TP_ACT_REFUSE,    /* answer with `code`: never sent again by anybody */
	TP_ACT_LOCAL,     /* local answer with `code` that is no refusal (upstream_unreachable) */
	TP_ACT_END_STREAM, /* committed: end the answer correctly for its family */
	TP_ACT_CANCEL      /* the client is gone */
};

struct tp_decision {
	enum tp_action action;
	enum tp_evidence evidence;
	enum tp_class klass; /* with SEND_AGAIN, REFRESH and NEXT_TARGET */
	uint32_t wait_ms;    /* with SEND_AGAIN; jitter included, never below told_ms */
	/* With REFUSE and LOCAL; END_STREAM: the code of the family's terminal event; SEND_AGAIN with
	 * `ambiguous`: what it is refused with if the ledger's allowance turns out to be taken, and the
	 * `replaced` of the attempt to come. */
	enum tp_code code;
	bool stop; /* RELAY: the answer carries x-should-retry: false (once; an upstream's own included) */
	bool give_back; /* the charge is returned: provably nothing was written */
	bool forced; /* SEND_AGAIN: the one retry that x-should-retry: true grants; sets forced_retry_used */
	/* SEND_AGAIN: replaces a send that may have run. Take the ledger's allowance before, and use a new
	 * connection. */
	bool ambiguous;
	/* For the next allowance of this turn: sends of class overload (the first counts) that a drowning
	 * gateway leaves it; 0 = none drowned, the policy's number holds. */
	uint32_t overload_limit;
	uint32_t retries_left; /* SEND_AGAIN: of the class in this turn, this one included */
	enum tp_alert alert;
	const char *reason; /* static, for the log: why not (or why) sent again */
};

/* `random` = 64 fresh random bits; equal arguments give equal decisions. */
struct tp_decision tp_decide(const struct tp_retry_conf *policy, const struct tp_outcome *o,
			     const struct tp_allowance *a, uint64_t random);

/* What a turn is answered with when its next send is not to be had: its target cools, is listed or full, the
 * budget is taken, no access token came in time. */
enum tp_instead {
	TP_INSTEAD_REFUSAL, /* with `replaced`: an earlier send may have run, and that is what counts */
	TP_INSTEAD_SAVED,   /* what the provider said to this very turn is worth more than words of our own */
	TP_INSTEAD_LOCAL    /* words of our own */
};
/* `replaced` as in tp_outcome. `saved`: the status of the provider's answer in hand, 0 = none; `only`: the
 * one status that may stand for words of our own, 0 = any. */
enum tp_instead tp_instead_of_send(enum tp_code replaced, int saved, int only);

#endif
