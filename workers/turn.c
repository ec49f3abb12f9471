#include "workers/turn.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/told.h"
#include "workers/access.h"
#include "workers/dispatch.h"
#include "workers/identity.h"
#include "workers/relay.h"
#include "workers/tunnel.h"

enum {
	JOIN_FIRST_MS = 10, /* how soon a turn looks again whether the earlier one is over ... */
	JOIN_MOST_MS = 100, /* ... and how seldom in the end */
	STREAM_AHEAD = 256 * 1024 /* body bytes kept in memory of a request that streams through */
};

static const char *const state_names[] = {"receive", "join", "send", "wait", "flow", "over"};

void tp_turn_set_state(struct tp_turn *t, enum tp_turn_state s)
{
	if (s == t->state)
		return;
	tp_debug("turn %s: %s -> %s", t->id, state_names[t->state], state_names[s]);
	if (t->state == TP_TURN_WAIT)
		tp_worker_gauge(t->worker, TP_GAUGE_WAITING, -1);
	if (s == TP_TURN_WAIT)
		tp_worker_gauge(t->worker, TP_GAUGE_WAITING, 1);
	if (t->state == TP_TURN_WAIT || t->state == TP_TURN_JOIN || s == TP_TURN_FLOW || s == TP_TURN_OVER)
		tp_timer_clear(&t->timer);
	t->state = s;
}

/* ---- the end */

static void free_turn(struct tp_turn *t)
{
	tp_attempt_close(&t->attempt);
	tp_timer_close(&t->timer);
	tp_relay_reset(t);
	tp_saved_answer_free(t->saved);
	t->saved = NULL;
	tp_fingerprint_free(t->fingerprint);
	t->fingerprint = NULL;
	tp_request_free(t->request);
	t->request = NULL;
	tp_config_unref(t->config);
	tp_worker_park(t->worker, t);
}

static const enum tp_counter outcome_counters[] = {
	[TP_TURN_OK] = TP_COUNT_TURNS_OK,           [TP_TURN_ERROR] = TP_COUNT_TURNS_ERROR,
	[TP_TURN_REFUSED] = TP_COUNT_TURNS_REFUSED, [TP_TURN_CUT] = TP_COUNT_TURNS_CUT,
	[TP_TURN_GONE] = TP_COUNT_TURNS_GONE,       [TP_TURN_BAD] = TP_COUNT_TURNS_BAD,
};

void tp_turn_end(struct tp_turn *t, enum tp_turn_outcome outcome, const struct tp_ledger_ending *ending,
		 enum tp_client_next next)
{
	struct tp_client *c = t->client;
	tp_turn_set_state(t, TP_TURN_OVER);
	tp_attempt_cancel(&t->attempt, "its turn is over");
	if (t->joined) {
		tp_ledger_settle(&t->ledger);
		tp_ledger_end(&t->ledger, ending, tp_clock_boot_ms());
		t->joined = false;
	}
	tp_worker_count(t->worker, outcome_counters[outcome]);
	tp_worker_gauge(t->worker, TP_GAUGE_TURNS, -1);
	if (next == TP_NEXT_KEEP && (!t->keep_alive || t->worker->draining))
		next = TP_NEXT_CLOSE;
	c->turn = NULL;
	t->client = NULL;
	free_turn(t);
	tp_client_turn_over(c, next);
}

struct tp_answer_about tp_turn_about(const struct tp_turn *t)
{
	return (struct tp_answer_about){
		.request_id = t->id,
		.sends = t->sends_told != 0 ? t->sends_told : t->ledger.used,
		.target = t->provider != NULL ? t->provider->conf->name : NULL,
		.close = !t->keep_alive || t->worker->draining || t->request == NULL || !t->request->complete,
		.replay_off = t->streaming,
	};
}

void tp_turn_answer_local(struct tp_turn *t, const struct tp_refusal *r, enum tp_turn_outcome outcome,
			  const struct tp_ledger_ending *ending)
{
	struct tp_buf body = {0}, head = {0};
	struct tp_answer_about about = tp_turn_about(t);
	tp_refusal_render(r, t->family, &body);
	about.framing = TP_ANSWER_LENGTH;
	about.length = body.len;
	about.replay_off = false;
	tp_answer_head_local(&head, r, &about);
	struct iovec v[2] = {{head.data, head.len}, {body.data, t->head_request ? 0 : body.len}};
	bool failed = head.failed || body.failed || tp_client_write(t->client, v, 2) < 0;
	tp_buf_free(&head);
	tp_buf_free(&body);
	tp_turn_end(t, outcome, ending, failed ? TP_NEXT_CUT : about.close ? TP_NEXT_CLOSE : TP_NEXT_KEEP);
}

