/* Masking of untrusted text: no crash, known secrets are gone, JSON stays JSON, and what is untouched is
 * equal. */
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "common/http/mask.h"
#include "tests/fuzz/fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tp_str secret = {"hunter2hunter2", 14};

static bool parses(struct tp_str s)
{
	json_t *root = json_loadb(s.p, s.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	json_decref(root);
	return root != NULL;
}

static void check(struct tp_str in,
		  bool (*mask)(struct tp_str, const struct tp_mask_secrets *, struct tp_buf *))
{
	const struct tp_mask_secrets own = {&secret, 1, NULL};
	struct tp_buf out = {0};
	bool found = mask(in, &own, &out);
	struct tp_str shown = found ? tp_buf_str(&out) : in;
	FUZZ_CHECK(!out.failed && (found || out.len == 0));
	/* numbers become 0, strings at most three bytes longer for each of theirs */
	FUZZ_CHECK(shown.n <= in.n * 3);
	FUZZ_CHECK(memmem(shown.p, shown.n, secret.p, secret.n) == NULL);
	if (parses(in))
		FUZZ_CHECK(parses(shown));
	tp_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_str in = {(const char *)data, size};
	if (size == 0)
		return 0;
	check(in, tp_mask);
	check(in, tp_mask_line);
	(void)tp_mask_secret_name(in);
	(void)tp_mask_secret_parameter(in);
	return 0;
}
