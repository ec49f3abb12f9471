/*
 * The clients of `make bench`: one thread, bare epoll, closed loop (each connection sends its next request
 * when it has its answer), each request with a body of its own.
 *
 *   bench-load --port P [--connections C] [--body BYTES] [--warm MS] [--time MS | --requests N]
 *
 * prints "begin" when the warm-up is over and, at the end,
 *   end requests=N ns=N p50_ns=N p99_ns=N
 * and stays until standard input has a line or ends.  An answer other than a whole 200 ends the program with
 * status 1: a fast error is no result.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/common.h"
#include "tests/bench/request.h"

enum { READY = 256, MOST_CONNECTIONS = 4096, ANSWER_MOST = 64 * 1024, MOST_MS = 600000 };

struct conn {
	int fd;
	uint64_t sent_ns;
	char *out; /* what the socket did not take of the request */
	size_t out_n, out_at;
	char *in; /* an answer that came in pieces */
	size_t in_n;
};

struct load {
	int epoll;
	struct conn *conns;
	size_t n_conns;
	struct bench_request request;
	uint64_t counter;
	uint64_t warm_until,
		time_ns;        /* measured time behind the warm-up; 0: until the requests are used up */
	uint64_t requests_left; /* UINT64_MAX: no limit of number */
	uint64_t begun, last, done;
	size_t in_flight;
	bool measuring;
	struct bench_samples times;
};

static char scratch[BENCH_SCRATCH];

static _Noreturn void wrong_answer(const char *why, const char *bytes, size_t n)
{
	(void)fprintf(stderr, "bench-load: %s: %.*s\n", why, (int)(n < 600 ? n : 600), bytes);
	exit(1);
}

/* ---- sending */

static void watch(struct load *l, struct conn *c, uint32_t events, int op)
{
	struct epoll_event e = {.events = events, .data.ptr = c};
	if (epoll_ctl(l->epoll, op, c->fd, &e) != 0)
		bench_die("epoll_ctl");
}

