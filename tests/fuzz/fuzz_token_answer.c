/* Answers of token endpoints: what is taken out of them can stand in a header, and lifetimes are in range. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/token_answer.h"
#include "common/shm/token.h"
#include "tests/fuzz/fuzz_check.h"

enum { NOW_MS = 1790000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void printable(const char *s)
{
	for (; s != NULL && *s != '\0'; s++)
		FUZZ_CHECK(*s > ' ' && *s < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	FUZZ_CHECK(copy != NULL);
	if (size > 0)
		memcpy(copy + 1, data, size);
	struct tp_token_answer a;
	tp_token_answer_read((struct tp_str){copy + 1, size}, NOW_MS, &a);
	free(copy);
	printable(a.access);
	FUZZ_CHECK(a.access == NULL || (a.access[0] != '\0' && strlen(a.access) <= TP_TOKEN_MAX));
	FUZZ_CHECK(a.refresh == NULL || a.refresh[0] != '\0');
	for (const char *p = a.error; *p != '\0'; p++)
		FUZZ_CHECK(*p >= ' ' && *p < 0x7f);
	FUZZ_CHECK(memchr(a.error, '\0', sizeof a.error) != NULL && a.lifetime_ms >= -1);
	tp_token_answer_free(&a);

	/* The same bytes as secrets of a form: one line, nothing that ends a field. */
	struct tp_buf form = {0};
	struct tp_str text = {(const char *)data, size};
	tp_token_form(&form, text, text, text);
	for (size_t i = 0; i < form.len; i++)
		FUZZ_CHECK(form.data[i] > ' ' && form.data[i] < 0x7f);
	tp_buf_free(&form);
	return 0;
}
