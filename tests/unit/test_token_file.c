/* refresh.state_file: written as a whole, private, and only for the configuration that it belongs to. */
#include "common/config/token_file.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/turnpike-test-XXXXXX";
static char path[64], beside[80];

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(path, sizeof path, "%s/t.json", folder);
	(void)snprintf(beside, sizeof beside, "%s.new", path);
}

static void teardown(void)
{
	(void)unlink(path);
	(void)unlink(beside);
	(void)rmdir(folder);
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
}

static void keep(const char *configured, const char *token)
{
	int fd = tp_token_file_begin(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tp_token_file_commit(path, fd, configured, token), 0);
}

static void finds(const char *configured, int result, const char *token)
{
	struct tp_buf b = {0};
	ck_assert_int_eq(tp_token_file_read(path, configured, &b), result);
	ck_assert_str_eq(tp_buf_cstr(&b), token);
	tp_buf_free(&b);
}

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(kept_and_found)
{
	struct stat st;
	mode_t mask = umask(0);
	finds("one", 0, "");
	keep("one", "rotated");
	finds("one", 1, "rotated");
	finds("two", 0, ""); /* the configuration was changed since */
	keep("one", "rot\"ated\\again");
	finds("one", 1, "rot\"ated\\again");
	keep("two", "other");
	finds("one", 0, "");
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_lt(st.st_size, 200);
	ck_assert_int_ne(access(beside, F_OK), 0);
	(void)umask(mask);
}
END_TEST

START_TEST(longest)
{
	static char token[8193];
	memset(token, '"', sizeof token - 1); /* each takes two bytes */
	keep("one", token);
	finds("one", 1, token);
}
END_TEST

START_TEST(abandoned)
{
	keep("one", "rotated");
	int fd = tp_token_file_begin(path);
	ck_assert_int_eq(access(beside, F_OK), 0);
	tp_token_file_abandon(path, fd);
	tp_token_file_abandon(path, -1);
	ck_assert_int_ne(access(beside, F_OK), 0);
	finds("one", 1, "rotated");
	/* What a killed worker left is no obstacle. */
	fd = open(beside, O_CREAT | O_WRONLY, 0600);
	(void)close(fd);
	keep("one", "next");
	finds("one", 1, "next");
}
END_TEST

START_TEST(none_of_ours)
{
	static const char *const texts[] = {"",    "secret",
					    "{}",  "{\"refresh_token\":\"a\"}",
					    "[1]", "{\"replaces_sha256\":\"a\",\"refresh_token\":\"\"}"};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		write_file(texts[i]);
		finds("one", -EINVAL, "");
	}
	(void)unlink(path);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	finds("one", -ELOOP, "");
	(void)unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	finds("one", -EINVAL, "");
	(void)rmdir(path);
}
END_TEST

START_TEST(no_folder)
{
	(void)snprintf(path, sizeof path, "%s/nowhere/t.json", folder);
	ck_assert_int_eq(tp_token_file_begin(path), -ENOENT);
	finds("one", 0, "");
}
END_TEST

TP_TESTS(token_file)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, kept_and_found);
	tcase_add_test(t, longest);
	tcase_add_test(t, abandoned);
	tcase_add_test(t, none_of_ours);
	tcase_add_test(t, no_folder);
}
