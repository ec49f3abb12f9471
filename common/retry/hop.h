/*
 * What another target of a combo may still serve, and whom a failure speaks about (design section 8).  Pure.
 */
#ifndef TP_RETRY_HOP_H
#define TP_RETRY_HOP_H

#include <stdbool.h>

#include "common/retry/decide.h"

/* An answer after which the next target is asked. `repeatable`: what tp_decide() would send again at all. */
bool tp_answer_hops(const struct tp_outcome *o, bool repeatable);

/* The provider refused the key that the request was sent with, for its limit, its money or its rights:
 * another key of the same provider may be taken. Not overload of the provider, nor what speaks about the
 * request. */
bool tp_refuses_key(const struct tp_outcome *o);

enum tp_blame {
	TP_BLAME_NONE,   /* the request, the client, this moment, or Turnpike: nothing cools */
	TP_BLAME_TARGET, /* provider and model */
	TP_BLAME_KEY     /* the credential: every target of the provider that is asked with it */
};
/* Whom the end of an attempt speaks about. A refusal of Turnpike is never evidence. */
enum tp_blame tp_blame_of(const struct tp_outcome *o);

#endif
