/*
 * The fake provider of `make bench`: one thread, bare epoll, everything it says prepared at the start.
 *
 *   bench-upstream [--pace MS | --told] [--events N] [--refuse PERCENT]
 *
 * prints "port N" when it listens on 127.0.0.1.  A POST is answered with a small chat completion; one whose
 * body has `"stream":true` in its first bytes with server-sent events, chunked: the first at once, then one
 * each MS milliseconds (N of them and a [DONE]; 0: until the client leaves).  Streams are spread over the
 * milliseconds of a pace, as they would be in life.  With --told the further events are written when standard
 * input has a line, one on each stream, and "said N" is printed.  With --refuse so many of each hundred POSTs
 * are answered with 503.  A GET is answered with what was counted: {"posts":N,"refused":N}.
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/answers.h"
#include "tests/bench/common.h"

enum {
	MOST_FDS = 65536,
	READY = 256,           /* epoll events of one call */
	HEAD_MOST = 16 * 1024, /* a request head in several pieces */
	STREAM_MARK_IN = 512,  /* how far into the body "stream":true may stand */
	PACE_MOST_MS = 10000,
};

struct conn {
	int fd;
	char *head; /* a head that came in pieces; NULL: none */
	size_t head_n;
	uint64_t body_left;
	bool in_body, wants_stream, wants_counts, looked, streaming;
	uint64_t events_sent;
	LIST_ENTRY(conn) slot;
};

LIST_HEAD(slot, conn);

struct upstream {
	int epoll, listener;
	struct conn *conns[MOST_FDS];
	struct slot *slots; /* one per millisecond of the pace */
	uint64_t pace_ms, events;
	size_t next_slot; /* where the next new stream goes */
	uint64_t tick;    /* milliseconds done */
	bool told;        /* no clock: events are written when standard input says so */
	struct bench_answers answers;
	struct bench_refusals refusals;
	uint64_t posts, refused;
	size_t n_streams;
};

static char scratch[BENCH_SCRATCH];

/* ---- connections */

static void leave_slot(struct upstream *u, struct conn *c)
{
	if (!c->streaming)
		return;
	LIST_REMOVE(c, slot);
	c->streaming = false;
	u->n_streams--;
}

static void close_conn(struct upstream *u, struct conn *c)
{
	leave_slot(u, c);
	u->conns[c->fd] = NULL;
	(void)close(c->fd);
	free(c->head);
	free(c);
}

/* False: the connection is gone.  What does not fit into the socket's buffer is more than an honest reader
 * leaves there. */
static bool say(struct upstream *u, struct conn *c, struct bench_text text)
{
	ssize_t put = send(c->fd, text.bytes, text.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (put == (ssize_t)text.n)
		return true;
	if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && c->streaming)
		return true; /* this event is lost, and the load will count one less */
	close_conn(u, c);
	return false;
}

/* False: the connection is gone. */
static bool say_event(struct upstream *u, struct conn *c)
{
	bench_answers_stamp(&u->answers, bench_now_ns());
	if (!say(u, c, (struct bench_text){u->answers.event, u->answers.event_n}))
		return false;
	if (++c->events_sent < u->events || u->events == 0)
		return true;
	leave_slot(u, c);
	return say(u, c, u->answers.stream_end);
}

/* The head and the first event are two writes, as they are in life. */
static bool begin_stream(struct upstream *u, struct conn *c)
{
	if (!say(u, c, u->answers.stream_head))
		return false;
	c->streaming = true;
	c->events_sent = 0;
	if (u->n_streams++ == 0)
		u->tick = bench_now_ns() / 1000000;
	LIST_INSERT_HEAD(&u->slots[u->next_slot], c, slot);
	u->next_slot = (u->next_slot + 1) % u->pace_ms;
	return say_event(u, c);
}

static bool say_counts(struct upstream *u, struct conn *c)
{
	char body[96], text[224];
	int body_n = snprintf(body, sizeof body, "{\"posts\":%llu,\"refused\":%llu}",
			      (unsigned long long)u->posts, (unsigned long long)u->refused);
	int n = snprintf(text, sizeof text,
			 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			 body_n, body);
	return say(u, c, (struct bench_text){text, (size_t)n});
}

static bool answer(struct upstream *u, struct conn *c)
{
	c->in_body = false;
	if (c->wants_counts)
		return say_counts(u, c);
	u->posts++;
	if (bench_refusals_next(&u->refusals)) {
		u->refused++;
		return say(u, c, u->answers.refusal);
	}
	return c->wants_stream ? begin_stream(u, c) : say(u, c, u->answers.completion);
}

/* ---- requests */

/* Uses some of data[0..n) as body; false: the connection is gone. */
static bool take_body(struct upstream *u, struct conn *c, const char *data, size_t n, size_t *used)
{
	static const char mark[] = "\"stream\":true";
	size_t use = n < c->body_left ? n : (size_t)c->body_left;
	if (!c->looked && use > 0) {
		size_t look = use < STREAM_MARK_IN ? use : STREAM_MARK_IN;
		c->wants_stream = memmem(data, look, mark, sizeof mark - 1) != NULL;
		c->looked = true;
	}
	c->body_left -= use;
	*used = use;
	return c->body_left > 0 || answer(u, c);
}

/* Uses a head at the front of data[0..n); *used 0: it is not complete. */
static void take_head(struct conn *c, const char *data, size_t n, size_t *used)
{
	uint64_t length = 0;
	bool chunked = false;
	*used = bench_head(data, n, &length, &chunked);
	if (*used == 0)
		return;
	if (chunked) { /* the load sends none, and no proxy of the bench makes one of a length */
		errno = EPROTO;
		bench_die("a chunked request");
	}
	c->body_left = length;
	c->in_body = true;
	c->looked = c->wants_stream = false;
	c->wants_counts = data[0] == 'G';
}

