#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"

enum {
	/* A pipe takes so many bytes as one piece or not at all: lines of several processes stay whole. */
	LINE_BYTES = PIPE_BUF,
	PENDING_BYTES = 64 * 1024,
};

/* How to write without waiting depends on what the sink is. */
enum sink_kind {
	SINK_UNKNOWN, /* nothing was written yet */
	SINK_FILE,    /* a regular file: never waits for a reader */
	SINK_OWN,     /* a pipe or terminal, opened anew with O_NONBLOCK of our own */
	SINK_SOCKET,  /* journald: MSG_DONTWAIT */
	SINK_SHARED,  /* anything else: asked with poll() before each line */
};

static struct {
	enum tp_log_level level;
	enum tp_log_format format;
	enum sink_kind kind;
	int fd;   /* where lines are written */
	bool own; /* fd is ours to close: not standard error */
	char role[32];
	tp_log_mask mask; /* or NULL */
	uint64_t dropped, told;
	struct tp_buf pending; /* whole lines that the sink did not take yet */
	pid_t pid;             /* whose lines these are: a fork must not write its parent's again */
} sink = {.level = TP_LOG_INFO, .format = TP_LOG_TEXT, .fd = STDERR_FILENO, .role = "turnpike"};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/*
 * O_NONBLOCK belongs to the open file, which standard error shares with the shell and whoever else: set
 * there, it would break them.  A pipe or terminal can be opened a second time through /proc, with flags of
 * its own.  A regular file is not: it needs none, and a second offset would overwrite what others append.
 */
static void find_kind(void)
{
	struct stat st;
	sink.kind = SINK_SHARED;
	if (fstat(sink.fd, &st) != 0)
		return;
	if (S_ISREG(st.st_mode)) {
		sink.kind = SINK_FILE;
	} else if (S_ISSOCK(st.st_mode)) {
		sink.kind = SINK_SOCKET;
	} else if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		char path[32];
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", sink.fd);
		int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			return;
		if (sink.own)
			(void)close(sink.fd);
		sink.fd = fd;
		sink.own = true;
		sink.kind = SINK_OWN;
	}
}

int tp_log_open(enum tp_log_level level, enum tp_log_format format, const char *path)
{
	int fd = STDERR_FILENO;
	bool own = path != NULL && strcmp(path, "stderr") != 0;
	if (own) {
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
		if (fd < 0)
			return -errno;
	}
	(void)tp_log_flush();
	if (sink.own)
		(void)close(sink.fd);
	sink.fd = fd;
	sink.own = own;
	sink.kind = SINK_UNKNOWN;
	sink.level = level;
	sink.format = format;
	return 0;
}

void tp_log_set_role(const char *role)
{
	(void)snprintf(sink.role, sizeof sink.role, "%s", role);
}

bool tp_log_wants(enum tp_log_level level)
{
	return level <= sink.level;
}

uint64_t tp_log_dropped(void)
{
	return sink.dropped;
}

/* The bytes taken, or -1: none now (EAGAIN) or never. */
static ssize_t write_some(const char *bytes, size_t n)
{
	if (sink.kind == SINK_UNKNOWN)
		find_kind();
	if (sink.kind == SINK_SOCKET)
		return send(sink.fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sink.kind == SINK_SHARED) {
		struct pollfd p = {.fd = sink.fd, .events = POLLOUT};
		if (poll(&p, 1, 0) != 1 || (p.revents & POLLOUT) == 0) {
			errno = EAGAIN;
			return -1;
		}
	}
	return write(sink.fd, bytes, n);
}

static bool must_wait(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS;
}

static uint64_t count_lines(struct tp_str s)
{
	uint64_t lines = 0;
	for (size_t i = 0; i < s.n; i++)
		lines += s.p[i] == '\n';
	return lines;
}

/* Oldest first, one line at a time: the piece that a pipe takes whole. */
bool tp_log_flush(void)
{
	if (sink.pending.len == 0)
		return true;
	if (sink.pid != getpid()) {
		tp_buf_free(&sink.pending);
		return true;
	}
	while (sink.pending.len > 0) {
		const char *end = memchr(sink.pending.data, '\n', sink.pending.len);
		size_t n = end != NULL ? (size_t)(end - sink.pending.data) + 1 : sink.pending.len;
		ssize_t put = write_some(sink.pending.data, n);
		if (put < 0) {
			if (must_wait())
				return false;
			sink.dropped += count_lines(tp_buf_str(&sink.pending));
			sink.pending.len = 0;
			break;
		}
		tp_buf_consume(&sink.pending, (size_t)put);
	}
	tp_buf_free(&sink.pending);
	return true;
}

