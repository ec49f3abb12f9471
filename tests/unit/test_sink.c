/* Lines go where they should: files that are renamed, are full, come back; syslog. Never a wait. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/base/sink.h"
#include "tests/unit/suite.h"

static char folder[] = "/tmp/turnpike-sink-XXXXXX";

static const char *in_folder(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];
	(void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void make_folder(void)
{
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	static const char *const names[] = {"log", "old", "socket", "sub/log"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		(void)unlink(in_folder(names[i]));
	(void)rmdir(in_folder("sub"));
	ck_assert_int_eq(rmdir(folder), 0);
}

static void is_text(const char *name, const char *want)
{
	char got[1024];
	int fd = open(in_folder(name), O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ssize_t n = read(fd, got, sizeof got - 1);
	ck_assert_int_ge(n, 0);
	got[n] = '\0';
	(void)close(fd);
	ck_assert_str_eq(got, want);
}

START_TEST(a_renamed_file_is_left_when_told)
{
	struct tp_sink s = TP_SINK_STDERR;
	ck_assert_int_eq(tp_sink_open(&s, in_folder("log")), 0);
	ck_assert(tp_sink_write(&s, TP_STR("one\n")));
	ck_assert_int_eq(rename(in_folder("log"), in_folder("old")), 0);
	ck_assert(tp_sink_write(&s, TP_STR("two\n")));
	ck_assert_int_eq(tp_sink_reopen(&s), 0);
	ck_assert(tp_sink_write(&s, TP_STR("three\n")));
	is_text("old", "one\ntwo\n");
	is_text("log", "three\n");
	ck_assert_uint_eq(s.lost, 0);
	tp_sink_close(&s);
}
END_TEST

START_TEST(what_cannot_be_opened_stays_as_it_was)
{
	struct tp_sink s = TP_SINK_STDERR;
	ck_assert_int_lt(tp_sink_open(&s, in_folder("sub/log")), 0);
	ck_assert_int_eq(s.fd, STDERR_FILENO);
	tp_sink_absent(&s, in_folder("sub/log"), ENOENT);
	ck_assert(!tp_sink_write(&s, TP_STR("lost\n")));
	ck_assert_int_lt(tp_sink_reopen(&s), 0);
	ck_assert(!tp_sink_write(&s, TP_STR("lost\n")));
	ck_assert_uint_eq(s.lost, 2);
	ck_assert_int_eq(mkdir(in_folder("sub"), 0700), 0);
	ck_assert_int_eq(tp_sink_reopen(&s), 0);
	ck_assert(tp_sink_write(&s, TP_STR("there\n")));
	is_text("sub/log", "there\n");
	ck_assert_int_eq(tp_sink_reopen(&(struct tp_sink){.fd = STDERR_FILENO}), 0);
	tp_sink_close(&s);
}
END_TEST

START_TEST(what_is_away_is_looked_for_once_a_second)
{
	struct tp_sink s = TP_SINK_STDERR;
	tp_sink_absent(&s, in_folder("log"), EACCES);
	ck_assert(!tp_sink_write(&s, TP_STR("looked for a moment ago\n")));
	ck_assert_int_eq(s.why, EACCES);
	s.tried = 0; /* long ago */
	ck_assert(tp_sink_write(&s, TP_STR("there\n")));
	is_text("log", "there\n");
	ck_assert_uint_eq(s.lost, 1);
	tp_sink_close(&s);
}
END_TEST

/* Closed with lines that its reader has not taken: they are lost, and nobody else will count them. */
START_TEST(what_waits_at_the_end_is_counted)
{
	struct tp_sink s = TP_SINK_STDERR;
	char got[4096];
	uint64_t written = 0, seen = 0;
	ck_assert_int_eq(mkfifo(in_folder("log"), 0600), 0);
	ck_assert_int_eq(tp_sink_open(&s, in_folder("log")), -ENXIO);
	int fd = open(in_folder("log"), O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tp_sink_open(&s, in_folder("log")), 0);
	for (; s.lost < 10; written++)
		(void)tp_sink_write(&s, TP_STR("a line of a good length, as they are\n"));
	ck_assert_int_eq(s.why, EAGAIN);
	tp_sink_close(&s);
	for (ssize_t n; (n = read(fd, got, sizeof got)) > 0;)
		for (ssize_t i = 0; i < n; i++)
			seen += got[i] == '\n';
	ck_assert_uint_eq(seen + s.lost, written);
	(void)close(fd);
}
END_TEST

START_TEST(a_full_disk_costs_lines)
{
	struct tp_sink s = TP_SINK_STDERR;
	ck_assert_int_eq(tp_sink_open(&s, "/dev/full"), 0);
	for (int i = 0; i < 100; i++)
		ck_assert(!tp_sink_write(&s, TP_STR("lost\n")));
	ck_assert_uint_eq(s.lost, 100);
	ck_assert_int_eq(s.why, ENOSPC);
	ck_assert(tp_sink_flush(&s));
	tp_sink_close(&s);
}
END_TEST

START_TEST(half_a_line_does_not_spoil_the_next)
{
	struct rlimit before, small = {.rlim_cur = 11};
	struct tp_sink s = TP_SINK_STDERR;
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	ck_assert_int_eq(tp_sink_open(&s, in_folder("log")), 0);
	ck_assert(tp_sink_write(&s, TP_STR("line 1\n")));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	(void)tp_sink_write(&s, TP_STR("line 2\n"));
	(void)tp_sink_write(&s, TP_STR("line 3\n"));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert(tp_sink_write(&s, TP_STR("line 4\n")));
	ck_assert_uint_eq(s.lost, 2);
	is_text("log", "line 1\nline\nline 4\n");
	tp_sink_close(&s);
}
END_TEST

