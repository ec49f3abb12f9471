/*
 * Inside of the decision: one outcome under one policy, with all that its rules ask worked out: what it
 * proves, whether and in which class it may be repeated at all, how many retries are left, how long to wait
 * (design sections 3.1, 4, 5).  Shared by decide.c and situation.c and by nobody else.
 */
#ifndef TP_RETRY_SITUATION_H
#define TP_RETRY_SITUATION_H

#include "common/retry/decide.h"

struct tp_situation {
	const struct tp_retry_conf *policy;
	const struct tp_outcome *o;
	const struct tp_allowance *a;
	bool answer; /* the provider answered: there is something to show */
	enum tp_evidence evidence;
	bool repeatable; /* may be sent again at all; klass and wait_ms are valid */
	bool forced;     /* only because of x-should-retry: true */
	bool ambiguous;  /* only because of retry.ambiguous_replays */
	enum tp_class klass;
	uint64_t wait_ms;
	uint32_t retries_left; /* of the class, in this turn */
	uint32_t limit;        /* tp_decision.overload_limit */
};

/* Borrows its arguments. */
struct tp_situation tp_situation_of(const struct tp_retry_conf *policy, const struct tp_outcome *o,
				    const struct tp_allowance *a, uint64_t random);

#endif
