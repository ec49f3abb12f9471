#include "common/retry/hop.h"

/* Off retry.transient.statuses these are not taken as declined any more: it may have run. */
static bool by_convention(int status)
{
	return status == 500 || status == 502 || status == 504 || status == 520;
}

static bool too_long_for_this_one(const struct tp_outcome *o)
{
	return o->too_large && (o->status == 400 || o->status == 413 || o->status == 422);
}

bool tp_answer_hops(const struct tp_outcome *o, bool repeatable)
{
	if (o->cause != TP_CAUSE_ANSWER || o->safety)
		return false;
	if (o->status >= 500 && o->status <= 599)
		return o->status != 524 && o->should_retry != 0 && (repeatable || !by_convention(o->status));
	switch (o->status) {
	case 401:
	case 402:
	case 403:
	case 404:
	case 425:
	case 429:
	case 498: return true;
	case 408: return false;
	default: break;
	}
	return o->status >= 400 && (o->model_unavailable || too_long_for_this_one(o));
}

bool tp_refuses_key(const struct tp_outcome *o)
{
	if (o->cause != TP_CAUSE_ANSWER || o->committed || o->safety || o->too_large || o->model_unavailable)
		return false;
	switch (o->status) {
	case 401:
	case 402:
	case 403: return true;
	case 429: return o->rate_limit || o->quota;
	default: return o->quota && o->status >= 400 && o->status < 500;
	}
}

static enum tp_blame blame_of_answer(const struct tp_outcome *o)
{
	if (o->status < 400 || o->safety || o->too_large)
		return TP_BLAME_NONE;
	if (o->model_unavailable)
		return TP_BLAME_TARGET;
	switch (o->status) {
	case 401:
	case 402:
	case 403: return TP_BLAME_KEY;
	case 429: return o->quota ? TP_BLAME_KEY : TP_BLAME_TARGET;
	case 498: return TP_BLAME_TARGET;
	case 524: return TP_BLAME_NONE;
	default: return o->status >= 500 ? TP_BLAME_TARGET : TP_BLAME_NONE;
	}
}

enum tp_blame tp_blame_of(const struct tp_outcome *o)
{
	if (o->committed)
		return TP_BLAME_NONE;
	switch (o->cause) {
	case TP_CAUSE_ANSWER: return blame_of_answer(o);
	case TP_CAUSE_REFUSED:
	case TP_CAUSE_CONNECT_TIMEOUT:
	case TP_CAUSE_DNS:
	case TP_CAUSE_TLS:
	case TP_CAUSE_EGRESS: return TP_BLAME_TARGET;
	default: return TP_BLAME_NONE;
	}
}
