#include "server/top/screen.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "server/terminal.h"
#include "server/top/view.h"

static struct termios before;
static bool taken, keys; /* keys: standard input is a terminal, its mode is in `before` */
static sigset_t outside; /* the mask while it waits: signals arrive nowhere else */
static int first;        /* line that is shown on top */
static int page = 1;     /* lines that are shown */
static volatile sig_atomic_t ended, resized, stopped;

static void on_signal(int number)
{
	if (number == SIGWINCH)
		resized = 1;
	else if (number == SIGTSTP)
		stopped = 1;
	else
		ended = 1;
}

static void take_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP};
	const struct sigaction action = {.sa_handler = on_signal};
	sigset_t set;
	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		(void)sigaddset(&set, signals[i]);
		(void)sigaction(signals[i], &action, NULL);
	}
	(void)sigprocmask(SIG_BLOCK, &set, &outside);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		(void)sigdelset(&outside, signals[i]);
}

static void take(void)
{
	keys = tcgetattr(STDIN_FILENO, &before) == 0;
	if (keys) {
		struct termios raw = before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	(void)fputs("\033[?1049h\033[?25l\033[2J", stdout);
	(void)fflush(stdout);
	taken = true;
}

void tp_top_screen_end(void)
{
	if (!taken)
		return;
	taken = false;
	(void)fputs("\033[?25h\033[?1049l", stdout);
	(void)fflush(stdout);
	if (keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void tp_top_screen_begin(void)
{
	take_signals();
	(void)atexit(tp_top_screen_end);
	take();
}

/* How many bytes fill so many columns; a character of UTF-8 is taken for one column. */
static size_t cut(const char *text, size_t n, int columns)
{
	size_t i = 0;
	for (int column = 0; i < n; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && column++ == columns)
			break;
	return i;
}

/* Names are configured, texts may come from providers: no control character goes out. */
static void put(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)fputc((unsigned char)text[i] >= 0x20 && text[i] != 0x7f ? text[i] : '?', stdout);
}

static void draw_line(const char *text, size_t n, int columns)
{
	bool heading = n > 0 && text[0] == TP_TOP_HEADING;
	size_t from = heading ? 1 : 0;
	(void)fputs(heading ? tp_style(stdout, TP_STYLE_BOLD) : "", stdout);
	put(text + from, cut(text + from, n - from, columns));
	(void)printf("%s\033[K", heading ? tp_style(stdout, TP_STYLE_END) : "");
}

static int count_lines(const struct tp_buf *lines)
{
	int n = 0;
	for (size_t i = 0; i < lines->len; i++)
		n += lines->data[i] == '\n';
	return n;
}

/* What does not fit is told in the last row. */
static void fit(int all, int rows)
{
	page = all > rows && rows > 1 ? rows - 1 : rows;
	if (first > all - page)
		first = all - page;
	if (first < 0)
		first = 0;
}

static void draw_rest(int all, int columns)
{
	char text[128];
	int last = first + page < all ? first + page : all;
	int n = snprintf(text, sizeof text, "lines %d-%d of %d%s", first + 1, last, all,
			 keys ? "; arrows and page keys scroll, q quits" : "");
	(void)printf("\r\n%s", tp_style(stdout, TP_STYLE_DIM));
	put(text, cut(text, (size_t)n, columns));
	(void)printf("%s\033[K", tp_style(stdout, TP_STYLE_END));
}

void tp_top_screen_draw(const struct tp_buf *lines)
{
	int columns, rows, number = 0, all = count_lines(lines);
	tp_terminal_size(stdout, &columns, &rows);
	fit(all, rows);
	(void)fputs("\033[H", stdout);
	for (size_t at = 0; at < lines->len && number < first + page; number++) {
		const char *line = lines->data + at, *end = memchr(line, '\n', lines->len - at);
		size_t n = end != NULL ? (size_t)(end - line) : lines->len - at;
		at += n + 1;
		if (number < first)
			continue;
		(void)fputs(number > first ? "\r\n" : "", stdout);
		draw_line(line, n, columns);
	}
	if (page < rows && all > page)
		draw_rest(all, columns);
	(void)fputs("\033[J", stdout);
	(void)fflush(stdout);
}

/* Ctrl-Z: the shell gets its screen back meanwhile. */
static void stop(void)
{
	stopped = 0;
	tp_top_screen_end();
	(void)kill(getpid(), SIGSTOP);
	take();
	resized = 1;
}

enum { ALL_LINES = 1 << 20, PAGE = ALL_LINES + 1 }; /* far more than there are; a page of either sign */

static const struct {
	const char *bytes; /* as a terminal sends it */
	int by;
} scrolling[] = {
	{"\033[A", -1},
	{"\033OA", -1},
	{"k", -1},
	{"\033[B", 1},
	{"\033OB", 1},
	{"j", 1},
	{"\033[5~", -PAGE},
	{"b", -PAGE},
	{"\033[6~", PAGE},
	{" ", PAGE},
	{"\033[H", -ALL_LINES},
	{"\033OH", -ALL_LINES},
	{"\033[1~", -ALL_LINES},
	{"g", -ALL_LINES},
	{"\033[F", ALL_LINES},
	{"\033OF", ALL_LINES},
	{"\033[4~", ALL_LINES},
	{"G", ALL_LINES},
};

/* One key of those that were read; returns how many bytes it is. */
static size_t scroll(const char *key)
{
	for (size_t i = 0; i < sizeof scrolling / sizeof scrolling[0]; i++) {
		size_t n = strlen(scrolling[i].bytes);
		int by = scrolling[i].by;
		if (strncmp(key, scrolling[i].bytes, n) != 0)
			continue;
		first += by == PAGE ? page : by == -PAGE ? -page : by; /* put right when it is drawn */
		return n;
	}
	return 1;
}

/* Several may have come at once. */
static enum tp_top_event read_keys(void)
{
	char read_now[64];
	ssize_t n = read(STDIN_FILENO, read_now, sizeof read_now - 1);
	keys = n > 0 && keys; /* its end is read once */
	read_now[n > 0 ? n : 0] = '\0';
	for (const char *key = read_now; *key != '\0'; key += scroll(key))
		if (*key == 'q' || *key == 'Q')
			return TP_TOP_QUIT;
	return TP_TOP_SCROLLED;
}

enum tp_top_event tp_top_screen_wait(uint32_t ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};
	struct pollfd p = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
	int n = ppoll(&p, 1, &t, &outside);
	if (stopped != 0)
		stop();
	if (ended != 0)
		return TP_TOP_QUIT;
	if (resized != 0) {
		resized = 0;
		return TP_TOP_RESIZED;
	}
	return n > 0 ? read_keys() : TP_TOP_TIME;
}
