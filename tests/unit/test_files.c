/* Files of a configuration: read once, packed, unpacked, and what damaged bundles come to. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/config/files.h"

static char path[] = "/tmp/turnpike-files-XXXXXX";

static void put(const char *text)
{
	FILE *f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static int get(struct tp_buf *out, size_t limit)
{
	tp_buf_free(out);
	return tp_files_read(path, limit, false, out);
}

START_TEST(test_files_are_read_once_and_travel)
{
	struct tp_files *f = tp_files_new();
	struct tp_buf out = {0}, packed = {0};
	put("first");
	ck_assert_ptr_null(tp_files_use(f));
	ck_assert_int_eq(get(&out, 100), 0);
	put("second");
	ck_assert_int_eq(get(&out, 100), 0);
	ck_assert_str_eq(tp_buf_cstr(&out), "first");
	ck_assert_int_eq(get(&out, 4), EFBIG);
	ck_assert(tp_files_pack(f, &packed));
	struct tp_files *sealed = tp_files_unpack(tp_buf_str(&packed));
	ck_assert_ptr_nonnull(sealed);
	ck_assert_ptr_eq(tp_files_use(sealed), f);
	ck_assert_int_eq(get(&out, 100), 0);
	ck_assert_str_eq(tp_buf_cstr(&out), "first");
	ck_assert_int_eq(tp_files_read("/etc/passwd", 1000000, false, &out), ENOENT);
	for (size_t n = 1; n < packed.len; n++)
		ck_assert_ptr_null(tp_files_unpack((struct tp_str){packed.data, n}));
	(void)tp_files_use(NULL);
	ck_assert_int_eq(get(&out, 100), 0);
	ck_assert_str_eq(tp_buf_cstr(&out), "second");
	ck_assert_int_eq(tp_files_read("/tmp", 100, false, &out), EINVAL);
	tp_buf_free(&out);
	tp_buf_free(&packed);
	tp_files_unref(sealed);
	tp_files_unref(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("files");
	TCase *c = tcase_create("files");
	int fd = mkstemp(path);
	if (fd < 0)
		return 1;
	(void)close(fd);
	tcase_add_test(c, test_files_are_read_once_and_travel);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	(void)unlink(path);
	return failed != 0;
}
