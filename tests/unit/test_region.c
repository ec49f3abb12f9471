/* Creating, attaching, refusing and replacing the shared memory object. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/shm/counters.h"
#include "common/shm/layout.h"

#include "tests/unit/suite.h"

static const struct tp_region_sizes small = {.logical_requests = 128};
static char name[64], path[80];
static struct tp_buf why;

static void setup(void)
{
	(void)snprintf(name, sizeof name, "/tp-test-region-%ld", (long)getpid());
	(void)snprintf(path, sizeof path, "/dev/shm%s", name);
	why = (struct tp_buf){0};
}

static void teardown(void)
{
	(void)unlink(path);
	(void)rmdir(path);
	tp_buf_free(&why);
}

static struct tp_region *open_as(struct tp_region_sizes sizes, bool fresh, enum tp_region_result expected)
{
	struct tp_region *r = NULL;
	enum tp_region_result result;
	int error = tp_region_open(name, sizes, fresh, &why, &r, &result);
	ck_assert_msg(error == 0, "%d: %s", error, tp_buf_cstr(&why));
	ck_assert_int_eq(result, expected);
	ck_assert_msg((why.len != 0) == (expected == TP_REGION_REPLACED), "why: %s", tp_buf_cstr(&why));
	return r;
}

START_TEST(creates_then_attaches)
{
	mode_t mask = umask(0777);
	struct tp_region *r = open_as(small, false, TP_REGION_CREATED);
	(void)umask(mask);
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_uint_eq((uint64_t)st.st_size, r->size);
	ck_assert_msg(st.st_blocks * 512 >= st.st_size, "space is not taken at once");
	uint8_t seed[16], none[16] = {0};
	memcpy(seed, tp_region_seed(r), 16);
	ck_assert_mem_ne(seed, none, 16);
	tp_count(r, 0, TP_COUNT_TURNS, 41);
	tp_region_close(r);
	r = open_as(small, false, TP_REGION_ATTACHED);
	ck_assert_mem_eq(tp_region_seed(r), seed, 16);
	ck_assert_uint_eq(tp_counter_sum(r, TP_COUNT_TURNS), 41);
	tp_region_close(r);
	tp_region_close(NULL);
}
END_TEST

START_TEST(fresh_replaces)
{
	struct tp_region *old = open_as(small, false, TP_REGION_CREATED);
	tp_count(old, 0, TP_COUNT_TURNS, 41);
	struct tp_region *r = open_as(small, true, TP_REGION_REPLACED);
	ck_assert_uint_eq(tp_counter_sum(r, TP_COUNT_TURNS), 0);
	/* Orphans of an earlier master go on in theirs, undisturbed. */
	ck_assert_uint_eq(tp_counter_sum(old, TP_COUNT_TURNS), 41);
	ck_assert_mem_ne(tp_region_seed(r), tp_region_seed(old), 16);
	tp_region_close(old);
	tp_region_close(r);
}
END_TEST

START_TEST(another_size_replaces)
{
	tp_region_close(open_as(small, false, TP_REGION_CREATED));
	struct tp_region *r =
		open_as((struct tp_region_sizes){.logical_requests = 129}, false, TP_REGION_REPLACED);
	ck_assert_uint_eq(r->n_buckets, 16);
	tp_region_close(r);
}
END_TEST

/* Each byte range of the header that is looked at. */
static const struct damage {
	const char *what, *why;
	size_t offset, length;
} damages[] = {
	{"killed creator", "creator was killed", offsetof(struct tp_region_header, magic), 8},
	{"layout", "layout version", offsetof(struct tp_region_header, layout), 4},
	{"buckets", "size", offsetof(struct tp_region_header, buckets), 4},
	{"URLs", "size", offsetof(struct tp_region_header, url_buckets), 4},
	{"total size", "size", offsetof(struct tp_region_header, total_size), 8},
	{"boot", "another boot", offsetof(struct tp_region_header, boot_id), 36},
	{"slots", "damaged", offsetof(struct tp_region_header, parts[TP_PART_SLOTS]), 8},
	{"ledger", "damaged", offsetof(struct tp_region_header, parts[TP_PART_LEDGER]), 16},
};

static void overwrite(size_t offset, size_t length)
{
	const char zeroes[64] = {0};
	int fd = open(path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, zeroes, length, (off_t)offset), (int)length);
	close(fd);
}

