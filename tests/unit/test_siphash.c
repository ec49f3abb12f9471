/* SipHash-2-4-128: vectors of the reference implementation (key 00..0f, message 00..n-1). */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/siphash.h"
#include "tests/unit/suite.h"

static const struct {
	size_t n;
	const char *hex;
} vectors[] = {
	{0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
	{2, "8177228da4a45dc7fca38bdef60affe4"},  {3, "9c70b60c5267a94e5f33b6b02985ed51"},
	{4, "f88164c12d9c8faf7d0f6e7c7bcd5579"},  {5, "1368875980776f8854527a07690e9627"},
	{6, "14eeca338b208613485ea0308fd7a15e"},  {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
	{8, "3b62a9ba6258f5610f83e264f31497b4"},  {9, "264499060ad9baabc47f8b02bb6d71ed"},
	{10, "00110dc378146956c95447d3f3d0fbba"}, {11, "0151c568386b6677a2b4dc6f81e5dc18"},
	{12, "d626b266905ef35882634df68532c125"}, {13, "9869e247e9c08b10d029934fc4b952f7"},
	{14, "31fcefac66d7de9c7ec7485fe4494902"}, {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
	{16, "6ee2a4ca67b054bbfd3315bf85230577"}, {17, "473d06e8738db89854c066c47ae47740"},
	{31, "2939b0183223fafc1723de4f52c43d35"}, {32, "7c3956ca5eeafc3e363e9d556546eb68"},
	{63, "5150d1772f50834a503e069a973fbd7c"},
};

static struct tp_hash128 hash_of(const uint8_t *bytes, size_t n, uint8_t key_xor)
{
	uint8_t key[16];
	for (uint8_t i = 0; i < 16; i++)
		key[i] = i ^ key_xor;
	return tp_siphash128(key, bytes, n);
}

START_TEST(reference_vectors)
{
	/* Exactly as large as the message and off by one from any alignment. */
	size_t n = vectors[_i].n;
	uint8_t *bytes = malloc(n + 1);
	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i + 1] = (uint8_t)i;
	struct tp_hash128 h = hash_of(bytes + 1, n, 0);
	char hex[33];
	for (size_t i = 0; i < 16; i++) {
		uint64_t half = i < 8 ? h.lo : h.hi;
		(void)snprintf(hex + 2 * i, 3, "%02x", (unsigned)(half >> (8 * (i % 8)) & 0xff));
	}
	ck_assert_str_eq(hex, vectors[_i].hex);
	free(bytes);
}
END_TEST

START_TEST(empty_message_needs_no_bytes)
{
	struct tp_hash128 a = hash_of(NULL, 0, 0), b = hash_of((const uint8_t *)"x", 0, 0);
	ck_assert(a.lo == b.lo && a.hi == b.hi);
}
END_TEST

START_TEST(key_and_length_matter)
{
	static const uint8_t zeros[32];
	struct tp_hash128 a = hash_of(zeros, 8, 0), longer = hash_of(zeros, 9, 0),
			  keyed = hash_of(zeros, 8, 1);
	ck_assert(a.lo != longer.lo && a.hi != longer.hi);
	ck_assert(a.lo != keyed.lo && a.hi != keyed.hi);
}
END_TEST

TP_TESTS(siphash)
{
	tcase_add_loop_test(t, reference_vectors, 0, sizeof vectors / sizeof *vectors);
	tcase_add_test(t, empty_message_needs_no_bytes);
	tcase_add_test(t, key_and_length_matter);
}
