#include <stdlib.h>

#include "common/config/suggest.h"
#include "common/config/units.h"
#include "tests/unit/suite.h"

enum kind { COUNT, DURATION, SIZE };

static const char *parse(enum kind kind, const char *text, uint64_t *value)
{
	struct tp_str s = tp_str_from(text);
	return kind == COUNT      ? tp_parse_count(s, value)
	       : kind == DURATION ? tp_parse_duration(s, value)
				  : tp_parse_size(s, value);
}

static const struct {
	enum kind kind;
	const char *text;
	uint64_t value;
} good[] = {
	{COUNT, "0", 0},
	{COUNT, "7", 7},
	{COUNT, "18446744073709551615", UINT64_MAX},
	{DURATION, "0", 0},
	{DURATION, "0s", 0},
	{DURATION, "150ms", 150},
	{DURATION, "1.5s", 1500},
	{DURATION, "0.25s", 250},
	{DURATION, "0.001s", 1},
	{DURATION, "1.50m", 90000},
	{DURATION, "5m", 300000},
	{DURATION, "1h", 3600000},
	{DURATION, "0.5h", 1800000},
	{SIZE, "0", 0},
	{SIZE, "512", 512},
	{SIZE, "64KiB", 65536},
	{SIZE, "1MiB", 1048576},
	{SIZE, "2GiB", UINT64_C(2147483648)},
};

START_TEST(reads_values)
{
	uint64_t value = 99;
	ck_assert_ptr_null(parse(good[_i].kind, good[_i].text, &value));
	ck_assert_uint_eq(value, good[_i].value);
}
END_TEST

static const struct {
	enum kind kind;
	const char *text, *reason;
} wrong[] = {
	{COUNT, "", "empty"},
	{COUNT, "-1", "negative"},
	{COUNT, "+1", "not a whole number"},
	{COUNT, "1.5", "not a whole number"},
	{COUNT, "1e3", "not a whole number"},
	{COUNT, "0x10", "not a whole number"},
	{COUNT, "1_000", "not a whole number"},
	{COUNT, " 1", "not a whole number"},
	{COUNT, "1 ", "not a whole number"},
	{COUNT, "010", "begins with a zero"},
	{COUNT, "18446744073709551616", "too large"},
	{DURATION, "", "empty"},
	{DURATION, "10", "no unit"},
	{DURATION, "0.0", "no unit"},
	{DURATION, "1.5", "no unit"},
	{DURATION, "-5s", "negative"},
	{DURATION, "5 s", "unknown unit"},
	{DURATION, "5S", "unknown unit"},
	{DURATION, "5sec", "unknown unit"},
	{DURATION, "1h30m", "unknown unit"},
	{DURATION, "1d", "unknown unit"},
	{DURATION, "s", "not a duration"},
	{DURATION, ".5s", "not a duration"},
	{DURATION, "1.s", "no digit"},
	{DURATION, "0.5ms", "finer than a millisecond"},
	{DURATION, "1.0005s", "finer than a millisecond"},
	{DURATION, "0.00000000001h", "finer than a millisecond"},
	{DURATION, "18446744073709551615h", "too large"},
	{DURATION, "18446744073709551615.9ms", "too large"},
	{DURATION, "99999999999999999999s", "too large"},
	{SIZE, "", "empty"},
	{SIZE, "-1KiB", "negative"},
	{SIZE, "64KB", "unknown unit"},
	{SIZE, "64k", "unknown unit"},
	{SIZE, "1.5MiB", "whole number"},
	{SIZE, "KiB", "not a size"},
	{SIZE, "18446744073709551615GiB", "too large"},
};

START_TEST(refuses_values_with_a_reason)
{
	uint64_t value = 99;
	const char *reason = parse(wrong[_i].kind, wrong[_i].text, &value);
	ck_assert_ptr_nonnull(reason);
	ck_assert_msg(strstr(reason, wrong[_i].reason) != NULL, "\"%s\" %s", wrong[_i].text, reason);
	ck_assert_uint_eq(value, 99);
}
END_TEST

