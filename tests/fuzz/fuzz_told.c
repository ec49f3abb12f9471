/* Waits and meanings read from untrusted answers: any bytes, no crash, and every result in its range. */
#include <stdint.h>
#include <stdlib.h>

#include "common/retry/amount.h"
#include "common/retry/classify.h"
#include "common/retry/hints.h"
#include "common/retry/told.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int64_t told)
{
	if (told < -1 || told > TP_TOLD_MAX_MS)
		abort();
	if (told >= 0 && (int64_t)tp_told_header_seconds(told) * 1000 < told)
		abort(); /* a client must never be told less */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_str s = {(const char *)data, size};
	struct tp_told_field fields[16];
	size_t n = 0;

	check(tp_told_retry_after(s, 1790000000, -1));
	check(tp_told_retry_after_ms(s));
	check(tp_hint_message(s));
	check(tp_hint_message(s));
	/* the same bytes as lines of "name:value" */
	for (size_t at = 0; at < size && n < 16;) {
		size_t end = at, colon;

		while (end < size && data[end] != '\n')
			end++;
		for (colon = at; colon < end && data[colon] != ':'; colon++)
			;
		fields[n++] = (struct tp_told_field){{s.p + at, colon - at},
						     {s.p + colon, colon < end ? end - colon : 0}};
		if (fields[n - 1].value.n > 0) { /* without the colon */
			fields[n - 1].value.p++;
			fields[n - 1].value.n--;
		}
		at = end + 1;
	}
	check(tp_told_headers(fields, n, 1790000000));
	for (int status = 200; status < 600; status += 29) {
		struct tp_error_class c = tp_classify(&(struct tp_error_facts){.status = status,
									       .code = s,
									       .type = s,
									       .message = s,
									       .reason = s,
									       .codex_status = s,
									       .codex_system_load = s,
									       .codex_model_capacity = s});

		if ((unsigned)c.kind >= TP_ERROR_KIND_COUNT || c.status < 300 || c.status > 599)
			abort();
	}
	return 0;
}