START_TEST(damaged_is_replaced)
{
	const struct damage *d = &damages[_i];
	struct tp_region *r = open_as(small, false, TP_REGION_CREATED);
	tp_count(r, 0, TP_COUNT_TURNS, 1);
	tp_region_close(r);
	overwrite(d->offset, d->length);

	/* Who only looks does not judge by the boot: in a container its id is not the one that the server
	 * sees. */
	bool looks = d->offset == offsetof(struct tp_region_header, boot_id);
	ck_assert_msg(tp_region_open_readonly(name, &why, &r) == (looks ? 0 : -EINVAL), "%s", d->what);
	ck_assert_int_eq(why.len == 0, looks);
	tp_buf_free(&why);
	if (looks)
		tp_region_close(r);
	r = open_as(small, false, TP_REGION_REPLACED);
	ck_assert_msg(strstr(tp_buf_cstr(&why), d->why) != NULL, "%s: %s", d->what, tp_buf_cstr(&why));
	ck_assert_uint_eq(tp_counter_sum(r, TP_COUNT_TURNS), 0);
	tp_region_close(r);
	tp_buf_free(&why);
	tp_region_close(open_as(small, false, TP_REGION_ATTACHED));
}
END_TEST

START_TEST(empty_object_is_replaced)
{
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	struct tp_region *r;
	ck_assert_int_eq(tp_region_open_readonly(name, &why, &r), -EINVAL);
	tp_buf_free(&why);
	tp_region_close(open_as(small, false, TP_REGION_REPLACED));
}
END_TEST

static void make_readable(void)
{
	ck_assert_int_eq(chmod(path, 0644), 0);
}

static void make_foreign(void)
{
	ck_assert_int_eq(chown(path, 65534, 65534), 0);
}

static void make_symlink(void)
{
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/dev/zero", path), 0);
}

