/*
 * One inbound request and its life: who asks, for which logical request, sends, waits, answer (design
 * sections 2-7).
 *
 *   client -> tp_turn_start() -> tp_turn_body()* -> tp_turn_body_done()
 *          -> join the ledger -> dispatch -> attempt -> decision -> relay | wait | refuse
 *          -> tp_client_turn_over()
 *
 * Owned by its client until it ends; freed (parked) by the one function that ends it.
 */
#ifndef TP_WORKERS_TURN_H
#define TP_WORKERS_TURN_H

#include "common/http/answer.h"
#include "common/http/decode.h"
#include "common/http/fingerprint.h"
#include "common/http/json.h"
#include "common/retry/decide.h"
#include "common/retry/facts.h"
#include "common/retry/refusal.h"
#include "common/shm/ledger.h"
#include "workers/answer_head.h"
#include "workers/attempt.h"
#include "workers/blacklist.h"
#include "workers/client.h"
#include "workers/core.h"
#include "workers/gate.h"
#include "workers/keys.h"
#include "workers/open_turns.h"
#include "workers/overhead.h"
#include "workers/record.h"
#include "workers/refresh.h"
#include "workers/request.h"
#include "workers/targets.h"
#include "workers/timer.h"
#include "workers/waits.h"

enum tp_turn_state {
	TP_TURN_RECEIVE, /* the request is arriving */
	TP_TURN_JOIN,    /* an earlier turn of the same logical request is in flight */
	TP_TURN_SEND,    /* an attempt is under way; what has come of its answer is held */
	TP_TURN_WAIT,    /* until the next send */
	TP_TURN_FLOW,    /* committed */
	TP_TURN_OVER
};

enum tp_relay_mode {
	TP_RELAY_NONE,    /* no answer head yet */
	TP_RELAY_COLLECT, /* an error status: its body is gathered for the decision */
	TP_RELAY_HOLD,    /* JSON under a 2xx: held until complete */
	TP_RELAY_PRELUDE, /* a stream: held until its first output */
	TP_RELAY_FLOW     /* committed: each piece goes out as it comes */
};

/* A provider's answer that was not shown (yet). */
struct tp_saved_answer {
	int status;           /* what it is shown as */
	struct tp_head *head; /* owned, with its bytes behind it */
	char *bytes;
	struct tp_answer_facts facts;
	struct tp_buf body;
	bool decoded;                  /* it came compressed: the body has no content coding any more */
	bool cut;                      /* the body is not whole: the family's JSON is shown in its place */
	struct tp_answer_error *error; /* owned; a 200 that carries this error */
};

/* How the answer in hand is delivered. */
struct tp_relay {
	enum tp_relay_mode mode;
	enum tp_answer_framing framing; /* towards the client */
	bool until_close;               /* the provider's framing: the body ends with the connection */
	bool stream;                    /* an event stream of a family */
	bool front_seen;                /* a held answer's first bytes have told that it is none */
	bool list;                      /* of models, to which combos are added when it is whole */
	bool whole;  /* what was seen of it is a complete answer, whatever comes or does not come after */
	bool ended;  /* its last event was seen: nothing more is owed to the client */
	bool failed; /* it told an error after commit */
	struct tp_answer_facts facts;
	struct tp_saved_answer *kept; /* owned, without a body: saved once it turns out to carry an error */
	struct tp_buf head;           /* the client's head while nothing is committed */
	struct tp_buf held;           /* body bytes while nothing is committed */
	struct tp_sse sse;
	struct tp_json *json;       /* committed JSON whose end only a FIN tells: was it whole? Else NULL */
	struct tp_decoder *decoder; /* it comes compressed and is shown decoded; NULL = as it comes */
	struct tp_buf coded;        /* it as it came, while it may turn out not to be compressed at all */
	bool coded_dropped;         /* too late, or too much, for that */
	bool resting;               /* the client is slow: ... */
	bool rest_ends;             /* ... the answer ends with ... */
	struct tp_buf rest;         /* ... what is not decoded yet of the last piece */
};

struct tp_turn {
	struct tp_worker *worker;
	struct tp_client *client;
	struct tp_runtime *runtime;     /* one reference: a turn ends on the configuration it began with */
	const struct tp_config *config; /* the runtime's */
	enum tp_turn_state state;
	struct tp_request *request;
	const struct tp_route_conf *route;
	size_t route_cut; /* bytes of its path, which the provider does not see; 0 for "/" */
	struct tp_provider_rt *provider;
	const struct tp_client_conf *who; /* NULL = anonymous */
	enum tp_family family;
	uint8_t minor; /* of the client's HTTP version */
	bool head_request;
	bool keep_alive;   /* the client wants it */
	bool streaming;    /* the request was too large to hold */
	bool tunnel;       /* an upgrade to be passed on */
	bool lists_models; /* combos are added to the answer */
	bool replay_safe;
	bool resend; /* x-stainless-retry-count above 0 */
	bool forced_retry_used;
	bool wants_stream;     /* the body says stream: true */
	bool self_contained;   /* may be replaced once under retry.ambiguous_replays */
	bool opened;           /* heartbeats have opened the answer: failures are told in the stream */
	enum tp_code replaced; /* the present attempt replaces one that would have been refused so */
	uint64_t begun_ms, deadline_ms; /* of CLOCK_BOOTTIME */
	uint32_t join_wait_ms;
	char id[TP_REQUEST_ID_SIZE];

