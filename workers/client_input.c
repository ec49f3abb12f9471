/* What arrives from a client: heads and bodies for its turns, in order. */
#include "workers/client.h"
#include "workers/numbers.h"

#include <errno.h>
#include <string.h>

#include "common/base/log.h"
#include "common/retry/refusal.h"
#include "workers/access_log.h"
#include "workers/answer_head.h"
#include "workers/turn.h"

enum {
	LINGER_BYTES = 64 * 1024 * 1024, /* upload dropped behind an answer, at most */
	PIPELINE_MAX = 128 * 1024,       /* bytes read ahead of the present turn */
	GATHERED_MAX =
		64 * 1024 * 1024, /* the same and heads that are not complete, of all clients of a worker */
	/* What limits.client_body has to bring: a part of what is here already, so that a large body cannot
	 * be held for long by a trickle; within these bounds. */
	BODY_PART = 16,
	BODY_LEAST = 16 * 1024,
	BODY_MOST = 1024 * 1024
};

/* ---- errors before there is a turn */

/* Whose shape the error takes when only the first line could be read. */
static enum tp_family guess_family(const char *bytes, size_t n)
{
	const char *line_end = memchr(bytes, '\r', n);
	size_t line_n = line_end != NULL ? (size_t)(line_end - bytes) : n;
	const char *from = memchr(bytes, ' ', line_n);
	if (from == NULL)
		return TP_FAMILY_PLAIN;
	from++;
	size_t rest = line_n - (size_t)(from - bytes);
	const char *to = memchr(from, ' ', rest);
	return tp_family_of((struct tp_str){from, to != NULL ? (size_t)(to - from) : rest});
}

/* Its line in the logs, as a turn has one. */
static void tell_bad_head(struct tp_client *c, const char *id, struct tp_str head, int status,
			  const char *reason, uint64_t bytes)
{
	const struct tp_log_field fields[] = {
		{"id", id, 0},         {"sends", NULL, 0},         {"status", NULL, (uint64_t)status},
		{"outcome", "bad", 0}, {"bytes_out", NULL, bytes}, {"reason", reason, 0},
	};
	tp_log_event(TP_LOG_INFO, "turn", fields, sizeof fields / sizeof fields[0]);
	tp_access_log_bad_head(c, id, head, status, bytes);
}

static void refuse_head(struct tp_client *c, const char *bytes, size_t n, int status, const char *reason)
{
	struct tp_refusal r = tp_refusal_client_error(status, reason);
	struct tp_buf body = {0}, head = {0};
	char id[TP_REQUEST_ID_SIZE];
	tp_worker_request_id(c->worker, id);
	tp_refusal_render(&r, guess_family(bytes, n), &body);
	struct tp_answer_about about = {
		.request_id = id, .framing = TP_ANSWER_LENGTH, .length = body.len, .close = true};
	tp_answer_head_local(&head, &r, &about);
	tell_bad_head(c, id, (struct tp_str){bytes, n}, status, reason, body.len);
	tp_worker_count(c->worker, TP_COUNT_TURNS);
	tp_worker_count(c->worker, TP_COUNT_TURNS_BAD);
	tp_numbers_bad_head(c->worker, guess_family(bytes, n));
	struct iovec v[2] = {{head.data, head.len}, {body.data, body.len}};
	int w = head.failed || body.failed ? -1 : tp_client_write(c, v, 2);
	tp_buf_free(&head);
	tp_buf_free(&body);
	if (w < 0)
		tp_client_close(c, "write failed", true);
	else
		tp_client_turn_over(c, TP_NEXT_CLOSE);
}

/* ---- input */

static void begin_turn(struct tp_client *c, const struct tp_head *h, const char *bytes)
{
	c->served = true;
	c->turn = tp_turn_new(c, h, bytes);
	if (c->turn == NULL) {
		tp_client_close(c, "out of memory", true);
		return;
	}
	bool body = h->framing == TP_FRAMING_CHUNKED ||
		    (h->framing == TP_FRAMING_LENGTH && h->content_length > 0);
	c->chunked_body = h->framing == TP_FRAMING_CHUNKED;
	c->chunked = (struct tp_chunked){0};
	c->body_left = h->framing == TP_FRAMING_LENGTH ? h->content_length : 0;
	c->body_seen = c->body_fresh = 0;
	tp_client_set_state(c, body ? TP_CLIENT_BODY : TP_CLIENT_ANSWER);
	tp_turn_start(c->turn);
	if (c->turn != NULL && c->state == TP_CLIENT_ANSWER)
		tp_turn_body_done(c->turn);
}

