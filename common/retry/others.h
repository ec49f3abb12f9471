/*
 * What the end of one send means for the turns that come after it (design 3.3, 8): whether they are held, and
 * which of them.  Pure.
 */
#ifndef TP_RETRY_OTHERS_H
#define TP_RETRY_OTHERS_H

#include <stdbool.h>

#include "common/retry/decide.h"

/* With no other target to ask one request each five minutes passes what cools, as a probe (design 3.3). */
enum { TP_PROBE_GAP_MS = 5 * 60 * 1000 };

/* Statuses that speak of load or of a limit; with another one a told time is not a reason to ask nobody. */
bool tp_speaks_of_load(int status);

enum tp_for_others {
	TP_OTHERS_GO,    /* nothing holds them */
	TP_OTHERS_SHARE, /* they wait as long as this one was told to */
	TP_OTHERS_COOL   /* above retry_after.ceiling: they are answered, not sent, until then */
};
/* What the time that a provider told means for them; without one they go. Of several keys the caller asks
 * only about the provider, not about an answer that speaks about a key (tp_refuses_key()). */
enum tp_for_others tp_told_for_others(const struct tp_retry_conf *policy, const struct tp_outcome *o);

/* A limit belongs to the account that met it; overload belongs to the provider, and holds everybody. */
bool tp_holds_one_account(const struct tp_outcome *o);

/* Whether a probe that ended so says something about what it probed; else it is free again at once. */
bool tp_probe_told(const struct tp_outcome *o);

#endif
