#include "common/base/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"

enum { PENDING_BYTES = 64 * 1024, LOOK_EVERY_MS = 1000 };

/* ---- opening */

/*
 * O_NONBLOCK belongs to the open file, which standard error shares with the shell and whoever else: set
 * there, it would break them.  A pipe or terminal can be opened a second time through /proc, with flags of
 * its own.  A regular file is not: it needs none, and a second offset would overwrite what others append.
 */
static void find_kind(struct tp_sink *s)
{
	struct stat st;
	s->kind = TP_SINK_SHARED;
	if (fstat(s->fd, &st) != 0)
		return;
	if (S_ISREG(st.st_mode)) {
		s->kind = TP_SINK_FILE;
	} else if (S_ISSOCK(st.st_mode)) {
		s->kind = TP_SINK_SOCKET;
	} else if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		char path[32];
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
		int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			return;
		if (s->own)
			(void)close(s->fd);
		s->fd = fd;
		s->own = true;
		s->kind = TP_SINK_OWN;
	}
}

static void lose_pending(struct tp_sink *s)
{
	for (size_t i = 0; i < s->pending.len; i++)
		s->lost += s->pending.data[i] == '\n';
	s->pending.len = 0;
}

/* Takes path (owned, or NULL) and fd in the place of what was there. */
static void go_over(struct tp_sink *s, enum tp_sink_kind kind, char *path, int fd)
{
	(void)tp_sink_flush(s);
	if (s->own && s->fd >= 0)
		(void)close(s->fd);
	free(s->path);
	s->path = path;
	s->fd = fd;
	s->own = path != NULL;
	s->kind = kind;
	s->torn = false;
}

static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
	if (fd < 0)
		return -errno;
	return fd;
}

int tp_sink_open(struct tp_sink *s, const char *path)
{
	if (path == NULL) {
		go_over(s, TP_SINK_UNKNOWN, NULL, STDERR_FILENO);
		return 0;
	}
	char *copy = strdup(path);
	if (copy == NULL)
		return -ENOMEM;
	int fd = open_file(path);
	if (fd < 0) {
		free(copy);
		return fd;
	}
	go_over(s, TP_SINK_UNKNOWN, copy, fd);
	return 0;
}

void tp_sink_absent(struct tp_sink *s, const char *path, int why)
{
	go_over(s, TP_SINK_FILE, strdup(path), -1);
	s->why = why;
	s->tried = tp_clock_boot_ms();
}

static void connect_syslog(struct tp_sink *s)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	if (s->fd >= 0)
		(void)close(s->fd);
	(void)snprintf(a.sun_path, sizeof a.sun_path, "%s", s->path);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof a) != 0) {
		(void)close(fd);
		fd = -1;
	}
	s->fd = fd;
	s->tried = tp_clock_boot_ms();
}

int tp_sink_open_syslog(struct tp_sink *s, const char *path)
{
	char *copy = strdup(path);
	if (copy == NULL)
		return -ENOMEM;
	go_over(s, TP_SINK_SYSLOG, copy, -1);
	connect_syslog(s);
	return 0;
}

int tp_sink_reopen(struct tp_sink *s)
{
	if (s->path == NULL)
		return 0;
	if (s->kind == TP_SINK_SYSLOG) {
		connect_syslog(s);
		return 0;
	}
	int fd = open_file(s->path);
	if (fd < 0)
		return fd;
	char *path = s->path;
	s->path = NULL;
	go_over(s, TP_SINK_UNKNOWN, path, fd);
	return 0;
}

void tp_sink_close(struct tp_sink *s)
{
	if (!tp_sink_flush(s))
		lose_pending(s);
	go_over(s, TP_SINK_UNKNOWN, NULL, STDERR_FILENO);
	tp_buf_free(&s->pending);
}

/* ---- writing: the bytes taken, or -1: none now (EAGAIN) or never */

/* A daemon that was restarted has another socket under its name; one that is away is looked for now and
 * then. */
