#include "workers/join.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/known_codes.h"
#include "workers/admit.h"
#include "workers/heartbeat.h"
#include "workers/identity.h"
#include "workers/numbers.h"
#include "workers/targets.h"
#include "workers/waits.h"

enum {
	JOIN_FIRST_MS = 10, /* how soon a turn looks again whether the earlier one is over ... */
	JOIN_MOST_MS = 100  /* ... and how seldom in the end */
};

static void answer_from_memory(struct tp_turn *t, const struct tp_ledger_memory *m)
{
	struct tp_refusal r = m->refusal != TP_CODE_NONE
				      ? tp_refusal_for(m->refusal, 0)
				      : tp_refusal_from_memory(m->status, tp_known_code(m->code_index));
	t->sends_told = m->used;
	tp_worker_count(t->worker, TP_COUNT_FROM_MEMORY);
	if (m->refusal != TP_CODE_NONE)
		tp_numbers_refusal(t->worker, m->refusal);
	tp_record_reason(t, "answered from memory", NULL);
	tp_turn_answer_local(t, &r, m->refusal != TP_CODE_NONE ? TP_TURN_REFUSED : TP_TURN_ERROR, NULL);
}

static void wait_for_earlier(struct tp_turn *t)
{
	if (tp_clock_boot_ms() >= t->deadline_ms) {
		struct tp_refusal r = tp_refusal_for(TP_CODE_IN_FLIGHT, 1);
		tp_numbers_refusal(t->worker, TP_CODE_IN_FLIGHT);
		tp_turn_answer_local(t, &r, TP_TURN_ERROR, NULL);
		return;
	}
	tp_turn_set_state(t, TP_TURN_JOIN);
	t->join_wait_ms = t->join_wait_ms == 0                 ? JOIN_FIRST_MS
			  : t->join_wait_ms * 2 < JOIN_MOST_MS ? t->join_wait_ms * 2
							       : JOIN_MOST_MS;
	tp_timer_set(&t->timer, t->join_wait_ms);
}

void tp_turn_join(struct tp_turn *t)
{
	struct tp_ledger_windows windows = {t->config->budget.ttl_ms, t->config->budget.rejoin_ms};
	struct tp_ledger_memory memory;
	switch (tp_ledger_join(t->worker->region, t->worker->stamp, &t->identity, &windows, &t->limits,
			       tp_clock_boot_ms(), &t->ledger, &memory)) {
	case TP_JOIN_MEMORY: answer_from_memory(t, &memory); return;
	case TP_JOIN_BUSY: wait_for_earlier(t); return;
	case TP_JOIN_AGAIN:
		tp_debug("turn %s: goes on with a logical request of %u sends", t->id, t->ledger.used);
		break;
	case TP_JOIN_NEW:
		if (t->ledger.no_room)
			tp_numbers_ledger_full(t->worker);
		break;
	}
	t->joined = true;
	tp_targets_start(t);
}

/* ---- which one */

/* Asked only where the operator granted a replacement: the body is looked into once more. */
static bool is_self_contained(const struct tp_turn *t, const struct tp_request_facts *facts)
{
	if (t->provider->conf->retry.ambiguous_replays == 0 || facts->store != TP_FLAG_FALSE ||
	    facts->continues || tp_head_has(t->request->head, TP_FIELD_CONTENT_ENCODING))
		return false;
	struct tp_buf body = {0};
	struct iovec v;
	for (uint64_t at = 0; tp_request_pieces(t->request, at, &v, 1) == 1; at += v.iov_len)
		tp_buf_add(&body, v.iov_base, v.iov_len);
	bool yes = !body.failed && tp_request_self_contained(facts, tp_buf_str(&body));
	tp_buf_free(&body);
	return yes;
}

void tp_turn_identify(struct tp_turn *t)
{
	struct tp_hash128 hash;
	struct tp_request_facts facts;
	bool has_hash = tp_identity_finish(t, &hash, &facts);
	if (!tp_turn_admit_model(t, has_hash && facts.model_present ? &facts : NULL))
		return;
	if (has_hash) {
		t->wants_stream = facts.stream == TP_FLAG_TRUE;
		t->self_contained = is_self_contained(t, &facts);
		if (facts.model_present && !facts.model_cut)
			tp_waits_model(t, (struct tp_str){facts.model, facts.model_text_n});
		tp_heartbeat_begin(t);
	}
	t->identity = tp_identity_of(t, has_hash ? &hash : NULL);
	tp_turn_join(t);
}
