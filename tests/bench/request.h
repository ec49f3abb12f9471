/* The requests that the load sends: those of the OpenAI SDK for Python, each with a body of its own. */
#ifndef TP_BENCH_REQUEST_H
#define TP_BENCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_request {
	char *bytes; /* head and body; owned */
	size_t n;
	size_t counter_at; /* digits inside the prompt that make each body another one */
	size_t front_n;    /* up to the end of these digits: what differs from request to request */
};

enum { BENCH_REQUEST_LEAST = 160, BENCH_REQUEST_MOST = 64 * 1024 * 1024 };

struct bench_request_form {
	unsigned port; /* of the server at 127.0.0.1 */
	size_t body_n; /* within the bounds above */
	bool stream;
	const char *model; /* NULL: a usual one */
	const char *more;  /* a further header field without its line end; NULL: none */
};

/* A chat completion. Each process has a credential of its own: Turnpike bounds what one of them may keep in
 * its table. */
void bench_request_make(struct bench_request *r, const struct bench_request_form *form);
/* Makes the next body differ from all before it, also from those of another process: so a budget record is
 * made for it. */
void bench_request_renew(struct bench_request *r, uint64_t *counter);
/* Where a counter begins: another place in each process. */
uint64_t bench_request_first_counter(void);

#endif
