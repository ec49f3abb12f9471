/*
 * The answer head as it goes to the client: always newly written (design section 7).
 */
#ifndef TP_WORKERS_ANSWER_HEAD_H
#define TP_WORKERS_ANSWER_HEAD_H

#include "common/base/buf.h"
#include "common/http/head.h"
#include "common/http/mask.h"
#include "common/retry/facts.h"
#include "common/retry/refusal.h"

enum tp_answer_framing {
	TP_ANSWER_NO_BODY, /* HEAD, 204, 304: a length of the provider is passed on */
	TP_ANSWER_LENGTH,
	TP_ANSWER_CHUNKED,
	TP_ANSWER_CLOSE /* HTTP/1.0 client: the body ends with the connection */
};

/* What Turnpike adds to every answer. Borrowed strings. */
struct tp_answer_about {
	const char *request_id;
	uint32_t sends;
	const char *target; /* provider name; NULL when no provider answered */
	enum tp_answer_framing framing;
	uint64_t length;                       /* with LENGTH */
	bool close;                            /* the connection ends with this answer */
	bool tell_keep;                        /* else say that it stays (HTTP/1.0) */
	bool stop;                             /* x-should-retry: false */
	bool replay_off;                       /* the request was too large to be kept */
	bool json;                             /* the body was replaced by the family's JSON */
	bool decoded;                          /* the body came compressed and goes out plain */
	bool changed;                          /* the body is another one than the provider sent */
	const struct tp_mask_secrets *secrets; /* masked in what is the provider's; NULL = none */
	bool upgrade;                          /* 101: Connection and Upgrade pass */
};

/* A provider's head under `status` (its own, or the one it stands for). */
void tp_answer_head_relay(struct tp_buf *out, int status, const struct tp_head *h, const char *bytes,
			  const struct tp_answer_facts *facts, const struct tp_answer_about *about);
/* Head of an event stream that is opened before the provider has answered (heartbeats). */
void tp_answer_head_stream(struct tp_buf *out, const struct tp_answer_about *about);
/* Head of a local answer whose JSON body has about->length bytes. */
void tp_answer_head_local(struct tp_buf *out, const struct tp_refusal *r,
			  const struct tp_answer_about *about);

#endif
