/* The log: whole lines, nothing forged, and never a wait for a slow reader. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/log.h"
#include "tests/unit/suite.h"

/* Standard error of the test is put aside while `fd` stands in for it. */
static int redirect(int fd, enum tp_log_format format)
{
	int saved = dup(STDERR_FILENO);
	ck_assert_int_ge(saved, 0);
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, format, NULL), 0);
	return saved;
}

static void restore(int saved)
{
	(void)tp_log_flush();
	ck_assert_int_eq(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	(void)close(saved);
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, TP_LOG_TEXT, NULL), 0);
}

/* What can be read at once; terminated. */
static size_t drain(int fd, char *into, size_t size)
{
	size_t n = 0;
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (;;) {
		ssize_t got = read(fd, into + n, size - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	into[n] = '\0';
	return n;
}

static const struct {
	const char *text, *as_text, *as_json;
} escapes[] = {
	{"plain \"quoted\"", "plain \"quoted\"", "plain \\\"quoted\\\""},
	{"a\nb", "a\\x0ab", "a\\nb"},
	{"a\r\x1b[2Kb", "a\\x0d\\x1b[2Kb", "a\\u000d\\u001b[2Kb"},
	{"c1 \xc2\x9b"
	 "31m",
	 "c1 \\xc2\x9b"
	 "31m",
	 NULL},
	{"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
};

START_TEST(a_text_cannot_forge_lines)
{
	int pipes[2];
	char got[8192], want[256];
	ck_assert_int_eq(pipe(pipes), 0);
	for (int json = 0; json < 2; json++) {
		const char *expected = json ? escapes[_i].as_json : escapes[_i].as_text;
		if (expected == NULL)
			continue;
		int saved = redirect(pipes[1], json ? TP_LOG_JSON : TP_LOG_TEXT);
		tp_info("%s", escapes[_i].text);
		restore(saved);
		size_t n = drain(pipes[0], got, sizeof got);
		(void)snprintf(want, sizeof want, json ? "\"msg\":\"%s\"}\n" : "]: %s\n", expected);
		ck_assert_ptr_nonnull(strstr(got, want));
		ck_assert_ptr_eq(memchr(got, '\n', n), got + n - 1); /* one line */
	}
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}
END_TEST

START_TEST(a_long_text_is_cut_and_stays_one_piece)
{
	char text[9000], got[16384];
	int pipes[2];
	ck_assert_int_eq(pipe(pipes), 0);
	memset(text, _i != 0 ? '\x01' : 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	int saved = redirect(pipes[1], TP_LOG_JSON);
	tp_info("%s", text);
	restore(saved);
	size_t n = drain(pipes[0], got, sizeof got);
	ck_assert_uint_le(n, 4096);
	ck_assert_uint_ge(n, 2000);
	ck_assert_str_eq(got + n - 3, "\"}\n");
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}
END_TEST

/* kind 0: a pipe, 1: a stream socket (journald) */
static void make_sink(int kind, int ends[2])
{
	if (kind == 0)
		ck_assert_int_eq(pipe(ends), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

START_TEST(a_reader_that_sleeps_costs_lines_and_no_time)
{
	enum { LINES = 6000, BYTES = 4 << 20 };
	int ends[2];
	char *got = malloc(BYTES);
	ck_assert_ptr_nonnull(got);
	make_sink(_i, ends);
	uint64_t before = tp_log_dropped();
	int saved = redirect(ends[1], TP_LOG_TEXT);
	/* Were it to wait, it would wait forever: nobody reads. */
	for (unsigned i = 0; i < LINES; i++)
		tp_info("line %u %0100d", i, 0);
	uint64_t lost = tp_log_dropped() - before;
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_lt(lost, LINES);
	ck_assert(!tp_log_flush());
	size_t n = 0;
	while (!tp_log_flush())
		n += drain(ends[0], got + n, BYTES - n);
	n += drain(ends[0], got + n, BYTES - n);
	tp_info("awake");
	restore(saved);
	n += drain(ends[0], got + n, BYTES - n);

	/* In order, without a hole before the first loss; then the count of what is missing. */
	unsigned lines = 0;
	char want[64];
	char *line = got;
	for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1, lines++) {
		*end = '\0';
		(void)snprintf(want, sizeof want, "]: line %u ", lines);
		if (strstr(line, want) == NULL) {
			*end = '\n';
			break;
		}
	}
	ck_assert_uint_eq(lines, LINES - lost);
	/* Where room was left for the short line that counts, but for no other, there are two of them. */
	uint64_t told = 0;
	for (char *count, *at = line; (at = strstr(at, " log lines were lost")) != NULL; at++) {
		for (count = at; count[-1] != ' '; count--)
			;
		told += strtoull(count, NULL, 10);
	}
	ck_assert_uint_eq(told, lost);
	ck_assert_ptr_nonnull(strstr(line, "]: awake\n"));
	free(got);
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

START_TEST(standard_error_itself_stays_blocking)
{
	int pipes[2];
	char got[4096];
	ck_assert_int_eq(pipe(pipes), 0);
	int saved = redirect(pipes[1], TP_LOG_TEXT);
	tp_info("x");
	ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
	restore(saved);
	ck_assert_uint_gt(drain(pipes[0], got, sizeof got), 0);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}
END_TEST

/* What waits when a process forks is written by the parent alone. */
START_TEST(a_child_does_not_repeat_its_parent)
{
	enum { BYTES = 4 << 20 };
	int pipes[2];
	char *got = malloc(BYTES);
	ck_assert_ptr_nonnull(got);
	ck_assert_int_eq(pipe(pipes), 0);
	int saved = redirect(pipes[1], TP_LOG_TEXT);
	while (tp_log_flush())
		tp_info("parent %01000d", 0);
	size_t n = drain(pipes[0], got, BYTES);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		tp_info("child");
		_exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	n = drain(pipes[0], got, BYTES);
	ck_assert_ptr_nonnull(strstr(got, "child"));
	ck_assert_ptr_null(strstr(got, "parent"));
	ck_assert(tp_log_flush());
	n = drain(pipes[0], got, BYTES);
	ck_assert_uint_gt(n, 1000);
	restore(saved);
	free(got);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}
END_TEST

/* Told without a further line once the disk takes one, by the process that has lost them. */
START_TEST(losses_are_told_when_lines_get_through)
{
	char path[] = "/tmp/turnpike-log-XXXXXX", got[4096];
	struct stat st;
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	/* what tests before this one lost, in the same process, is told first */
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, TP_LOG_TEXT, path), 0);
	ck_assert(tp_log_flush());
	uint64_t before = tp_log_dropped();
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, TP_LOG_TEXT, "/dev/full"), 0);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	tp_info("lost");
	tp_info("lost");
	ck_assert(!tp_log_flush());
	ck_assert_uint_eq(tp_log_dropped(), before + 2);
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, TP_LOG_TEXT, path), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(tp_log_flush() ? 0 : 1);
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	ck_assert(tp_log_flush());
	ck_assert(tp_log_flush());
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, TP_LOG_TEXT, NULL), 0);
	ssize_t n = pread(fd, got, sizeof got - 1, 0);
	ck_assert_int_gt(n, 0);
	got[n] = '\0';
	ck_assert_ptr_nonnull(strstr(got, "]: 2 log lines were lost\n"));
	ck_assert_ptr_eq(memchr(got, '\n', (size_t)n), got + n - 1);
	(void)close(fd);
	(void)unlink(path);
}
END_TEST

