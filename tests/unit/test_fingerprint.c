/* The fingerprint: which requests are one, at every place their body may be cut, and what the body tells. */
#include <check.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/http/fingerprint.h"

static const uint8_t seed[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

struct request {
	const char *method, *target, *turn_id;
	struct tp_str body;
};

static struct tp_fingerprint *shared; /* of all bodies: nothing of the one before may be left */

/* Some way of cutting a body: [0, a), [a, b), [b, n), or each byte alone. */
struct cut {
	size_t a, b;
	bool bytes;
};

static bool feed(struct request q, struct cut cut)
{
	for (size_t i = 0; cut.bytes && i < q.body.n; i++)
		if (!tp_fingerprint_feed(shared, q.body.p + i, 1))
			return false;
	if (cut.bytes)
		return true;
	return tp_fingerprint_feed(shared, q.body.p, cut.a) &&
	       tp_fingerprint_feed(shared, q.body.p + cut.a, cut.b - cut.a) &&
	       tp_fingerprint_feed(shared, q.body.p + cut.b, q.body.n - cut.b);
}

static bool hash_one_way(enum tp_fingerprint_way way, const uint8_t key[16], struct request q, struct cut cut,
			 struct tp_hash128 *ret_hash, struct tp_request_facts *ret_facts)
{
	tp_fingerprint_begin(shared, way, key, tp_str_from(q.method), tp_str_from(q.target),
			     tp_str_from(q.turn_id));
	return feed(q, cut) && tp_fingerprint_finish(shared, ret_hash, ret_facts);
}

static struct tp_hash128 hash_cut(const uint8_t key[16], struct request q, struct cut cut,
				  struct tp_request_facts *ret_facts)
{
	struct tp_hash128 h;
	if (shared == NULL)
		shared = tp_fingerprint_new();
	ck_assert_ptr_nonnull(shared);
	if (!hash_one_way(TP_FINGERPRINT_MEMBERS, key, q, cut, &h, ret_facts))
		ck_assert(hash_one_way(TP_FINGERPRINT_BYTES, key, q, cut, &h, ret_facts));
	return h;
}

static struct tp_hash128 hash(const uint8_t key[16], struct request q, size_t a, size_t b,
			      struct tp_request_facts *ret_facts)
{
	return hash_cut(key, q, (struct cut){.a = a, .b = b}, ret_facts);
}

static struct request post(const char *body)
{
	return (struct request){"POST", "/v1/responses", "", tp_str_from(body)};
}

static bool same(struct tp_hash128 a, struct tp_hash128 b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

static struct tp_hash128 hash_whole(struct request q)
{
	return hash(seed, q, q.body.n, q.body.n, NULL);
}

/* Byte by byte at once, and cut in two pieces around every place. */
static void check_all_cuts(struct request q)
{
	struct tp_hash128 whole = hash_whole(q);
	for (size_t a = 0; a <= q.body.n; a++)
		for (size_t b = a; b <= q.body.n && b < a + 3; b++)
			ck_assert_msg(same(whole, hash(seed, q, a, b, NULL)), "%.*s cut at %zu and %zu",
				      (int)q.body.n, q.body.p, a, b);
	ck_assert(same(whole, hash_cut(seed, q, (struct cut){.bytes = true}, NULL)));
}

static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
	{"{\"a\":1,\"stream\":false}", "{\"a\":1}", true},
	{"{\"stream\":true,\"a\":1}", "{\"a\":1}", true},
	{"{ \"a\" : 1 , \"b\":2 }\n", "{\"a\":1,\"b\":2}", true},
	{"\xef\xbb\xbf{\"a\":1}", "{\"a\":1}", true},
	{"{\"client_metadata\":{\"x\":1,\"y\":2},\"a\":1}", "{\"a\":1,\"client_metadata\":{\"y\":2,\"x\":1}}",
	 true},
	{"{\"stream\":true,\"stream_options\":{\"include_usage\":true}}", "{}", true},
	{"{\"\\u0073tream\":true,\"a\":1}", "{\"a\":1}", true},
	{"{\"\\u0063\\u006c\\u0069\\u0065\\u006e\\u0074\\u005f\\u006d\\u0065\\u0074\\u0061\\u0064\\u0061\\u00"
	 "74\\u0061\":1}",
	 "{}", true},
	{"{\"a\":{\"stream\":true}}", "{\"a\":{}}", false}, /* only at the top level */
	{"{\"a\":{ \"b\":1}}", "{\"a\":{\"b\":1}}", false}, /* inside a member every byte counts */
	{"{\"a\":[1, 2]}", "{\"a\":[1,2]}", false},
	{"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", false}, /* in order */
	{"{\"a\":1}", "{\"a\":1.0}", false},
	{"{\"a\":\"x\"}", "{\"a\":\"y\"}", false},
	{"{\"a\":\"stream\"}", "{\"a\":\"\"}", false},
	{"{\"streams\":1}", "{}", false},
	{"{\"strea\":1}", "{}", false},
	{"{\"a\":1,\"b\":2}", "{\"a\":12}", false},
	{"{\"a\":1}", "\"a\":1,", false}, /* what is hashed for the one is the other's text */
	{"[1,2]", "[1, 2]", false},       /* no object: byte for byte */
	{"{\"a\":1,}", "{\"a\":1}", false},
	{"{\"a\":1", "{\"a\":1 ", false},
	{"{\"a\":1} x", "{\"a\":1} y", false},
	{"", " ", false},
	{"", "{}", false},
	{"null", "null ", false},
	{"{\"stream\":true", "{\"stream\":false", false}, /* broken JSON: nothing is left out */
	{"{\"prompt\":\"a long key comes next\","
	 "\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
	 "789"
	 "01234567890123456789012345678901234567890123456789\":1}",
	 "{\"prompt\":\"a long key comes next\","
	 "\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
	 "789"
	 "01234567890123456789012345678901234567890123456780\":1}",
	 false},
};

START_TEST(what_is_one_request)
{
	struct request a = post(pairs[_i].a), b = post(pairs[_i].b);
	ck_assert_msg(same(hash_whole(a), hash_whole(b)) == pairs[_i].same, "%s\n%s", pairs[_i].a,
		      pairs[_i].b);
	check_all_cuts(a);
	check_all_cuts(b);
}
END_TEST

START_TEST(what_stands_around_the_body)
{
	struct request q = post("{\"a\":1}"), other = q;
	struct tp_hash128 h = hash_whole(q);
	other.target = "/v1/responses?beta=true";
	ck_assert(same(h, hash_whole(other))); /* the query is no part of it */
	other.target = "/v1/messages";
	ck_assert(!same(h, hash_whole(other)));
	other = q;
	other.method = "PUT";
	ck_assert(!same(h, hash_whole(other)));
	other = q;
	other.turn_id = "t1";
	struct tp_hash128 t1 = hash_whole(other);
	other.turn_id = "t2";
	ck_assert(!same(h, t1));
	ck_assert(!same(t1, hash_whole(other)));
	other = q;
	other.method = "POS"; /* parts do not run into each other */
	other.target = "T/v1/responses";
	ck_assert(!same(h, hash_whole(other)));
}
END_TEST

START_TEST(every_byte_of_the_seed_counts)
{
	struct request object = post("{\"a\":1}"), text = post("hello");
	for (size_t i = 0; i < sizeof seed; i++) {
		uint8_t key[16];
		memcpy(key, seed, sizeof key);
		key[i] ^= 1;
		ck_assert(!same(hash_whole(object), hash(key, object, 0, 0, NULL)));
		ck_assert(!same(hash_whole(text), hash(key, text, 0, 0, NULL)));
	}
}
END_TEST

/* {"a":[[...]], "stream":true} of a given depth. */
static struct tp_hash128 hash_nested(int depth, const char *stream)
{
	struct tp_buf body = {0};
	tp_buf_add_str(&body, TP_STR("{\"a\":"));
	for (int i = 1; i < depth; i++)
		tp_buf_add_str(&body, TP_STR("["));
	for (int i = 1; i < depth; i++)
		tp_buf_add_str(&body, TP_STR("]"));
	if (depth == 1)
		tp_buf_add_str(&body, TP_STR("1"));
	tp_buf_printf(&body, "%s}", stream);
	struct request q = post("");
	q.body = tp_buf_str(&body);
	struct tp_hash128 h = hash_whole(q);
	tp_buf_free(&body);
	return h;
}

START_TEST(nested_deeper_than_64)
{
	for (int depth = 1; depth < 80; depth++)
		ck_assert_int_eq(same(hash_nested(depth, ""), hash_nested(depth, ",\"stream\":true")),
				 depth <= TP_FINGERPRINT_DEPTH);
	ck_assert(!same(hash_nested(600, ""), hash_nested(600, ",\"stream\":true")));
}
END_TEST

/* ---- facts ---- */

static const struct {
	const char *body;
	struct tp_request_facts facts;
	const char *model, *model_bytes, *tools;
} facts[] = {
	{"{\"model\":\"gpt-5\",\"stream\":true}",
	 {.object = true, .model_present = true, .stream = TP_FLAG_TRUE},
	 "gpt-5",
	 "gpt-5",
	 ""},
	{"{\"stream\":false,\"store\":false,\"tools\":[ {} ],\"model\": \"a\\/\\u0062\"}",
	 {.object = true,
	  .model_present = true,
	  .stream = TP_FLAG_FALSE,
	  .store = TP_FLAG_FALSE,
	  .tools_present = true},
	 "a/b",
	 "a\\/\\u0062",
	 "[ {} ]"},
	{"{\"stream\":null,\"store\":true,\"model\":7,\"tools\":null}",
	 {.object = true, .stream = TP_FLAG_OTHER, .store = TP_FLAG_TRUE},
	 "",
	 "",
	 "null"},
	{"{\"input\":{\"model\":\"x\",\"stream\":true}}", {.object = true}, "", "", ""},
	{"{\"previous_response_id\":\"resp_1\"}", {.object = true, .continues = true}, "", "", ""},
	{"{\"previous_response_id\":null,\"conversation\":null,\"background\":false}",
	 {.object = true},
	 "",
	 "",
	 ""},
	{"{\"conversation\":{\"id\":\"c\"}}", {.object = true, .continues = true}, "", "", ""},
	{"{\"background\":true}", {.object = true, .continues = true}, "", "", ""},
	{"{\"background\":\"yes\"}", {.object = true, .continues = true}, "", "", ""},
	{"{\"model\":\"a\",\"model\":\"bc\"}",
	 {.object = true, .model_present = true, .model_repeated = true, .repeated = true},
	 "bc",
	 "bc",
	 ""},
	{"{\"store\":false,\"store\":true}",
	 {.object = true, .store = TP_FLAG_TRUE, .repeated = true},
	 "",
	 "",
	 ""},
	{"{\"model\":\"\"}", {.object = true, .model_present = true}, "", "", ""},
	{"{\"model\":\"a\"", {.object = false}, "", "", ""},
	{"[{\"model\":\"a\"}]", {.object = false}, "", "", ""},
	{"\xef\xbb\xbf{\"model\":\"m\"}", {.object = true, .model_present = true}, "m", "m", ""},
};

static void check_facts(const struct tp_request_facts *got, int i)
{
	const struct tp_request_facts *want = &facts[i].facts;
	const char *body = facts[i].body;
	ck_assert_int_eq(got->object, want->object);
	ck_assert_int_eq(got->model_present, want->model_present);
	ck_assert_int_eq(got->model_repeated, want->model_repeated);
	ck_assert_int_eq(got->repeated, want->repeated);
	ck_assert_int_eq(got->model_cut, false);
	ck_assert_int_eq(got->stream, want->stream);
	ck_assert_int_eq(got->store, want->store);
	ck_assert_int_eq(got->continues, want->continues);
	ck_assert_int_eq(got->tools_present, want->tools_present);
	ck_assert(tp_str_eq((struct tp_str){got->model, got->model_text_n}, tp_str_from(facts[i].model)));
	ck_assert(tp_str_eq((struct tp_str){body + got->model_at, got->model_n},
			    tp_str_from(facts[i].model_bytes)));
	ck_assert(
		tp_str_eq((struct tp_str){body + got->tools_at, got->tools_n}, tp_str_from(facts[i].tools)));
}

START_TEST(facts_of_a_body)
{
	struct request q = post(facts[_i].body);
	for (size_t a = 0; a <= q.body.n; a++) {
		struct tp_request_facts got;
		(void)hash(seed, q, a, a < q.body.n ? a + 1 : a, &got);
		check_facts(&got, _i);
	}
}
END_TEST

START_TEST(long_model)
{
	struct tp_buf body = {0};
	tp_buf_printf(&body, "{\"model\":\"%0300d\"}", 1);
	struct request q = post("");
	q.body = tp_buf_str(&body);
	struct tp_request_facts got;
	(void)hash(seed, q, 100, 200, &got);
	ck_assert(got.model_present && got.model_cut);
	ck_assert_uint_eq(got.model_n, 300);
	ck_assert_uint_eq(got.model_text_n, TP_MODEL_MAX);
	tp_buf_free(&body);
}
END_TEST

#define STORE "{\"store\":false"
static const struct {
	const char *body;
	bool self_contained;
} contained[] = {
	{STORE "}", true},
	{STORE ",\"tools\":[]}", true},
	{STORE ",\"tools\":null}", true},
	{STORE ",\"tools\":[{\"type\":\"function\",\"name\":\"f\"},{\"type\":\"custom\"},{\"name\":\"m\"}]}",
	 true},
	{STORE ",\"tools\":[{\"type\":\"local_shell\"}],\"background\":false}", true},
	{STORE ",\"tools\":[{\"type\":\"function\"},{\"type\":\"web_search\"}]}", false},
	{STORE ",\"tools\":[{\"type\":\"mcp\"}]}", false},
	{STORE ",\"tools\":[{\"type\":5}]}", false},
	{STORE ",\"tools\":[\"function\"]}", false},
	{STORE ",\"tools\":{\"type\":\"function\"}}", false},
	{STORE ",\"tools\":[{\"type\":\"web_search\"}],\"tools\":[]}", false},
	{STORE ",\"previous_response_id\":\"r\"}", false},
	{STORE ",\"conversation\":\"c\"}", false},
	{STORE ",\"background\":true}", false},
	{STORE ",\"store\":false}", false},
	{STORE, false},
	{"{\"store\":true}", false},
	{"{\"store\":null}", false},
	{"{\"store\":\"false\"}", false},
	{"{}", false},
	{"", false},
};

START_TEST(self_contained)
{
	struct request q = post(contained[_i].body);
	struct tp_request_facts got;
	(void)hash(seed, q, 0, 0, &got);
	ck_assert_msg(tp_request_self_contained(&got, q.body) == contained[_i].self_contained, "%s",
		      contained[_i].body);
	if (got.tools_present)
		ck_assert(!tp_request_self_contained(&got, (struct tp_str){q.body.p, 20})); /* another body */
}
END_TEST

static const struct {
	const char *header, *id;
} turns[] = {
	{"{\"turn_id\":\"019a-bc\",\"sandbox\":\"seccomp\"}", "019a-bc"},
	{"{\"session_id\":\"s\",\"turn_id\":\"t\\u0031\"}", "t1"},
	{"{\"turn_id\":\"a\",\"turn_id\":\"b\"}", "b"},
	{"{\"x\":{\"turn_id\":\"a\"}}", ""},
	{"{\"turn_id\":5}", ""},
	{"{\"turn_id\":\"\"}", ""},
	{"{\"turn_id\":\"a\"", ""},
	{"[\"turn_id\"]", ""},
	{"turn_id", ""},
	{"", ""},
	{"{\"turn_id\":"
	 "\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
	 "789012345678901234567890123456789\"}",
	 ""},
};

START_TEST(turn_id)
{
	char out[TP_TURN_ID_MAX];
	size_t n = tp_turn_id(tp_str_from(turns[_i].header), out);
	ck_assert(tp_str_eq((struct tp_str){out, n}, tp_str_from(turns[_i].id)));
}
END_TEST

#define LENGTH(table) ((int)(sizeof(table) / sizeof(table)[0]))

int main(void)
{
	Suite *s = suite_create("fingerprint");
	TCase *t = tcase_create("fingerprint");
	tcase_add_loop_test(t, what_is_one_request, 0, LENGTH(pairs));
	tcase_add_test(t, what_stands_around_the_body);
	tcase_add_test(t, every_byte_of_the_seed_counts);
	tcase_add_test(t, nested_deeper_than_64);
	tcase_add_loop_test(t, facts_of_a_body, 0, LENGTH(facts));
	tcase_add_test(t, long_model);
	tcase_add_loop_test(t, self_contained, 0, LENGTH(contained));
	tcase_add_loop_test(t, turn_id, 0, LENGTH(turns));
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	tp_fingerprint_free(shared);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
