#include "common/http/sse_front.h"
#include "tests/unit/suite.h"

static const struct {
	const char *bytes;
	enum tp_sse_front front;
} fronts[] = {
	{"data: {}", TP_SSE_FRONT_EVENTS},
	{"data:", TP_SSE_FRONT_EVENTS},
	{"event: ping\n", TP_SSE_FRONT_EVENTS},
	{"id:1\n", TP_SSE_FRONT_EVENTS},
	{"retry: 5", TP_SSE_FRONT_EVENTS},
	{": keep-alive", TP_SSE_FRONT_EVENTS},
	{"\n\r\n\ndata: 1", TP_SSE_FRONT_EVENTS},
	{"\xef\xbb\xbf"
	 "data:",
	 TP_SSE_FRONT_EVENTS},
	{"\xef\xbb\xbf\n:", TP_SSE_FRONT_EVENTS},
	{"", TP_SSE_FRONT_UNSURE},
	{"\r\n", TP_SSE_FRONT_UNSURE},
	{"d", TP_SSE_FRONT_UNSURE},
	{"data", TP_SSE_FRONT_UNSURE},
	{"\nretr", TP_SSE_FRONT_UNSURE},
	{"\xef\xbb", TP_SSE_FRONT_UNSURE},
	{"\xef\xbb\xbf", TP_SSE_FRONT_UNSURE},
	{"\xef\xbb\xbf"
	 "even",
	 TP_SSE_FRONT_UNSURE},
	{"{\"data\": 1}", TP_SSE_FRONT_OTHER},
	{"[1]", TP_SSE_FRONT_OTHER},
	{"\"data:\"", TP_SSE_FRONT_OTHER},
	{"<html>", TP_SSE_FRONT_OTHER},
	{"database: x", TP_SSE_FRONT_OTHER},
	{"Data: x", TP_SSE_FRONT_OTHER},
	{" data: x", TP_SSE_FRONT_OTHER}, /* a name with a blank is no field of events */
	{"id", TP_SSE_FRONT_UNSURE},
	{"ideal", TP_SSE_FRONT_OTHER},
	{"\n\xef\xbb\xbf"
	 "data:",
	 TP_SSE_FRONT_OTHER}, /* a mark that is not at the start is none */
};

START_TEST(first_bytes)
{
	ck_assert_int_eq(tp_sse_front(tp_str_from(fronts[_i].bytes)), fronts[_i].front);
}
END_TEST

START_TEST(many_empty_lines)
{
	char blank[2000];
	memset(blank, '\n', sizeof blank);
	ck_assert_int_eq(tp_sse_front((struct tp_str){blank, 1000}), TP_SSE_FRONT_UNSURE);
	ck_assert_int_eq(tp_sse_front((struct tp_str){blank, sizeof blank}), TP_SSE_FRONT_OTHER);
	ck_assert_int_eq(tp_sse_front((struct tp_str){NULL, 0}), TP_SSE_FRONT_UNSURE);
}
END_TEST

TP_TESTS(sse_front)
{
	tcase_add_test(t, many_empty_lines);
	tcase_add_loop_test(t, first_bytes, 0, sizeof fronts / sizeof *fronts);
}