START_TEST(a_file_is_appended_to)
{
	char path[] = "/tmp/turnpike-log-XXXXXX", got[4096];
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "before\n", 7), 7);
	ck_assert_int_eq(tp_log_open(TP_LOG_WARN, TP_LOG_TEXT, path), 0);
	tp_info("not wanted");
	tp_warn("wanted %d", 42);
	ck_assert_int_lt(tp_log_open(TP_LOG_INFO, TP_LOG_TEXT, "/no/such/folder/log"), 0);
	tp_warn("still there");
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, TP_LOG_TEXT, NULL), 0);
	ssize_t n = pread(fd, got, sizeof got - 1, 0);
	ck_assert_int_gt(n, 0);
	got[n] = '\0';
	ck_assert(strncmp(got, "before\n", 7) == 0);
	ck_assert_ptr_null(strstr(got, "not wanted"));
	ck_assert_ptr_nonnull(strstr(got, "warn turnpike["));
	ck_assert_ptr_nonnull(strstr(got, "]: wanted 42\n"));
	ck_assert_ptr_nonnull(strstr(got, "]: still there\n"));
	(void)close(fd);
	(void)unlink(path);
}
END_TEST

static bool stars(struct tp_str text, struct tp_buf *out)
{
	bool secret = tp_str_eq(text, TP_STR("s3cret"));
	if (secret)
		tp_buf_add_str(out, TP_STR("***"));
	return secret;
}

