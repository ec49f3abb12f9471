/* Request heads: the shared table in every cut, and what a parsed head says. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/http1_listener.h"
#include "tests/unit/http1_rows.h"
#include "tests/unit/suite.h"

static struct http1_row rows[HTTP1_ROWS_MAX];

/* Feeds in pieces that end at `first`, then every `step` bytes. */
static struct listener *run(const struct tp_buf *b, size_t first, size_t step)
{
	static struct listener l;
	l = (struct listener){.verdict = LISTENER_MORE};
	size_t end = first < b->len ? first : b->len;
	while (listener_feed(&l, b->data, end) == LISTENER_MORE && end < b->len)
		end = step < b->len - end ? end + step : b->len;
	return &l;
}

static void row_is(const struct http1_row *row, size_t first, size_t step)
{
	const struct listener *l = run(&row->bytes, first, step);
	ck_assert_msg(l->verdict == row->status, "%s: %d instead of %d (first %zu, then %zu): %s",
		      row->reason, l->verdict, row->status, first, step, l->reason != NULL ? l->reason : "-");
	if (row->status == 0)
		ck_assert_msg(l->used == row->bytes.len, "%s: %zu of %zu bytes", row->reason, l->used,
			      row->bytes.len);
}

START_TEST(rows_come_out_as_the_table_says)
{
	size_t n = http1_rows_read(rows);
	ck_assert_uint_ge(n, 80);
	for (size_t i = 0; i < n; i++)
		row_is(&rows[i], SIZE_MAX, SIZE_MAX);
	http1_rows_free(rows, n);
}
END_TEST

START_TEST(rows_in_two_pieces)
{
	size_t n = http1_rows_read(rows);
	for (size_t i = 0; i < n; i++) {
		size_t len = rows[i].bytes.len;
		/* Very long rows differ at their ends only: a sample of the middle will do. */
		for (size_t cut = 0; cut<len; cut += len> 2000 && cut > 200 && cut + 200 < len ? 499 : 1)
			row_is(&rows[i], cut, SIZE_MAX);
	}
	http1_rows_free(rows, n);
}
END_TEST

START_TEST(rows_byte_by_byte)
{
	size_t n = http1_rows_read(rows);
	for (size_t i = 0; i < n; i++)
		if (rows[i].bytes.len < 10000) {
			row_is(&rows[i], 1, 1);
			row_is(&rows[i], 1, 3);
		} else {
			row_is(&rows[i], 1, 13);
		}
	http1_rows_free(rows, n);
}
END_TEST

#define REST "Host: a\r\n\r\n"
#define POST "POST /v1/responses HTTP/1.1\r\nHost: a\r\n"