void tp_turn_reject(struct tp_turn *t, int status, const char *detail)
{
	struct tp_refusal r = tp_refusal_client_error(status, detail);
	struct tp_ledger_ending e = {.end = TP_END_LEFT};
	if (t->state == TP_TURN_FLOW) {
		tp_relay_cut(t, detail);
		return;
	}
	tp_debug("turn %s: refused with %d: %s", t->id, status, detail);
	tp_turn_answer_local(t, &r, TP_TURN_BAD, &e);
}

void tp_turn_client_gone(struct tp_turn *t)
{
	struct tp_client *c = t->client;
	if (t->state == TP_TURN_OVER)
		return;
	tp_debug("turn %s: its client left", t->id);
	struct tp_ledger_ending e = {.end = TP_END_LEFT};
	/* The connection may be closing already, in which case this only forgets the turn. */
	tp_turn_end(t, TP_TURN_GONE, &e, TP_NEXT_CUT);
	(void)c;
}

void tp_turn_abort(struct tp_turn *t)
{
	if (t->state == TP_TURN_FLOW) {
		tp_relay_cut(t, "the server is shutting down");
		return;
	}
	struct tp_ledger_ending e = {.end = TP_END_LEFT};
	tp_turn_end(t, TP_TURN_CUT, &e, TP_NEXT_CUT);
}

/* ---- which logical request */

static void join(struct tp_turn *t, const struct tp_identity *id);

static void answer_from_memory(struct tp_turn *t, const struct tp_ledger_memory *m)
{
	struct tp_refusal r = m->refusal != TP_CODE_NONE
				      ? tp_refusal_for(m->refusal, 0)
				      : tp_refusal_from_memory(m->status, tp_known_code(m->code_index));
	t->sends_told = m->used;
	tp_worker_count(t->worker, TP_COUNT_FROM_MEMORY);
	if (m->refusal != TP_CODE_NONE)
		tp_count(t->worker->region, t->worker->stamp.slot, TP_COUNT_REFUSALS_FIRST + m->refusal, 1);
	tp_info("turn %s: answered from memory with %d %s after %u sends", t->id, r.status, r.code, m->used);
	tp_turn_answer_local(t, &r, m->refusal != TP_CODE_NONE ? TP_TURN_REFUSED : TP_TURN_ERROR, NULL);
}

static void wait_for_earlier(struct tp_turn *t)
{
	if (tp_clock_boot_ms() >= t->deadline_ms) {
		struct tp_refusal r = tp_refusal_for(TP_CODE_IN_FLIGHT, 1);
		tp_turn_answer_local(t, &r, TP_TURN_ERROR, NULL);
		return;
	}
	tp_turn_set_state(t, TP_TURN_JOIN);
	t->join_wait_ms = t->join_wait_ms == 0              ? JOIN_FIRST_MS
			  : t->join_wait_ms * 2 < JOIN_MOST_MS ? t->join_wait_ms * 2
							       : JOIN_MOST_MS;
	tp_timer_set(&t->timer, t->join_wait_ms);
}

static void join(struct tp_turn *t, const struct tp_identity *id)
{
	struct tp_ledger_windows windows = {t->config->budget.ttl_ms, t->config->budget.rejoin_ms};
	struct tp_ledger_memory memory;
	switch (tp_ledger_join(t->worker->region, t->worker->stamp, id, &windows, &t->limits, tp_clock_boot_ms(),
			       &t->ledger, &memory)) {
	case TP_JOIN_MEMORY: answer_from_memory(t, &memory); return;
	case TP_JOIN_BUSY: wait_for_earlier(t); return;
	case TP_JOIN_AGAIN:
		tp_debug("turn %s: goes on with a logical request of %u sends", t->id, t->ledger.used);
		break;
	case TP_JOIN_NEW:
		if (t->ledger.no_room)
			tp_worker_count(t->worker, TP_COUNT_LEDGER_FULL);
		break;
	}
	t->joined = true;
	tp_dispatch(t, TP_CLASS_INITIAL);
}

