/*
 * Holds many server-sent event streams and counts what arrives on them.
 *
 *   bench-streams --port P [--streams N] [--model NAME] [--header LINE] [--warm MS]
 *                 (--time MS | --bursts)
 *
 * prints "open" when each stream has had an event; after a line on standard input "begin" when the warm-up is
 * over, and at the end end events=N ns=N p50_ns=N p99_ns=N bytes=N where the percentiles are of the time from
 * the provider's stamp inside an event to its arrival here.  It stays until standard input has one more line
 * or ends.  A stream that ends or is no 200 ends the program with status 1.
 *
 * With --bursts nothing is read after "open" but by the word: for each line on standard input it reads what
 * has come and prints got events=N last_ns=N with the time (CLOCK_REALTIME) at which the kernel took in the
 * last of it, until standard input ends.  So a proxy can be watched while this program needs no CPU.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
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
	MOST_STREAMS = 16000,
	OPENING = 64, /* streams that wait for their first event at one time */
	CARRY = 1024, /* the longest event that may come in pieces */
	MOST_MS = 600000,
};

struct stream {
	int fd;
	bool opened;
	size_t carry_n;
	char *carry; /* the front of an event whose rest is still to come */
};

struct streams {
	int epoll;
	unsigned port;
	struct stream *list;
	size_t n, n_begun, n_open;
	struct bench_request request;
	uint64_t counter;
	bool measuring, bursts;
	uint64_t events, bytes;
	uint64_t last_ns; /* arrival of the last bytes, as the kernel saw it; only with `bursts` */
	struct bench_samples times;
};

static char scratch[CARRY + BENCH_SCRATCH];

static _Noreturn void wrong(const char *why, const char *bytes, size_t n)
{
	(void)fprintf(stderr, "bench-streams: %s: %.*s\n", why, (int)(n < 600 ? n : 600), bytes);
	exit(1);
}

/* ---- events */

/* 0: there is no stamp (what carries a proxy's framing inside an event cannot be read). */
static uint64_t stamp_of(const char *event, size_t n)
{
	static const char key[] = BENCH_STAMP_KEY;
	const char *at = memmem(event, n, key, sizeof key - 1);
	if (at == NULL || (size_t)(event + n - at) < sizeof key - 1 + BENCH_STAMP_DIGITS)
		return 0;
	at += sizeof key - 1;
	uint64_t value = 0;
	for (size_t i = 0; i < BENCH_STAMP_DIGITS; i++) {
		if (at[i] < '0' || at[i] > '9')
			return 0;
		value = value * 10 + (uint64_t)(at[i] - '0');
	}
	return value;
}

static void take_event(struct streams *s, struct stream *one, const char *event, size_t n, uint64_t now)
{
	static const char good[] = "HTTP/1.1 200";
	if (!one->opened) {
		if (n < sizeof good || memcmp(event, good, sizeof good - 1) != 0)
			wrong("no stream", event, n);
		one->opened = true;
		s->n_open++;
	}
	if (!s->measuring)
		return;
	uint64_t stamp = stamp_of(event, n);
	s->events++;
	if (stamp != 0)
		bench_samples_add(&s->times, now > stamp ? now - stamp : 0);
}

static void take_bytes(struct streams *s, struct stream *one, const char *bytes, size_t n, uint64_t now)
{
	const char *end;
	while ((end = memmem(bytes, n, "\n\n", 2)) != NULL) {
		size_t used = (size_t)(end - bytes) + 2;
		take_event(s, one, bytes, used, now);
		bytes += used;
		n -= used;
	}
	if (n > CARRY)
		wrong("an event without an end", bytes, n);
	if (n > 0 && one->carry == NULL && (one->carry = malloc(CARRY)) == NULL)
		bench_die("malloc");
	if (n > 0)
		memcpy(one->carry, bytes, n);
	one->carry_n = n;
}

/* The time of the message's last bytes, 0 when the kernel told none. */
static uint64_t arrival(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		struct timespec t;
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof t);
		return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	}
	return 0;
}

/* As recv() into the scratch behind CARRY. */
static ssize_t receive(struct streams *s, int fd)
{
	if (!s->bursts)
		return recv(fd, scratch + CARRY, BENCH_SCRATCH, MSG_DONTWAIT);
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct timespec))];
	struct iovec to = {.iov_base = scratch + CARRY, .iov_len = BENCH_SCRATCH};
	struct msghdr m = {
		.msg_iov = &to, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);
	uint64_t at = n > 0 ? arrival(&m) : 0;
	if (at > s->last_ns)
		s->last_ns = at;
	return n;
}

static void on_readable(struct streams *s, struct stream *one)
{
	ssize_t n = receive(s, one->fd);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		wrong("a stream ended", one->carry != NULL ? one->carry : "", one->carry_n);
	uint64_t now = bench_now_ns();
	char *from = scratch + CARRY - one->carry_n;
	if (one->carry_n > 0)
		memcpy(from, one->carry, one->carry_n);
	if (s->measuring)
		s->bytes += (uint64_t)n;
	take_bytes(s, one, from, (size_t)n + one->carry_n, now);
}

/* ---- the loop */

