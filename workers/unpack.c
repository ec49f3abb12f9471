#include "workers/unpack.h"

#include "common/base/log.h"
#include "common/http/sse_front.h"
#include "workers/relay.h"

enum { PIECE = 16 * 1024 }; /* decoded bytes handed on at once */

bool tp_unpack_begin(struct tp_turn *t, enum tp_coding coding)
{
	struct tp_relay *r = &t->relay;
	r->decoder = tp_decoder_new(coding, UINT64_MAX);
	if (r->decoder == NULL)
		return false;
	if (r->framing == TP_ANSWER_LENGTH)
		r->framing = t->minor >= 1 ? TP_ANSWER_CHUNKED : TP_ANSWER_CLOSE;
	return true;
}

/* Hands decoded bytes on; false when the turn went on without this answer. */
static bool pass(struct tp_turn *t, const struct tp_answer_piece *p, char *data, size_t n, bool end)
{
	const struct tp_decoder *d = t->relay.decoder;
	unsigned serial = t->attempt.serial;
	struct tp_answer_piece plain = {p->head, p->bytes, data, n, end};
	tp_relay_take(t, &plain);
	return t->state != TP_TURN_OVER && t->attempt.serial == serial && t->relay.decoder == d;
}

/* ---- labels that lie: gateways that rebuild an answer and leave the field */

/* The answer as it came is kept for as long as nothing of it was committed, within what may be held. */
static void keep_coded(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	if (r->coded_dropped)
		return;
	if (r->mode == TP_RELAY_FLOW || r->coded.len + p->n > t->config->hold.body_bytes) {
		tp_buf_free(&r->coded);
		r->coded_dropped = true;
		return;
	}
	tp_buf_add(&r->coded, p->data, p->n);
}

static bool label_lies(const struct tp_relay *r)
{
	if (r->coded_dropped || r->coded.failed)
		return false;
	switch (r->mode) {
	case TP_RELAY_HOLD: return tp_decode_begins_as_json(tp_buf_str(&r->coded));
	case TP_RELAY_PRELUDE:
		return tp_sse_front(tp_buf_str(&r->coded)) == TP_SSE_FRONT_EVENTS ||
		       tp_decode_begins_as_json(tp_buf_str(&r->coded));
	default: return false;
	}
}

/* What came so far was never coded: it is taken anew, as it is. */
static void take_as_it_is(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	struct tp_buf coded = r->coded;
	r->coded = (struct tp_buf){0};
	tp_debug("turn %s: the answer is not compressed, whatever it says", t->id);
	tp_decoder_free(r->decoder);
	r->decoder = NULL;
	tp_buf_free(&r->held);
	tp_sse_free(&r->sse);
	r->sse = (struct tp_sse){.keep_max = r->sse.keep_max};
	struct tp_answer_piece plain = {p->head, p->bytes, coded.data, coded.len, p->end};
	tp_relay_take(t, &plain);
	tp_buf_free(&coded);
}

/* ---- ends, good and bad */

static void broken(struct tp_turn *t, const struct tp_answer_piece *p, const char *why)
{
	if (label_lies(&t->relay)) {
		take_as_it_is(t, p);
		return;
	}
	if (t->relay.mode == TP_RELAY_FLOW) {
		tp_relay_cut(t, why);
		return;
	}
	tp_attempt_cancel(&t->attempt, why);
	tp_turn_decide(t, TP_CAUSE_INVALID, why);
}

static void ended(struct tp_turn *t, const struct tp_answer_piece *p, char *data, size_t n)
{
	struct tp_relay *r = &t->relay;
	bool whole = tp_decoder_whole(r->decoder);
	if (!whole && label_lies(r)) {
		take_as_it_is(t, p);
		return;
	}
	/* A stream ends with its last event, whether or not the sender closed the coding behind it. */
	if (whole || r->stream) {
		(void)pass(t, p, data, n, true);
		return;
	}
	if (r->mode == TP_RELAY_FLOW) {
		if (n == 0 || pass(t, p, data, n, false))
			tp_relay_cut(t, "the compressed answer is cut");
		return;
	}
	r->until_close = true; /* JSON that is not whole was cut, rather than wrong */
	(void)pass(t, p, data, n, true);
}

/* ---- pieces */

/* As much as PIECE takes; DATA when there may be more. */
static enum tp_decode fill(struct tp_decoder *d, const struct tp_answer_piece *p, size_t *at, char *out,
			   size_t *ret_n)
{
	enum tp_decode r;
	size_t used, n;
	*ret_n = 0;
	do {
		r = tp_decoder_feed(d, p->data + *at, p->n - *at, &used, out + *ret_n, PIECE - *ret_n, &n);
		*at += used;
		*ret_n += n;
	} while (r == TP_DECODE_DATA && *ret_n < PIECE);
	return r;
}

/* A slow client is not fed: a few coded bytes may mean a hundred times as many to be kept for it. */
static void keep_rest(struct tp_turn *t, const struct tp_answer_piece *p, size_t at)
{
	struct tp_relay *r = &t->relay;
	tp_buf_add(&r->rest, p->data + at, p->n - at);
	r->rest_ends = p->end;
	r->resting = true;
	if (r->rest.failed)
		tp_relay_cut(t, "out of memory");
}

void tp_unpack_piece(struct tp_turn *t, const struct tp_answer_piece *p)
{
	char out[PIECE];
	size_t at = 0, n;
	enum tp_decode r;
	keep_coded(t, p);
	while ((r = fill(t->relay.decoder, p, &at, out, &n)) == TP_DECODE_DATA) {
		if (!pass(t, p, out, n, false))
			return;
		if (t->attempt.paused) {
			keep_rest(t, p, at);
			return;
		}
	}
	if (r == TP_DECODE_BAD || r == TP_DECODE_TOO_LARGE) {
		if (n == 0 || pass(t, p, out, n, false))
			broken(t, p,
			       r == TP_DECODE_BAD ? "the answer's content coding is broken"
						  : "the compressed answer is too large");
	} else if (p->end) {
		ended(t, p, out, n);
	} else if (n > 0) {
		(void)pass(t, p, out, n, false);
	}
}

void tp_unpack_rest(struct tp_turn *t)
{
	struct tp_relay *r = &t->relay;
	if (!r->resting)
		return;
	struct tp_buf rest = r->rest;
	struct tp_answer_piece p = {NULL, NULL, rest.data, rest.len, r->rest_ends};
	r->rest = (struct tp_buf){0};
	r->resting = false;
	tp_unpack_piece(t, &p);
	tp_buf_free(&rest);
}

void tp_unpack_saved(struct tp_saved_answer *s, size_t max)
{
	enum tp_coding coding = tp_coding_of_head(s->head, s->bytes);
	struct tp_buf plain = {0};
	if (coding == TP_CODING_NONE || coding == TP_CODING_OTHER || s->body.len == 0)
		return;
	if (!tp_decode_body(coding, tp_buf_str(&s->body), max, &plain)) {
		s->cut = true;
		return;
	}
	tp_buf_free(&s->body);
	s->body = plain;
	s->decoded = true;
}
