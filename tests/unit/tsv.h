/*
 * Reads the tab-separated tables of tests/data: one header line, then rows.  The root of the repository
 * is the working directory, or TP_DATA names the folder.
 */
#ifndef TESTS_UNIT_TSV_H
#define TESTS_UNIT_TSV_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"

enum { TSV_COLUMNS = 8 };

struct tsv {
	FILE *file;
	char *line; /* owned; the columns point into it */
	size_t size;
	char *columns[TSV_COLUMNS];
	size_t n_columns;
};

static inline void data_path(char *out, size_t size, const char *name)
{
	const char *root = getenv("TP_DATA");

	ck_assert_int_lt(snprintf(out, size, "%s/%s", root != NULL ? root : "tests/data", name), (int)size);
}

/* The next line that is a row; false at the end. */
static inline bool tsv_next(struct tsv *t)
{
	ssize_t n = getline(&t->line, &t->size, t->file);

	if (n <= 0)
		return false;
	if (t->line[n - 1] == '\n')
		t->line[n - 1] = '\0';
	t->n_columns = 0;
	for (char *p = t->line; p != NULL && t->n_columns < TSV_COLUMNS;) {
		t->columns[t->n_columns++] = p;
		p = strchr(p, '\t');
		if (p != NULL)
			*p++ = '\0';
	}
	return true;
}

static inline struct tsv tsv_open(const char *name)
{
	struct tsv t = {0};
	char path[512];

	data_path(path, sizeof(path), name);
	t.file = fopen(path, "r");
	ck_assert_msg(t.file != NULL, "%s", path);
	ck_assert(tsv_next(&t)); /* the header line */
	return t;
}

static inline void tsv_close(struct tsv *t)
{
	fclose(t->file);
	free(t->line);
}

/* Column `i` with \r \n \t \\ \xHH turned into bytes, in place. */
static inline struct tp_str tsv_unescape(struct tsv *t, size_t i)
{
	char *from = t->columns[i], *to = from;

	while (*from != '\0') {
		if (from[0] != '\\') {
			*to++ = *from++;
			continue;
		}
		switch (from[1]) {
		case 'r': *to++ = '\r'; break;
		case 'n': *to++ = '\n'; break;
		case 't': *to++ = '\t'; break;
		case 'x': {
			char hex[3] = {from[2], from[3], '\0'};
			*to++ = (char)strtol(hex, NULL, 16);
			from += 2;
			break;
		}
		default: *to++ = from[1];
		}
		from += 2;
	}
	return (struct tp_str){t->columns[i], (size_t)(to - t->columns[i])};
}

#endif