static void begin_stream(struct streams *s)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)s->port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct stream *one = &s->list[s->n_begun++];
	one->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (one->fd < 0 || connect(one->fd, (struct sockaddr *)&a, sizeof a) != 0)
		bench_die("connect");
	int on = 1;
	if (s->bursts && setsockopt(one->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0)
		bench_die("SO_TIMESTAMPNS");
	bench_request_renew(&s->request, &s->counter);
	if (send(one->fd, s->request.bytes, s->request.n, MSG_NOSIGNAL) != (ssize_t)s->request.n)
		bench_die("send");
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = one};
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, one->fd, &e) != 0)
		bench_die("epoll_ctl");
}

static void read_some(struct streams *s)
{
	struct epoll_event ready[READY];
	int n = epoll_wait(s->epoll, ready, READY, 10000);
	if (n == 0)
		wrong("nothing for 10 seconds", "", 0);
	if (n < 0 && errno != EINTR)
		bench_die("epoll_wait");
	for (int i = 0; i < n; i++)
		on_readable(s, ready[i].data.ptr);
}

static void read_until(struct streams *s, uint64_t end)
{
	while (bench_now_ns() < end)
		read_some(s);
}

static void open_all(struct streams *s)
{
	while (s->n_open < s->n) {
		while (s->n_begun < s->n && s->n_begun - s->n_open < OPENING)
			begin_stream(s);
		read_some(s);
	}
	(void)puts("open");
	(void)fflush(stdout);
}

/* Goes on reading, so that nothing piles up while the driver looks at the open streams. */
static void wait_for_word(struct streams *s)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &e) != 0)
		bench_die("epoll_ctl: standard input");
	for (bool told = false; !told;) {
		struct epoll_event ready[READY];
		int n = epoll_wait(s->epoll, ready, READY, 10000);
		for (int i = 0; i < n; i++) {
			if (ready[i].data.ptr == NULL)
				told = true;
			else
				on_readable(s, ready[i].data.ptr);
		}
	}
	(void)epoll_ctl(s->epoll, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
}

static void measure(struct streams *s, uint64_t warm_ms, uint64_t time_ms)
{
	read_until(s, bench_now_ns() + warm_ms * 1000000);
	uint64_t begun = bench_now_ns();
	s->measuring = true;
	(void)puts("begin");
	(void)fflush(stdout);
	read_until(s, begun + time_ms * 1000000);
	uint64_t ns = bench_now_ns() - begun;
	bench_samples_sort(&s->times);
	(void)printf("end events=%llu ns=%llu p50_ns=%u p99_ns=%u bytes=%llu\n",
		     (unsigned long long)s->events, (unsigned long long)ns,
		     bench_samples_percentile(&s->times, 50), bench_samples_percentile(&s->times, 99),
		     (unsigned long long)s->bytes);
	(void)fflush(stdout);
}

/* Waits on standard input between the lines, and reads nothing meanwhile. */
static void serve_bursts(struct streams *s)
{
	char word[64];
	s->measuring = true;
	while (read(STDIN_FILENO, word, sizeof word) > 0) {
		s->events = s->last_ns = 0;
		for (size_t i = 0; i < s->n; i++)
			on_readable(s, &s->list[i]);
		(void)printf("got events=%llu last_ns=%llu\n", (unsigned long long)s->events,
			     (unsigned long long)s->last_ns);
		(void)fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	static struct streams s = {.n = 1000};
	static const struct option options[] = {
		{"port", required_argument, NULL, 'p'},  {"streams", required_argument, NULL, 's'},
		{"model", required_argument, NULL, 'm'}, {"header", required_argument, NULL, 'h'},
		{"bursts", no_argument, NULL, 'b'},      {"warm", required_argument, NULL, 'w'},
		{"time", required_argument, NULL, 't'},  {NULL, 0, NULL, 0},
	};
	struct bench_request_form form = {.body_n = 300, .stream = true};
	uint64_t warm_ms = 0, time_ms = 0;
	int c;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p': s.port = (unsigned)bench_number("--port", optarg, 65535); break;
		case 's': s.n = bench_number("--streams", optarg, MOST_STREAMS); break;
		case 'm': form.model = optarg; break;
		case 'h': form.more = optarg; break;
		case 'b': s.bursts = true; break;
		case 'w': warm_ms = bench_number("--warm", optarg, MOST_MS); break;
		case 't': time_ms = bench_number("--time", optarg, MOST_MS); break;
		default: return 2;
		}
	}
	if (s.port == 0 || (time_ms == 0) != s.bursts || optind < argc) {
		(void)fprintf(stderr, "Usage: bench-streams --port P [--streams N] [--model NAME] [--header "
				      "LINE] [--warm MS] "
				      "(--time MS | --bursts)\n");
		return 2;
	}
	bench_raise_fd_limit();
	form.port = s.port;
	bench_request_make(&s.request, &form);
	s.counter = bench_request_first_counter();
	s.list = calloc(s.n, sizeof *s.list);
	s.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s.list == NULL || s.epoll < 0)
		bench_die("calloc");
	open_all(&s);
	if (s.bursts) {
		serve_bursts(&s);
		return 0;
	}
	wait_for_word(&s);
	measure(&s, warm_ms, time_ms);
	bench_wait_for_word();
	return 0;
}
