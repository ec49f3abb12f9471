#include "common/http/access_line.h"

#include <inttypes.h>
#include <time.h>

#include "common/base/sink.h"

/* As written: escaping has grown them already. */
enum { TARGET_MAX = 1536, TEXT_MAX = 512, SHORT_MAX = 160 };

/* As Apache does it: what is not printable ASCII as \xHH. A dash for nothing. */
static void add_escaped(struct tp_buf *out, struct tp_str text, size_t most)
{
	size_t end = out->len + most;
	if (text.n == 0)
		tp_buf_add_str(out, TP_STR("-"));
	for (size_t i = 0; i < text.n && out->len + 4 <= end; i++) {
		unsigned char c = (unsigned char)text.p[i];
		if (c == '"' || c == '\\')
			tp_buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			tp_buf_printf(out, "\\x%02x", c);
		else
			tp_buf_add(out, text.p + i, 1);
	}
}

/* A blank would move the fields behind it. */
static void add_word(struct tp_buf *out, struct tp_str text)
{
	size_t from = out->len;
	add_escaped(out, text, SHORT_MAX);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == ' ')
			out->data[i] = '_';
}

static void add_combined(struct tp_buf *out, const struct tp_access_line *l)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t seconds = (time_t)(l->begun_ms / 1000);
	struct tm t;
	(void)gmtime_r(&seconds, &t);
	add_word(out, l->address);
	tp_buf_add_str(out, TP_STR(" - "));
	add_word(out, l->client);
	tp_buf_printf(out, " [%02d/%.3s/%04d:%02d:%02d:%02d +0000] \"", t.tm_mday,
		      months + (ptrdiff_t)t.tm_mon * 3, t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
	if (l->method.n > 0) {
		add_escaped(out, l->method, SHORT_MAX);
		tp_buf_add_str(out, TP_STR(" "));
	}
	add_escaped(out, l->target, TARGET_MAX);
	if (l->method.n > 0)
		tp_buf_printf(out, " HTTP/1.%d", l->minor);
	/* 499 is nginx's word for a client that left before it was answered. */
	tp_buf_printf(out, "\" %03d %" PRIu64 " \"", l->status != 0 ? l->status : 499, l->bytes);
	add_escaped(out, l->referer, TEXT_MAX);
	tp_buf_add_str(out, TP_STR("\" \""));
	add_escaped(out, l->agent, TEXT_MAX);
	tp_buf_add_str(out, TP_STR("\"\n"));
}

static void add_member(struct tp_buf *out, const char *name, struct tp_str text, size_t most)
{
	struct tp_buf escaped = {0};
	/* No escape is cut in two: the text is, until its escaped form is short enough. */
	text.n = text.n < most ? text.n : most;
	for (;;) {
		tp_buf_add_json(&escaped, text);
		if (escaped.len <= most || text.n == 0)
			break;
		text.n = text.n / 4 * 3;
		escaped.len = 0;
	}
	tp_buf_printf(out, ",\"%s\":\"", name);
	tp_buf_add_str(out, tp_buf_str(&escaped));
	tp_buf_add_str(out, TP_STR("\""));
	out->failed = out->failed || escaped.failed;
	tp_buf_free(&escaped);
}

static void add_json(struct tp_buf *out, const struct tp_access_line *l)
{
	time_t seconds = (time_t)(l->begun_ms / 1000);
	struct tm t;
	(void)gmtime_r(&seconds, &t);
	tp_buf_printf(out, "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", t.tm_year + 1900,
		      t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(l->begun_ms % 1000));
	add_member(out, "id", l->id, SHORT_MAX);
	add_member(out, "address", l->address, SHORT_MAX);
	add_member(out, "client", l->client, SHORT_MAX);
	add_member(out, "method", l->method, SHORT_MAX);
	add_member(out, "target", l->target, TARGET_MAX);
	tp_buf_printf(out,
		      ",\"protocol\":\"HTTP/1.%d\",\"status\":%d,\"bytes\":%" PRIu64 ",\"received\":%" PRIu64
		      ",\"ms\":%" PRIu64,
		      l->minor, l->status, l->bytes, l->received, l->took_ms);
	add_member(out, "referer", l->referer, TEXT_MAX);
	add_member(out, "agent", l->agent, TEXT_MAX);
	tp_buf_add_str(out, TP_STR("}\n"));
}

_Static_assert(TARGET_MAX + 2 * TEXT_MAX + 4 * SHORT_MAX + 512 <= TP_SINK_LINE_MAX, "a line is one piece");

void tp_access_line_write(const struct tp_access_line *line, enum tp_access_format format, struct tp_buf *out)
{
	if (format == TP_ACCESS_COMBINED)
		add_combined(out, line);
	else
		add_json(out, line);
}
