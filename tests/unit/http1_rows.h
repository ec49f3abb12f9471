/* Reads tests/data/http1_requests.tsv: request, verdict, reason; with {{N*text}} and byte escapes. */
#ifndef TP_TESTS_HTTP1_ROWS_H
#define TP_TESTS_HTTP1_ROWS_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"

struct http1_row {
	struct tp_buf bytes; /* owned */
	int status;          /* 0 = accept */
	char reason[128];
};

enum { HTTP1_ROWS_MAX = 256 };

/* One escape or plain character at text[0..n); returns how much of text it took. */
static inline size_t http1_unescape(const char *text, size_t n, struct tp_buf *out)
{
	static const char letters[] = "rnt\\", meant[] = "\r\n\t\\";
	if (text[0] != '\\') {
		tp_buf_add(out, text, 1);
		return 1;
	}
	ck_assert_uint_ge(n, 2);
	const char *letter = strchr(letters, text[1]);
	if (letter != NULL) {
		tp_buf_add(out, &meant[letter - letters], 1);
		return 2;
	}
	ck_assert(text[1] == 'x' && n >= 4);
	char hex[3] = {text[2], text[3], 0};
	char byte = (char)strtoul(hex, NULL, 16);
	tp_buf_add(out, &byte, 1);
	return 4;
}

static inline void http1_expand(const char *text, size_t n, struct tp_buf *out)
{
	for (size_t i = 0; i < n;) {
		if (n - i < 2 || memcmp(text + i, "{{", 2) != 0) {
			i += http1_unescape(text + i, n - i, out);
			continue;
		}
		char *star;
		unsigned long times = strtoul(text + i + 2, &star, 10);
		ck_assert_int_eq(*star, '*');
		const char *inside = star + 1;
		const char *close = strstr(inside, "}}");
		ck_assert_ptr_nonnull(close);
		while (times-- > 0)
			http1_expand(inside, (size_t)(close - inside), out);
		i = (size_t)(close + 2 - text);
	}
}

/* Fills rows; returns how many there are. */
static inline size_t http1_rows_read(struct http1_row rows[HTTP1_ROWS_MAX])
{
	FILE *f = fopen("tests/data/http1_requests.tsv", "r");
	ck_assert_msg(f != NULL, "tests/data/http1_requests.tsv: run from the root of the tree");
	char line[4096];
	size_t n = 0;
	ck_assert_ptr_nonnull(fgets(line, sizeof line, f)); /* the header line */
	while (fgets(line, sizeof line, f) != NULL) {
		ck_assert_uint_lt(n, HTTP1_ROWS_MAX);
		struct http1_row *row = &rows[n++];
		*row = (struct http1_row){0};
		char *verdict = strchr(line, '\t');
		ck_assert_ptr_nonnull(verdict);
		char *reason = strchr(verdict + 1, '\t');
		ck_assert_ptr_nonnull(reason);
		http1_expand(line, (size_t)(verdict - line), &row->bytes);
		*reason = 0;
		if (strcmp(verdict + 1, "accept") != 0)
			row->status = (int)strtol(verdict + 1, NULL, 10);
		(void)snprintf(row->reason, sizeof row->reason, "%.*s", (int)strcspn(reason + 1, "\n"),
			       reason + 1);
	}
	(void)fclose(f);
	return n;
}

static inline void http1_rows_free(struct http1_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tp_buf_free(&rows[i].bytes);
}

#endif
