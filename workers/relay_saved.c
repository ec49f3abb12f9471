#include "workers/relay_parts.h"

#include <stdlib.h>

#include "common/base/log.h"
#include "workers/heartbeat.h"
#include "workers/outcome.h"
#include "workers/secrets.h"
#include "workers/unpack.h"

enum { ERROR_BODY_MAX = 64 * 1024, ERROR_BODY_MS = 5000 }; /* design section 7 */

/* ---- kept */

void tp_saved_answer_free(struct tp_saved_answer *s)
{
	if (s == NULL)
		return;
	tp_head_free(s->head);
	free(s->error);
	tp_buf_free(&s->body);
	free(s);
}

/* NULL when out of memory. */
static struct tp_saved_answer *new_saved(const struct tp_turn *t, const struct tp_answer_piece *p, int status)
{
	struct tp_saved_answer *s = calloc(1, sizeof *s);
	if (s == NULL || (s->head = tp_head_copy(p->head, p->bytes, &s->bytes)) == NULL) {
		free(s);
		return NULL;
	}
	s->status = status;
	s->facts = t->relay.facts;
	return s;
}

static void save(struct tp_turn *t, struct tp_saved_answer *s)
{
	tp_saved_answer_free(t->saved);
	t->saved = s;
}

bool tp_relay_keep(struct tp_turn *t, const struct tp_answer_piece *p)
{
	t->relay.kept = new_saved(t, p, 200);
	return t->relay.kept != NULL;
}

void tp_relay_collected(struct tp_turn *t, bool cut)
{
	t->saved->cut = cut;
	if (!cut)
		tp_unpack_saved(t->saved, ERROR_BODY_MAX);
	tp_attempt_cancel(&t->attempt, "enough of an error's body");
	tp_turn_decide(t, TP_CAUSE_ANSWER, "answer");
}

void tp_relay_collect(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_buf *body = &t->saved->body;
	size_t room = ERROR_BODY_MAX - body->len;
	tp_buf_add(body, p->data, p->n < room ? p->n : room);
	if (p->n > room)
		tp_relay_collected(t, true);
	else if (p->end)
		tp_relay_collected(t, false);
}

