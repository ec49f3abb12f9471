#include "workers/request.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/block.h"

enum { SEGMENT_MIN = 2 * 1024, SEGMENT_MAX = 256 * 1024, ROOM_LEAST = 16 * 1024 };

struct tp_request *tp_request_new(struct tp_worker *w, const struct tp_config *config,
				  const struct tp_head *head, const char *bytes)
{
	struct tp_request *r = tp_block_new(sizeof *r);
	if (r == NULL)
		return NULL;
	*r = (struct tp_request){.worker = w, .config = config};
	if ((r->head = tp_head_copy(head, bytes, &r->bytes)) == NULL) {
		tp_block_free(r, sizeof *r);
		return NULL;
	}
	/* What was just copied is slow to read; what it was copied from is not. */
	struct tp_str path = tp_path_only(tp_span_str(bytes, head->target));
	r->path = (struct tp_str){r->bytes + head->target.at, path.n};
	r->family = tp_family_of(path);
	r->replayable = true;
	r->complete = head->framing == TP_FRAMING_NONE ||
		      (head->framing == TP_FRAMING_LENGTH && head->content_length == 0);
	return r;
}

/* Exactly what is still to come where the length is known, growing steps where it is not. */
static size_t segment_size(const struct tp_request *r, size_t n)
{
	uint64_t want = r->last != NULL ? r->last->size * 2 : SEGMENT_MIN;
	if (r->head->framing == TP_FRAMING_LENGTH && r->replayable && !r->decoded)
		want = r->head->content_length - r->received;
	if (want > SEGMENT_MAX)
		want = SEGMENT_MAX;
	return want < n ? n : (size_t)want;
}

