/*
 * How long a client waits for the first token: one connection, one request for a stream after the other.
 *
 *   bench-first --port P [--warm MS] --time MS
 *
 * prints "begin" when the warm-up is over and, at the end,
 *   end requests=N ns=N p50_ns=N p99_ns=N
 * where the percentiles are of the time from the request to the end of its first event.  Each stream is read
 * to its last chunk before the next one is asked for.  It stays until standard input has a line or ends.  An
 * answer other than a whole 200 ends the program with status 1.
 */
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/common.h"
#include "tests/bench/request.h"

enum { ANSWER_MOST = 64 * 1024, MOST_MS = 600000, PATIENCE_S = 10 };

struct first {
	int fd;
	struct bench_request request;
	uint64_t counter;
	struct bench_samples times;
};

static char answer[ANSWER_MOST];

static _Noreturn void wrong(const char *why, size_t n)
{
	(void)fprintf(stderr, "bench-first: %s: %.*s\n", why, (int)(n < 600 ? n : 600), answer);
	exit(1);
}

static void connect_to(struct first *f, unsigned port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int on = 1;
	f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (f->fd < 0 || connect(f->fd, (struct sockaddr *)&a, sizeof a) != 0)
		bench_die("connect");
	(void)setsockopt(f->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	(void)setsockopt(f->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

/* The event whose stamp is the first one is complete. */
static bool has_event(size_t n)
{
	static const char key[] = BENCH_STAMP_KEY;
	const char *at = memmem(answer, n, key, sizeof key - 1);
	return at != NULL && memmem(at, n - (size_t)(at - answer), "\n\n", 2) != NULL;
}

static bool is_over(size_t n)
{
	static const char last[] = "\r\n0\r\n\r\n";
	return n >= sizeof last - 1 && memcmp(answer + n - (sizeof last - 1), last, sizeof last - 1) == 0;
}

/* One stream, whole; the time of its first event. */
static uint64_t ask(struct first *f)
{
	static const char good[] = "HTTP/1.1 200";
	uint64_t first_ns = 0;
	bench_request_renew(&f->request, &f->counter);
	uint64_t sent = bench_now_ns();
	if (send(f->fd, f->request.bytes, f->request.n, MSG_NOSIGNAL) != (ssize_t)f->request.n)
		bench_die("send");
	for (size_t n = 0; first_ns == 0 || !is_over(n);) {
		ssize_t got = n < sizeof answer ? recv(f->fd, answer + n, sizeof answer - n, 0) : 0;
		if (got < 0)
			bench_die("recv");
		if (got == 0)
			wrong("a stream without an end", n);
		n += (size_t)got;
		if (n >= sizeof good - 1 && memcmp(answer, good, sizeof good - 1) != 0)
			wrong("no stream", n);
		if (first_ns == 0 && has_event(n))
			first_ns = bench_now_ns() - sent;
	}
	return first_ns;
}

static void measure(struct first *f, uint64_t warm_ms, uint64_t time_ms)
{
	for (uint64_t warm_until = bench_now_ns() + warm_ms * 1000000; bench_now_ns() < warm_until;)
		(void)ask(f);
	(void)puts("begin");
	(void)fflush(stdout);
	uint64_t begun = bench_now_ns(), now = begun, n = 0;
	for (; now - begun < time_ms * 1000000; now = bench_now_ns(), n++)
		bench_samples_add(&f->times, ask(f));
	bench_samples_sort(&f->times);
	(void)printf("end requests=%llu ns=%llu p50_ns=%u p99_ns=%u\n", (unsigned long long)n,
		     (unsigned long long)(now - begun), bench_samples_percentile(&f->times, 50),
		     bench_samples_percentile(&f->times, 99));
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct first f;
	static const struct option options[] = {{"port", required_argument, NULL, 'p'},
						{"warm", required_argument, NULL, 'w'},
						{"time", required_argument, NULL, 't'},
						{NULL, 0, NULL, 0}};
	struct bench_request_form form = {.body_n = 300, .stream = true};
	uint64_t warm_ms = 0, time_ms = 0;
	int c;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p': form.port = (unsigned)bench_number("--port", optarg, 65535); break;
		case 'w': warm_ms = bench_number("--warm", optarg, MOST_MS); break;
		case 't': time_ms = bench_number("--time", optarg, MOST_MS); break;
		default: return 2;
		}
	}
	if (form.port == 0 || time_ms == 0 || optind < argc) {
		(void)fprintf(stderr, "Usage: bench-first --port P [--warm MS] --time MS\n");
		return 2;
	}
	bench_request_make(&f.request, &form);
	f.counter = bench_request_first_counter();
	connect_to(&f, form.port);
	measure(&f, warm_ms, time_ms);
	bench_wait_for_word();
	return 0;
}
