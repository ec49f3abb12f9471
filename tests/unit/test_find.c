/* Needles at every place, whole, cut off at the end, and almost there. */
#include <stdlib.h>

#include "common/base/find.h"
#include "tests/unit/suite.h"

enum { ROOM = 80 };

static const struct tp_str needles[] = {
	{"ab", 2}, {"error\"", 6}, {"\"error\"", 7}, {"\"finish_reason\"", 15}};

/* `bytes` alone in a block of its own size, so that reading past its end is found by the sanitizers. */
static void check(const char *bytes, size_t n, struct tp_str needle)
{
	char *block = malloc(n > 0 ? n : 1);
	ck_assert_ptr_nonnull(block);
	memcpy(block, bytes, n);
	const char *want = memmem(block, n, needle.p, needle.n);
	ck_assert_ptr_eq(tp_find((struct tp_str){block, n}, needle), want);
	free(block);
}

START_TEST(every_place)
{
	struct tp_str needle = needles[_i];
	for (size_t at = 0; at < ROOM; at++)
		for (size_t n = 0; n <= ROOM; n++) {
			char bytes[2 * ROOM];
			memset(bytes, 'x', sizeof bytes);
			memcpy(bytes + at, needle.p, needle.n);
			check(bytes, n, needle);
		}
}
END_TEST

START_TEST(almost)
{
	struct tp_str needle = needles[_i];
	for (size_t wrong = 0; wrong < needle.n; wrong++) {
		char bytes[ROOM];
		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = needle.p[i % needle.n];
		for (size_t i = wrong; i + needle.n < sizeof bytes; i += needle.n)
			bytes[i] ^= 1;
		for (size_t n = 0; n <= sizeof bytes; n++)
			check(bytes, n, needle);
	}
}
END_TEST

START_TEST(the_first_of_several)
{
	struct tp_str bytes = TP_STR("--error--error\"error\"-------------error\"");
	ck_assert_ptr_eq(tp_find(bytes, TP_STR("error\"")), bytes.p + 9);
	ck_assert_ptr_null(tp_find(bytes, TP_STR("Error\"")));
	ck_assert_ptr_null(tp_find((struct tp_str){NULL, 0}, TP_STR("error\"")));
}
END_TEST

#define LENGTH(table) ((int)(sizeof(table) / sizeof(table)[0]))

TP_TESTS(find)
{
	tcase_add_loop_test(t, every_place, 0, LENGTH(needles));
	tcase_add_loop_test(t, almost, 0, LENGTH(needles));
	tcase_add_test(t, the_first_of_several);
}