static void keep_head(struct conn *c, const char *data, size_t n)
{
	if (c->head_n + n > HEAD_MOST) {
		errno = E2BIG;
		bench_die("a request head");
	}
	if (c->head == NULL && (c->head = malloc(HEAD_MOST)) == NULL)
		bench_die("malloc");
	memcpy(c->head + c->head_n, data, n);
	c->head_n += n;
}

static void take_input(struct upstream *u, struct conn *c, const char *data, size_t n)
{
	static char joined[HEAD_MOST + BENCH_SCRATCH];
	if (c->head_n > 0) {
		memcpy(joined, c->head, c->head_n);
		memcpy(joined + c->head_n, data, n);
		data = joined;
		n += c->head_n;
		c->head_n = 0;
	}
	while (n > 0) {
		size_t used = 0;
		if (c->in_body) {
			if (!take_body(u, c, data, n, &used))
				return;
		} else {
			take_head(c, data, n, &used);
			if (used == 0) {
				keep_head(c, data, n);
				return;
			}
			if (c->body_left == 0 && !answer(u, c))
				return;
		}
		data += used;
		n -= used;
	}
}

static void on_readable(struct upstream *u, struct conn *c)
{
	ssize_t n = recv(c->fd, scratch, sizeof scratch, MSG_DONTWAIT);
	if (n > 0)
		take_input(u, c, scratch, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_conn(u, c);
}

static void on_listener(struct upstream *u)
{
	int fd, on = 1;
	while ((fd = accept4(u->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct conn *c = fd < MOST_FDS ? calloc(1, sizeof *c) : NULL;
		if (c == NULL) {
			(void)close(fd);
			continue;
		}
		c->fd = fd;
		u->conns[fd] = c;
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};
		if (epoll_ctl(u->epoll, EPOLL_CTL_ADD, fd, &e) != 0)
			close_conn(u, c);
	}
}

/* ---- the loop */

static void tick(struct upstream *u)
{
	uint64_t now = bench_now_ns() / 1000000;
	if (now - u->tick > u->pace_ms)
		u->tick = now - u->pace_ms; /* events that are a whole pace late are not made up for */
	while (u->tick < now) {
		u->tick++;
		struct conn *c = LIST_FIRST(&u->slots[u->tick % u->pace_ms]), *next;
		for (; c != NULL; c = next) {
			next = LIST_NEXT(c, slot);
			say_event(u, c);
		}
	}
}

static void say_events(struct upstream *u)
{
	char word[64];
	size_t said = 0;
	if (read(STDIN_FILENO, word, sizeof word) <= 0)
		exit(0);
	for (uint64_t i = 0; i < u->pace_ms; i++) {
		struct conn *c = LIST_FIRST(&u->slots[i]), *next;
		for (; c != NULL; c = next) {
			next = LIST_NEXT(c, slot);
			said += say_event(u, c);
		}
	}
	(void)printf("said %zu\n", said);
	(void)fflush(stdout);
}

static void loop(struct upstream *u)
{
	struct epoll_event ready[READY];
	for (;;) {
		bool clocked = !u->told && u->n_streams > 0;
		int n = epoll_wait(u->epoll, ready, READY, clocked ? 1 : -1);
		if (n < 0 && errno != EINTR)
			bench_die("epoll_wait");
		for (int i = 0; i < n; i++) {
			int fd = ready[i].data.fd;
			if (fd == u->listener)
				on_listener(u);
			else if (fd == STDIN_FILENO)
				say_events(u);
			else if (u->conns[fd] != NULL)
				on_readable(u, u->conns[fd]);
		}
		if (clocked)
			tick(u);
	}
}

static void watch(struct upstream *u, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
	if (epoll_ctl(u->epoll, EPOLL_CTL_ADD, fd, &e) != 0)
		bench_die("epoll_ctl");
}

static void listen_somewhere(struct upstream *u)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	u->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (u->listener < 0 || bind(u->listener, (struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(u->listener, 4096) != 0 || getsockname(u->listener, (struct sockaddr *)&a, &n) != 0)
		bench_die("listen");
	u->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (u->epoll < 0)
		bench_die("epoll_create1");
	watch(u, u->listener);
	if (u->told)
		watch(u, STDIN_FILENO);
	(void)printf("port %u\n", (unsigned)ntohs(a.sin_port));
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct upstream u = {.pace_ms = 100, .refusals.random = 88172645463325252u};
	static const struct option options[] = {{"pace", required_argument, NULL, 'p'},
						{"told", no_argument, NULL, 't'},
						{"events", required_argument, NULL, 'e'},
						{"refuse", required_argument, NULL, 'r'},
						{NULL, 0, NULL, 0}};
	int c;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p': u.pace_ms = bench_number("--pace", optarg, PACE_MOST_MS); break;
		case 't': u.told = true; break;
		case 'e': u.events = bench_number("--events", optarg, UINT32_MAX); break;
		case 'r': u.refusals.percent = (unsigned)bench_number("--refuse", optarg, 100); break;
		default: return 2;
		}
	}
	if (u.pace_ms == 0 || optind < argc) {
		(void)fprintf(stderr,
			      "Usage: bench-upstream [--pace MS | --told] [--events N] [--refuse PERCENT]\n");
		return 2;
	}
	u.slots = calloc(u.pace_ms, sizeof *u.slots);
	if (u.slots == NULL)
		bench_die("calloc");
	bench_raise_fd_limit();
	bench_answers_make(&u.answers);
	listen_somewhere(&u);
	loop(&u);
}