/* What is left of a line, behind what waits already. */
static bool keep(const char *bytes, size_t n)
{
	if (n > PENDING_BYTES || sink.pending.len > PENDING_BYTES - n)
		return false;
	if (!tp_buf_reserve(&sink.pending, n)) {
		sink.pending.failed = false;
		return false;
	}
	tp_buf_add(&sink.pending, bytes, n);
	sink.pid = getpid();
	return true;
}

static bool put_line(const struct tp_buf *line)
{
	if (line->failed)
		return false;
	size_t done = 0;
	if (tp_log_flush()) {
		ssize_t put = write_some(line->data, line->len);
		if (put == (ssize_t)line->len)
			return true;
		if (put < 0 && !must_wait())
			return false;
		done = put > 0 ? (size_t)put : 0;
	}
	return keep(line->data + done, line->len - done);
}

static void add_time(struct tp_buf *line)
{
	int64_t now = tp_clock_wall_ms();
	time_t seconds = (time_t)(now / 1000);
	struct tm t;
	(void)gmtime_r(&seconds, &t);
	tp_buf_printf(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
		      t.tm_hour, t.tm_min, t.tm_sec, (int)(now % 1000));
}

/* Controls are escaped, so that a line stays one line; quotes stay readable, unlike in JSON. C1 controls
 * (U+0080 to U+009F) can drive a terminal as well as the C0 ones. */
static void add_text(struct tp_buf *line, struct tp_str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		unsigned char next = i + 1 < text.n ? (unsigned char)text.p[i + 1] : 0;
		if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0))
			tp_buf_printf(line, "\\x%02x", c);
		else
			tp_buf_add(line, text.p + i, 1);
	}
}

static void render(struct tp_buf *line, enum tp_log_level level, struct tp_str text)
{
	if (sink.format == TP_LOG_JSON) {
		tp_buf_add_str(line, TP_STR("{\"time\":\""));
		add_time(line);
		tp_buf_printf(line, "\",\"level\":\"%s\",\"role\":\"%s\",\"pid\":%ld,\"msg\":\"",
			      level_names[level], sink.role, (long)getpid());
		tp_buf_add_json(line, text);
		tp_buf_add_str(line, TP_STR("\"}\n"));
	} else {
		add_time(line);
		tp_buf_printf(line, " %s %s[%ld]: ", level_names[level], sink.role, (long)getpid());
		add_text(line, text);
		tp_buf_add_str(line, TP_STR("\n"));
	}
}

/* Escaping can grow a text sixfold: it is cut until the whole line fits. False: dropped. */
static bool write_line(enum tp_log_level level, struct tp_str text)
{
	struct tp_buf line = {0};
	render(&line, level, text);
	while (line.len > LINE_BYTES && text.n > 1) {
		text.n = text.n / 4 * 3;
		line.len = 0;
		render(&line, level, text);
	}
	bool taken = put_line(&line);
	tp_buf_free(&line);
	return taken;
}

static void tell_losses(void)
{
	uint64_t lost = sink.dropped;
	char text[64];
	int n = snprintf(text, sizeof text, "%llu log lines were lost",
			 (unsigned long long)(lost - sink.told));
	if (write_line(TP_LOG_WARN, (struct tp_str){text, (size_t)n}))
		sink.told = lost;
}

/* Without memory to mask a line nothing of it may be written: false. */
static bool write_masked(enum tp_log_level level, struct tp_str text)
{
	struct tp_buf masked = {0};
	if (sink.mask == NULL || !sink.mask(text, &masked))
		return write_line(level, text);
	bool taken = !masked.failed && write_line(level, tp_buf_str(&masked));
	tp_buf_free(&masked);
	return taken;
}

void tp_log_set_mask(tp_log_mask mask)
{
	sink.mask = mask;
}

void tp_log(enum tp_log_level level, const char *format, ...)
{
	if (!tp_log_wants(level))
		return;
	int saved = errno;
	char text[LINE_BYTES];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
	if (sink.dropped != sink.told)
		tell_losses();
	if (!write_masked(level, (struct tp_str){text, len}))
		sink.dropped++;
	errno = saved;
}
