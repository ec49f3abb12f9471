#include "common/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/sink.h"

#define SYSLOG_PATH "/dev/log"

/* What stands in front of a line so that whoever takes it knows its level. */
enum prefix { PREFIX_NONE, PREFIX_JOURNAL, PREFIX_SYSLOG };

static struct {
	enum tp_log_level level;
	enum tp_log_format format;
	enum prefix prefix;
	struct tp_sink sink;
	bool copies; /* errors go to `copy`, too */
	struct tp_sink copy;
	char role[32];
	tp_log_mask mask; /* or NULL */
	uint64_t told;    /* of sink.lost */
	pid_t pid;        /* that of `told`: a fork does not tell of its parent's losses */
} log_to = {.level = TP_LOG_INFO,
	    .sink = {.fd = STDERR_FILENO},
	    .copy = {.fd = STDERR_FILENO},
	    .role = "turnpike"};

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static const unsigned char severities[] = {3, 4, 6, 7}; /* of syslog(3) */
enum { FACILITY_DAEMON = 3 << 3 };

/* ---- where to */

/* systemd names the device and inode of the socket it has put there; whoever redirects leaves the variable.
 */
static bool is_journal(void)
{
	const char *told = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	return told != NULL && sscanf(told, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == (dev_t)device && st.st_ino == (ino_t)inode;
}

int tp_log_open(enum tp_log_level level, enum tp_log_format format, const char *output)
{
	bool to_stderr = output == NULL || strcmp(output, "stderr") == 0;
	bool to_syslog = !to_stderr && strcmp(output, "syslog") == 0;
	int error = to_syslog ? tp_sink_open_syslog(&log_to.sink, SYSLOG_PATH)
			      : tp_sink_open(&log_to.sink, to_stderr ? NULL : output);
	if (error != 0)
		return error;
	log_to.prefix = to_syslog ? PREFIX_SYSLOG : to_stderr && is_journal() ? PREFIX_JOURNAL : PREFIX_NONE;
	log_to.level = level;
	log_to.format = format;
	return 0;
}

int tp_log_reopen(void)
{
	return tp_sink_reopen(&log_to.sink);
}

void tp_log_copy_errors(bool copies)
{
	log_to.copies = copies;
}

void tp_log_set_role(const char *role)
{
	(void)snprintf(log_to.role, sizeof log_to.role, "%s", role);
}

void tp_log_set_mask(tp_log_mask mask)
{
	log_to.mask = mask;
}

bool tp_log_wants(enum tp_log_level level)
{
	return level <= log_to.level;
}

uint64_t tp_log_dropped(void)
{
	return log_to.sink.lost;
}

/* ---- a line */

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
static void add_text(struct tp_buf *line, struct tp_str text, bool quoted)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		unsigned char next = i + 1 < text.n ? (unsigned char)text.p[i + 1] : 0;
		if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0))
			tp_buf_printf(line, "\\x%02x", c);
		else if (quoted && (c == '"' || c == '\\'))
			tp_buf_printf(line, "\\%c", c);
		else
			tp_buf_add(line, text.p + i, 1);
	}
}

/* syslog wants the month in English and the local time; strftime() would ask the locale. */
static void add_prefix(struct tp_buf *line, enum tp_log_level level)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	if (log_to.prefix == PREFIX_JOURNAL)
		tp_buf_printf(line, "<%u>", severities[level]);
	if (log_to.prefix != PREFIX_SYSLOG)
		return;
	time_t now = (time_t)(tp_clock_wall_ms() / 1000);
	struct tm t;
	(void)localtime_r(&now, &t);
	tp_buf_printf(
		line, "<%d>%.3s %2d %02d:%02d:%02d turnpike[%ld]: ", FACILITY_DAEMON | severities[level],
		months + (ptrdiff_t)t.tm_mon * 3, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (long)getpid());
}

struct event {
	enum tp_log_level level;
	struct tp_str text;
	const struct tp_log_field *fields;
	size_t n_fields;
};

static void add_json_fields(struct tp_buf *line, const struct event *e)
{
	for (size_t i = 0; i < e->n_fields; i++) {
		const struct tp_log_field *f = &e->fields[i];
		tp_buf_printf(line, ",\"%s\":", f->name);
		if (f->text != NULL) {
			tp_buf_add_str(line, TP_STR("\""));
			tp_buf_add_json(line, tp_str_from(f->text));
			tp_buf_add_str(line, TP_STR("\""));
		} else {
			tp_buf_printf(line, "%" PRIu64, f->number);
		}
	}
}

/* Values of one word stand as they are. */
static void add_text_fields(struct tp_buf *line, const struct event *e)
{
	for (size_t i = 0; i < e->n_fields; i++) {
		const struct tp_log_field *f = &e->fields[i];
		if (f->text == NULL) {
			tp_buf_printf(line, " %s=%" PRIu64, f->name, f->number);
		} else if (f->text[0] != '\0') {
			bool bare = strpbrk(f->text, " \"=") == NULL;
			tp_buf_printf(line, " %s=%s", f->name, bare ? "" : "\"");
			add_text(line, tp_str_from(f->text), !bare);
			tp_buf_add_str(line, bare ? TP_STR("") : TP_STR("\""));
		}
	}
}

