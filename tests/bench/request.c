#include "tests/bench/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/common.h"

enum { COUNTER_DIGITS = 20 };

static const char head_form[] =
	"POST /v1/chat/completions HTTP/1.1\r\n"
	"Host: 127.0.0.1:%u\r\n"
	"Accept-Encoding: gzip, deflate\r\n"
	"Connection: keep-alive\r\n"
	"Accept: application/json\r\n"
	"Content-Type: application/json\r\n"
	"User-Agent: OpenAI/Python 1.109.1\r\n"
	"X-Stainless-Lang: python\r\n"
	"X-Stainless-Package-Version: 1.109.1\r\n"
	"X-Stainless-OS: Linux\r\n"
	"X-Stainless-Arch: x64\r\n"
	"X-Stainless-Runtime: CPython\r\n"
	"X-Stainless-Runtime-Version: 3.11.2\r\n"
	"Authorization: Bearer sk-proj-0123456789abcdefghijklmnopqrstuvwxyzABCD%010u\r\n"
	"X-Stainless-Async: false\r\n"
	"x-stainless-retry-count: 0\r\n"
	"x-stainless-read-timeout: 600\r\n"
	"Content-Length: %zu\r\n"
	"%s%s"
	"\r\n";

void bench_request_make(struct bench_request *r, const struct bench_request_form *form)
{
	static const char end[] = "\"}]}";
	char front[256];
	int front_n = snprintf(front, sizeof front,
			       "{\"model\":\"%s\",%s\"temperature\":0.2,\"messages\":[{\"role\":\"user\","
			       "\"content\":\"Question ",
			       form->model != NULL ? form->model : "gpt-5-mini",
			       form->stream ? "\"stream\":true," : "");
	if (front_n >= (int)sizeof front) {
		errno = ENAMETOOLONG;
		bench_die("a model's name");
	}
	const char *more = form->more != NULL ? form->more : "";
	size_t body_n = form->body_n, room = sizeof head_form + 64 + strlen(more) + body_n;
	r->bytes = malloc(room);
	if (r->bytes == NULL)
		bench_die("malloc");
	size_t n = (size_t)snprintf(r->bytes, room, head_form, form->port, (unsigned)getpid(), body_n, more,
				    *more != 0 ? "\r\n" : "");
	size_t body_end = n + body_n;
	memcpy(r->bytes + n, front, (size_t)front_n);
	n += (size_t)front_n;
	r->counter_at = n;
	n += COUNTER_DIGITS;
	r->front_n = n;
	static const char words[] = " what is a toll road and who pays for it?";
	for (size_t i = 0; n < body_end - (sizeof end - 1); i++)
		r->bytes[n++] = words[i % (sizeof words - 1)];
	memcpy(r->bytes + n, end, sizeof end - 1);
	r->n = body_end;
}

void bench_request_renew(struct bench_request *r, uint64_t *counter)
{
	bench_put_digits(r->bytes + r->counter_at, COUNTER_DIGITS, (*counter)++);
}

uint64_t bench_request_first_counter(void)
{
	return bench_now_ns() / 1000 * 1000 + (uint64_t)getpid();
}
