/* Blocks that are kept for the next request: the class they come back to, and the bound of what is kept. */
#include "common/base/block.h"

#include <check.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#if defined(__SANITIZE_ADDRESS__)
#define KEEPS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS false
#endif
#endif
#ifndef KEEPS
#define KEEPS true
#endif

START_TEST(all_of_a_block_can_be_written)
{
	static const size_t sizes[] = {0,  1,   8,    63,   64,           65,
				       96, 128, 4095, 4096, TP_BLOCK_MAX, TP_BLOCK_MAX + 1};
	for (int round = 0; round < 2; round++) /* the second one gets what the first gave back */
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			char *block = tp_block_new(sizes[i]);
			ck_assert_ptr_nonnull(block);
			memset(block, 0x5a, sizes[i]);
			tp_block_free(block, sizes[i]);
		}
}
END_TEST

/* The next request of that class gets the last one, and one of another class never. */
START_TEST(a_class_gets_its_own_back)
{
	char *first = tp_block_new(1000), *second = tp_block_new(1000);
	uintptr_t last = (uintptr_t)second;
	tp_block_free(first, 1000);
	tp_block_free(second, 1000);
	char *larger = tp_block_new(1025), *same = tp_block_new(961);
	memset(larger, 1, 1025);
	memset(same, 1, 961);
	ck_assert_uint_ne((uintptr_t)larger, last);
	if (KEEPS)
		ck_assert_uint_eq((uintptr_t)same, last);
	tp_block_free(larger, 1025);
	tp_block_free(same, 961);
}
END_TEST

START_TEST(zeroed_is_zero_when_it_was_used_before)
{
	char *used = tp_block_new(512);
	memset(used, 0xff, 512);
	tp_block_free(used, 512);
	char *block = tp_block_zeroed(512);
	for (int i = 0; i < 512; i++)
		ck_assert_int_eq(block[i], 0);
	tp_block_free(block, 512);
	block = tp_block_zeroed(TP_BLOCK_MAX + 1);
	for (int i = 0; i <= TP_BLOCK_MAX; i++)
		ck_assert_int_eq(block[i], 0);
	tp_block_free(block, TP_BLOCK_MAX + 1);
}
END_TEST

/* More than is kept goes to free(). (Below valgrind and sanitizers malloc() does not say what is in use.) */
START_TEST(more_than_is_kept)
{
	enum { N = 2 * TP_BLOCK_KEPT / TP_BLOCK_MAX };
	static char *blocks[N];
	size_t before = mallinfo2().uordblks;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			blocks[i] = tp_block_new(TP_BLOCK_MAX);
			memset(blocks[i], i, TP_BLOCK_MAX);
		}
		for (int i = 0; i < N; i++) {
			ck_assert_int_eq(blocks[i][0], (char)i);
			ck_assert_int_eq(blocks[i][TP_BLOCK_MAX - 1], (char)i);
			tp_block_free(blocks[i], TP_BLOCK_MAX);
		}
		ck_assert_uint_le(mallinfo2().uordblks, before + TP_BLOCK_KEPT + TP_BLOCK_KEPT / 16);
	}
}
END_TEST

START_TEST(nothing_is_ignored)
{
	tp_block_free(NULL, 0);
	tp_block_free(NULL, 100);
	tp_block_free(NULL, TP_BLOCK_MAX + 1);
	char *block = tp_block_new(100);
	ck_assert_ptr_nonnull(block);
	tp_block_free(block, 100);
}
END_TEST

TP_TESTS(block)
{
	tcase_add_test(t, all_of_a_block_can_be_written);
	tcase_add_test(t, a_class_gets_its_own_back);
	tcase_add_test(t, zeroed_is_zero_when_it_was_used_before);
	tcase_add_test(t, more_than_is_kept);
	tcase_add_test(t, nothing_is_ignored);
}
