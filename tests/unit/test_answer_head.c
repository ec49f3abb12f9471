/* Answer heads: what is forgiven, what is not, and where the body ends. */
#include <stdio.h>
#include <stdlib.h>

#include "common/http/head.h"
#include "tests/unit/suite.h"

enum { LIMIT = 65536 };

/* From memory of exactly this size. */
static enum tp_parse parse(const char *text, size_t n, bool head_request, size_t *scanned, struct tp_head *h)
{
	char *copy = malloc(n != 0 ? n : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, n);
	const char *reason = NULL;
	enum tp_parse got = tp_head_parse_answer(copy, n, LIMIT, head_request, scanned, h, &reason);
	ck_assert((got == TP_PARSE_BAD) == (reason != NULL));
	free(copy);
	return got;
}

#define OK200 "HTTP/1.1 200 OK\r\n"
#define CL(n) "Content-Length: " #n "\r\n"
#define TE    "Transfer-Encoding: chunked\r\n"

static const struct {
	const char *text;
	enum tp_parse result;
	int status;
	enum tp_framing framing;
	uint64_t length;
	bool keep_alive;
	const char *reason;
} rows[] = {
#define GOOD(text, status, framing, length, keep, reason)                                                    \
	{                                                                                                    \
		text, TP_PARSE_OK, status, TP_FRAMING_##framing, length, keep, reason                        \
	}
#define BAD(text)                                                                                            \
	{                                                                                                    \
		text, TP_PARSE_BAD, 0, TP_FRAMING_NONE, 0, false, ""                                         \
	}
	GOOD(OK200 CL(5) "\r\n", 200, LENGTH, 5, true, "OK"),
	GOOD(OK200 CL(0) "\r\n", 200, LENGTH, 0, true, "OK"),
	GOOD(OK200 TE "\r\n", 200, CHUNKED, 0, true, "OK"),
	GOOD(OK200 "\r\n", 200, CLOSE, 0, false, "OK"),
	GOOD(OK200 "Connection: close\r\n" CL(5) "\r\n", 200, LENGTH, 5, false, "OK"),
	/* sloppy, and forgiven */
	GOOD("HTTP/1.1 200\r\n" CL(1) "\r\n", 200, LENGTH, 1, true, ""),
	GOOD("HTTP/1.1 200 \r\n" CL(1) "\r\n", 200, LENGTH, 1, true, ""),
	GOOD("HTTP/1.1 503  a\tb \xe9\r\n" CL(1) "\r\n", 503, LENGTH, 1, true, " a\tb \xe9"),
	GOOD("HTTP/1.1 200\n\n", 200, CLOSE, 0, false, ""),
	GOOD("HTTP/1.1 200 OK\nContent-Length: 1\n\n", 200, LENGTH, 1, true, "OK"),
	GOOD("HTTP/1.1 200 OK\r\nContent-Length: 1\n\r\n", 200, LENGTH, 1, true, "OK"),
	GOOD("HTTP/1.0 200 OK\r\n" CL(1) "\r\n", 200, LENGTH, 1, false, "OK"),
	GOOD("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" CL(1) "\r\n", 200, LENGTH, 1, true, "OK"),
	GOOD("HTTP/1.2 200 OK\r\n" CL(1) "\r\n", 200, LENGTH, 1, true, "OK"),
	GOOD(OK200 CL(5) CL(5) "\r\n", 200, LENGTH, 5, true, "OK"),
	GOOD(OK200 CL(5) "Content-Length: 05 , 5\r\n\r\n", 200, LENGTH, 5, true, "OK"),
	GOOD(OK200 "Transfer-Encoding: , Chunked,\r\n\r\n", 200, CHUNKED, 0, true, "OK"),
	GOOD(OK200 "Transfer-Encoding: identity\r\n\r\n", 200, CLOSE, 0, false, "OK"),
	/* the end may be misplaced: never used again */
	GOOD(OK200 CL(5) TE "\r\n", 200, CHUNKED, 0, false, "OK"),
	GOOD(OK200 TE CL(5) "\r\n", 200, CHUNKED, 0, false, "OK"),
	GOOD("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" TE "\r\n", 200, CHUNKED, 0, false, "OK"),
	GOOD(OK200 "Transfer-Encoding: identity\r\n" CL(5) "\r\n", 200, LENGTH, 5, false, "OK"),
	GOOD(OK200 "Transfer-Encoding:\r\n" CL(5) "\r\n", 200, LENGTH, 5, false, "OK"),
	GOOD("HTTP/1.1 204 No\r\n" TE "\r\n", 204, NONE, 0, false, "No"),
	GOOD("HTTP/1.1 204 No\r\n" CL(5) "\r\n", 204, NONE, 0, false, "No"),
	/* no body, whatever is said */
	GOOD("HTTP/1.1 100 Continue\r\n\r\n", 100, NONE, 0, true, "Continue"),
	GOOD("HTTP/1.1 103 Early\r\n" CL(5) "\r\n", 103, NONE, 0, true, "Early"),
	GOOD("HTTP/1.1 204 No\r\n" CL(0) "\r\n", 204, NONE, 0, true, "No"),
	GOOD("HTTP/1.1 304 Not\r\n" TE "\r\n", 304, NONE, 0, true, "Not"),
	GOOD("HTTP/1.1 304 Not\r\n" CL(5) "\r\n", 304, NONE, 0, true, "Not"),
	GOOD("HTTP/1.1 205 Reset\r\n" CL(0) "\r\n", 205, LENGTH, 0, true, "Reset"),
	GOOD("HTTP/1.1 599 x\r\n" CL(18446744073709551615) "\r\n", 599, LENGTH, UINT64_MAX, true, "x"),
	/* status lines */
	BAD("HTTP/1.1 099 x\r\n\r\n"),
	BAD("HTTP/1.1 600 x\r\n\r\n"),
	BAD("HTTP/1.1 20 x\r\n\r\n"),
	BAD("HTTP/1.1 2000 x\r\n\r\n"),
	BAD("HTTP/1.1 200OK\r\n\r\n"),
	BAD("HTTP/1.1  200 OK\r\n\r\n"),
	BAD("HTTP/1.1\t200 OK\r\n\r\n"),
	BAD("HTTP/2.0 200 OK\r\n\r\n"),
	BAD("HTTP/1.x 200 OK\r\n\r\n"),
	BAD("http/1.1 200 OK\r\n\r\n"),
	BAD("ICY 200 OK\r\n\r\n"),
	BAD("HTTP/1.1 200 O\x01K\r\n\r\n"),
	BAD("HTTP/1.1 200 O\rK\r\n\r\n"),
	BAD("HTTP/1.1\r\n\r\n"),
	BAD("\r\nHTTP/1.1 200 OK\r\n\r\n"),
	BAD("<html>\n"),
	/* lengths and codings */
	BAD(OK200 CL(5) CL(6) "\r\n"),
	BAD(OK200 "Content-Length: 5, 6\r\n\r\n"),
	BAD(OK200 "Content-Length: 5,\r\n\r\n"),
	BAD(OK200 "Content-Length: -5\r\n\r\n"),
	BAD(OK200 "Content-Length:\r\n\r\n"),
	BAD(OK200 CL(18446744073709551616) "\r\n"),
	BAD(OK200 "Transfer-Encoding: gzip, chunked\r\n\r\n"),
	BAD(OK200 "Transfer-Encoding: gzip\r\n\r\n"),
	BAD(OK200 TE TE "\r\n"),
	BAD(OK200 TE "Transfer-Encoding: identity\r\n\r\n"),
	/* field lines */
	BAD(OK200 "A: b\r\n c\r\n\r\n"),
	BAD(OK200 "A: b\n\tc\n\n"),
	BAD(OK200 " A: b\r\n\r\n"),
	BAD(OK200 "A : b\r\n\r\n"),
	BAD(OK200 ": b\r\n\r\n"),
	BAD(OK200 "A b\r\n\r\n"),
	BAD(OK200 "A: b\rc\r\n\r\n"),
	BAD(OK200 "A: b\x01"
		  "c\r\n\r\n"),
	BAD(OK200 "A: \x7f\r\n\r\n"),
};

