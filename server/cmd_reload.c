/* turnpike reload: asks a running server to take over its changed configuration, and says how it went. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/config/config.h"
#include "common/shm/marks.h"
#include "common/shm/region.h"
#include "server/commands.h"
#include "server/instance.h"
#include "server/load.h"

enum { PATIENCE_S = 30, SIGNAL_PATIENCE_MS = 15000, POLL_MS = 20, ANSWER_MAX = 64 * 1024 };

/* ---- through the admin socket */

static int connect_unix(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof to.sun_path)
		return -1;
	memcpy(to.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static int connect_tcp(const struct tp_listener_conf *l)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list = NULL;
	char port[8];
	int fd = -1;
	(void)snprintf(port, sizeof port, "%u", (unsigned)l->port);
	if (getaddrinfo(l->host, port, &hints, &list) != 0)
		return -1;
	for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			(void)close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	return fd;
}

/* A unix socket may do everything; TCP needs the token. -1: none answers. */
static int connect_admin(const struct tp_config *c)
{
	int fd = -1;
	for (size_t i = 0; i < c->admin.n_listeners && fd < 0; i++)
		if (c->admin.listeners[i].is_unix)
			fd = connect_unix(c->admin.listeners[i].host);
	for (size_t i = 0; i < c->admin.n_listeners && fd < 0 && c->admin.token != NULL; i++)
		if (!c->admin.listeners[i].is_unix && c->admin.listeners[i].port != 0)
			fd = connect_tcp(&c->admin.listeners[i]);
	return fd;
}

/* The file is named: a server that reads another one says so. */
static void add_body(struct tp_buf *body, const char *file)
{
	char *path = file != NULL ? realpath(file, NULL) : NULL;
	if (path != NULL) {
		tp_buf_add_str(body, TP_STR("{\"file\":\""));
		tp_buf_add_json(body, tp_str_from(path));
		tp_buf_add_str(body, TP_STR("\"}"));
	}
	free(path);
}

static bool send_request(int fd, const struct tp_config *c, const char *file)
{
	struct tp_buf out = {0}, body = {0};
	add_body(&body, file);
	tp_buf_printf(&out,
		      "POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
		      "Connection: close\r\n",
		      body.len);
	if (c->admin.token != NULL)
		tp_buf_printf(&out, "Authorization: Bearer %s\r\n", c->admin.token);
	tp_buf_add_str(&out, TP_STR("\r\n"));
	tp_buf_add_str(&out, tp_buf_str(&body));
	bool good =
		!out.failed && !body.failed && send(fd, out.data, out.len, MSG_NOSIGNAL) == (ssize_t)out.len;
	if (out.data != NULL)
		explicit_bzero(out.data, out.len);
	tp_buf_free(&out);
	tp_buf_free(&body);
	return good;
}

static void read_answer(int fd, struct tp_buf *in)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	ssize_t n = 1;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	while (n > 0 && in->len < ANSWER_MAX && tp_buf_reserve(in, 4096)) {
		n = recv(fd, in->data + in->len, 4096, 0);
		if (n > 0)
			in->len += (size_t)n;
	}
}

static void print_lines(FILE *to, const char *before, const json_t *lines)
{
	size_t i;
	const json_t *line;
	json_array_foreach(lines, i, line)(void) fprintf(to, "%s%s\n", before, json_string_value(line));
}

/* Returns the exit status. */
static int tell(struct tp_buf *in)
{
	const char *text = tp_buf_cstr(in), *body = text != NULL ? strstr(text, "\r\n\r\n") : NULL;
	json_t *tree = body != NULL ? json_loads(body + 4, 0, NULL) : NULL;
	const json_t *generation = json_object_get(tree, "generation");
	bool good = text != NULL && strncmp(text, "HTTP/1.1 200 ", 13) == 0 && generation != NULL;
	if (good) {
		(void)printf("generation %lld of the configuration serves\n",
			     (long long)json_integer_value(generation));
		print_lines(stdout, "warning: ", json_object_get(tree, "warnings"));
	} else if (generation != NULL) {
		print_lines(stderr, "", json_object_get(tree, "errors"));
		(void)fprintf(stderr, "turnpike reload: refused; the server goes on as it was\n");
	} else {
		const char *error = json_string_value(json_object_get(tree, "error"));
		(void)fprintf(stderr, "turnpike reload: %s\n",
			      error != NULL ? error : "the server gave no answer");
	}
	json_decref(tree);
	return good ? 0 : 1;
}

static int by_admin(int fd, const struct tp_config *c, const char *file)
{
	struct tp_buf in = {0};
	int status = 1;
	if (send_request(fd, c, file)) {
		read_answer(fd, &in);
		status = tell(&in);
	} else {
		(void)fprintf(stderr, "turnpike reload: the server cannot be asked: %s\n", strerror(errno));
	}
	tp_buf_free(&in);
	(void)close(fd);
	return status;
}

/* ---- by signal */

static uint64_t generation_of(const char *name)
{
	struct tp_buf why = {0};
	struct tp_region *r = NULL;
	uint64_t n = 0;
	if (tp_region_open_readonly(name, &why, &r) == 0)
		n = tp_number_get(r, TP_NUMBER_CONFIG_GENERATION);
	tp_region_close(r);
	tp_buf_free(&why);
	return n;
}

static int by_signal(const struct tp_config *c)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
	const char *name = c->state.name;
	pid_t pid = tp_instance_pid(name);
	uint64_t before = generation_of(name), until = tp_clock_boot_ms() + SIGNAL_PATIENCE_MS;
	if (pid <= 0) {
		(void)fprintf(stderr, "turnpike reload: no turnpike is running with the state name %s\n",
			      name);
		return 1;
	}
	if (kill(pid, SIGHUP) != 0) {
		(void)fprintf(stderr, "turnpike reload: cannot signal the server (pid %ld): %s\n", (long)pid,
			      strerror(errno));
		return 1;
	}
	while (tp_clock_boot_ms() < until) {
		uint64_t now = generation_of(name);
		if (now > before) {
			(void)printf("generation %llu of the configuration serves\n",
				     (unsigned long long)now);
			return 0;
		}
		(void)nanosleep(&pause, NULL);
	}
	(void)fprintf(stderr, "turnpike reload: the server (pid %ld) did not take it over: see its log\n",
		      (long)pid);
	return 1;
}

/* ---- the command */

static int reload(const struct tp_load_options *load)
{
	struct tp_buf errors = {0};
	struct tp_config *c = tp_load_config(load, &errors);
	tp_load_tell(&errors, c != NULL);
	if (c == NULL) {
		(void)fprintf(stderr, "turnpike reload: the server was not asked\n");
		return 1;
	}
	int fd = connect_admin(c);
	int status = fd >= 0 ? by_admin(fd, c, tp_load_file(load)) : by_signal(c);
	tp_config_unref(c);
	return status;
}

int tp_cmd_reload(int argc, char **argv)
{
	struct tp_options o = tp_options_begin(argc, argv);
	struct tp_load_options load = {0};
	int flag;
	while ((flag = tp_options_next(&o)) != TP_FLAG_END) {
		switch (flag) {
		case TP_FLAG_CONFIG: load.file = optarg; break;
		case TP_FLAG_ENV_FILE: load.env_file = optarg; break;
		case TP_FLAG_HELP: return 0;
		default: return 2;
		}
	}
	if (load.file != NULL && load.env_file != NULL)
		return tp_options_wrong(&o, "-c and --env-file exclude each other");
	return tp_options_operands(&o, 0) ? reload(&load) : 2;
}
