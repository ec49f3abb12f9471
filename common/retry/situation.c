#include "common/retry/situation.h"

enum { JITTER_TOLD_MS = 300, JITTER_OVERLOAD_MS = 1000, SPREAD_OVERLOAD_MS = 300 };

/* ---- which class a repetition belongs to */

/* The failures without an answer after which a second run may be worth its risk: never a timeout (the first
 * may still be running, and a second one would only add load). */
static bool lost(const struct tp_outcome *o)
{
	return o->cause == TP_CAUSE_RESET || o->cause == TP_CAUSE_CLOSED || o->cause == TP_CAUSE_BROKEN_HEAD;
}

/* A lost send that may be replaced once, though it may have run (design section 4): the operator grants it,
 * and the body refers to nothing that the first run may have changed. Not once output was seen. */
static bool replaceable(const struct tp_situation *f)
{
	const struct tp_outcome *o = f->o;

	return lost(o) && f->evidence == TP_EVIDENCE_UNKNOWN && f->policy->ambiguous_replays > 0 &&
	       o->self_contained && f->a->ambiguous_left && o->replaced == TP_CODE_NONE;
}

/* The provider said of itself that it is overloaded: a 503 that names a wait, or evidence beside the
 * status. A 200 may carry such evidence too (design section 6). */
static bool overloaded(const struct tp_outcome *o)
{
	bool may = o->status == 498 || o->status >= 500 || (o->status >= 200 && o->status < 300);

	return o->status == 498 || (o->overload && may) || (o->status == 503 && o->told_ms >= 0);
}

static bool forced_status(int status)
{
	return status == 409 || status == 425 || status == 429 || (status >= 500 && status <= 599);
}

static bool classify_answer(struct tp_situation *f)
{
	const struct tp_outcome *o = f->o;

	/* Accepted, then ran out of time: no list and no header makes that safe. */
	if (o->status == 408 || o->status == 524)
		return false;
	f->klass = TP_CLASS_OVERLOAD;
	if (tp_status_in(&f->policy->overload_statuses, o->status) || overloaded(o))
		return true;
	f->klass = o->status == 429 ? TP_CLASS_OVERLOAD : TP_CLASS_TRANSIENT;
	if (o->status != 429 && tp_status_in(&f->policy->transient_statuses, o->status))
		return true;
	f->forced = o->should_retry == 1 && forced_status(o->status);
	return f->forced;
}

/* What is repeated was declined: by the status, by the operator's list, or by the provider's own word. A
 * 5xx that the operator took off the list is no longer taken as declined by convention. */
static enum tp_evidence evidence_of_answer(const struct tp_situation *f, enum tp_evidence by_status)
{
	static const int convention[] = {500, 502, 504, 520};

	if (f->repeatable)
		return TP_EVIDENCE_DECLINED;
	for (unsigned i = 0; i < sizeof(convention) / sizeof(convention[0]); i++)
		if (f->o->status == convention[i])
			return TP_EVIDENCE_UNKNOWN;
	return by_status;
}

/* ---- what is left of the class */

static uint32_t sends_of_class(const struct tp_situation *f)
{
	const struct tp_retry_conf *p = f->policy;

	switch (f->klass) {
	case TP_CLASS_RESET: return p->reset_sends;
	case TP_CLASS_TRANSIENT: return p->transient_sends;
	default: return f->o->status == 429 ? p->overload_429_sends : p->overload_sends;
	}
}

static uint32_t minus(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

/* `sends` counts the first send, which belongs to no class; zero is zero. A drowning gateway halves what is
 * left, rounded down, for the rest of the turn: of three retries one, and after that none. */
static void count_retries(struct tp_situation *f)
{
	uint32_t sends = sends_of_class(f), made = f->a->class_sends[f->klass];
	bool overload = f->klass == TP_CLASS_OVERLOAD;

	f->limit = f->a->overload_limit;
	if (overload && f->limit != 0 && f->limit < sends)
		sends = f->limit;
	f->retries_left = minus(minus(sends, 1), made);
	if (!overload || !f->o->drowning)
		return;
	f->retries_left /= 2;
	f->limit = 1 + made + f->retries_left;
}

/* ---- waits (design section 5) */

/* 0..most, evenly, from 32 random bits. */
static uint64_t jitter(uint32_t random, uint32_t most)
{
	return ((uint64_t)random * ((uint64_t)most + 1)) >> 32;
}

static uint64_t backoff(uint32_t base, uint32_t n, uint64_t extra, uint32_t cap)
{
	uint64_t wait = ((uint64_t)base << (n < 31 ? n : 31)) + extra;

	return wait < cap ? wait : cap;
}

static uint64_t wait_for(const struct tp_situation *f, uint64_t random)
{
	const struct tp_retry_conf *p = f->policy;
	uint32_t n = f->a->class_sends[f->klass];
	uint32_t low = (uint32_t)random, high = (uint32_t)(random >> 32);
	uint64_t wait;

	if (f->answer && f->o->told_ms >= 0) {
		uint64_t told = (uint64_t)f->o->told_ms;
		return (told > p->floor_ms ? told : p->floor_ms) + jitter(low, JITTER_TOLD_MS);
	}
	if (f->klass == TP_CLASS_OVERLOAD) {
		wait = backoff(p->overload_base_ms, n, jitter(low, JITTER_OVERLOAD_MS), p->overload_cap_ms);
		wait += jitter(high, 2 * SPREAD_OVERLOAD_MS);
		return wait > SPREAD_OVERLOAD_MS ? wait - SPREAD_OVERLOAD_MS : 0;
	}
	wait = f->klass == TP_CLASS_RESET ? backoff(p->reset_base_ms, n, 0, p->reset_cap_ms)
					  : backoff(p->transient_base_ms, n, 0, p->transient_cap_ms);
	return wait * (800 + jitter(low, 400)) / 1000;
}

/* ---- all of it */

struct tp_situation tp_situation_of(const struct tp_retry_conf *policy, const struct tp_outcome *o,
				    const struct tp_allowance *a, uint64_t random)
{
	struct tp_situation f = {.policy = policy, .o = o, .a = a, .answer = o->cause == TP_CAUSE_ANSWER};
	enum tp_stage stage = o->committed && o->stage < TP_STAGE_OUTPUT ? TP_STAGE_OUTPUT : o->stage;

	f.evidence = tp_evidence_of(stage, o->cause, o->status);
	if (f.answer) {
		f.repeatable = classify_answer(&f);
		f.evidence = evidence_of_answer(&f, f.evidence);
	} else {
		f.klass = TP_CLASS_RESET;
		f.repeatable = o->replay_safe && lost(o);
		f.ambiguous = !f.repeatable && replaceable(&f);
		f.repeatable = f.repeatable || f.ambiguous;
	}
	if (f.repeatable)
		f.wait_ms = wait_for(&f, random);
	count_retries(&f);
	return f;
}