static void keep_rest(struct load *l, struct conn *c, size_t put)
{
	if (c->out == NULL && (c->out = malloc(l->request.n)) == NULL)
		bench_die("malloc");
	c->out_n = l->request.n;
	c->out_at = put;
	memcpy(c->out, l->request.bytes, l->request.n);
	watch(l, c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
}

static void send_request(struct load *l, struct conn *c)
{
	l->requests_left -= l->requests_left < UINT64_MAX;
	l->in_flight++;
	bench_request_renew(&l->request, &l->counter);
	c->sent_ns = bench_now_ns();
	ssize_t put = send(c->fd, l->request.bytes, l->request.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (put < 0 && errno != EAGAIN)
		bench_die("send");
	if (put < (ssize_t)l->request.n)
		keep_rest(l, c, put > 0 ? (size_t)put : 0);
}

static void send_rest(struct load *l, struct conn *c)
{
	ssize_t put = send(c->fd, c->out + c->out_at, c->out_n - c->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (put < 0 && errno != EAGAIN)
		bench_die("send");
	if (put > 0)
		c->out_at += (size_t)put;
	if (c->out_at < c->out_n)
		return;
	c->out_n = c->out_at = 0;
	watch(l, c, EPOLLIN, EPOLL_CTL_MOD);
}

/* ---- answers */

/* True when bytes[0..n) are one whole answer. */
static bool is_whole(const char *bytes, size_t n)
{
	static const char good[] = "HTTP/1.1 200";
	uint64_t length = 0;
	bool chunked = false;
	if (n >= sizeof good - 1 && memcmp(bytes, good, sizeof good - 1) != 0)
		wrong_answer("not a 200", bytes, n);
	size_t head = bench_head(bytes, n, &length, &chunked);
	if (head == 0)
		return false;
	if (chunked || length == 0)
		wrong_answer("an answer without a length", bytes, n);
	if (n > head + length)
		wrong_answer("bytes behind an answer", bytes, n);
	return n == head + length;
}

static void count_answer(struct load *l, const struct conn *c, uint64_t now)
{
	if (!l->measuring) {
		l->measuring = now >= l->warm_until;
		l->begun = now;
		if (l->measuring) {
			(void)puts("begin");
			(void)fflush(stdout);
		}
		return;
	}
	l->done++;
	l->last = now;
	bench_samples_add(&l->times, now - c->sent_ns);
}

static void answered(struct load *l, struct conn *c)
{
	uint64_t now = bench_now_ns();
	l->in_flight--;
	count_answer(l, c, now);
	bool time_over = l->measuring && l->time_ns > 0 && now - l->begun >= l->time_ns;
	if (l->requests_left > 0 && !time_over)
		send_request(l, c);
}

static void gather(struct load *l, struct conn *c, size_t n)
{
	if (c->in_n + n > ANSWER_MOST)
		wrong_answer("a large answer", scratch, n);
	if (c->in == NULL && (c->in = malloc(ANSWER_MOST)) == NULL)
		bench_die("malloc");
	memcpy(c->in + c->in_n, scratch, n);
	c->in_n += n;
	if (!is_whole(c->in, c->in_n))
		return;
	c->in_n = 0;
	answered(l, c);
}

static void on_readable(struct load *l, struct conn *c)
{
	ssize_t n = recv(c->fd, scratch, sizeof scratch, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		bench_die("recv");
	if (n == 0)
		wrong_answer("the connection was closed", c->in_n > 0 ? c->in : "", c->in_n);
	if (c->in_n == 0 && is_whole(scratch, (size_t)n))
		answered(l, c);
	else
		gather(l, c, (size_t)n);
}

/* ---- the loop */

static void connect_all(struct load *l, unsigned port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	l->conns = calloc(l->n_conns, sizeof *l->conns);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->conns == NULL || l->epoll < 0)
		bench_die("epoll_create1");
	for (size_t i = 0; i < l->n_conns; i++) {
		struct conn *c = &l->conns[i];
		int on = 1;
		c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof a) != 0)
			bench_die("connect");
		(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		watch(l, c, EPOLLIN, EPOLL_CTL_ADD);
	}
}

static void run(struct load *l)
{
	struct epoll_event ready[READY];
	for (size_t i = 0; i < l->n_conns && l->requests_left > 0; i++)
		send_request(l, &l->conns[i]);
	while (l->in_flight > 0) {
		int n = epoll_wait(l->epoll, ready, READY, 10000);
		if (n == 0)
			wrong_answer("no answer for 10 seconds", "", 0);
		if (n < 0 && errno != EINTR)
			bench_die("epoll_wait");
		for (int i = 0; i < n; i++) {
			struct conn *c = ready[i].data.ptr;
			if ((ready[i].events & EPOLLOUT) != 0 && c->out_n > 0)
				send_rest(l, c);
			if ((ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
				on_readable(l, c);
		}
	}
}

static void report(struct load *l)
{
	bench_samples_sort(&l->times);
	(void)printf("end requests=%llu ns=%llu p50_ns=%u p99_ns=%u\n", (unsigned long long)l->done,
		     (unsigned long long)(l->last - l->begun), bench_samples_percentile(&l->times, 50),
		     bench_samples_percentile(&l->times, 99));
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct load l = {.n_conns = 1, .requests_left = UINT64_MAX};
	static const struct option options[] = {{"port", required_argument, NULL, 'p'},
						{"connections", required_argument, NULL, 'c'},
						{"body", required_argument, NULL, 'b'},
						{"warm", required_argument, NULL, 'w'},
						{"time", required_argument, NULL, 't'},
						{"requests", required_argument, NULL, 'r'},
						{NULL, 0, NULL, 0}};
	unsigned port = 0;
	uint64_t body = 300, warm_ms = 0;
	int c;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p': port = (unsigned)bench_number("--port", optarg, 65535); break;
		case 'c': l.n_conns = bench_number("--connections", optarg, MOST_CONNECTIONS); break;
		case 'b': body = bench_number("--body", optarg, BENCH_REQUEST_MOST); break;
		case 'w': warm_ms = bench_number("--warm", optarg, MOST_MS); break;
		case 't': l.time_ns = bench_number("--time", optarg, MOST_MS) * 1000000; break;
		case 'r': l.requests_left = bench_number("--requests", optarg, UINT32_MAX); break;
		default: return 2;
		}
	}
	if (port == 0 || optind < argc || body < BENCH_REQUEST_LEAST ||
	    (l.time_ns == 0) == (l.requests_left == UINT64_MAX)) {
		(void)fprintf(stderr,
			      "Usage: bench-load --port P [--connections C] [--body BYTES] [--warm MS] "
			      "(--time MS | --requests N)\n");
		return 2;
	}
	bench_raise_fd_limit();
	bench_request_make(&l.request, port, body, false);
	l.counter = bench_request_first_counter();
	connect_all(&l, port);
	l.warm_until = bench_now_ns() + warm_ms * 1000000;
	run(&l);
	report(&l);
	bench_wait_for_word();
	return 0;
}
