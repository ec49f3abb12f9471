/* The command: options, listener, signals. */
#include "server/simulate/simulate.h"

#include <errno.h>
#include <event2/listener.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>

#include "server/commands.h"
#include "server/simulate/server.h"

const char tp_simulate_scripts[] =
	"SCRIPT = STEP{,STEP}              each send of a logical request plays the next step, the last "
	"repeats\n"
	"STEP   = FAULT[xCOUNT]{;OPTION}   503x2;retry-after=1\n"
	"\n"
	"FAULT  200 ... 599                an answer with this status: 2xx is good, else the dialect's "
	"error\n"
	"       slow                       200 with first=1s and every=100ms\n"
	"       reset close stall          after the request, before any byte of an answer\n"
	"       reset-in-head ...          the same three in the head: -in-head, behind it: -after-head,\n"
	"                                  in the middle of the output: -mid\n"
	"       end-mid                    the content stops in the middle, the framing ends well\n"
	"       truncate=N                 N bytes of the body, then the connection closes\n"
	"       hold                       pauses after the first output until POST /__sim/release\n"
	"       overload-200               an overload error inside a 200\n"
	"       error-mid                  an error event in the middle of the output\n"
	"       capacity=N                 good, or 429 with X-Codex-Model-Capacity when N are in progress\n"
	"\n"
	"OPTION first=DURATION             wait before the first byte          (durations: 250ms 1.5s 2m)\n"
	"       every=DURATION             wait between events; JSON waits once for all tokens\n"
	"       tokens=N                   words of the output (6)\n"
	"       after=N                    -mid, hold: events (JSON: bytes) before it happens\n"
	"       retry-after=TEXT           a header; date+2s makes an HTTP date\n"
	"       retry-after-ms=TEXT, header.NAME=TEXT\n"
	"       code=TEXT type=TEXT message=TEXT    of the error\n"
	"       body=json|html|text|empty  what a status carries\n"
	"       again                      on the last step: the script begins anew after it\n"
	"       TEXT may code bytes as %XX (a comma is %2C, a semicolon %3B)\n"
	"\n"
	"A logical request is what x-simulate-id names, else path, script and body without\n"
	"client_metadata, stream and stream_options. Each answer tells its send in X-Simulate-Send.\n"
	"\n"
	"GET  /__sim/log[?id=ID]           all sends: time_ms, id, path, model, step, send, status, end\n"
	"GET  /__sim/count[?id=ID]         how many sends\n"
	"POST /__sim/release[?id=ID]       lets held answers go on\n"
	"POST /__sim/reset                 forgets everything";

/* Thousands of test clients need as many descriptors; what the hard limit refuses stays refused. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *peer, int n, void *arg)
{
	(void)l;
	(void)peer;
	(void)n;
	tp_sim_conn_open(arg, fd);
}

static void on_signal(evutil_socket_t number, short what, void *base)
{
	(void)number;
	(void)what;
	(void)event_base_loopbreak(base);
}

/* "127.0.0.1:9099", "[::1]:9099": numbers only, so nothing is looked up. NULL: not an address. */
static struct addrinfo *read_address(const char *text)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	const char *colon = strrchr(text, ':');
	char host[64];
	size_t n;

	if (colon == NULL)
		return NULL;
	n = (size_t)(colon - text);
	if (n > 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	if (n == 0 || n >= sizeof(host))
		return NULL;
	memcpy(host, text, n);
	host[n] = '\0';
	return getaddrinfo(host, colon + 1, &hints, &found) == 0 ? found : NULL;
}

static struct evconnlistener *listen_on(struct tp_sim_server *s, const char *text)
{
	struct addrinfo *address = read_address(text);
	struct evconnlistener *l;

	if (address == NULL) {
		fprintf(stderr,
			"turnpike simulate: '%s' is not an address such as 127.0.0.1:9099 or [::1]:9099\n",
			text);
		return NULL;
	}
	l = evconnlistener_new_bind(s->base, on_accept, s, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, 4096,
				    address->ai_addr, (int)address->ai_addrlen);
	if (l == NULL)
		fprintf(stderr, "turnpike simulate: cannot listen on %s: %s\n", text, strerror(errno));
	freeaddrinfo(address);
	return l;
}

/* False: whoever started us cannot know where it listens. */
static bool say_ready(struct evconnlistener *l)
{
	struct sockaddr_storage ss = {0};
	socklen_t n = sizeof(ss);
	char host[64] = "";
	bool v6;

	(void)getsockname(evconnlistener_get_fd(l), (struct sockaddr *)&ss, &n);
	v6 = ss.ss_family == AF_INET6;
	(void)evutil_inet_ntop(ss.ss_family,
			       v6 ? (const void *)&((struct sockaddr_in6 *)&ss)->sin6_addr
				  : (const void *)&((struct sockaddr_in *)&ss)->sin_addr,
			       host, sizeof(host));
	/* the port stands at the same place in both address families */
	printf(v6 ? "turnpike simulate ready: http://[%s]:%u\n" : "turnpike simulate ready: http://%s:%u\n",
	       host, ntohs(((struct sockaddr_in *)&ss)->sin_port));
	return fflush(stdout) == 0; /* whoever started us waits for this line */
}

/* Runs until a signal. Returns the exit status. */
static int run(struct tp_sim_server *s, const char *address)
{
	struct event *term = evsignal_new(s->base, SIGTERM, on_signal, s->base);
	struct event *intr = evsignal_new(s->base, SIGINT, on_signal, s->base);
	struct evconnlistener *l = NULL;

	if (term != NULL && intr != NULL && evsignal_add(term, NULL) == 0 && evsignal_add(intr, NULL) == 0)
		l = listen_on(s, address);
	bool good = l != NULL && say_ready(l);
	if (good)
		(void)event_base_dispatch(s->base);
	if (l != NULL) {
		evconnlistener_free(l);
		tp_sim_conn_close_all(s);
	}
	if (term != NULL)
		event_free(term);
	if (intr != NULL)
		event_free(intr);
	return good ? 0 : 1;
}

int tp_cmd_simulate(int argc, char **argv)
{
	struct tp_sim_server s = {.conns = LIST_HEAD_INITIALIZER(s.conns)};
	struct tp_options o = tp_options_begin(argc, argv);
	const char *address = TP_SIMULATE_LISTEN;
	int flag, status = 1;

	while ((flag = tp_options_next(&o)) != TP_FLAG_END) {
		if (flag != TP_FLAG_LISTEN)
			return flag == TP_FLAG_HELP ? 0 : 2;
		address = optarg;
	}
	if (!tp_options_operands(&o, 0))
		return 2;
	(void)signal(SIGPIPE, SIG_IGN);
	raise_descriptor_limit();
	s.base = event_base_new();
	s.book = tp_sim_book_new();
	if (s.base != NULL && s.book != NULL)
		status = run(&s, address);
	else
		fputs("turnpike simulate: out of memory\n", stderr);
	tp_sim_book_free(s.book);
	if (s.base != NULL)
		event_base_free(s.base);
	return status;
}
