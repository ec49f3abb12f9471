#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"

enum { LINE_MAX_BYTES = 4096 };

static struct {
	enum tp_log_level level;
	enum tp_log_format format;
	int fd;
	char role[32];
	uint64_t dropped, told;
} sink = {TP_LOG_INFO, TP_LOG_TEXT, STDERR_FILENO, "turnpike", 0, 0};

static const char *const level_names[] = {"error", "warn", "info", "debug"};

int tp_log_open(enum tp_log_level level, enum tp_log_format format, const char *path)
{
	int fd = STDERR_FILENO;
	if (path != NULL && strcmp(path, "stderr") != 0) {
		fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
		if (fd < 0)
			return -errno;
	}
	if (sink.fd != STDERR_FILENO)
		(void)close(sink.fd);
	sink.fd = fd;
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

static void add_time(struct tp_buf *line)
{
	int64_t now = tp_clock_wall_ms();
	time_t seconds = (time_t)(now / 1000);
	struct tm t;
	(void)gmtime_r(&seconds, &t);
	tp_buf_printf(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
		      t.tm_hour, t.tm_min, t.tm_sec, (int)(now % 1000));
}

/* JSON escaping keeps a line one line in both formats; in text the quotes stay readable. */
static void add_text(struct tp_buf *line, const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;
		if (c < 0x20 || c == 0x7f)
			tp_buf_printf(line, "\\x%02x", c);
		else
			tp_buf_add(line, p, 1);
	}
}

static void write_line(enum tp_log_level level, const char *text)
{
	struct tp_buf line = {0};
	if (sink.format == TP_LOG_JSON) {
		tp_buf_add_str(&line, TP_STR("{\"time\":\""));
		add_time(&line);
		tp_buf_printf(&line, "\",\"level\":\"%s\",\"role\":\"%s\",\"pid\":%ld,\"msg\":\"",
			      level_names[level], sink.role, (long)getpid());
		tp_buf_add_json(&line, tp_str_from(text));
		tp_buf_add_str(&line, TP_STR("\"}\n"));
	} else {
		add_time(&line);
		tp_buf_printf(&line, " %s %s[%ld]: ", level_names[level], sink.role, (long)getpid());
		add_text(&line, text);
		tp_buf_add_str(&line, TP_STR("\n"));
	}
	if (line.failed || write(sink.fd, line.data, line.len) != (ssize_t)line.len)
		sink.dropped++;
	tp_buf_free(&line);
}

void tp_log(enum tp_log_level level, const char *format, ...)
{
	if (!tp_log_wants(level))
		return;
	int saved = errno;
	char text[LINE_MAX_BYTES];
	va_list ap;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (sink.dropped != sink.told) {
		char lost[64];
		(void)snprintf(lost, sizeof lost, "%llu log lines were lost",
			       (unsigned long long)(sink.dropped - sink.told));
		sink.told = sink.dropped;
		write_line(TP_LOG_WARN, lost);
	}
	write_line(level, text);
	errno = saved;
}
