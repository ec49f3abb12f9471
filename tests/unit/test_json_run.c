/* Plain bytes of JSON strings: the first one that is not plain is found, wherever it stands. */
#include "common/http/json_run.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { LONGEST = 300 }; /* several steps of each size, and what is left of one */

/* Each end and each start of a step: the memory ends with the text, so that the sanitizer sees a read beyond.
 */
START_TEST(the_first_that_is_not_plain_is_found_at_each_place)
{
	static const char others[] = {'"', '\\', '\0', '\n', 0x1f};
	for (size_t n = 0; n <= LONGEST; n++) {
		char *text = malloc(n > 0 ? n : 1);
		memset(text, 'x', n);
		ck_assert_ptr_eq(tp_json_plain_end(text, text + n), text + n);
		for (size_t at = 0; at < n; at++) {
			char c = others[(n + at) % sizeof others];
			text[at] = c;
			ck_assert_msg(tp_json_plain_end(text, text + n) == text + at, "%#x at %zu of %zu", c,
				      at, n);
			text[at] = 'x';
		}
		free(text);
	}
}
END_TEST

START_TEST(each_byte_is_what_the_grammar_says)
{
	char text[LONGEST];
	for (int c = 0; c < 256; c++) {
		bool plain = c >= 0x20 && c != '"' && c != '\\';
		for (size_t at = 60; at < LONGEST; at += 59) {
			memset(text, 'x', sizeof text);
			text[at] = (char)c;
			const char *end = tp_json_plain_end(text, text + sizeof text);
			ck_assert_msg(end == text + (plain ? sizeof text : at), "%#x at %zu", (unsigned)c,
				      at);
		}
	}
}
END_TEST

TP_TESTS(json_run)
{
	tcase_add_test(t, the_first_that_is_not_plain_is_found_at_each_place);
	tcase_add_test(t, each_byte_is_what_the_grammar_says);
}
