#include "common/shm/counters.h"

#include "common/shm/layout.h"

/* Written out, so that a name seen on a dashboard can be found by searching. */
static const char *const counter_names[TP_COUNT_TOTAL] = {
	[TP_COUNT_CONNECTIONS] = "connections",
	[TP_COUNT_TURNS] = "turns",
	[TP_COUNT_TURNS_OK] = "turns_ok",
	[TP_COUNT_TURNS_ERROR] = "turns_error",
	[TP_COUNT_TURNS_REFUSED] = "turns_refused",
	[TP_COUNT_TURNS_CUT] = "turns_cut",
	[TP_COUNT_TURNS_GONE] = "turns_gone",
	[TP_COUNT_TURNS_BAD] = "turns_bad",
	[TP_COUNT_POSSIBLY_BILLED] = "possibly_billed",
	[TP_COUNT_GIVEN_BACK] = "given_back",
	[TP_COUNT_FROM_MEMORY] = "from_memory",
	[TP_COUNT_LEDGER_FULL] = "ledger_full",
	[TP_COUNT_SENDS_FIRST + TP_CLASS_INITIAL] = "sends_initial",
	[TP_COUNT_SENDS_FIRST + TP_CLASS_RESET] = "sends_reset",
	[TP_COUNT_SENDS_FIRST + TP_CLASS_TRANSIENT] = "sends_transient",
	[TP_COUNT_SENDS_FIRST + TP_CLASS_OVERLOAD] = "sends_overload",
	[TP_COUNT_SENDS_FIRST + TP_CLASS_REFRESH] = "sends_refresh",
	[TP_COUNT_SENDS_FIRST + TP_CLASS_ROTATE] = "sends_rotate",
	[TP_COUNT_SENDS_FIRST + TP_CLASS_HOP] = "sends_hop",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_NONE] = "refusals_none",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_RESET_REPLAY_REFUSED] = "refusals_upstream_reset_replay_refused",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_CLOSED_BEFORE_RESPONSE] =
		"refusals_upstream_closed_before_response",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_NO_RESPONSE] = "refusals_upstream_no_response",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_RESPONSE_TRUNCATED] = "refusals_upstream_response_truncated",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_RESPONSE_INVALID] = "refusals_upstream_response_invalid",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_BUDGET_EXHAUSTED] = "refusals_request_send_budget_exhausted",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_UNREACHABLE] = "refusals_upstream_unreachable",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_CREDENTIAL_REJECTED] = "refusals_upstream_credential_rejected",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_IN_FLIGHT] = "refusals_logical_request_in_flight",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_MODEL_NOT_FOUND] = "refusals_model_not_found",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_RATE_LIMIT_SHARED] = "refusals_rate_limit_shared",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_BLACKLISTED] = "refusals_upstream_blacklisted",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_COMBO_UNAVAILABLE] = "refusals_combo_unavailable",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_KEYS_COOLING] = "refusals_keys_cooling",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_CAPACITY_QUEUE_FULL] = "refusals_capacity_queue_full",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_CAPACITY_WAIT_EXPIRED] = "refusals_capacity_wait_expired",
	[TP_COUNT_REFUSALS_FIRST + TP_CODE_TOKEN_WAIT_EXPIRED] = "refusals_access_token_wait_expired",
	[TP_COUNT_BYTES_IN] = "bytes_in",
	[TP_COUNT_BYTES_OUT] = "bytes_out",
	[TP_COUNT_TLS_HANDSHAKES] = "tls_handshakes",
	[TP_COUNT_TLS_RESUMED] = "tls_resumed",
	[TP_COUNT_TLS_FAILED] = "tls_failed",
	[TP_COUNT_PROVIDER_TLS] = "provider_tls_handshakes",
	[TP_COUNT_PROVIDER_TLS_RESUMED] = "provider_tls_resumed",
};

static const char *const gauge_names[TP_GAUGE_TOTAL] = {
	[TP_GAUGE_CLIENTS] = "clients", [TP_GAUGE_TURNS] = "turns",   [TP_GAUGE_SENDS] = "sends",
	[TP_GAUGE_WAITING] = "waiting", [TP_GAUGE_POOLED] = "pooled",
};

const char *tp_counter_name(enum tp_counter c)
{
	return c < TP_COUNT_TOTAL ? counter_names[c] : NULL;
}

const char *tp_gauge_name(enum tp_gauge g)
{
	return g < TP_GAUGE_TOTAL ? gauge_names[g] : NULL;
}

/* Relaxed throughout: the numbers stand for themselves, nothing else is published through them.  A slot has
 * one writer, so load and store need not be one step. */
void tp_count(struct tp_region *r, unsigned slot, enum tp_counter c, uint64_t add)
{
	if (slot >= TP_SHM_SLOTS || c >= TP_COUNT_TOTAL)
		return;
	_Atomic uint64_t *n = &r->counters[slot].counters[c];
	atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + add, memory_order_relaxed);
}

void tp_gauge_add(struct tp_region *r, unsigned slot, enum tp_gauge g, int64_t delta)
{
	if (slot >= TP_SHM_SLOTS || g >= TP_GAUGE_TOTAL)
		return;
	_Atomic int64_t *n = &r->counters[slot].gauges[g];
	atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + delta, memory_order_relaxed);
}

uint64_t tp_counter_sum(const struct tp_region *r, enum tp_counter c)
{
	uint64_t sum = 0;
	for (unsigned slot = 0; slot < TP_SHM_SLOTS && c < TP_COUNT_TOTAL; slot++)
		sum += atomic_load_explicit(&r->counters[slot].counters[c], memory_order_relaxed);
	return sum;
}

int64_t tp_gauge_sum(const struct tp_region *r, enum tp_gauge g)
{
	int64_t sum = 0;
	for (unsigned slot = 0; slot < TP_SHM_SLOTS && g < TP_GAUGE_TOTAL; slot++) {
		/* Acquire: pairs with tp_slot_assign(), which zeroes the gauges before it marks the slot. */
		uint32_t owner = atomic_load_explicit(&r->slots[slot].owner, memory_order_acquire);
		if ((owner & TP_SLOT_ASSIGNED) != 0)
			sum += atomic_load_explicit(&r->counters[slot].gauges[g], memory_order_relaxed);
	}
	return sum;
}
