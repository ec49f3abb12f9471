#include "workers/outcome.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/http/date.h"
#include "common/retry/capacity.h"
#include "common/retry/classify.h"
#include "common/retry/hints.h"
#include "common/retry/known_codes.h"
#include "common/retry/told.h"
#include "workers/credential.h"
#include "workers/egress.h"
#include "workers/keys.h"
#include "workers/refresh.h"
#include "workers/targets.h"

static struct tp_str named_field(const struct tp_saved_answer *s, struct tp_str name)
{
	const struct tp_field *f = tp_head_find_name(s->head, s->bytes, name);
	return f != NULL ? tp_span_str(s->bytes, f->value) : (struct tp_str){NULL, 0};
}

static struct tp_error_class classify(const struct tp_saved_answer *s, const struct tp_answer_error *e)
{
	struct tp_error_facts facts = {
		.status = s->status,
		.code = tp_str_from(e->code),
		.type = tp_str_from(e->type),
		.message = tp_str_from(e->message),
		.reason = tp_str_from(e->reason),
		.per_day = e->per_day,
		.codex_status = named_field(s, TP_STR("x-codex-status")),
		.codex_system_load = named_field(s, TP_STR("x-codex-system-load")),
		.codex_model_capacity = named_field(s, TP_STR("x-codex-model-capacity")),
		.unified_status = named_field(s, TP_STR("anthropic-ratelimit-unified-status")),
		.location = named_field(s, TP_STR("location")),
	};
	return tp_classify(&facts);
}

/* Body hints count only where no header told a wait (design section 5). */
static int64_t hint_of(const struct tp_saved_answer *s, const struct tp_answer_error *e)
{
	struct tp_body_hints hints = {.resets_in_ms = e->resets_in_ms,
				      .resets_at_s = e->resets_at_s,
				      .retry_delay_ms = e->retry_delay_ms,
				      .per_day = e->per_day,
				      .message = tp_str_from(e->message)};
	int64_t now_s = tp_clock_wall_ms() / 1000, date_s = -1;
	(void)tp_date_parse(named_field(s, TP_STR("date")), now_s, &date_s);
	return tp_hint_body(&hints, now_s, date_s);
}

static void take_answer(struct tp_turn *t, struct tp_outcome *o)
{
	struct tp_saved_answer *s = t->saved;
	struct tp_answer_error e;
	if (s->error != NULL)
		e = *s->error;
	else
		(void)tp_answer_error_body(tp_buf_str(&s->body), &e);
	struct tp_error_class c = classify(s, &e);
	if (s->error != NULL) /* the status it stands for; one that names none counts as 502 */
		s->status = c.status >= 400 ? c.status : 502;
	if (s->facts.told_ms < 0)
		s->facts.told_ms = hint_of(s, &e);
	o->status = s->status;
	o->told_ms = tp_told_floor(s->facts.told_ms, t->provider->conf->retry.floor_ms);
	o->should_retry = s->facts.should_retry;
	o->overload = c.overload || s->facts.status_overloaded;
	/* Larger than the limit ever allows: waiting helps as little as with a quota. */
	o->quota = c.quota || c.too_large_for_limit;
	o->drowning = c.drowning;
	/* A bare 429 names no time that a limit per minute would have. */
	o->capacity = !o->quota &&
		      (c.capacity || c.drowning || o->overload || (s->status == 429 && s->facts.told_ms < 0));
	o->capacity_told = tp_capacity_told(named_field(s, TP_STR("x-codex-model-capacity")));
	o->model_unavailable = c.model_unavailable;
	o->too_large = c.context_too_long || c.too_large_for_limit;
	o->auth = c.auth;
	o->safety = c.safety;
	o->rate_limit = s->status == 429 && !o->quota && !o->overload && !c.capacity && !c.drowning &&
			c.kind == TP_ERROR_RATE_LIMIT;
}

struct tp_outcome tp_outcome_of(struct tp_turn *t, enum tp_cause cause)
{
	struct tp_outcome o = {
		.stage = t->attempt.stage,
		.cause = cause,
		.told_ms = -1,
		.took_ms = (uint32_t)(tp_clock_boot_ms() - t->attempt.started_ms),
		.should_retry = -1,
		.replay_safe = t->replay_safe,
		.egress_left = t->request->replayable && tp_egress_left(t->provider, t->attempt.tried),
		.committed = t->state == TP_TURN_FLOW,
		.own_credential = tp_credential_own(t->provider->conf),
		.self_contained = t->self_contained,
		.replaced = t->replaced,
	};
	if (cause == TP_CAUSE_ANSWER)
		take_answer(t, &o);
	return o;
}

struct tp_allowance tp_allowance_of(const struct tp_turn *t)
{
	uint64_t now = tp_clock_boot_ms();
	bool again = t->request->replayable && !t->tunnel; /* an upgrade is one send */
	uint32_t more = again ? tp_targets_left(t) : 0;
	struct tp_ledger_limits here = tp_targets_hold_back(t, more);
	struct tp_allowance a = {
		.base_left = again && tp_ledger_fits(&t->ledger, &here, TP_CLASS_TRANSIENT),
		.reserve_left = again && tp_ledger_fits(&t->ledger, &here, TP_CLASS_OVERLOAD),
		.more_targets = more,
		.hop_left = more > 0 && tp_ledger_fits(&t->ledger, &t->limits, TP_CLASS_HOP),
		.refresh_left = again && tp_refresh_left(t),
		.target_sends = t->targets != NULL ? t->targets->sends : 0,
		.sends_per_target = t->targets != NULL ? t->targets->combo->sends_per_target : 0,
		.more_keys = again ? tp_keys_left(t) : 0,
		.deadline_left_ms = now < t->deadline_ms ? t->deadline_ms - now : 0,
		.forced_retry_used = t->forced_retry_used,
		.overload_limit = t->overload_limit,
		.ambiguous_left = again && t->replaced == TP_CODE_NONE,
		.long_waits = tp_streak_get(t->worker->region, t->provider->long_waits),
	};
	memcpy(a.class_sends, t->class_sends, sizeof a.class_sends);
	return a;
}

uint16_t tp_outcome_code_index(const struct tp_saved_answer *s)
{
	struct tp_answer_error e;
	if (s->error != NULL)
		e = *s->error;
	else if (!tp_answer_error_body(tp_buf_str(&s->body), &e))
		return 0;
	uint16_t index = tp_known_code_index(e.code);
	return index != 0 ? index : tp_known_code_index(e.type);
}