static void row_is(int i, size_t first, size_t step)
{
	struct tp_head h;
	memset(&h, 0xa5, sizeof h);
	size_t n = strlen(rows[i].text), end = first < n ? first : n, scanned = 0;
	enum tp_parse got;
	while ((got = parse(rows[i].text, end, false, &scanned, &h)) == TP_PARSE_MORE && end < n)
		end = step < n - end ? end + step : n;
	ck_assert_msg(got == rows[i].result, "%s: %d (first %zu, step %zu)", rows[i].text, got, first, step);
	if (got != TP_PARSE_OK)
		return;
	ck_assert_msg(h.status == rows[i].status && h.framing == rows[i].framing &&
			      h.content_length == rows[i].length && h.keep_alive == rows[i].keep_alive,
		      "%s: %d, framing %d, length %llu, keep %d", rows[i].text, h.status, h.framing,
		      (unsigned long long)h.content_length, h.keep_alive);
	ck_assert(tp_str_eq(tp_span_str(rows[i].text, h.reason), tp_str_from(rows[i].reason)));
	ck_assert_uint_eq(h.size, n);
}

START_TEST(every_cut)
{
	row_is(_i, SIZE_MAX, SIZE_MAX);
	row_is(_i, 1, 1);
	for (size_t cut = 0; cut < strlen(rows[_i].text); cut++)
		row_is(_i, cut, SIZE_MAX);
}
END_TEST

