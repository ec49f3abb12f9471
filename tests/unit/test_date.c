/* HTTP dates: three forms in, one out; expected numbers come from another calendar. */
#include <stdlib.h>
#include <time.h>

#include "common/http/date.h"
#include "tests/unit/suite.h"

static const struct {
	const char *text;
	int64_t now;
	bool valid;
	int64_t seconds;
} dates[] = {
	{"Sun, 06 Nov 1994 08:49:37 GMT", 1795953600, true, 784111777},
	{"Sunday, 06-Nov-94 08:49:37 GMT", 1795953600, true, 784111777},
	{"Sun Nov  6 08:49:37 1994", 1795953600, true, 784111777},
	{"Thu, 01 Jan 1970 00:00:00 GMT", 1795953600, true, 0},
	{"Wed, 31 Dec 1969 23:59:59 GMT", 1795953600, true, -1},
	{"Fri, 31 Dec 9999 23:59:59 GMT", 1795953600, true, 253402300799},
	{"Tue, 29 Feb 2000 00:00:00 GMT", 1795953600, true, 951782400},
	{"Tue, 29 Feb 2028 00:00:10 GMT", 1795953600, true, 1835395210},
	{"Thu, 31 Dec 2026 23:59:60 GMT", 1795953600, true, 1798761600},
	{"Mon, 29 Nov 2026 12:00:30 GMT", 1795953600, true, 1795953630},
	{"Tue Dec  1 12:00:00 2026", 1795953600, true, 1796126400},
	{"Tue Dec 01 12:00:00 2026", 1795953600, true, 1796126400},
	{"Wednesday, 01-Jan-27 00:00:05 GMT", 1795953600, true, 1798761605},
	{"Sunday, 29-Nov-76 12:00:00 GMT", 1795953600, true, 3373876800},
	{"Sunday, 29-Nov-76 12:00:01 GMT", 1795953600, true, 218116801},
	{"Tuesday, 29-Nov-77 12:00:30 GMT", 1795953600, true, 249652830},
	{"Thursday, 01-Jan-01 00:00:00 GMT", 4083955200, true, 4133980800},
	{"Thursday, 01-Jan-99 00:00:00 GMT", 991353600, true, 915148800},
	{"Thursday, 01-Jan-70 00:00:00 GMT", -1, true, 0},
	{"Tuesday, 29-Feb-28 00:00:00 GMT", 1795953600, true, 1835395200},
	{"", 1795953600, false, 0},
	{"Sun", 1795953600, false, 0},
	{"Wed, 31 Feb 2027 12:00:00 GMT", 1795953600, false, 0},
	{"Mon, 29 Feb 2027 12:00:00 GMT", 1795953600, false, 0},
	{"Thu, 29 Feb 1900 00:00:00 GMT", 1795953600, false, 0},
	{"Sun, 31 Apr 2027 12:00:00 GMT", 1795953600, false, 0},
	{"Sun, 00 Nov 2026 12:00:00 GMT", 1795953600, false, 0},
	{"Sun, 32 Dec 2026 12:00:00 GMT", 1795953600, false, 0},
	{"Sun, 29 Nov 2026 24:00:30 GMT", 1795953600, false, 0},
	{"Sun, 29 Nov 2026 12:60:30 GMT", 1795953600, false, 0},
	{"Sun, 29 Nov 2026 12:00:61 GMT", 1795953600, false, 0},
	{"Sun, 29 Nov 2026 12:00:30 +0000", 1795953600, false, 0},
	{"29 Nov 2026 12:00:30 GMT", 1795953600, false, 0},
	{"Tue, 1 Dec 2026 12:00:00 GMT", 1795953600, false, 0},
	{"Sun, 29 Nov 2026 12:00:30 GMT!", 1795953600, false, 0},
	{"Sun, 29 Nov 2026 12:00:30 UTC", 1795953600, false, 0},
	{"Sun, 29 Nov 2026 12:00:30 gmt", 1795953600, false, 0},
	{" Sun, 29 Nov 2026 12:00:30 GMT", 1795953600, false, 0},
	{"sun, 29 Nov 2026 12:00:30 GMT", 1795953600, false, 0},
	{"Sun, 29 NOV 2026 12:00:30 GMT", 1795953600, false, 0},
	{"Sun, 29 Nov 26 12:00:30 GMT", 1795953600, false, 0},
	{"Sun, 29 Nov -026 12:00:30 GMT", 1795953600, false, 0},
	{"Sun, +9 Nov 2026 12:00:30 GMT", 1795953600, false, 0},
	{"Xyz, 29 Nov 2026 12:00:30 GMT", 1795953600, false, 0},
	{"Sun; 29 Nov 2026 12:00:30 GMT", 1795953600, false, 0},
	{"Sun, 29-Nov-2026 12:00:30 GMT", 1795953600, false, 0},
	{"Sun, 29 Nov 2026 12.00.30 GMT", 1795953600, false, 0},
	{"2026-11-29T12:00:30Z", 1795953600, false, 0},
	{"Sun, 29-Nov-26 12:00:30 GMT", 1795953600, false, 0},
	{"Sunday, 29 Nov 26 12:00:30 GMT", 1795953600, false, 0},
	{"Sunday, 29-Nov-2026 12:00:30 GMT", 1795953600, false, 0},
	{"Sunday, 29-Nov-26 12:00:30", 1795953600, false, 0},
	{"Tuesday, 29-Feb-27 00:00:00 GMT", 1795953600, false, 0},
	{"Tue Dec 1 12:00:00 2026", 1795953600, false, 0},
	{"Tue Dec  0 12:00:00 2026", 1795953600, false, 0},
	{"Tue Dec 1  12:00:00 2026", 1795953600, false, 0},
	{"Tue Dec  1 12:00:00 26", 1795953600, false, 0},
	{"Tue Dec  1 12:00:00 2026 ", 1795953600, false, 0},
	{"Tue, Dec 1 12:00:00 2026", 1795953600, false, 0},
};

