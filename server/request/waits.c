#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "server/request/request.h"
#include "server/terminal.h"

enum { TICK_MS = 200 };

void tp_request_waits_begin(struct tp_request_waits *w, const struct tp_request_order *o)
{
	*w = (struct tp_request_waits){
		.command = o->options.command->name,
		.quiet = o->quiet,
		.terminal = tp_terminal(stderr) && !o->verbose, /* between lines of a log it would be torn */
	};
}

/* What a provider said goes to a terminal: nothing but letters. */
static void add_words(struct tp_buf *out, const char *words)
{
	for (; *words != '\0'; words++)
		tp_buf_add(out, (unsigned char)*words >= 0x20 && *words != 0x7f ? words : "?", 1);
}

static void add_seconds(struct tp_buf *out, uint64_t ms)
{
	if (ms < 10000)
		tp_buf_printf(out, "%.1f s", (double)ms / 1000);
	else
		tp_buf_printf(out, "%llu s", (unsigned long long)(ms + 999) / 1000);
}

/* "429 capacity 4/4, waiting 42 s, attempt 2 of 4" */
static void write_line(const struct tp_notice *n, uint64_t left_ms, struct tp_buf *out)
{
	if (n->status != 0)
		tp_buf_printf(out, "%u%s", n->status, n->words[0] != '\0' ? " " : "");
	add_words(out, n->words);
	tp_buf_add_str(out, TP_STR(", waiting "));
	add_seconds(out, left_ms);
	tp_buf_printf(out, ", attempt %u of %u", n->send, n->most);
}

/* In place, never longer than one row. */
static void show(struct tp_request_waits *w, struct tp_buf *line)
{
	int columns, rows;
	tp_terminal_size(stderr, &columns, &rows);
	size_t most = columns > 1 ? (size_t)columns - 1 : 1;
	if (line->len > most)
		line->len = most;
	const char *text = tp_buf_cstr(line);
	if (text != NULL)
		(void)fprintf(stderr, "\r\033[K%s%s%s", tp_style(stderr, TP_STYLE_DIM), text,
			      tp_style(stderr, TP_STYLE_END));
	w->shown = true;
}

int tp_request_waits_tick(struct tp_request_waits *w)
{
	uint64_t now = tp_clock_boot_ms();
	if (w->quiet || !w->terminal || w->notice.most == 0)
		return -1;
	struct tp_buf line = {0};
	write_line(&w->notice, w->ends_ms > now ? w->ends_ms - now : 0, &line);
	show(w, &line);
	tp_buf_free(&line);
	return TICK_MS;
}

void tp_request_waits_clear(struct tp_request_waits *w)
{
	if (w->shown)
		(void)fputs("\r\033[K", stderr);
	w->shown = false;
}

void tp_request_waits_notice(struct tp_request_waits *w, const struct tp_notice *n)
{
	if (n->kind == TP_NOTICE_SEND && w->notice.most != 0 && w->terminal && !w->quiet) {
		struct tp_buf line = {0};
		tp_buf_printf(&line, "attempt %u of %u", n->send, w->notice.most);
		show(w, &line);
		tp_buf_free(&line);
	}
	w->notice = (struct tp_notice){0};
	if (n->kind != TP_NOTICE_WAIT)
		return;
	w->notice = *n;
	w->ends_ms = tp_clock_boot_ms() + n->wait_ms;
	if (w->quiet || w->terminal)
		return;
	struct tp_buf line = {0};
	write_line(n, n->wait_ms, &line);
	(void)fprintf(stderr, "%s\n", tp_buf_cstr(&line) != NULL ? tp_buf_cstr(&line) : "waiting");
	tp_buf_free(&line);
}
