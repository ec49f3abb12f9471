/* Field lines passed on: the same lines, however they stood in the head, whichever are left out. */
#include <stdlib.h>

#include "common/http/lines.h"
#include "tests/unit/suite.h"

static const char head[] = "HTTP/1.1 200 OK\r\n"
			   "a: 1\r\n"
			   "bb: two words\r\n"
			   "tab:\tx\r\n"
			   "none:\r\n"
			   "blank: \r\n"
			   "close:y\r\n"
			   "wide:  z\r\n"
			   "behind: v \r\n"
			   "lf: w\n"
			   "last: 9\r\n"
			   "\r\n";

static const char *const lines[] = {"a: 1\r\n",    "bb: two words\r\n", "tab: x\r\n",  "none: \r\n",
				    "blank: \r\n", "close: y\r\n",      "wide: z\r\n", "behind: v\r\n",
				    "lf: w\r\n",   "last: 9\r\n"};
enum { LINES = sizeof lines / sizeof lines[0] };

static void parse(struct tp_head *h)
{
	size_t scanned = 0;
	const char *reason = NULL;
	ck_assert_int_eq(tp_head_parse_answer(head, sizeof head - 1, 4096, false, &scanned, h, &reason),
			 TP_PARSE_OK);
	ck_assert_uint_eq(h->n_fields, LINES);
}

START_TEST(any_of_them)
{
	static struct tp_head h;
	parse(&h);
	for (unsigned mask = 0; mask < 1u << LINES; mask++) {
		struct tp_buf out = {0}, want = {0};
		struct tp_lines l = {.out = &out, .bytes = head};
		for (unsigned i = 0; i < LINES; i++)
			if ((mask >> i & 1) != 0) {
				tp_lines_add(&l, &h.fields[i]);
				tp_buf_add_str(&want, tp_str_from(lines[i]));
			}
		tp_lines_flush(&l);
		ck_assert_msg(tp_str_eq(tp_buf_str(&out), tp_buf_str(&want)), "%.*s", (int)out.len, out.data);
		tp_buf_free(&out);
		tp_buf_free(&want);
	}
}
END_TEST

START_TEST(others_between_them)
{
	static struct tp_head h;
	struct tp_buf out = {0};
	struct tp_lines l = {.out = &out, .bytes = head};
	parse(&h);
	tp_lines_flush(&l); /* nothing is pending */
	tp_lines_add(&l, &h.fields[0]);
	tp_lines_flush(&l);
	tp_buf_add_str(&out, TP_STR("x: y\r\n"));
	tp_lines_add(&l, &h.fields[1]);
	tp_lines_flush(&l);
	ck_assert(tp_str_eq(tp_buf_str(&out), TP_STR("a: 1\r\nx: y\r\nbb: two words\r\n")));
	tp_buf_free(&out);
}
END_TEST

TP_TESTS(lines)
{
	tcase_add_test(t, any_of_them);
	tcase_add_test(t, others_between_them);
}