static ssize_t send_syslog(struct tp_sink *s, const char *line, size_t n)
{
	size_t text = n > 0 && line[n - 1] == '\n' ? n - 1 : n;
	for (int i = 0; i < 2; i++) {
		if (s->fd >= 0 && send(s->fd, line, text, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
			return (ssize_t)n;
		if (s->fd >= 0 && errno != ECONNREFUSED && errno != ENOTCONN && errno != ECONNRESET)
			return -1;
		if (s->fd < 0 && tp_clock_boot_ms() - s->tried < LOOK_EVERY_MS)
			break;
		connect_syslog(s);
	}
	errno = ENOTCONN;
	return -1;
}

/* False: errno. */
static bool find_file(struct tp_sink *s)
{
	uint64_t now = tp_clock_boot_ms();
	if (s->path == NULL || now - s->tried < LOOK_EVERY_MS) {
		errno = s->why; /* as it was when it was looked for */
		return false;
	}
	s->tried = now;
	int fd = open_file(s->path);
	if (fd < 0) {
		errno = -fd;
		return false;
	}
	s->fd = fd;
	s->kind = TP_SINK_UNKNOWN;
	return true;
}

static ssize_t write_some(struct tp_sink *s, const char *bytes, size_t n)
{
	if (s->kind == TP_SINK_FILE && s->fd < 0 && !find_file(s))
		return -1;
	if (s->kind == TP_SINK_UNKNOWN)
		find_kind(s);
	if (s->kind == TP_SINK_SYSLOG)
		return send_syslog(s, bytes, n);
	if (s->kind == TP_SINK_SOCKET)
		return send(s->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (s->kind == TP_SINK_SHARED) {
		struct pollfd p = {.fd = s->fd, .events = POLLOUT};
		if (poll(&p, 1, 0) != 1 || (p.revents & POLLOUT) == 0) {
			errno = EAGAIN;
			return -1;
		}
	}
	return write(s->fd, bytes, n);
}

static bool is_open_file(const struct tp_sink *s)
{
	return s->kind == TP_SINK_FILE && s->fd >= 0;
}

/* The disk was full: does the file end inside a line, of this process or another? One that cannot be read is
 * taken to: an empty line does no harm. */
static bool ends_inside(const struct tp_sink *s)
{
	char path[32], last = '\n';
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
	int fd = is_open_file(s) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return true;
	off_t n = lseek(fd, -1, SEEK_END);
	bool inside = n >= 0 && pread(fd, &last, 1, n) == 1 && last != '\n';
	(void)close(fd);
	return inside;
}

static bool must_wait(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS;
}

/* Oldest first, one line at a time: the piece that a pipe takes whole. */
bool tp_sink_flush(struct tp_sink *s)
{
	if (s->pending.len == 0)
		return true;
	if (s->pid != getpid()) {
		tp_buf_free(&s->pending);
		return true;
	}
	while (s->pending.len > 0) {
		const char *end = memchr(s->pending.data, '\n', s->pending.len);
		size_t n = end != NULL ? (size_t)(end - s->pending.data) + 1 : s->pending.len;
		ssize_t put = write_some(s, s->pending.data, n);
		if (put < 0) {
			if (must_wait())
				return false;
			s->why = errno;
			s->torn = s->torn || is_open_file(s);
			lose_pending(s);
			break;
		}
		s->torn = (size_t)put < n;
		tp_buf_consume(&s->pending, (size_t)put);
	}
	tp_buf_free(&s->pending);
	return true;
}

/* What is left of a line, behind what waits already. */
static bool keep(struct tp_sink *s, const char *bytes, size_t n)
{
	if (n > PENDING_BYTES || s->pending.len > PENDING_BYTES - n) {
		errno = EAGAIN;
		return false;
	}
	if (!tp_buf_reserve(&s->pending, n)) {
		s->pending.failed = false;
		errno = ENOMEM;
		return false;
	}
	tp_buf_add(&s->pending, bytes, n);
	s->pid = getpid();
	return true;
}

static bool put_line(struct tp_sink *s, struct tp_str line)
{
	size_t done = 0;
	bool ready = tp_sink_flush(s);
	if (ready && s->torn) {
		/* The rest of that line is lost: the next one must not seem to be its end. */
		ready = !ends_inside(s) || write_some(s, "\n", 1) == 1;
		if (!ready && !must_wait())
			return false;
		s->torn = !ready;
	}
	if (ready) {
		ssize_t put = write_some(s, line.p, line.n);
		if (put == (ssize_t)line.n)
			return true;
		s->torn = put > 0 || is_open_file(s);
		if (put < 0 && !must_wait())
			return false;
		done = put > 0 ? (size_t)put : 0;
	}
	return keep(s, line.p + done, line.n - done);
}

bool tp_sink_write(struct tp_sink *s, struct tp_str line)
{
	bool taken = put_line(s, line);
	if (!taken) {
		s->why = errno;
		s->lost++;
	}
	return taken;
}

void tp_sink_lose(struct tp_sink *s)
{
	s->why = ENOMEM;
	s->lost++;
}

const char *tp_sink_error(int error)
{
	return error == EAGAIN  ? "its reader is too slow"
	       : error == ENXIO ? "nobody reads it" /* a FIFO */
				: strerror(error);
}
