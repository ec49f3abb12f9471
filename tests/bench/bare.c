/*
 * The least that any proxy on this machine has to pay: bytes from one socket to the other, one read and one
 * write for each piece, each client with a provider's connection of its own.  It understands nothing and
 * holds nothing back.
 *
 *   bench-bare --port P --upstream P
 */
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/common.h"

enum { READY = 256, READ_BYTES = 64 * 1024 };

struct end {
	int fd; /* -1: closed */
	struct end *other;
};

static char scratch[READ_BYTES];

static struct sockaddr_in loopback(unsigned port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void watch(int epoll, struct end *e)
{
	int on = 1;
	(void)setsockopt(e->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	struct epoll_event what = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = e};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, e->fd, &what) != 0)
		bench_die("epoll_ctl");
}

/* The ends of a pair are one allocation, and are not freed: an event for the other one may be under way. */
static void begin_pair(int epoll, int fd, unsigned upstream)
{
	struct sockaddr_in a = loopback(upstream);
	struct end *pair = calloc(2, sizeof *pair);
	int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (pair == NULL || other < 0 || connect(other, (struct sockaddr *)&a, sizeof a) != 0)
		bench_die("connect");
	pair[0] = (struct end){fd, &pair[1]};
	pair[1] = (struct end){other, &pair[0]};
	watch(epoll, &pair[0]);
	watch(epoll, &pair[1]);
}

static void end_pair(struct end *e)
{
	(void)close(e->fd);
	(void)close(e->other->fd);
	e->fd = e->other->fd = -1;
}

static void forward(struct end *e)
{
	while (e->fd >= 0) {
		ssize_t n = recv(e->fd, scratch, sizeof scratch, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0 || send(e->other->fd, scratch, (size_t)n, MSG_NOSIGNAL) != n)
			end_pair(e);
		else if (n < (ssize_t)sizeof scratch)
			return; /* the socket is empty: an edge will tell when there is more */
	}
}

static void loop(int listener, unsigned upstream)
{
	struct epoll_event ready[READY], what = {.events = EPOLLIN, .data.ptr = NULL};
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &what) != 0)
		bench_die("epoll");
	for (;;) {
		int n = epoll_wait(epoll, ready, READY, -1);
		for (int i = 0; i < n; i++) {
			if (ready[i].data.ptr != NULL) {
				forward(ready[i].data.ptr);
				continue;
			}
			int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
			if (fd >= 0)
				begin_pair(epoll, fd, upstream);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"port", required_argument, NULL, 'p'},
						{"upstream", required_argument, NULL, 'u'},
						{NULL, 0, NULL, 0}};
	unsigned port = 0, upstream = 0;
	int c, on = 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c != 'p' && c != 'u')
			return 2;
		*(c == 'p' ? &port : &upstream) = (unsigned)bench_number("a port", optarg, 65535);
	}
	if (port == 0 || upstream == 0 || optind < argc) {
		(void)fprintf(stderr, "Usage: bench-bare --port P --upstream P\n");
		return 2;
	}
	bench_raise_fd_limit();
	struct sockaddr_in a = loopback(port);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
	    bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 4096) != 0)
		bench_die("listen");
	loop(listener, upstream);
}