void tp_relay_collect_begin(struct tp_turn *t, const struct tp_answer_piece *p, int status)
{
	struct tp_saved_answer *s = new_saved(t, p, status);
	if (s == NULL) {
		tp_relay_no_answer(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	save(t, s);
	t->relay.mode = TP_RELAY_COLLECT;
	tp_timer_set(&t->timer, ERROR_BODY_MS);
}

void tp_relay_carries_error(struct tp_turn *t, const struct tp_answer_error *error)
{
	struct tp_saved_answer *s = t->relay.kept;
	s->error = malloc(sizeof *error);
	if (s->error == NULL) {
		tp_turn_decide(t, TP_CAUSE_LOCAL, "out of memory");
		return;
	}
	*s->error = *error;
	t->relay.kept = NULL;
	save(t, s);
	tp_attempt_cancel(&t->attempt, "a 200 that carries an error");
	tp_turn_decide(t, TP_CAUSE_ANSWER, "a 200 that carries an error");
}

/* ---- shown */

static bool needs_own_body(const struct tp_turn *t, const struct tp_saved_answer *s)
{
	return s->error != NULL || s->cut || s->facts.html || (s->body.len == 0 && !t->head_request);
}

static void render_own_body(const struct tp_turn *t, const struct tp_saved_answer *s, struct tp_buf *out)
{
	struct tp_buf text = {0};
	struct tp_refusal r = tp_refusal_of_answer(s->status, s->error, &text);
	tp_refusal_render(&r, t->family, out);
	tp_buf_free(&text);
}

/* Heartbeats have opened the answer: the provider's error is told in the stream. */
static void tell_in_stream(struct tp_turn *t, const struct tp_ledger_ending *ending)
{
	struct tp_saved_answer *s = t->saved;
	struct tp_answer_error read;
	struct tp_buf text = {0};
	const struct tp_answer_error *e = s->error;
	if (e == NULL && !s->cut && tp_answer_error_body(tp_buf_str(&s->body), &read))
		e = &read;
	struct tp_refusal r = tp_refusal_of_answer(s->status, e, &text);
	struct tp_turn_secrets secrets;
	struct tp_buf masked = {0};
	tp_turn_secrets_take(t, &secrets);
	if (tp_mask(tp_str_from(r.message), &secrets.list, &masked))
		r.message = tp_buf_cstr(&masked);
	if (secrets.failed || masked.failed)
		r.message = "out of memory";
	tp_heartbeat_fail(t, &r, TP_TURN_ERROR, ending);
	tp_buf_free(&masked);
	tp_buf_free(&text);
	tp_turn_secrets_free(&secrets);
}

static struct tp_ledger_ending ending_of(const struct tp_saved_answer *s, enum tp_evidence evidence)
{
	bool told = s->facts.told_ms > 0 && s->facts.told_ms < UINT32_MAX;
	return (struct tp_ledger_ending){
		.end = evidence == TP_EVIDENCE_UNKNOWN ? TP_END_UNKNOWN : TP_END_DECLINED,
		.status = (uint16_t)s->status,
		.code_index = tp_outcome_code_index(s),
		.retry_after_ms = told ? (uint32_t)s->facts.told_ms : 0,
	};
}

/* The body that is shown: whose bytes it borrows. */
struct shown {
	struct tp_buf own, mended, masked;
	struct tp_str body;
};

static void make_body(const struct tp_turn *t, const struct tp_mask_secrets *secrets, bool own,
		      struct shown *ret)
{
	const struct tp_saved_answer *s = t->saved;
	bool plain = own || s->decoded || !s->facts.encoded;
	if (own)
		render_own_body(t, s, &ret->own);
	ret->body = own ? tp_buf_str(&ret->own) : tp_buf_str(&s->body);
	/* JSON is UTF-8 or nothing: parsers of clients give up on a GBK message instead of showing the error.
	 */
	if (plain && s->facts.json && tp_buf_add_utf8(&ret->mended, ret->body))
		ret->body = tp_buf_str(&ret->mended);
	if (plain && tp_mask(ret->body, secrets, &ret->masked))
		ret->body = tp_buf_str(&ret->masked);
}

static bool free_shown(struct shown *b)
{
	bool good = !b->own.failed && !b->mended.failed && !b->masked.failed;
	tp_buf_free(&b->own);
	tp_buf_free(&b->mended);
	tp_buf_free(&b->masked);
	return good;
}

void tp_relay_saved(struct tp_turn *t, bool stop, enum tp_evidence evidence)
{
	struct tp_saved_answer *s = t->saved;
	struct tp_ledger_ending ending = ending_of(s, evidence);
	if (t->opened) {
		tell_in_stream(t, &ending);
		return;
	}
	struct tp_buf head = {0};
	struct shown shown = {0};
	struct tp_turn_secrets secrets;
	struct tp_answer_about about = tp_turn_about(t);
	tp_turn_secrets_take(t, &secrets);
	about.stop = stop;
	about.json = needs_own_body(t, s);
	about.decoded = s->decoded;
	about.secrets = &secrets.list;
	make_body(t, &secrets.list, about.json, &shown);
	about.changed = s->decoded || shown.body.p != s->body.data;
	about.framing = t->head_request ? TP_ANSWER_NO_BODY : TP_ANSWER_LENGTH;
	about.length = shown.body.n;
	tp_answer_head_relay(&head, s->status, s->head, s->bytes, &s->facts, &about);
	struct iovec v[2] = {{head.data, head.len},
			     {(void *)(uintptr_t)shown.body.p, t->head_request ? 0 : shown.body.n}};
	bool failed = secrets.failed || head.failed || tp_client_write(t->client, v, 2) < 0;
	failed = !free_shown(&shown) || failed;
	tp_buf_free(&head);
	tp_turn_secrets_free(&secrets);
	tp_turn_end(t, TP_TURN_ERROR, &ending,
		    failed        ? TP_NEXT_CUT
		    : about.close ? TP_NEXT_CLOSE
				  : TP_NEXT_KEEP);
}