/* Uses a head at the front; returns the bytes used, 0 = more is needed (or the client is refused). */
static size_t take_head(struct tp_client *c, const char *bytes, size_t n)
{
	tp_client_follow(c);
	struct tp_head *h = c->worker->head;
	int status = 0;
	const char *reason = NULL;
	switch (tp_head_parse_request(bytes, n, c->config->limits.header, c->config->limits.body, &c->scanned,
				      h, &status, &reason)) {
	case TP_PARSE_MORE:
		if (c->state == TP_CLIENT_IDLE)
			tp_client_set_state(c, TP_CLIENT_HEAD);
		return 0;
	case TP_PARSE_BAD: refuse_head(c, bytes, n, status, reason); return 0;
	case TP_PARSE_OK: break;
	}
	c->scanned = 0;
	size_t size = h->size;
	begin_turn(c, h, bytes);
	return size;
}

static void body_complete(struct tp_client *c)
{
	tp_client_set_state(c, TP_CLIENT_ANSWER);
	tp_turn_body_done(c->turn);
}

static size_t take_chunked(struct tp_client *c, const char *bytes, size_t n)
{
	size_t at = 0;
	while (c->turn != NULL && c->state == TP_CLIENT_BODY && !c->paused) {
		size_t used = 0, data_n = 0;
		const char *data = NULL;
		enum tp_chunked_result r = tp_chunked_feed(&c->chunked, bytes + at, n - at,
							   c->config->limits.body, &used, &data, &data_n);
		at += used;
		switch (r) {
		case TP_CHUNKED_DATA: tp_turn_body(c->turn, data, data_n); break;
		case TP_CHUNKED_MORE: return at;
		case TP_CHUNKED_DONE: body_complete(c); return at;
		case TP_CHUNKED_BAD: tp_turn_reject(c->turn, 400, "broken chunked coding"); return at;
		case TP_CHUNKED_LARGE:
			tp_turn_reject(c->turn, 413, "the body is larger than limits.body");
			return at;
		}
	}
	return at;
}

/* n more bytes of the body, framing included: is it enough for its time to begin anew? */
static void note_progress(struct tp_client *c, size_t n)
{
	uint64_t want = c->body_seen / BODY_PART;
	want = want < BODY_LEAST ? BODY_LEAST : want > BODY_MOST ? BODY_MOST : want;
	c->body_fresh += n;
	if (c->body_fresh < want)
		return;
	c->body_seen += c->body_fresh;
	c->body_fresh = 0;
	tp_timer_set(&c->timer, c->config->limits.client_body_ms);
}

static size_t take_body(struct tp_client *c, const char *bytes, size_t n)
{
	note_progress(c, n);
	if (c->chunked_body)
		return take_chunked(c, bytes, n);
	size_t use = n < c->body_left ? n : (size_t)c->body_left;
	c->body_left -= use;
	tp_turn_body(c->turn, bytes, use);
	if (c->turn != NULL && c->state == TP_CLIENT_BODY && c->body_left == 0)
		body_complete(c);
	return use;
}

/* Uses what it can of bytes[0..n) in the present state; the number of bytes used. */
static size_t take_some(struct tp_client *c, const char *bytes, size_t n)
{
	size_t at = 0;
	while (at < n) {
		size_t used = 0;
		switch (c->state) {
		case TP_CLIENT_IDLE:
		case TP_CLIENT_HEAD: used = take_head(c, bytes + at, n - at); break;
		case TP_CLIENT_BODY:
			if (c->turn == NULL || c->paused)
				return at;
			used = take_body(c, bytes + at, n - at);
			break;
		default: return at;
		}
		if (used == 0)
			return at;
		at += used;
	}
	return at;
}

/* What finds no memory leaves a gap, and nothing behind it may be read as if it followed. */
static void gather(struct tp_client *c, const char *bytes, size_t n)
{
	tp_buf_add(&c->in, bytes, n);
	if (!c->in.failed)
		return;
	if (c->state == TP_CLIENT_ANSWER || c->state == TP_CLIENT_FLUSH) { /* this turn has all of its own */
		tp_buf_free(&c->in);
		c->input_gone = true;
	} else {
		tp_client_close(c, "out of memory", true);
	}
}