START_TEST(forms)
{
	/* exactly as long as the text, so that a sanitizer sees a read beyond it */
	size_t n = strlen(dates[_i].text);
	char *text = malloc(n != 0 ? n : 1);
	ck_assert_ptr_nonnull(text);
	memcpy(text, dates[_i].text, n);
	int64_t seconds = -77;
	bool valid = tp_date_parse((struct tp_str){text, n}, dates[_i].now, &seconds);
	ck_assert_msg(valid == dates[_i].valid, "%s", dates[_i].text);
	ck_assert_msg(seconds == (valid ? dates[_i].seconds : -77), "%s: %lld", dates[_i].text,
		      (long long)seconds);
	free(text);
}
END_TEST

static const struct {
	int64_t seconds;
	const char *text;
} written[] = {
	{0, "Thu, 01 Jan 1970 00:00:00 GMT"},
	{-1, "Wed, 31 Dec 1969 23:59:59 GMT"},
	{784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
	{951868799, "Tue, 29 Feb 2000 23:59:59 GMT"},
	{1795953600, "Sun, 29 Nov 2026 12:00:00 GMT"},
	{253402300799, "Fri, 31 Dec 9999 23:59:59 GMT"},
	{-62135596800, "Mon, 01 Jan 0001 00:00:00 GMT"},
	{INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT"},
	{INT64_MIN, "Sat, 01 Jan 0000 00:00:00 GMT"},
};

START_TEST(format)
{
	char out[TP_DATE_SIZE];
	tp_date_format(written[_i].seconds, out);
	ck_assert_str_eq(out, written[_i].text);
}
END_TEST

/* Each day of eight centuries there and back, against the C library. */
START_TEST(all_days_agree_with_the_c_library)
{
	for (int64_t day = -135140; day < 157000; day++) {
		time_t t = (time_t)(day * 86400 + (day & 0xffff));
		struct tm tm;
		char want[TP_DATE_SIZE], got[TP_DATE_SIZE];
		ck_assert_ptr_nonnull(gmtime_r(&t, &tm));
		ck_assert_uint_eq(strftime(want, sizeof want, "%a, %d %b %Y %H:%M:%S GMT", &tm), 29);
		tp_date_format(t, got);
		ck_assert_str_eq(got, want);
		int64_t back;
		ck_assert(tp_date_parse(tp_str_from(got), 0, &back));
		ck_assert_int_eq(back, t);
	}
}
END_TEST

TP_TESTS(date)
{
	tcase_add_loop_test(t, forms, 0, sizeof dates / sizeof *dates);
	tcase_add_loop_test(t, format, 0, sizeof written / sizeof *written);
	tcase_add_test(t, all_days_agree_with_the_c_library);
}