static const struct {
	const char *text;
	int status;
} more_rows[] = {
	/* lengths and codings together */
	{POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
	{POST "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
	{POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400},
	{POST "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
	{POST "Content-Length: 2, 2\r\n\r\n{}", 400},
	{POST "Content-Length: -2\r\n\r\n{}", 400},
	{POST "Content-Length: 2 2\r\n\r\n{}", 400},
	{POST "Content-Length: 268435456\r\n\r\n", LISTENER_MORE},
	{POST "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
	{POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
	{POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
	{POST "Transfer-Encoding: identity, chunked\r\n\r\n", 501},
	{POST "Transfer-Encoding: ,chunked\r\n\r\n", 400},
	{POST "Transfer-Encoding: chunked,\r\n\r\n", 400},
	{POST "Transfer-Encoding: \"chunked\"\r\n\r\n", 400},
	/* request lines */
	{"\r\n\r\nGET / HTTP/1.1\r\n" REST, 400},
	{"\nGET / HTTP/1.1\r\n" REST, 400},
	{"CONNECT / HTTP/1.1\r\n" REST, 501},
	{"connect a:1 HTTP/1.1\r\n" REST, 400},
	{"GET / HTTP/1.2\r\n" REST, 400},
	{"GET / HTTP/1.11\r\n" REST, 400},
	{"GET / HTTP/1.\r\n" REST, 400},
	{"GET / HTTP/1.1\r\r\n" REST, 400},
	{"GET /\x7f HTTP/1.1\r\n" REST, 400},
	{"GET ftp://a/ HTTP/1.1\r\n" REST, 400},
	{"GET http:/a HTTP/1.1\r\n" REST, 400},
	{"GET a:80 HTTP/1.1\r\n" REST, 400},
	{"GET *x HTTP/1.1\r\n" REST, 400},
	{"GET http://a?q HTTP/1.1\r\n" REST, 400},
	{"GET http://b/ HTTP/1.1\r\n" REST, 400},
	{"GET http://a:80/ HTTP/1.1\r\n" REST, 400},
	{"GET http://[::1/ HTTP/1.1\r\n" REST, 400},
	{"GET http://u@a/ HTTP/1.0\r\n\r\n", 400},
	/* Host */
	{"GET / HTTP/1.1\r\nHost: a:\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: :80\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a:0\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a:65535\r\n\r\n", 0},
	{"GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: []\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", 400},
	{"GET / HTTP/1.1\r\nHost: a_b.c-d\r\n\r\n", 0},
	{"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400},
	/* field lines: the eight-byte steps of the value scan, and each kind of byte in them */
	{"GET / HTTP/1.1\r\nX: 12345678\x7f\r\n" REST, 400},
	{"GET / HTTP/1.1\r\nX: 1234567\x01\r\n" REST, 400},
	{"GET / HTTP/1.1\r\nX: 1\t2345\t678\t\t\t\t\t\t\t9\x1f\r\n" REST, 400},
	{"GET / HTTP/1.1\r\nX: \x80\xff\xfe 1\t2345\t678\t\t\t\t\t\t\t9\r\n" REST, 0},
	{"GET / HTTP/1.1\r\nX: a\r\r\n" REST, 400},
	{"GET / HTTP/1.1\r\nX\t: a\r\n" REST, 400},
	{"GET / HTTP/1.1\r\n\tX: a\r\n" REST, 400},
	{"GET / HTTP/1.1\r\nHost: a\r\n\r", LISTENER_MORE},
	{"GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
	/* a fault counts when its line is complete, and the first one counts */
	{"G@T", LISTENER_MORE},
	{"G@T\r", LISTENER_MORE},
	{"G@T\r\n", 400},
	{"GET / HTTP/1.1\r\nX(: 1", LISTENER_MORE},
	{"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n", 413},
	{"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\nX(: 1\r\n", 413},
	{"GET / HTTP/1.1\r\nX(: 1\r\nContent-Length: 99999999999\r\n", 400},
};

START_TEST(more_rows_in_every_cut)
{
	struct http1_row row = {0};
	row.status = more_rows[_i].status;
	const char *text = more_rows[_i].text;
	(void)snprintf(row.reason, sizeof row.reason, "%.100s", text);
	tp_buf_add_str(&row.bytes, tp_str_from(text));
	if (row.status == 0 || row.status == LISTENER_MORE) {
		struct listener *l = run(&row.bytes, SIZE_MAX, SIZE_MAX);
		ck_assert_msg(l->verdict == row.status, "%s: %d", row.reason, l->verdict);
	} else {
		for (size_t cut = 0; cut <= row.bytes.len; cut++)
			row_is(&row, cut, SIZE_MAX);
	}
	row_is(&row, 1, 1);
	tp_buf_free(&row.bytes);
}
END_TEST

/* Parses all at once; false when it is not TP_PARSE_OK. */
static bool parse(const char *text, struct tp_head *h)
{
	size_t scanned = 0;
	int status;
	const char *reason;
	return tp_head_parse_request(text, strlen(text), LISTENER_LIMIT_HEAD, LISTENER_LIMIT_BODY, &scanned,
				     h, &status, &reason) == TP_PARSE_OK;
}

#define H11 "GET / HTTP/1.1\r\nHost: a\r\n"
#define H10 "GET / HTTP/1.0\r\n"

static const struct {
	const char *text;
	int minor;
	bool keep_alive, upgrade, expect;
} meanings[] = {
	{H11 "\r\n", 1, true, false, false},
	{H11 "Connection: close\r\n\r\n", 1, false, false, false},
	{H11 "connection: x, CLOSE\r\n\r\n", 1, false, false, false},
	{H11 "Connection: keep-alive\r\nConnection: close\r\n\r\n", 1, false, false, false},
	{H11 "Connection: closed\r\n\r\n", 1, true, false, false},
	{H11 "Connection: ,, close ,\r\n\r\n", 1, false, false, false},
	{H11 "Proxy-Connection: close\r\n\r\n", 1, true, false, false},
	{H10 "\r\n", 0, false, false, false},
	{H10 "Connection: Keep-Alive\r\n\r\n", 0, true, false, false},
	{H10 "Connection: keep-alive, close\r\n\r\n", 0, false, false, false},
	{H10 "Connection: upgrade\r\nUpgrade: websocket\r\nExpect: 100-continue\r\n\r\n", 0, false, false,
	 false},
	{H11 "Connection: Upgrade, keep-alive\r\nUpgrade: websocket\r\n\r\n", 1, true, true, false},
	{H11 "Connection: upgrade\r\n\r\n", 1, true, false, false},
	{H11 "Upgrade: websocket\r\n\r\n", 1, true, false, false},
	{H11 "Expect: 100-Continue\r\n\r\n", 1, true, false, true},
	{H11 "Expect: x\r\nExpect: y, 100-continue\r\n\r\n", 1, true, false, true},
	{H11 "Expect: 100-continued\r\n\r\n", 1, true, false, false},
};

START_TEST(connection_upgrade_expect)
{
	struct tp_head h;
	memset(&h, 0xa5, sizeof h); /* nothing may be left of what was there */
	ck_assert_msg(parse(meanings[_i].text, &h), "%s", meanings[_i].text);
	ck_assert_msg(h.minor == meanings[_i].minor && h.keep_alive == meanings[_i].keep_alive &&
			      h.upgrade == meanings[_i].upgrade && h.expect_continue == meanings[_i].expect,
		      "%s", meanings[_i].text);
	ck_assert_int_eq(h.framing, TP_FRAMING_NONE);
	ck_assert_uint_eq(h.content_length, 0);
	ck_assert_uint_eq(h.status, 0);
	ck_assert_uint_eq(h.size, strlen(meanings[_i].text));
}
END_TEST

static void span_is(const char *bytes, struct tp_span span, const char *text)
{
	ck_assert_msg(tp_str_eq(tp_span_str(bytes, span), tp_str_from(text)), "\"%.*s\" instead of \"%s\"",
		      (int)span.n, bytes + span.at, text);
}

static const struct {
	const char *line, *method, *target, *authority;
} targets[] = {
	{"GET /a?b HTTP/1.1\r\nHost: x:1", "GET", "/a?b", "x:1"},
	{"OPTIONS * HTTP/1.1\r\nHost: x", "OPTIONS", "*", "x"},
	{"GET http://X.y/a?b HTTP/1.1\r\nHost: x.Y", "GET", "/a?b", "x.Y"},
	{"GET HTTPS://x:1/ HTTP/1.1\r\nHost: x:1", "GET", "/", "x:1"},
	{"GET http://x HTTP/1.1\r\nHost: x", "GET", "/", "x"},
	{"GET http://[::1]:8080/a HTTP/1.0\r\nX: 1", "GET", "/a", "[::1]:8080"},
	{"\r\nM-SEARCH //a HTTP/1.0\r\nX: 1", "M-SEARCH", "//a", ""},
};

START_TEST(targets_and_authorities)
{
	char text[256];
	(void)snprintf(text, sizeof text, "%s\r\n\r\nafter", targets[_i].line);
	struct tp_head h;
	ck_assert(parse(text, &h));
	ck_assert_uint_eq(h.size, strlen(text) - 5);
	span_is(text, h.method, targets[_i].method);
	span_is(text, h.target, targets[_i].target);
	span_is(text, h.authority, targets[_i].authority);
}
END_TEST

START_TEST(fields_are_found)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\nX-One:\t 1 2 \t\r\nAuthorization: k1\r\n"
				   "authorization: k2\r\nX-Turnpike-Future: 1\r\nEmpty:\r\n"
				   "Connection: x-one, close, host, EMPTY\r\nx-two: 2\r\n\r\n";
	struct tp_head h;
	ck_assert(parse(text, &h));
	ck_assert_uint_eq(h.n_fields, 8);
	span_is(text, tp_head_find_name(&h, text, TP_STR("x-oNe"))->value, "1 2");
	span_is(text, tp_head_find_name(&h, text, TP_STR("empty"))->value, "");
	span_is(text, tp_head_find(&h, TP_FIELD_AUTHORIZATION)->value, "k1");
	ck_assert_ptr_null(tp_head_find(&h, TP_FIELD_DATE));
	ck_assert_ptr_null(tp_head_find_name(&h, text, TP_STR("x-on")));
	ck_assert(tp_head_has(&h, TP_FIELD_AUTHORIZATION) && !tp_head_has(&h, TP_FIELD_DATE));

	static const bool named[] = {true, true, false, false, false, true, false, false};
	static const bool ends[] = {true, true, false, false, true, true, true, false};
	for (size_t i = 0; i < 8; i++) {
		ck_assert_msg(h.fields[i].connection_named == named[i], "field %zu", i);
		ck_assert_msg(tp_field_ends_here(&h.fields[i]) == ends[i], "field %zu", i);
	}
}
END_TEST

START_TEST(a_copy_stands_alone)
{
	char text[] = "POST /v1/responses HTTP/1.1\r\nHost: a\r\nX-Api-Key: k1\r\n\r\nbody";
	struct tp_head h;
	ck_assert(parse(text, &h));
	char *bytes = NULL;
	struct tp_head *copy = tp_head_copy(&h, text, &bytes);
	ck_assert_ptr_nonnull(copy);
	memset(&h, 0xff, sizeof h);
	memset(text, 'x', sizeof text - 1);
	ck_assert_uint_eq(copy->n_fields, 2);
	span_is(bytes, copy->target, "/v1/responses");
	span_is(bytes, tp_head_find(copy, TP_FIELD_X_API_KEY)->value, "k1");
	tp_head_free(copy);
}
END_TEST

/* A head with n fields, the first of them Host; `last` is put in front of the empty line. */
static void many_fields(struct tp_buf *b, size_t n, const char *last)
{
	tp_buf_printf(b, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (size_t i = 1; i < n; i++)
		tp_buf_printf(b, "x-%zu: %zu\r\n", i, i);
	tp_buf_printf(b, "%s\r\n", last);
}

START_TEST(number_of_fields)
{
	static const struct {
		size_t n;
		const char *last;
		int status;
	} cases[] = {{128, "", 0}, {129, "", 431}, {300, "", 431}, {200, "Content-Length: +1\r\n", 400}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct http1_row row = {.status = cases[i].status, .reason = "many fields"};
		many_fields(&row.bytes, cases[i].n, cases[i].last);
		row_is(&row, SIZE_MAX, SIZE_MAX);
		row_is(&row, 1, 1);
		row_is(&row, 700, 100);
		tp_buf_free(&row.bytes);
	}
}
END_TEST

START_TEST(connection_options_are_bounded)
{
	for (int n = 128; n <= 129; n++) {
		struct http1_row row = {.status = n == 128 ? 0 : 400, .reason = "many options"};
		tp_buf_printf(&row.bytes, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close");
		for (int i = 0; i < n; i++)
			tp_buf_printf(&row.bytes, ",o%d", i);
		tp_buf_printf(&row.bytes, "\r\n\r\n");
		row_is(&row, SIZE_MAX, SIZE_MAX);
		tp_buf_free(&row.bytes);
	}
}
END_TEST

START_TEST(head_of_exactly_the_limit)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
	const size_t n = sizeof text - 1;
	static const struct {
		size_t limit, come;
		enum tp_parse want;
		int status;
	} cases[] = {
		{27, 27, TP_PARSE_OK, 0},    {27, 26, TP_PARSE_MORE, 0},  {26, 27, TP_PARSE_BAD, 431},
		{26, 26, TP_PARSE_BAD, 431}, {26, 25, TP_PARSE_MORE, 0},  {16, 16, TP_PARSE_BAD, 431},
		{15, 15, TP_PARSE_BAD, 414}, {15, 27, TP_PARSE_BAD, 414}, {0, 0, TP_PARSE_BAD, 414},
	};
	ck_assert_uint_eq(n, 27);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tp_head h;
		size_t scanned = 0;
		int status = 0;
		const char *reason;
		enum tp_parse got = tp_head_parse_request(text, cases[i].come, cases[i].limit, 0, &scanned,
							  &h, &status, &reason);
		ck_assert_msg(got == cases[i].want && status == cases[i].status, "case %zu: %d, %d", i, got,
			      status);
		ck_assert_uint_eq(scanned, got == TP_PARSE_MORE ? cases[i].come : 0);
	}
}
END_TEST

TP_TESTS(head)
{
	tcase_set_timeout(t, 120);
	tcase_add_test(t, rows_come_out_as_the_table_says);
	tcase_add_test(t, rows_in_two_pieces);
	tcase_add_test(t, rows_byte_by_byte);
	tcase_add_loop_test(t, more_rows_in_every_cut, 0, sizeof more_rows / sizeof *more_rows);
	tcase_add_loop_test(t, connection_upgrade_expect, 0, sizeof meanings / sizeof *meanings);
	tcase_add_loop_test(t, targets_and_authorities, 0, sizeof targets / sizeof *targets);
	tcase_add_test(t, fields_are_found);
	tcase_add_test(t, a_copy_stands_alone);
	tcase_add_test(t, number_of_fields);
	tcase_add_test(t, connection_options_are_bounded);
	tcase_add_test(t, head_of_exactly_the_limit);
}
