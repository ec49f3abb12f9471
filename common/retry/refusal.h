/*
 * Answers that Turnpike makes itself: one value, made in one place, rendered per family (design section 4).
 */
#ifndef TP_RETRY_REFUSAL_H
#define TP_RETRY_REFUSAL_H

#include "common/base/buf.h"
#include "common/http/answer.h"
#include "common/http/path.h"
#include "common/retry/model.h"

struct tp_refusal {
	int status;
	bool stop;              /* x-should-retry: false */
	uint32_t retry_after_s; /* 0 = no Retry-After header; else a whole number of at least 1 */
	const char *code;       /* static or borrowed; the machine-readable code */
	const char *type;       /* static; never "overloaded_error" */
	const char *message;    /* static or borrowed; never says "try again in" */
};

/* The answer for a code of the design; retry_after_s as the caller knows it (refusals ignore it). */
struct tp_refusal tp_refusal_for(enum tp_code code, uint32_t retry_after_s);
/* An error in the client's own message (400 404 408 411 413 414 421 426 431 501 ...), `detail` static or
 * borrowed. */
struct tp_refusal tp_refusal_client_error(int status, const char *detail);
/* The answer from memory for a 4xx a provider gave earlier: that status, a code, stop. */
struct tp_refusal tp_refusal_from_memory(int status, const char *code);
/*
 * The target cools for a time that its provider told (design 3.3): the provider's status, and its code where
 * that is known (NULL = the usual one of the status), said without a send. `stop` as its own answer had it: a
 * used-up quota. retry_after_s: what is left, at least 1.
 */
struct tp_refusal tp_refusal_cooling(int status, const char *code, bool stop, uint32_t retry_after_s);
/*
 * A provider's error of this status, told as an answer of our own, since its body cannot be shown. `error`:
 * what was read of it, borrowed; NULL = nothing. `text` holds the words made for an error without any.
 */
struct tp_refusal tp_refusal_of_answer(int status, const struct tp_answer_error *error, struct tp_buf *text);
/* The client was promised a stream, and the provider's answer is none. */
struct tp_refusal tp_refusal_no_stream(void);
/* Appends the JSON body in the shape of the family (plain: the OpenAI shape). */
void tp_refusal_render(const struct tp_refusal *r, enum tp_family family, struct tp_buf *out);
/* Standard reason phrase of a status ("Too Many Requests"); "Unknown" when there is none. */
const char *tp_reason_phrase(int status);

#endif