static const struct {
	const char *text;
	int value; /* -1 = refused */
} booleans[] = {
	{"true", 1},  {"True", 1}, {"TRUE", 1},  {"yes", 1}, {"on", 1},     {"ON", 1},
	{"false", 0}, {"no", 0},   {"No", 0},    {"off", 0}, {"OFF", 0},    {"", -1},
	{"1", -1},    {"0", -1},   {"tRue", -1}, {"y", -1},  {"truee", -1},
};

START_TEST(reads_booleans)
{
	bool value = booleans[_i].value != 1;
	const char *reason = tp_parse_bool(tp_str_from(booleans[_i].text), &value);
	ck_assert_int_eq(reason == NULL, booleans[_i].value >= 0);
	if (reason == NULL)
		ck_assert_int_eq(value, booleans[_i].value);
}
END_TEST

static const struct {
	enum kind kind;
	uint64_t value;
	const char *text;
} formats[] = {
	{DURATION, 0, "0s"},
	{DURATION, 150, "150ms"},
	{DURATION, 1000, "1s"},
	{DURATION, 1500, "1.5s"},
	{DURATION, 1234, "1234ms"},
	{DURATION, 120000, "120s"},
	{DURATION, 599000, "599s"},
	{DURATION, 600000, "10m"},
	{DURATION, 601000, "601s"},
	{DURATION, 3600000, "1h"},
	{DURATION, 86400000, "24h"},
	{SIZE, 0, "0"},
	{SIZE, 1, "1"},
	{SIZE, 1024, "1KiB"},
	{SIZE, 1025, "1025"},
	{SIZE, 1048576, "1MiB"},
	{SIZE, 1572864, "1536KiB"},
	{SIZE, UINT64_C(1) << 40, "1024GiB"},
};

START_TEST(formats_values_as_they_are_read)
{
	struct tp_buf out = {0};
	uint64_t value = 0;
	if (formats[_i].kind == DURATION)
		tp_format_duration(&out, formats[_i].value);
	else
		tp_format_size(&out, formats[_i].value);
	ck_assert_str_eq(tp_buf_cstr(&out), formats[_i].text);
	ck_assert_ptr_null(parse(formats[_i].kind, out.data, &value));
	ck_assert_uint_eq(value, formats[_i].value);
	tp_buf_free(&out);
}
END_TEST

static const char *const known_words[] = {"timeouts", "first_byte", "sends", "url", "keys", "idle", NULL};
static const struct {
	const char *word, *best; /* NULL = nothing near */
} nearest[] = {
	{"timeout", "timeouts"},
	{"tiemouts", "timeouts"},
	{"firstByte", "first_byte"},
	{"first-byte", "first_byte"},
	{"URL", "url"},
	{"key", "keys"},
	{"send", "sends"},
	{"zebra", NULL},
	{"", NULL},
	{"x", NULL},
	{"ul", "url"},
	{"completely_different", NULL},
	{"a_word_that_is_far_longer_than_any_key_of_the_table", NULL},
};

START_TEST(suggests_the_nearest_word)
{
	struct tp_suggestion s = tp_suggest_begin(nearest[_i].word);
	for (size_t i = 0; known_words[i] != NULL; i++)
		tp_suggest_candidate(&s, known_words[i]);
	if (nearest[_i].best == NULL)
		ck_assert_ptr_null(s.best);
	else
		ck_assert_pstr_eq(s.best, nearest[_i].best);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

TP_TESTS(units)
{
	tcase_add_loop_test(t, reads_values, 0, ROWS(good));
	tcase_add_loop_test(t, refuses_values_with_a_reason, 0, ROWS(wrong));
	tcase_add_loop_test(t, reads_booleans, 0, ROWS(booleans));
	tcase_add_loop_test(t, formats_values_as_they_are_read, 0, ROWS(formats));
	tcase_add_loop_test(t, suggests_the_nearest_word, 0, ROWS(nearest));
}