	struct tp_fingerprint *fingerprint; /* while the body arrives */
	struct tp_decoder *body_decoder;    /* beside it, of a body that comes compressed */
	struct tp_identity identity;
	struct tp_ledger_handle ledger;
	struct tp_ledger_limits limits;
	bool joined;         /* the ledger handle needs its end */
	uint32_t sends_told; /* X-Turnpike-Sends of an answer from memory */
	uint32_t class_sends[TP_CLASS_COUNT];
	uint32_t overload_limit; /* of tp_decision: what a drowning gateway leaves */
	enum tp_class klass;     /* of the present send, or of the one that is waited for */

	struct tp_targets *targets; /* owned; NULL: the request names no combo */
	struct tp_turn_keys keys;   /* of a provider with several */
	struct tp_turn_waits waits;
	struct tp_turn_gate gate;
	struct tp_turn_token token; /* of a provider with `refresh` */
	bool other_targets;         /* the provider is not the only one: the blacklist need not spare it */
	struct tp_blacklist_turn blacklist;

	struct tp_attempt attempt;
	struct tp_overhead overhead;
	struct tp_relay relay;
	struct tp_saved_answer *saved; /* an error of the present attempt, or of an earlier one */
	struct tp_turn_record record;
	struct tp_turn_open open;
	struct tp_timer timer; /* the end of a wait, of a hold, or of a gap between outputs */
	struct tp_timer beat;  /* heartbeats; closed when they are off */
};

/* NULL when out of memory. Nothing is answered yet. */
struct tp_turn *tp_turn_new(struct tp_client *c, const struct tp_head *head, const char *bytes);
/* Checks the head; may answer at once and end the turn. */
void tp_turn_start(struct tp_turn *t);
/* Where the next bytes of a body with a length may be read to, then to be given to tp_turn_body(): a copy is
 * saved. *ret_n bytes at most; valid until the turn goes on. NULL: anywhere else. */
char *tp_turn_body_room(struct tp_turn *t, size_t *ret_n);
/* A piece of the request's body, unframed. May end the turn. */
void tp_turn_body(struct tp_turn *t, const char *data, size_t n);
/* The request is complete. May end the turn. */
void tp_turn_body_done(struct tp_turn *t);
/* The request turned out to be wrong (413, 400) while its body was arriving. */
void tp_turn_reject(struct tp_turn *t, int status, const char *detail);
/* What the client could not take before is written. */
void tp_turn_writable(struct tp_turn *t);
/* The client left: cancel at once; neutral everywhere. */
void tp_turn_client_gone(struct tp_turn *t);
/* The worker leaves: end the answer as cut. */
void tp_turn_abort(struct tp_turn *t);

/* ---- for the other files that are parts of the turn */

/* How a turn ends; the statistics add up over these. */
enum tp_turn_outcome { TP_TURN_OK, TP_TURN_ERROR, TP_TURN_REFUSED, TP_TURN_CUT, TP_TURN_GONE, TP_TURN_BAD };

/* The present send provably wrote nothing: its charge is returned. */
void tp_turn_give_back(struct tp_turn *t);
/* An attempt has ended without a good answer: asks tp_decide() and acts on it. */
void tp_turn_decide(struct tp_turn *t, enum tp_cause cause, const char *why);
/* The same about an outcome for which no attempt has just ended: there is no access token to send with. */
void tp_turn_decide_on(struct tp_turn *t, const struct tp_outcome *o, const char *why);
/* The one way a turn ends, but for one that becomes a tunnel. */
void tp_turn_end(struct tp_turn *t, enum tp_turn_outcome outcome, const struct tp_ledger_ending *ending,
		 enum tp_client_next next);
/* The one way a state changes; counts and times what waits. Ends the timer of a wait, and for FLOW and OVER
 * that of a hold; to set it is the caller's. */
void tp_turn_set_state(struct tp_turn *t, enum tp_turn_state s);
/* TP_TURN_WAIT: for this, which says how the turn goes on, and ends at `until_ms` (CLOCK_BOOTTIME) at the
 * latest. The timer is the caller's. */
void tp_turn_wait_for(struct tp_turn *t, enum tp_open_wait wait, uint64_t until_ms);
/* Answers with a value of common/retry/refusal.h and ends the turn. */
void tp_turn_answer_local(struct tp_turn *t, const struct tp_refusal *r, enum tp_turn_outcome outcome,
			  const struct tp_ledger_ending *ending);
/* Answers 200 with this JSON, without a send, and ends the turn. */
void tp_turn_answer_json(struct tp_turn *t, struct tp_str body);
/* Answers a turn that made no send, and ends it, with a value that tells to come back in `left_ms`: the same
 * request belongs to this one until then. */
void tp_turn_answer_until(struct tp_turn *t, const struct tp_refusal *r, uint64_t left_ms);
/* The same with a code that a time belongs to, told as whole seconds (at least 1), and counted. */
void tp_turn_answer_later(struct tp_turn *t, enum tp_code code, uint64_t left_ms);
/* Ends the turn as a refusal, so that nobody sends it again: `code` is one of the 429s of the design. */
void tp_turn_refuse(struct tp_turn *t, enum tp_code code);
/* What Turnpike adds to this turn's answers; framing and length are the caller's to fill. */
struct tp_answer_about tp_turn_about(const struct tp_turn *t);

#endif