START_TEST(answer_to_head_has_no_body)
{
	static const char *const texts[] = {OK200 CL(5) "\r\n", OK200 TE "\r\n", OK200 "\r\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tp_head h;
		size_t scanned = 0;
		ck_assert_int_eq(parse(texts[i], strlen(texts[i]), true, &scanned, &h), TP_PARSE_OK);
		ck_assert(h.framing == TP_FRAMING_NONE && h.keep_alive && h.content_length == 0);
	}
}
END_TEST

START_TEST(switching_protocols)
{
	static const char text[] =
		"HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81";
	struct tp_head h;
	size_t scanned = 0;
	ck_assert_int_eq(parse(text, sizeof text - 1, false, &scanned, &h), TP_PARSE_OK);
	ck_assert(h.upgrade && h.status == 101 && h.framing == TP_FRAMING_NONE);
	ck_assert_uint_eq(h.size, sizeof text - 2);
}
END_TEST

START_TEST(nul_is_refused)
{
	static const char text[] = OK200 "A: b\0c\r\n\r\n";
	struct tp_head h;
	size_t scanned = 0;
	ck_assert_int_eq(parse(text, sizeof text - 1, false, &scanned, &h), TP_PARSE_BAD);
}
END_TEST

START_TEST(limits)
{
	static const char text[] = OK200 "A: b\r\n\r\n";
	const size_t n = sizeof text - 1;
	const char *reason;
	struct tp_head h;
	size_t scanned = 0;
	ck_assert_int_eq(tp_head_parse_answer(text, n, n, false, &scanned, &h, &reason), TP_PARSE_OK);
	ck_assert_int_eq(tp_head_parse_answer(text, n, n - 1, false, &scanned, &h, &reason), TP_PARSE_BAD);
	ck_assert_int_eq(tp_head_parse_answer(text, n - 2, n - 1, false, &scanned, &h, &reason),
			 TP_PARSE_MORE);
	ck_assert_int_eq(tp_head_parse_answer(text, n - 1, n - 1, false, &scanned, &h, &reason),
			 TP_PARSE_BAD);
}
END_TEST

TP_TESTS(answer)
{
	tcase_add_loop_test(t, every_cut, 0, sizeof rows / sizeof *rows);
	tcase_add_test(t, answer_to_head_has_no_body);
	tcase_add_test(t, switching_protocols);
	tcase_add_test(t, nul_is_refused);
	tcase_add_test(t, limits);
}
