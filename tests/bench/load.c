/*
 * The clients of `make bench`: one thread, bare epoll, closed loop (each connection sends its next request
 * when it has its answer), each request with a body of its own.
 *
 *   bench-load --port P [--connections C] [--body BYTES] [--model NAME] [--header LINE] [--refusals]
 *              [--rate N] [--warm MS] (--time MS | --requests N | --once)
 *
 * prints "begin" when the warm-up is over and, at the end,
 *   end requests=N refused=N all=N ns=N p50_ns=N p99_ns=N
 * (refused and all are with those of the warm-up) and stays until standard input has a line or ends.  With
 * --rate the loop is open: N requests a second, each on the connection that has been idle for longest.  With
 * --once each connection has one answer, a few of them at a time, and then stays open.  An answer other than
 * a whole 200 (with --refusals: or 503, which is counted) ends the program with status 1: a fast error is no
 * result.
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

enum {
	READY = 256,
	MOST_CONNECTIONS = 8192,
	ANSWER_MOST = 64 * 1024,
	MOST_MS = 600000,
	AT_ONCE = 64, /* requests under way with --once */
};

struct conn {
	int fd;
	uint64_t sent_ns;
	size_t out_at;   /* how much of the request is sent while some is left; 0: nothing is left */
	char *own_front; /* the front that is this connection's own, when out_at lies in it */
	char *in;        /* an answer that came in pieces */
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
	uint64_t begun, last, all, done, refused;
	size_t in_flight;
	size_t n_used; /* with --once: connections that have had their request */
	uint64_t rate; /* requests a second; 0: closed loop */
	uint64_t started, sent;
	struct conn **idle; /* with a rate: a ring of n_conns */
	size_t idle_at, n_idle;
	bool once, refusals, measuring;
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

/* What follows the counter is the same in all requests: only the front has to be kept. */
static void keep_rest(struct load *l, struct conn *c, size_t put)
{
	if (c->own_front == NULL && (c->own_front = malloc(l->request.front_n)) == NULL)
		bench_die("malloc");
	memcpy(c->own_front, l->request.bytes, l->request.front_n);
	c->out_at = put;
	watch(l, c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
}

static size_t put_some(struct conn *c, const char *bytes, size_t n)
{
	ssize_t put = send(c->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (put < 0 && errno != EAGAIN)
		bench_die("send");
	return put > 0 ? (size_t)put : 0;
}

static void send_request(struct load *l, struct conn *c)
{
	l->requests_left -= l->requests_left < UINT64_MAX;
	l->in_flight++;
	bench_request_renew(&l->request, &l->counter);
	c->sent_ns = bench_now_ns();
	size_t put = put_some(c, l->request.bytes, l->request.n);
	if (put == 0) {
		errno = EAGAIN;
		bench_die("a socket without room for a request");
	}
	if (put < l->request.n)
		keep_rest(l, c, put);
}

static void send_rest(struct load *l, struct conn *c)
{
	if (c->out_at < l->request.front_n)
		c->out_at += put_some(c, c->own_front + c->out_at, l->request.front_n - c->out_at);
	else
		c->out_at += put_some(c, l->request.bytes + c->out_at, l->request.n - c->out_at);
	if (c->out_at < l->request.n)
		return;
	c->out_at = 0;
	watch(l, c, EPOLLIN, EPOLL_CTL_MOD);
}

/* ---- answers */

/* Lengths of what is looked at: the status line's beginning, the last chunk. */
enum { STATUS_N = sizeof "HTTP/1.1 200" - 1, LAST_N = sizeof "0\r\n\r\n" - 1 };

static bool is_refusal(const char *bytes)
{
	return memcmp(bytes, "HTTP/1.1 503", STATUS_N) == 0;
}

/* True when bytes[0..n) are one whole answer. */
static bool is_whole(const struct load *l, const char *bytes, size_t n)
{
	uint64_t length = 0;
	bool chunked = false;
	if (n >= STATUS_N && memcmp(bytes, "HTTP/1.1 200", STATUS_N) != 0 &&
	    !(l->refusals && is_refusal(bytes)))
		wrong_answer("not a 200", bytes, n);
	size_t head = bench_head(bytes, n, &length, &chunked);
	if (head == 0)
		return false;
	if (chunked) /* one at a time: its end is the end of what is here */
		return n >= head + LAST_N && memcmp(bytes + n - LAST_N, "0\r\n\r\n", LAST_N) == 0;
	if (length == 0)
		wrong_answer("an answer without a length", bytes, n);
	if (n > head + length)
		wrong_answer("bytes behind an answer", bytes, n);
	return n == head + length;
}

static void count_answer(struct load *l, const struct conn *c, bool refused, uint64_t now)
{
	l->all++;
	l->refused += refused;
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

static bool is_over(const struct load *l, uint64_t now)
{
	return l->measuring && l->time_ns > 0 && now - l->begun >= l->time_ns;
}

static void answered(struct load *l, struct conn *c, const char *answer)
{
	uint64_t now = bench_now_ns();
	l->in_flight--;
	count_answer(l, c, is_refusal(answer), now);
	if (l->once) {
		if (l->n_used < l->n_conns)
			send_request(l, &l->conns[l->n_used++]);
		return;
	}
	if (l->rate > 0)
		l->idle[(l->idle_at + l->n_idle++) % l->n_conns] = c;
	else if (l->requests_left > 0 && !is_over(l, now))
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
	if (!is_whole(l, c->in, c->in_n))
		return;
	c->in_n = 0;
	answered(l, c, c->in);
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
	if (c->in_n == 0 && is_whole(l, scratch, (size_t)n))
		answered(l, c, scratch);
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

/* What is due at the rate. False when the time is over. */
static bool send_due(struct load *l)
{
	uint64_t now = bench_now_ns();
	if (is_over(l, now))
		return false;
	for (uint64_t due = (now - l->started) * l->rate / 1000000000; l->sent < due && l->n_idle > 0;
	     l->sent++) {
		struct conn *c = l->idle[l->idle_at];
		l->idle_at = (l->idle_at + 1) % l->n_conns;
		l->n_idle--;
		send_request(l, c);
	}
	return true;
}

static void begin(struct load *l)
{
	size_t first = l->once && l->n_conns > AT_ONCE ? AT_ONCE : l->n_conns;
	if (l->rate == 0) {
		for (; l->n_used < first && l->requests_left > 0; l->n_used++)
			send_request(l, &l->conns[l->n_used]);
		return;
	}
	if ((l->idle = calloc(l->n_conns, sizeof(struct conn *))) == NULL)
		bench_die("calloc");
	for (; l->n_idle < l->n_conns; l->n_idle++)
		l->idle[l->n_idle] = &l->conns[l->n_idle];
	l->started = bench_now_ns();
}

static void run(struct load *l)
{
	struct epoll_event ready[READY];
	begin(l);
	for (bool sending = l->rate > 0; sending || l->in_flight > 0;) {
		int n = epoll_wait(l->epoll, ready, READY, sending ? 1 : 10000);
		if (n == 0 && !sending)
			wrong_answer("no answer for 10 seconds", "", 0);
		if (n < 0 && errno != EINTR)
			bench_die("epoll_wait");
		for (int i = 0; i < n; i++) {
			struct conn *c = ready[i].data.ptr;
			if ((ready[i].events & EPOLLOUT) != 0 && c->out_at > 0)
				send_rest(l, c);
			if ((ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
				on_readable(l, c);
		}
		sending = sending && send_due(l);
	}
}

static void report(struct load *l)
{
	bench_samples_sort(&l->times);
	(void)printf("end requests=%llu refused=%llu all=%llu ns=%llu p50_ns=%u p99_ns=%u\n",
		     (unsigned long long)l->done, (unsigned long long)l->refused, (unsigned long long)l->all,
		     (unsigned long long)(l->last - l->begun), bench_samples_percentile(&l->times, 50),
		     bench_samples_percentile(&l->times, 99));
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct load l = {.n_conns = 1, .requests_left = UINT64_MAX};
	static const struct option options[] = {
		{"port", required_argument, NULL, 'p'},     {"connections", required_argument, NULL, 'c'},
		{"body", required_argument, NULL, 'b'},     {"header", required_argument, NULL, 'h'},
		{"model", required_argument, NULL, 'm'},    {"rate", required_argument, NULL, 'a'},
		{"refusals", no_argument, NULL, 'f'},       {"once", no_argument, NULL, 'o'},
		{"warm", required_argument, NULL, 'w'},     {"time", required_argument, NULL, 't'},
		{"requests", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0},
	};
	struct bench_request_form form = {.body_n = 300};
	uint64_t warm_ms = 0;
	int c;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p': form.port = (unsigned)bench_number("--port", optarg, 65535); break;
		case 'c': l.n_conns = bench_number("--connections", optarg, MOST_CONNECTIONS); break;
		case 'b': form.body_n = bench_number("--body", optarg, BENCH_REQUEST_MOST); break;
		case 'm': form.model = optarg; break;
		case 'h': form.more = optarg; break;
		case 'a': l.rate = bench_number("--rate", optarg, 1000000); break;
		case 'f': l.refusals = true; break;
		case 'o': l.once = true; break;
		case 'w': warm_ms = bench_number("--warm", optarg, MOST_MS); break;
		case 't': l.time_ns = bench_number("--time", optarg, MOST_MS) * 1000000; break;
		case 'r': l.requests_left = bench_number("--requests", optarg, UINT32_MAX); break;
		default: return 2;
		}
	}
	bool limited = l.time_ns > 0 || l.requests_left < UINT64_MAX;
	if (form.port == 0 || optind < argc || form.body_n < BENCH_REQUEST_LEAST || limited == l.once ||
	    (l.rate > 0 && l.time_ns == 0)) {
		(void)fprintf(stderr,
			      "Usage: bench-load --port P [--connections C] [--body BYTES] [--model NAME] "
			      "[--header LINE] [--refusals] [--rate N] [--warm MS] (--time MS | --requests N "
			      "| --once)\n");
		return 2;
	}
	bench_raise_fd_limit();
	bench_request_make(&l.request, &form);
	l.counter = bench_request_first_counter();
	connect_all(&l, form.port);
	l.warm_until = bench_now_ns() + warm_ms * 1000000;
	run(&l);
	report(&l);
	bench_wait_for_word();
	return 0;
}