START_TEST(an_event_has_members)
{
	static const struct tp_log_field fields[] = {
		{"id", "a1", 0},
		{"none", "", 0},
		{"sends", NULL, 3},
		{"why", "a \"b\"", 0},
		{"odd", "x\ny=\xc2\x9b", 0},
		{"key", "s3cret", 0},
	};
	int pipes[2];
	char got[4096];
	ck_assert_int_eq(pipe(pipes), 0);
	tp_log_set_mask(stars);
	int saved = redirect(pipes[1], _i != 0 ? TP_LOG_JSON : TP_LOG_TEXT);
	tp_log_event(TP_LOG_INFO, "turn", fields, sizeof fields / sizeof fields[0]);
	tp_log_event(TP_LOG_DEBUG, "not wanted", fields, 1);
	restore(saved);
	tp_log_set_mask(NULL);
	(void)drain(pipes[0], got, sizeof got);
	ck_assert_ptr_nonnull(strstr(
		got,
		_i != 0 ? "\"msg\":\"turn\",\"id\":\"a1\",\"none\":\"\",\"sends\":3,\"why\":\"a \\\"b\\\"\","
			  "\"odd\":\"x\\ny=\xc2\x9b\",\"key\":\"***\"}\n"
			: "]: turn id=a1 sends=3 why=\"a \\\"b\\\"\" odd=\"x\\x0ay=\\xc2\x9b\" key=***\n"));
	ck_assert_ptr_null(strstr(got, "not wanted"));
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}
END_TEST

/* systemd tells which socket is journald's; whoever redirects leaves the variable as it was. */
START_TEST(journald_is_told_the_level)
{
	int ends[2];
	struct stat st;
	char got[4096], told[64];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(fstat(ends[1], &st), 0);
	(void)snprintf(told, sizeof told, "%llu:%llu", (unsigned long long)st.st_dev,
		       (unsigned long long)st.st_ino + (_i == 0 ? 0 : 1));
	ck_assert_int_eq(setenv("JOURNAL_STREAM", told, 1), 0);
	int saved = redirect(ends[1], TP_LOG_TEXT);
	tp_warn("careful");
	tp_error("broken");
	(void)unsetenv("JOURNAL_STREAM");
	restore(saved);
	(void)drain(ends[0], got, sizeof got);
	ck_assert_int_eq(strncmp(got, "<4>2", 4) == 0, _i == 0);
	ck_assert_int_eq(strstr(got, "\n<3>2") != NULL, _i == 0);
	ck_assert_ptr_nonnull(strstr(got, "careful"));
	(void)close(ends[0]);
	(void)close(ends[1]);
}
END_TEST

TP_TESTS(log)
{
	tcase_add_loop_test(t, a_text_cannot_forge_lines, 0, sizeof escapes / sizeof escapes[0]);
	tcase_add_loop_test(t, a_long_text_is_cut_and_stays_one_piece, 0, 2);
	tcase_add_loop_test(t, a_reader_that_sleeps_costs_lines_and_no_time, 0, 2);
	tcase_add_test(t, standard_error_itself_stays_blocking);
	tcase_add_test(t, a_child_does_not_repeat_its_parent);
	tcase_add_test(t, losses_are_told_when_lines_get_through);
	tcase_add_test(t, a_file_is_appended_to);
	tcase_add_loop_test(t, an_event_has_members, 0, 2);
	tcase_add_loop_test(t, journald_is_told_the_level, 0, 2);
}