static void take_input(struct tp_client *c, const char *bytes, size_t n)
{
	tp_worker_add(c->worker, TP_COUNT_BYTES_IN, n);
	if (c->in.len > 0) {
		gather(c, bytes, n);
		return; /* tp_client_input() works on what was gathered */
	}
	size_t used = take_some(c, bytes, n);
	if (c->state != TP_CLIENT_CLOSED && c->state != TP_CLIENT_LINGER)
		gather(c, bytes + used, n - used);
}

/* What was gathered goes first. False when the client is closed. */
static bool use_gathered(struct tp_client *c)
{
	while (c->in.len > 0) {
		struct tp_buf in = c->in;
		c->in = (struct tp_buf){0};
		size_t used = take_some(c, in.data, in.len);
		if (c->state == TP_CLIENT_CLOSED || c->state == TP_CLIENT_LINGER) {
			tp_buf_free(&in);
			return c->state != TP_CLIENT_CLOSED;
		}
		tp_buf_consume(&in, used);
		c->in = in;
		if (c->in.len == 0)
			tp_buf_free(&c->in);
		if (used == 0)
			return true;
	}
	return true;
}

static void input_ended(struct tp_client *c, ssize_t r)
{
	c->input_gone = true;
	if (r == TP_IO_END && c->state == TP_CLIENT_ANSWER && c->listener->client_half_close_serve)
		return; /* a write will tell when it is really gone */
	if (r == TP_IO_END && c->state == TP_CLIENT_FLUSH)
		return;
	tp_client_close(c, r == TP_IO_END ? "the client closed" : "the client is gone", r != TP_IO_END);
}

static void drop_input(struct tp_client *c, size_t n)
{
	c->lingered += n;
	if (c->lingered > LINGER_BYTES)
		tp_client_close(c, "still uploading after its answer", true);
}

bool tp_client_wants_input(const struct tp_client *c)
{
	switch (c->state) {
	case TP_CLIENT_IDLE:
	case TP_CLIENT_HEAD:
	case TP_CLIENT_LINGER: return true;
	case TP_CLIENT_BODY: return !c->paused && c->in.len < PIPELINE_MAX;
	case TP_CLIENT_ANSWER:
	case TP_CLIENT_FLUSH:
		return !c->input_gone && c->in.len < PIPELINE_MAX &&
		       (c->in.len == 0 || c->worker->gathered_bytes < GATHERED_MAX);
	default: return false;
	}
}

void tp_client_note_gathered(struct tp_client *c)
{
	c->worker->gathered_bytes += c->in.size - c->gathered;
	c->gathered = c->in.size;
}

/* Heads in pieces have no room left: whoever sends one whole is served all the same. */
static void bound_gathered(struct tp_client *c)
{
	tp_client_note_gathered(c);
	if (c->state == TP_CLIENT_HEAD && c->worker->gathered_bytes > GATHERED_MAX)
		tp_client_close(c, "too many heads are incomplete", true);
}

/* Where the next bytes are read to: a long body straight to where it is kept, all else into the scratch. */
static char *read_to(struct tp_client *c, size_t *ret_n)
{
	char *room = NULL;
	if (c->state == TP_CLIENT_BODY && !c->chunked_body && c->in.len == 0 && c->turn != NULL)
		room = tp_turn_body_room(c->turn, ret_n);
	if (room == NULL || *ret_n > TP_SCRATCH_BYTES)
		*ret_n = TP_SCRATCH_BYTES;
	return room != NULL ? room : c->worker->scratch;
}

void tp_client_input(struct tp_client *c)
{
	if (c->working)
		return; /* the loop further up the stack goes on */
	c->working = true;
	bool open = use_gathered(c);
	for (int i = 0; open && c->io.readable && tp_client_wants_input(c); i++) {
		if (i == TP_READS_PER_TURN) {
			tp_io_again(&c->io);
			break;
		}
		size_t most;
		char *to = read_to(c, &most);
		ssize_t n = tp_io_read(&c->io, to, most);
		if (n == -EAGAIN)
			break;
		if (n <= 0)
			input_ended(c, n);
		else if (c->state == TP_CLIENT_LINGER)
			drop_input(c, (size_t)n);
		else
			take_input(c, to, (size_t)n);
		open = c->state != TP_CLIENT_CLOSED && use_gathered(c);
		if (n <= 0)
			break;
	}
	c->working = false;
	if (c->state != TP_CLIENT_CLOSED)
		bound_gathered(c);
}