static void identify_and_join(struct tp_turn *t)
{
	struct tp_hash128 hash;
	bool has_hash = t->fingerprint != NULL;
	if (has_hash) {
		tp_fingerprint_finish(t->fingerprint, &hash, NULL);
		tp_fingerprint_free(t->fingerprint);
		t->fingerprint = NULL;
	}
	t->identity = tp_identity_of(t, has_hash ? &hash : NULL);
	join(t, &t->identity);
}

/* ---- the request arrives */

static const struct tp_route_conf *find_route(const struct tp_config *c, struct tp_str path)
{
	for (size_t i = 0; i < c->n_routes; i++)
		if (tp_path_under(path, tp_str_from(c->routes[i].path)))
			return &c->routes[i];
	return NULL;
}

static bool is_replay_safe(const struct tp_turn *t, struct tp_str path)
{
	struct tp_str method = tp_request_str(t->request, t->request->head->method);
	if (tp_str_eq(method, TP_STR("GET")) || tp_str_eq(method, TP_STR("HEAD")) ||
	    tp_str_eq(method, TP_STR("OPTIONS")))
		return true;
	size_t cut = tp_str_eq(tp_str_from(t->route->path), TP_STR("/")) ? 0 : strlen(t->route->path);
	struct tp_str rest = {path.p + cut, path.n - cut};
	const struct tp_provider_conf *p = t->provider->conf;
	for (size_t i = 0; i < p->n_replay_safe; i++) {
		/* Behind the route "/" the path still has the API's own prefix: /v1/messages/count_tokens. */
		struct tp_str safe = tp_str_from(p->replay_safe[i]);
		if (tp_str_eq(rest, safe) || (cut == 0 && tp_str_starts(rest, TP_STR("/v1/")) &&
					      tp_str_eq((struct tp_str){rest.p + 3, rest.n - 3}, safe)))
			return true;
	}
	return false;
}

/* Headers that may only lower (design section 10). False when one is unreadable. */
static bool lower_limits(struct tp_turn *t)
{
	struct tp_str v = tp_request_field(t->request, TP_FIELD_X_TURNPIKE_MAX_SENDS);
	uint64_t n;
	if (v.p != NULL) {
		if (!tp_parse_count(v, &n))
			return false;
		if (n < t->limits.total)
			t->limits.total = (uint32_t)n;
		if (t->limits.base > t->limits.total)
			t->limits.base = t->limits.total;
	}
	v = tp_request_field(t->request, TP_FIELD_X_TURNPIKE_DEADLINE);
	if (v.p != NULL) {
		if (!tp_parse_duration(v, &n))
			return false;
		if (t->begun_ms + n < t->deadline_ms)
			t->deadline_ms = t->begun_ms + n;
	}
	return true;
}

struct tp_turn *tp_turn_new(struct tp_client *c, const struct tp_head *head, const char *bytes)
{
	static const struct tp_attempt_ops ops;
	struct tp_turn *t = calloc(1, sizeof *t);
	struct tp_worker *w = c->worker;
	if (t == NULL || (t->request = tp_request_new(w, head, bytes)) == NULL) {
		free(t);
		return NULL;
	}
	(void)ops;
	t->worker = w;
	t->client = c;
	t->config = tp_config_ref(c->config);
	t->family = t->request->family;
	t->minor = head->minor;
	t->keep_alive = head->keep_alive;
	t->head_request = tp_str_eq(tp_span_str(bytes, head->method), TP_STR("HEAD"));
	t->begun_ms = tp_clock_boot_ms();
	(void)snprintf(t->id, sizeof t->id, "%016llx%08llx", (unsigned long long)w->id_prefix,
		       (unsigned long long)(w->id_next++ & 0xffffffffu));
	tp_timer_init(&t->timer, w->base, on_timer, t);
	tp_attempt_init(&t->attempt, w, &attempt_ops, t);
	tp_worker_count(w, TP_COUNT_TURNS);
	tp_worker_gauge(w, TP_GAUGE_TURNS, 1);
	return t;
}