static void make_folder(void)
{
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_fifo(void)
{
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static const struct {
	void (*make)(void);
	const char *why;
} foreign[] = {
	{make_readable, "mode"},
	{make_foreign, "another user"},
	{make_symlink, "not a regular file"},
	{make_folder, "not a regular"},
	{make_fifo, "not a regular file"},
};

START_TEST(foreign_is_refused)
{
	if (foreign[_i].make == make_foreign && geteuid() != 0)
		return; /* only root can give a file away */
	tp_region_close(open_as(small, false, TP_REGION_CREATED));
	foreign[_i].make();
	struct tp_region *r = NULL;
	enum tp_region_result result;
	struct stat before, after;
	ck_assert_int_eq(lstat(path, &before), 0);
	for (int fresh = 0; fresh < 2; fresh++) {
		ck_assert_int_eq(tp_region_open(name, small, fresh, &why, &r, &result), -EPERM);
		ck_assert_msg(strstr(tp_buf_cstr(&why), foreign[_i].why) != NULL, "%s", tp_buf_cstr(&why));
		tp_buf_free(&why);
	}
	ck_assert_ptr_null(r);
	ck_assert_int_eq(lstat(path, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
}
END_TEST

START_TEST(no_space_leaves_nothing_behind)
{
	struct rlimit old, tight = {1 << 16, RLIM_INFINITY};
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	tight.rlim_max = old.rlim_max;
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);
	struct tp_region *r = NULL;
	enum tp_region_result result;
	int error = tp_region_open(name, small, false, &why, &r, &result);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_eq(error, -EFBIG);
	ck_assert_ptr_null(r);
	ck_assert_msg(strstr(tp_buf_cstr(&why), "cannot allocate") != NULL, "%s", tp_buf_cstr(&why));
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(too_many_records_are_refused)
{
	struct tp_region *r = NULL;
	enum tp_region_result result;
	const struct tp_region_sizes huge = {.logical_requests = UINT32_MAX};
	ck_assert_int_eq(tp_region_open(name, huge, false, &why, &r, &result), -EINVAL);
	ck_assert_uint_ne(why.len, 0);
	ck_assert_int_eq(tp_region_open_anonymous(huge, &r), -EINVAL);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(readonly_sees_what_the_server_writes)
{
	struct tp_region *look = NULL;
	ck_assert_int_eq(tp_region_open_readonly(name, &why, &look), -ENOENT);
	ck_assert_uint_ne(why.len, 0);
	tp_buf_free(&why);
	struct tp_region *r =
		open_as((struct tp_region_sizes){.logical_requests = 1000}, false, TP_REGION_CREATED);
	ck_assert_int_eq(tp_region_open_readonly(name, &why, &look), 0);
	tp_count(r, 17, TP_COUNT_TURNS, 2);
	ck_assert_uint_eq(tp_counter_sum(look, TP_COUNT_TURNS), 2);
	ck_assert_uint_eq(look->n_buckets, r->n_buckets);
	tp_region_close(look);
	tp_region_close(r);
}
END_TEST

START_TEST(existing_is_changed_but_never_made)
{
	struct tp_region *other = NULL;
	ck_assert_int_eq(tp_region_open_existing(name, &why, &other), -ENOENT);
	ck_assert_int_ne(access(path, F_OK), 0);
	tp_buf_free(&why);
	struct tp_region *r =
		open_as((struct tp_region_sizes){.logical_requests = 1000}, false, TP_REGION_CREATED);
	ck_assert_int_eq(tp_region_open_existing(name, &why, &other), 0);
	tp_count(other, 3, TP_COUNT_TURNS, 2);
	ck_assert_uint_eq(tp_counter_sum(r, TP_COUNT_TURNS), 2);
	tp_region_close(other);
	r->header->layout++;
	ck_assert_int_eq(tp_region_open_existing(name, &why, &other), -EINVAL);
	ck_assert_int_eq(access(path, F_OK), 0);
	tp_region_close(r);
}
END_TEST

START_TEST(rounds_up_to_whole_groups)
{
	static const struct {
		uint32_t cells, buckets;
	} cases[] = {{0, 8}, {1, 8}, {128, 8}, {129, 16}, {65536, 4096}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tp_region *r;
		ck_assert_int_eq(tp_region_open_anonymous(
					 (struct tp_region_sizes){.logical_requests = cases[i].cells}, &r),
				 0);
		ck_assert_uint_eq(r->n_buckets, cases[i].buckets);
		ck_assert_ptr_eq((char *)&r->buckets[r->n_buckets], (char *)r->header + r->size);
		tp_region_close(r);
	}
}
END_TEST

START_TEST(beside_leaves_the_running_one_alone)
{
	struct tp_region *old = open_as(small, false, TP_REGION_CREATED), *r = NULL;
	const struct tp_region_sizes larger = {.logical_requests = 129};
	enum tp_region_result result;
	tp_count(old, 0, TP_COUNT_TURNS, 41);
	ck_assert_int_eq(tp_region_open_beside(name, small, &why, &r, &result), 0);
	ck_assert_int_eq(result, TP_REGION_ATTACHED);
	ck_assert_uint_eq(tp_counter_sum(r, TP_COUNT_TURNS), 41);
	tp_region_close(r);

	/* Twice: what the first one left is no obstacle. */
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(tp_region_open_beside(name, larger, &why, &r, &result), 0);
		ck_assert_int_eq(result, TP_REGION_REPLACED);
		ck_assert_msg(strstr(tp_buf_cstr(&why), "it has another size") != NULL, "%s",
			      tp_buf_cstr(&why));
		tp_buf_free(&why);
		ck_assert_uint_eq(tp_counter_sum(r, TP_COUNT_TURNS), 0);
		tp_region_close(r);
	}
	tp_region_close(open_as(small, false, TP_REGION_ATTACHED));
	tp_region_drop_beside(name);
	ck_assert_int_eq(tp_region_put_in_place(name), -ENOENT);

	ck_assert_int_eq(tp_region_open_beside(name, larger, &why, &r, &result), 0);
	tp_buf_free(&why);
	/* The two change places, as often as wanted; the one without the name is what goes. */
	uint64_t before = tp_region_identity(name);
	ck_assert_int_eq(tp_region_put_in_place(name), 0);
	ck_assert_uint_ne(tp_region_identity(name), before);
	ck_assert_int_eq(tp_region_put_in_place(name), 0);
	ck_assert_uint_eq(tp_region_identity(name), before);
	ck_assert_int_eq(tp_region_put_in_place(name), 0);
	tp_region_drop_beside(name);
	ck_assert_int_eq(tp_region_put_in_place(name), -ENOENT);
	ck_assert_uint_eq(tp_region_identity("/turnpike-no-such-table"), 0);
	tp_count(r, 0, TP_COUNT_TURNS, 1);
	tp_region_close(r);
	r = open_as(larger, false, TP_REGION_ATTACHED);
	ck_assert_uint_eq(tp_counter_sum(r, TP_COUNT_TURNS), 1);
	ck_assert_uint_eq(tp_counter_sum(old, TP_COUNT_TURNS), 41);
	tp_region_close(r);
	tp_region_close(old);
}
END_TEST

TP_TESTS(region)
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, creates_then_attaches);
	tcase_add_test(t, fresh_replaces);
	tcase_add_test(t, another_size_replaces);
	tcase_add_test(t, beside_leaves_the_running_one_alone);
	tcase_add_loop_test(t, damaged_is_replaced, 0, sizeof damages / sizeof *damages);
	tcase_add_test(t, empty_object_is_replaced);
	tcase_add_loop_test(t, foreign_is_refused, 0, sizeof foreign / sizeof *foreign);
	tcase_add_test(t, no_space_leaves_nothing_behind);
	tcase_add_test(t, too_many_records_are_refused);
	tcase_add_test(t, readonly_sees_what_the_server_writes);
	tcase_add_test(t, existing_is_changed_but_never_made);
	tcase_add_test(t, rounds_up_to_whole_groups);
}
