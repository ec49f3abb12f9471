#include "workers/relay_parts.h"

enum tp_answer_framing tp_relay_framing(const struct tp_turn *t, const struct tp_head *h)
{
	if (h->framing == TP_FRAMING_NONE)
		return TP_ANSWER_NO_BODY;
	if (h->framing == TP_FRAMING_LENGTH)
		return TP_ANSWER_LENGTH;
	return t->minor >= 1 ? TP_ANSWER_CHUNKED : TP_ANSWER_CLOSE;
}

void tp_relay_render_head(struct tp_turn *t, const struct tp_answer_piece *p)
{
	struct tp_relay *r = &t->relay;
	struct tp_answer_about about = tp_turn_about(t);
	if (t->opened) { /* heartbeats have sent one already */
		r->framing = TP_ANSWER_CHUNKED;
		return;
	}
	about.framing = r->framing;
	about.length = p->head->content_length;
	about.decoded = r->decoder != NULL;
	about.changed = r->list || about.decoded;
	if (r->framing == TP_ANSWER_CLOSE) {
		about.close = true;
		t->keep_alive = false;
	}
	tp_answer_head_relay(&r->head, p->head->status, p->head, p->bytes, &r->facts, &about);
}

bool tp_relay_emit(struct tp_turn *t, const char *data, size_t n, bool end)
{
	struct tp_relay *r = &t->relay;
	char line[20];
	struct iovec v[3];
	int count = 0;
	bool chunked = r->framing == TP_ANSWER_CHUNKED;
	if (chunked && n > 0)
		v[count++] = (struct iovec){line, tp_chunk_line(line, n)};
	if (n > 0 && r->framing != TP_ANSWER_NO_BODY)
		v[count++] = (struct iovec){(void *)(uintptr_t)data, n};
	static const char tail[] = "\r\n0\r\n\r\n";
	if (chunked && n > 0)
		v[count++] = (struct iovec){(void *)(uintptr_t)tail, end ? 7 : 2};
	else if (chunked && end)
		v[count++] = (struct iovec){(void *)(uintptr_t)(tail + 2), 5};
	int w = 0;
	if (r->head.len > 0 || r->head.failed)
		w = tp_client_write_head(t->client, &r->head, v, count);
	else if (count > 0)
		w = tp_client_write(t->client, v, count);
	if (w < 0) {
		tp_turn_client_gone(t);
		return false;
	}
	if (w > 0)
		tp_attempt_pause(&t->attempt);
	return true;
}