/* Several processes append to one file: who has lost a line looks whether another has torn one. */
START_TEST(half_a_line_of_another_does_not_spoil_the_next)
{
	struct rlimit before, small = {.rlim_cur = 11};
	struct tp_sink a = TP_SINK_STDERR, b = TP_SINK_STDERR;
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	ck_assert_int_eq(tp_sink_open(&a, in_folder("log")), 0);
	ck_assert_int_eq(tp_sink_open(&b, in_folder("log")), 0);
	ck_assert(tp_sink_write(&a, TP_STR("line 1\n")));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	(void)tp_sink_write(&a, TP_STR("line 2\n"));
	ck_assert(!tp_sink_write(&b, TP_STR("line 3\n")));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert(tp_sink_write(&b, TP_STR("line 4\n")));
	(void)tp_sink_flush(&a); /* the end of line 2: nobody knows that it comes late */
	ck_assert(tp_sink_write(&a, TP_STR("line 5\n")));
	ck_assert(tp_sink_write(&b, TP_STR("line 6\n")));
	is_text("log", "line 1\nline\nline 4\n 2\nline 5\nline 6\n");
	tp_sink_close(&a);
	tp_sink_close(&b);
}
END_TEST

static int daemon_socket(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	(void)snprintf(a.sun_path, sizeof a.sun_path, "%s", in_folder("socket"));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

static void is_datagram(int fd, const char *want)
{
	char got[256];
	ssize_t n = recv(fd, got, sizeof got - 1, 0);
	ck_assert_int_ge(n, 0);
	got[n] = '\0';
	ck_assert_str_eq(got, want);
}

START_TEST(syslog_takes_a_datagram_a_line)
{
	int fd = daemon_socket();
	struct tp_sink s = TP_SINK_STDERR;
	ck_assert_int_eq(tp_sink_open_syslog(&s, in_folder("socket")), 0);
	ck_assert(tp_sink_write(&s, TP_STR("one\n")));
	ck_assert(tp_sink_write(&s, TP_STR("two\n")));
	is_datagram(fd, "one");
	is_datagram(fd, "two");
	/* It is restarted: another socket of the same name. */
	(void)close(fd);
	(void)unlink(in_folder("socket"));
	fd = daemon_socket();
	ck_assert(tp_sink_write(&s, TP_STR("three\n")));
	is_datagram(fd, "three");
	ck_assert_uint_eq(s.lost, 0);
	(void)close(fd);
	tp_sink_close(&s);
}
END_TEST

START_TEST(syslog_that_is_away_costs_lines)
{
	struct tp_sink s = TP_SINK_STDERR;
	ck_assert_int_eq(tp_sink_open_syslog(&s, in_folder("socket")), 0);
	ck_assert(!tp_sink_write(&s, TP_STR("lost\n")));
	int fd = daemon_socket();
	ck_assert(!tp_sink_write(&s, TP_STR("looked for a moment ago\n")));
	ck_assert_int_eq(tp_sink_reopen(&s), 0); /* looks at once */
	ck_assert(tp_sink_write(&s, TP_STR("there\n")));
	is_datagram(fd, "there");
	ck_assert_uint_eq(s.lost, 2);
	(void)close(fd);
	tp_sink_close(&s);
}
END_TEST

/* Nobody reads: were it to wait, it would wait forever. */
START_TEST(syslog_that_sleeps_costs_lines_and_no_time)
{
	enum { LINES = 100000 };
	int fd = daemon_socket();
	struct tp_sink s = TP_SINK_STDERR;
	char got[256];
	uint64_t seen = 0;
	ck_assert_int_eq(tp_sink_open_syslog(&s, in_folder("socket")), 0);
	for (int i = 0; i < LINES; i++)
		(void)tp_sink_write(&s, TP_STR("a line of a good length, as they are\n"));
	ck_assert_uint_gt(s.lost, 0);
	for (bool more = true; more;) {
		more = !tp_sink_flush(&s);
		while (recv(fd, got, sizeof got, 0) > 0)
			seen++;
	}
	ck_assert_uint_eq(seen + s.lost, LINES);
	(void)close(fd);
	tp_sink_close(&s);
}
END_TEST

TP_TESTS(sink)
{
	tcase_add_checked_fixture(t, make_folder, remove_folder);
	tcase_add_test(t, a_renamed_file_is_left_when_told);
	tcase_add_test(t, what_cannot_be_opened_stays_as_it_was);
	tcase_add_test(t, what_is_away_is_looked_for_once_a_second);
	tcase_add_test(t, what_waits_at_the_end_is_counted);
	tcase_add_test(t, a_full_disk_costs_lines);
	tcase_add_test(t, half_a_line_does_not_spoil_the_next);
	tcase_add_test(t, half_a_line_of_another_does_not_spoil_the_next);
	tcase_add_test(t, syslog_takes_a_datagram_a_line);
	tcase_add_test(t, syslog_that_is_away_costs_lines);
	tcase_add_test(t, syslog_that_sleeps_costs_lines_and_no_time);
}