static struct tp_segment *add_segment(struct tp_request *r, size_t n)
{
	size_t size = segment_size(r, n);
	struct tp_segment *s = tp_block_new(sizeof *s + size);
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

static void free_segment(struct tp_request *r, struct tp_segment *s)
{
	r->worker->held_bytes -= s->size;
	tp_block_free(s, sizeof *s + s->size);
}

static bool append(struct tp_request *r, const char *data, size_t n)
{
	struct tp_segment *s = r->last;
	if (s != NULL && s->len < s->size) {
		size_t fit = s->size - s->len < n ? s->size - s->len : n;
		if (data != s->data + s->len) /* else it was read into the room there */
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

char *tp_request_room(struct tp_request *r, size_t *ret_n)
{
	struct tp_segment *s = r->last;
	if (s == NULL || r->head == NULL || r->head->framing != TP_FRAMING_LENGTH || !r->replayable ||
	    s->size - s->len < ROOM_LEAST)
		return NULL;
	uint64_t left = r->head->content_length - r->received;
	*ret_n = s->size - s->len < left ? s->size - s->len : (size_t)left;
	return s->data + s->len;
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

bool tp_request_end(struct tp_request *r)
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
	const struct tp_config *c = r->config;
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

/* ---- changing a held body */

static struct tp_segment *new_segment(struct tp_request *r, const char *data, size_t n)
{
	struct tp_segment *s = tp_block_new(sizeof *s + n);
	if (s == NULL)
		return NULL;
	s->next = NULL;
	s->len = s->size = n;
	if (n > 0)
		memcpy(s->data, data, n);
	r->worker->held_bytes += n;
	return s;
}

/* Makes `at` the border of two pieces. The place of the pointer to the one behind it, or NULL. */
static struct tp_segment **split(struct tp_request *r, uint64_t at)
{
	struct tp_segment **p = &r->first;
	for (; *p != NULL && at >= (*p)->len; p = &(*p)->next)
		at -= (*p)->len;
	if (at == 0)
		return p;
	if (*p == NULL)
		return NULL;
	struct tp_segment *front = *p;
	struct tp_segment *rest = new_segment(r, front->data + at, front->len - (size_t)at);
	if (rest == NULL)
		return NULL;
	front->len = (size_t)at;
	rest->next = front->next;
	front->next = rest;
	if (r->last == front)
		r->last = rest;
	return &front->next;
}

bool tp_request_replace(struct tp_request *r, uint64_t at, uint64_t n, struct tp_str text)
{
	if (!r->replayable || !r->complete || at > r->received || n > r->received - at)
		return false;
	struct tp_segment **end = split(r, at + n), **p = split(r, at);
	struct tp_segment *value = end != NULL && p != NULL ? new_segment(r, text.p, text.n) : NULL;
	if (value == NULL)
		return false;
	for (uint64_t left = n; left > 0;) {
		struct tp_segment *old = *p;
		left -= old->len;
		*p = old->next;
		free_segment(r, old);
	}
	value->next = *p;
	*p = value;
	if (value->next == NULL)
		r->last = value;
	r->received += text.n - n;
	return true;
}

static enum tp_request_decoded add_decoded(struct tp_request *r, struct tp_decoder *d, const char *data,
					   size_t n)
{
	char plain[16 * 1024];
	size_t used, got;
	enum tp_decode what;
	while ((what = tp_decoder_feed(d, data, n, &used, plain, sizeof plain, &got)) == TP_DECODE_DATA) {
		if (!tp_request_may_hold(r, got))
			return TP_REQUEST_TOO_LARGE;
		if (!append(r, plain, got))
			return TP_REQUEST_NO_MEMORY;
		data += used;
		n -= used;
	}
	return what == TP_DECODE_MORE        ? TP_REQUEST_DECODED
	       : what == TP_DECODE_TOO_LARGE ? TP_REQUEST_TOO_LARGE
					     : TP_REQUEST_BROKEN;
}

static void free_segments(struct tp_request *r, struct tp_segment *s)
{
	while (s != NULL) {
		struct tp_segment *next = s->next;
		free_segment(r, s);
		s = next;
	}
}

enum tp_request_decoded tp_request_decode(struct tp_request *r, enum tp_coding coding)
{
	if (coding == TP_CODING_OTHER)
		return TP_REQUEST_BROKEN;
	struct tp_decoder *d = tp_decoder_new(coding, r->config->limits.replay_body);
	struct tp_segment *first = r->first, *last = r->last;
	uint64_t received = r->received;
	if (d == NULL)
		return TP_REQUEST_NO_MEMORY;
	r->first = r->last = NULL;
	r->received = 0;
	r->decoded = true;
	enum tp_request_decoded what = TP_REQUEST_DECODED;
	for (struct tp_segment *s = first; s != NULL && what == TP_REQUEST_DECODED; s = s->next)
		what = add_decoded(r, d, s->data, s->len);
	if (what == TP_REQUEST_DECODED && !tp_decoder_whole(d))
		what = TP_REQUEST_BROKEN;
	tp_decoder_free(d);
	free_segments(r, what == TP_REQUEST_DECODED ? first : r->first);
	if (what == TP_REQUEST_DECODED)
		return what;
	r->first = first;
	r->last = last;
	r->received = received;
	r->decoded = false;
	return what;
}

/* ---- the end */

static void free_first(struct tp_request *r)
{
	struct tp_segment *s = r->first;
	r->first = s->next;
	if (r->first == NULL)
		r->last = NULL;
	r->dropped += s->len;
	free_segment(r, s);
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
	tp_head_free(r->head);
	r->head = NULL;
	r->bytes = NULL;
	r->path = (struct tp_str){NULL, 0};
}

void tp_request_free(struct tp_request *r)
{
	if (r == NULL)
		return;
	tp_request_release(r);
	tp_block_free(r, sizeof *r);
}

struct tp_str tp_request_field(const struct tp_request *r, enum tp_field_id id)
{
	const struct tp_field *f = tp_head_find(r->head, id);
	return f != NULL ? tp_request_str(r, f->value) : (struct tp_str){NULL, 0};
}
