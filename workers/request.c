#include "workers/request.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT_MIN = 2 * 1024, SEGMENT_MAX = 256 * 1024 };

struct tp_request *tp_request_new(struct tp_worker *w, const struct tp_head *head, const char *bytes)
{
	struct tp_request *r = calloc(1, sizeof *r);
	if (r == NULL || (r->head = tp_head_copy(head, bytes, &r->bytes)) == NULL) {
		free(r);
		return NULL;
	}
	r->worker = w;
	r->family = tp_family_of(tp_span_str(r->bytes, head->target));
	r->replayable = true;
	r->complete = head->framing == TP_FRAMING_NONE ||
		      (head->framing == TP_FRAMING_LENGTH && head->content_length == 0);
	return r;
}

/* Exactly what is still to come where the length is known, growing steps where it is not. */
static size_t segment_size(const struct tp_request *r, size_t n)
{
	uint64_t want = r->last != NULL ? r->last->size * 2 : SEGMENT_MIN;
	if (r->head->framing == TP_FRAMING_LENGTH && r->replayable)
		want = r->head->content_length - r->received;
	if (want > SEGMENT_MAX)
		want = SEGMENT_MAX;
	return want < n ? n : (size_t)want;
}

static struct tp_segment *add_segment(struct tp_request *r, size_t n)
{
	size_t size = segment_size(r, n);
	struct tp_segment *s = malloc(sizeof *s + size);
	if (s == NULL)
		return NULL;
	s->next = NULL;
	s->len = 0;
	s->size = size;
	if (r->last != NULL)
		r->last->next = s;
	else
		r->first = s;
	r->last = s;
	r->worker->held_bytes += size;
	return s;
}

static bool append(struct tp_request *r, const char *data, size_t n)
{
	struct tp_segment *s = r->last;
	if (s != NULL && s->len < s->size) {
		size_t fit = s->size - s->len < n ? s->size - s->len : n;
		memcpy(s->data + s->len, data, fit);
		s->len += fit;
		r->received += fit;
		data += fit;
		n -= fit;
	}
	if (n == 0)
		return true;
	s = add_segment(r, n);
	if (s == NULL)
		return false;
	memcpy(s->data, data, n);
	s->len = n;
	r->received += n;
	return true;
}

bool tp_request_add(struct tp_request *r, const char *data, size_t n)
{
	if (r->chunk_out) {
		char line[32];
		int len = snprintf(line, sizeof line, "\r\n%zx\r\n", n);
		if (!append(r, line, (size_t)len))
			return false;
	}
	return append(r, data, n);
}

bool tp_request_complete(struct tp_request *r)
{
	static const char last[] = "\r\n0\r\n\r\n";
	r->complete = true;
	return !r->chunk_out || append(r, last, sizeof last - 1);
}

void tp_request_stream(struct tp_request *r)
{
	r->replayable = false;
	r->chunk_out = r->head->framing == TP_FRAMING_CHUNKED;
	r->first_chunk = r->received;
}

bool tp_request_may_hold(const struct tp_request *r, uint64_t more)
{
	const struct tp_config *c = r->worker->config;
	return r->received + more <= c->limits.replay_body &&
	       r->worker->held_bytes + more <= c->limits.replay_total;
}

int tp_request_pieces(const struct tp_request *r, uint64_t from, struct iovec *out, int max)
{
	int n = 0;
	uint64_t at = r->dropped;
	for (struct tp_segment *s = r->first; s != NULL && n < max; at += s->len, s = s->next) {
		if (from >= at + s->len)
			continue;
		size_t skip = from > at ? (size_t)(from - at) : 0;
		out[n++] = (struct iovec){s->data + skip, s->len - skip};
	}
	return n;
}

static void free_first(struct tp_request *r)
{
	struct tp_segment *s = r->first;
	r->first = s->next;
	if (r->first == NULL)
		r->last = NULL;
	r->dropped += s->len;
	r->worker->held_bytes -= s->size;
	free(s);
}

void tp_request_drop(struct tp_request *r, uint64_t upto)
{
	while (r->first != NULL && r->dropped + r->first->len <= upto) {
		r->replayable = false;
		free_first(r);
	}
}

void tp_request_release(struct tp_request *r)
{
	r->replayable = false;
	while (r->first != NULL)
		free_first(r);
	free(r->head);
	r->head = NULL;
	r->bytes = NULL;
}

void tp_request_free(struct tp_request *r)
{
	if (r == NULL)
		return;
	tp_request_release(r);
	free(r);
}

struct tp_str tp_request_field(const struct tp_request *r, enum tp_field_id id)
{
	const struct tp_field *f = tp_head_find(r->head, id);
	return f != NULL ? tp_request_str(r, f->value) : (struct tp_str){NULL, 0};
}