static void render(struct tp_buf *line, const struct event *e)
{
	add_prefix(line, e->level);
	if (log_to.format == TP_LOG_JSON) {
		tp_buf_add_str(line, TP_STR("{\"time\":\""));
		add_time(line);
		tp_buf_printf(line, "\",\"level\":\"%s\",\"role\":\"%s\",\"pid\":%ld,\"msg\":\"",
			      level_names[e->level], log_to.role, (long)getpid());
		tp_buf_add_json(line, e->text);
		tp_buf_add_str(line, TP_STR("\""));
		add_json_fields(line, e);
		tp_buf_add_str(line, TP_STR("}\n"));
	} else {
		add_time(line);
		tp_buf_printf(line, " %s %s[%ld]: ", level_names[e->level], log_to.role, (long)getpid());
		add_text(line, e->text, false);
		add_text_fields(line, e);
		tp_buf_add_str(line, TP_STR("\n"));
	}
}

/* Escaping can grow a text sixfold: it is cut until the whole line fits; then the last fields go. */
static bool write_to(struct tp_sink *sink, struct event e)
{
	struct tp_buf line = {0};
	render(&line, &e);
	while (line.len > TP_SINK_LINE_MAX && (e.text.n > 1 || e.n_fields > 0)) {
		if (e.text.n > 1)
			e.text.n = e.text.n / 4 * 3;
		else
			e.n_fields--;
		line.len = 0;
		render(&line, &e);
	}
	bool taken = false;
	if (line.failed)
		tp_sink_lose(sink);
	else
		taken = tp_sink_write(sink, tp_buf_str(&line));
	tp_buf_free(&line);
	return taken;
}

static bool write_line(struct event e)
{
	if (log_to.copies && e.level == TP_LOG_ERROR && log_to.sink.path != NULL) {
		enum prefix prefix = log_to.prefix;
		log_to.prefix = is_journal() ? PREFIX_JOURNAL : PREFIX_NONE;
		(void)write_to(&log_to.copy, e);
		log_to.prefix = prefix;
	}
	return write_to(&log_to.sink, e);
}

/* True: there are none that were not told. */
static bool tell_losses(void)
{
	uint64_t lost = log_to.sink.lost;
	if (log_to.pid != getpid()) {
		log_to.pid = getpid();
		log_to.told = lost;
	}
	if (lost == log_to.told)
		return true;
	char text[64];
	int n = snprintf(text, sizeof text, "%llu log lines were lost",
			 (unsigned long long)(lost - log_to.told));
	/* That this line is lost, too, is no news. */
	if (write_line((struct event){.level = TP_LOG_WARN, .text = {text, (size_t)n}}))
		log_to.told = lost;
	else
		log_to.sink.lost = lost;
	return log_to.told == lost;
}

bool tp_log_flush(void)
{
	return tp_sink_flush(&log_to.sink) && tell_losses();
}

/* ---- secrets */

void tp_log_add_masked(struct tp_buf *out, struct tp_str text)
{
	if (log_to.mask == NULL || !log_to.mask(text, out))
		tp_buf_add_str(out, text);
}

void tp_log(enum tp_log_level level, const char *format, ...)
{
	if (!tp_log_wants(level))
		return;
	int saved = errno;
	char text[TP_SINK_LINE_MAX];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	struct tp_str plain = {text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1};
	struct tp_buf masked = {0};
	(void)tell_losses();
	bool hidden = log_to.mask != NULL && log_to.mask(plain, &masked);
	if (hidden && masked.failed) /* without memory to mask a line nothing of it may be written */
		tp_sink_lose(&log_to.sink);
	else
		(void)write_line((struct event){level, hidden ? tp_buf_str(&masked) : plain, NULL, 0});
	tp_buf_free(&masked);
	errno = saved;
}

enum { FIELDS_MAX = 32 };

void tp_log_event(enum tp_log_level level, const char *what, const struct tp_log_field *fields, size_t n)
{
	if (!tp_log_wants(level))
		return;
	int saved = errno;
	struct tp_log_field shown[FIELDS_MAX];
	struct tp_buf texts[FIELDS_MAX] = {0};
	bool failed = false;
	n = n < FIELDS_MAX ? n : FIELDS_MAX;
	for (size_t i = 0; i < n; i++) {
		shown[i] = fields[i];
		if (fields[i].text == NULL || log_to.mask == NULL ||
		    !log_to.mask(tp_str_from(fields[i].text), &texts[i]))
			continue;
		shown[i].text = tp_buf_cstr(&texts[i]);
		failed = failed || shown[i].text == NULL;
	}
	(void)tell_losses();
	if (failed)
		tp_sink_lose(&log_to.sink);
	else
		(void)write_line((struct event){level, tp_str_from(what), shown, n});
	for (size_t i = 0; i < n; i++)
		tp_buf_free(&texts[i]);
	errno = saved;
}
