/* The fingerprint and the facts are the same wherever the body is cut; the model's place lies in the body. */
#include <stdlib.h>

#include "common/http/fingerprint.h"

static bool feed(struct tp_fingerprint *f, const char *bytes, size_t n, size_t step)
{
	for (size_t at = 0; at < n; at += step) {
		size_t piece = n - at < step ? n - at : step;
		char *copy = malloc(piece);
		memcpy(copy, bytes + at, piece);
		bool fed = tp_fingerprint_feed(f, copy, piece);
		free(copy);
		if (!fed)
			return false;
	}
	return true;
}

static struct tp_hash128 run(const char *bytes, size_t n, size_t step, struct tp_request_facts *facts)
{
	static const uint8_t seed[16] = "0123456789abcde";
	static struct tp_fingerprint *f; /* one for all: nothing of the body before may be left */
	if (f == NULL && (f = tp_fingerprint_new()) == NULL)
		abort();
	struct tp_hash128 h;
	tp_fingerprint_begin(f, TP_FINGERPRINT_MEMBERS, seed, TP_STR("POST"), TP_STR("/v1/responses?x=1"),
			     TP_STR("turn"));
	if (feed(f, bytes, n, step) && tp_fingerprint_finish(f, &h, facts))
		return h;
	tp_fingerprint_begin(f, TP_FINGERPRINT_BYTES, seed, TP_STR("POST"), TP_STR("/v1/responses?x=1"),
			     TP_STR("turn"));
	if (!feed(f, bytes, n, step) || !tp_fingerprint_finish(f, &h, facts))
		abort();
	return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	if (size == 0)
		return 0;
	struct tp_request_facts a, b;
	struct tp_hash128 whole = run(bytes, size, size, &a),
			  cut = run(bytes, size, 1 + data[size / 2] % 9, &b);
	if (whole.lo != cut.lo || whole.hi != cut.hi || a.model_at != b.model_at || a.model_n != b.model_n ||
	    a.stream != b.stream || a.store != b.store || a.continues != b.continues)
		abort();
	if (a.model_at + a.model_n > size || a.tools_at + a.tools_n > size)
		abort();
	(void)tp_request_self_contained(&a, (struct tp_str){bytes, size});
	char out[TP_TURN_ID_MAX];
	(void)tp_turn_id((struct tp_str){bytes, size}, out);
	return 0;
}
