#include "common/retry/others.h"

bool tp_speaks_of_load(int status)
{
	return status == 429 || status == 498 || status == 503 || status == 529;
}

enum tp_for_others tp_told_for_others(const struct tp_retry_conf *policy, const struct tp_outcome *o)
{
	/* What is too large for the limit is so whoever sends it, and nothing about the rest. */
	if (o->cause != TP_CAUSE_ANSWER || o->told_ms < 0 || o->too_large)
		return TP_OTHERS_GO;
	if (o->told_ms > (int64_t)policy->ceiling_ms)
		return tp_speaks_of_load(o->status) ? TP_OTHERS_COOL : TP_OTHERS_GO;
	return o->rate_limit && policy->share_waits ? TP_OTHERS_SHARE : TP_OTHERS_GO;
}

bool tp_holds_one_account(const struct tp_outcome *o)
{
	return o->status == 429;
}

bool tp_probe_told(const struct tp_outcome *o)
{
	return o->stage > TP_STAGE_UNSENT && o->cause != TP_CAUSE_CLIENT_GONE;
}
