#include "tests/bench/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/common.h"

static const char completion[] =
	"{\"id\":\"chatcmpl-BkYz0a1b2c3d4e5f6g7h8i9j\",\"object\":\"chat.completion\",\"created\":1783328400,"
	"\"model\":\"gpt-5-mini\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
	"\"A toll road is a road whose users pay for each passage.\",\"refusal\":null},\"finish_reason\":"
	"\"stop\"}],\"usage\":{\"prompt_tokens\":57,\"completion_tokens\":13,\"total_tokens\":70},"
	"\"service_tier\":\"default\",\"system_fingerprint\":\"fp_0123456789\"}";

static const char refusal[] =
	"{\"error\":{\"message\":\"The server had an error while processing your request.\","
	"\"type\":\"server_error\",\"param\":null,\"code\":null}}";

static const char json_form[] = "HTTP/1.1 %s\r\n"
				"Date: Mon, 06 Jul 2026 09:00:00 GMT\r\n"
				"Content-Type: application/json\r\n"
				"Content-Length: %zu\r\n"
				"openai-processing-ms: 87\r\n"
				"openai-version: 2020-10-01\r\n"
				"x-ratelimit-limit-requests: 10000\r\n"
				"x-ratelimit-remaining-requests: 9999\r\n"
				"x-ratelimit-reset-requests: 6ms\r\n"
				"x-request-id: req_4f1a2b3c4d5e6f708192a3b4c5d6e7f8\r\n"
				"\r\n%s";

static const char stream_head[] = "HTTP/1.1 200 OK\r\n"
				  "Date: Mon, 06 Jul 2026 09:00:00 GMT\r\n"
				  "Content-Type: text/event-stream; charset=utf-8\r\n"
				  "Transfer-Encoding: chunked\r\n"
				  "Cache-Control: no-cache\r\n"
				  "openai-processing-ms: 87\r\n"
				  "x-request-id: req_4f1a2b3c4d5e6f708192a3b4c5d6e7f8\r\n"
				  "\r\n";
static const char stream_end[] = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";

static struct bench_text json_answer(const char *status, const char *body)
{
	size_t body_n = strlen(body), room = sizeof json_form + strlen(status) + body_n + 16;
	char *bytes = malloc(room);
	if (bytes == NULL)
		bench_die("malloc");
	return (struct bench_text){bytes, (size_t)snprintf(bytes, room, json_form, status, body_n, body)};
}

static void put(char *to, size_t *at, const char *text, size_t n)
{
	memcpy(to + *at, text, n);
	*at += n;
}

static void make_event(struct bench_answers *a)
{
	static const char front[] = "data: {\"id\":\"chatcmpl-b\"," BENCH_STAMP_KEY,
			  back[] = "\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"",
			  end[] = "\"}}]}\n\n";
	char *e = a->event;
	size_t n = (size_t)snprintf(e, sizeof a->event, "%x\r\n", (unsigned)BENCH_EVENT_BYTES);
	size_t begin = n;
	put(e, &n, front, sizeof front - 1);
	a->stamp_at = n;
	n += BENCH_STAMP_DIGITS;
	put(e, &n, back, sizeof back - 1);
	size_t fill = BENCH_EVENT_BYTES - (n - begin) - (sizeof end - 1);
	memset(e + n, 'w', fill);
	n += fill;
	put(e, &n, end, sizeof end - 1);
	put(e, &n, "\r\n", 2);
	a->event_n = n;
}

void bench_answers_make(struct bench_answers *a)
{
	a->completion = json_answer("200 OK", completion);
	a->refusal = json_answer("503 Service Unavailable", refusal);
	a->stream_head = (struct bench_text){stream_head, sizeof stream_head - 1};
	a->stream_end = (struct bench_text){stream_end, sizeof stream_end - 1};
	make_event(a);
}

void bench_answers_stamp(struct bench_answers *a, uint64_t now_ns)
{
	bench_put_digits(a->event + a->stamp_at, BENCH_STAMP_DIGITS, now_ns);
}

bool bench_refusals_next(struct bench_refusals *r)
{
	if (r->percent == 0)
		return false;
	if (r->left == 0) {
		r->left = 100;
		r->refused_left = r->percent;
	}
	r->random ^= r->random << 13; /* xorshift */
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	bool refused = (r->random >> 16) % r->left < r->refused_left;
	r->left--;
	r->refused_left -= refused;
	return refused;
}
