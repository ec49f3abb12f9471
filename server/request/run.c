#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/engine.h"
#include "server/request/request.h"

enum { READ = 64 * 1024 };

struct run {
	const struct tp_request_order *order;
	struct tp_engine engine;
	int fd; /* the connection to the engine */
	struct tp_buf *request;
	size_t sent;
	struct tp_request_answer answer;
	struct tp_request_waits waits;
	char scratch[READ];
};

/* ---- signals: Ctrl-C cancels at once */

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	signalled = number;
}

/* They arrive inside ppoll() alone, so that none is missed; ret_outside is the mask for it. */
static void take_signals(sigset_t *ret_outside)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;
	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
		(void)sigaddset(&set, taken[i]);
		(void)sigaction(taken[i], &action, NULL);
	}
	(void)sigprocmask(SIG_BLOCK, &set, ret_outside);
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
		(void)sigdelset(ret_outside, taken[i]);
}

/* ---- the exchange; -1: it goes on, else the exit status */

/* False when the connection is broken; what it answered before is still read. */
static void send_request(struct run *r)
{
	ssize_t n = send(r->fd, r->request->data + r->sent, r->request->len - r->sent,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		r->sent += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		r->sent = r->request->len; /* broken: what it answered before is still read */
}

static int end_of_answer(struct run *r)
{
	if (r->answer.head_done && r->answer.head.framing == TP_FRAMING_CLOSE)
		return tp_request_answer_status(&r->answer);
	tp_request_waits_clear(&r->waits);
	(void)fprintf(stderr, "turnpike %s: %s\n", r->waits.command,
		      r->answer.head_done ? "the answer was cut" : "the engine ended without an answer");
	return r->answer.head_done ? TP_REQUEST_CUT : TP_REQUEST_FAILED;
}

static int read_answer(struct run *r)
{
	ssize_t n = recv(r->fd, r->scratch, sizeof r->scratch, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -1;
	if (n <= 0)
		return end_of_answer(r);
	tp_request_waits_clear(&r->waits);
	switch (tp_request_answer_feed(&r->answer, r->scratch, (size_t)n)) {
	case TP_REQUEST_MORE: return -1;
	case TP_REQUEST_DONE: return tp_request_answer_status(&r->answer);
	case TP_REQUEST_BROKEN: return end_of_answer(r);
	case TP_REQUEST_UNWRITABLE: break; /* which is said at the end */
	}
	return TP_REQUEST_FAILED;
}

static void read_notices(struct run *r)
{
	struct tp_notice n;
	while (tp_engine_notice(&r->engine, &n) > 0)
		tp_request_waits_notice(&r->waits, &n);
}

static int exchange(struct run *r, const sigset_t *outside)
{
	int status = -1;
	bool telling = true; /* the notices' end comes with the engine's */
	while (status < 0) {
		int wait = tp_request_waits_tick(&r->waits);
		struct timespec t = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000L};
		short wanted = r->sent < r->request->len ? POLLIN | POLLOUT : POLLIN;
		struct pollfd p[] = {{.fd = r->fd, .events = wanted},
				     {.fd = telling ? r->engine.notices_fd : -1, .events = POLLIN}};
		int n = ppoll(p, 2, wait >= 0 ? &t : NULL, outside);
		if (signalled != 0)
			return TP_REQUEST_SIGNAL + signalled;
		if (n < 0 && errno != EINTR)
			return TP_REQUEST_FAILED;
		if (n <= 0)
			continue;
		read_notices(r);
		telling = (p[1].revents & (POLLHUP | POLLERR)) == 0;
		if ((p[0].revents & POLLOUT) != 0)
			send_request(r);
		if ((p[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
			status = read_answer(r);
	}
	return status;
}

static void tell_end(struct run *r, int status)
{
	tp_request_waits_clear(&r->waits);
	if (r->waits.quiet)
		return;
	if (status == TP_REQUEST_NOT_2XX)
		(void)fprintf(stderr, "turnpike %s: answered %u after %u send%s\n", r->waits.command,
			      r->answer.head.status, r->answer.sends, r->answer.sends == 1 ? "" : "s");
	else if (status == TP_REQUEST_UNREACHABLE)
		(void)fprintf(stderr, "turnpike %s: the endpoint is unreachable: check URL and network\n",
			      r->waits.command);
}

int tp_request_run(const struct tp_request_order *o, struct tp_config *config, struct tp_buf *request)
{
	static struct run r; /* large */
	int pair[2];
	sigset_t outside;
	r = (struct run){.order = o, .request = request};
	r.answer.include = o->include;
	tp_request_waits_begin(&r.waits, o);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
		return TP_REQUEST_FAILED;
	r.fd = pair[0];
	int error =
		tp_engine_start(config, pair[1], pair[0], o->verbose ? TP_LOG_INFO : TP_LOG_ERROR, &r.engine);
	(void)close(pair[1]);
	if (error != 0) {
		(void)fprintf(stderr, "turnpike %s: cannot start: %s\n", o->options.command->name,
			      strerror(-error));
		(void)close(r.fd);
		return TP_REQUEST_FAILED;
	}
	take_signals(&outside);
	int status = exchange(&r, &outside);
	(void)close(r.fd);
	tell_end(&r, status);
	tp_engine_stop(&r.engine);
	tp_request_answer_free(&r.answer);
	return status;
}
