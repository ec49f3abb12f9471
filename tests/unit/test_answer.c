/* What answers say: every fixture of an answer, and tables of what is easily mistaken. */
#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/http/answer.h"
#include "common/http/json.h"
#include "tests/unit/suite.h"

#define FIXTURES      "tests/data/fixtures/"
#define LENGTH(table) ((int)(sizeof(table) / sizeof(table)[0]))

/* ---- bodies under a 200 ---- */

static const struct {
	enum tp_family family;
	const char *body;
	enum tp_answer_verdict verdict;
} bodies[] = {
	/* nothing, or no JSON */
	{TP_FAMILY_CHAT, "", TP_ANSWER_INVALID},
	{TP_FAMILY_CHAT, " \r\n\n", TP_ANSWER_INVALID},
	{TP_FAMILY_RESPONSES, "null", TP_ANSWER_INVALID},
	{TP_FAMILY_MESSAGES, "<html></html>", TP_ANSWER_INVALID},
	{TP_FAMILY_CHAT, "{\"choices\":[", TP_ANSWER_INVALID},
	{TP_FAMILY_CHAT, "\"text\"", TP_ANSWER_INVALID},
	{TP_FAMILY_CHAT, "{\"error\":{\"message\":\"x\"}} trailing", TP_ANSWER_INVALID},
	{TP_FAMILY_PLAIN, "", TP_ANSWER_OK},
	{TP_FAMILY_PLAIN, "null", TP_ANSWER_OK},
	{TP_FAMILY_PLAIN, "<html></html>", TP_ANSWER_OK},
	/* answers */
	{TP_FAMILY_CHAT, "{\"choices\":[]}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"error\":null,\"choices\":[]}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"error\":{},\"id\":1}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"error\":{ \n },\"id\":1}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"error\":\"\"}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"error\":false}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"error\":[]}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"error\":\"soft\",\"choices\":[{\"index\":0}]}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"code\":0,\"message\":\"ok\"}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"code\":200,\"msg\":\"success\",\"data\":{\"x\":1}}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"code\":\"Success\",\"message\":\"done\"}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"message\":{\"role\":\"assistant\",\"content\":\"x\"},\"error\":\"x\"}",
	 TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"choices\":[{\"message\":{\"content\":\"say \\\"error\\\"\"}}]}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"choices\":[{\"error\":null,\"finish_reason\":\"stop\"}]}", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"choices\":[{\"message\":{\"role\":\"error\",\"content\":\"x\"}}]}",
	 TP_ANSWER_OK},
	{TP_FAMILY_RESPONSES, "{\"status\":\"failed\",\"error\":null,\"output\":[]}", TP_ANSWER_OK},
	{TP_FAMILY_MESSAGES, "{\"type\":\"message\",\"content\":[]}", TP_ANSWER_OK},
	{TP_FAMILY_MESSAGES, "{\"content\":[{\"type\":\"tool_use\",\"input\":{\"error\":{\"code\":1}}}]}",
	 TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "[]", TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "[{\"candidates\":[{}]},{\"error\":{\"code\":1}}]", TP_ANSWER_OK},
	/* a job that failed is a good answer to the question for it */
	{TP_FAMILY_PLAIN,
	 "{\"id\":\"ftjob-1\",\"status\":\"failed\",\"error\":{\"code\":\"x\",\"message\":\"y\"}}",
	 TP_ANSWER_OK},
	{TP_FAMILY_PLAIN, "{\"object\":\"list\",\"data\":[],\"error\":{\"code\":\"x\"}}", TP_ANSWER_OK},
	/* errors */
	{TP_FAMILY_CHAT, "{\"error\":{\"message\":\"x\"}}", TP_ANSWER_ERROR},
	{TP_FAMILY_PLAIN, "{\"error\":{\"message\":\"x\"},\"request_id\":\"r\"}", TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT, "\xef\xbb\xbf{\"error\":\"x\"}", TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT, "{\"id\":\"x\",\"error\":{\"code\":502},\"choices\":[]}", TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT, "{\"choices\":[{\"error\":{\"code\":502}}]}", TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT, "{\"choices\":[{\"message\":{},\"finish_reason\":\"error\"}]}", TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT,
	 "{\"choices\":[{\"message\":{},\"finish_reason\":\"stop\",\"native_finish_reason\":\"network_"
	 "error\"}]}",
	 TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT,
	 "{\"choices\":[{\"message\":{\"content\":\"network_error\"},\"native_finish_reason\":\"stop\"}]}",
	 TP_ANSWER_OK},
	{TP_FAMILY_CHAT, "{\"code\":\"Throttling\",\"message\":\"slow\",\"request_id\":\"r\"}",
	 TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT, "{\"code\":500,\"msg\":\"404 NOT_FOUND\",\"success\":false}", TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT, "{\"object\":\"error\",\"message\":\"x\",\"code\":null}", TP_ANSWER_ERROR},
	{TP_FAMILY_MESSAGES, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
	 TP_ANSWER_ERROR},
	{TP_FAMILY_RESPONSES, "{\"error\":{\"code\":\"x\"},\"status\":\"failed\",\"output\":[{\"a\":1}]}",
	 TP_ANSWER_ERROR},
	{TP_FAMILY_CHAT, "[{\"error\":{\"code\":429}}]", TP_ANSWER_ERROR},
};

START_TEST(verdict_of_a_body)
{
	struct tp_answer_error e;
	ck_assert_msg(tp_answer_body(bodies[_i].family, tp_str_from(bodies[_i].body), &e) ==
			      bodies[_i].verdict,
		      "%s", bodies[_i].body);
	ck_assert_int_eq(tp_answer_body(bodies[_i].family, tp_str_from(bodies[_i].body), NULL),
			 bodies[_i].verdict);
}
END_TEST

START_TEST(deeper_than_the_scanner_goes)
{
	struct tp_buf text = {0};
	tp_buf_add_str(&text, TP_STR("{\"content\":"));
	for (int i = 0; i < TP_JSON_NEST_MAX; i++)
		tp_buf_add_str(&text, TP_STR("["));
	ck_assert_int_eq(tp_answer_body(TP_FAMILY_MESSAGES, tp_buf_str(&text), NULL), TP_ANSWER_OK);
	tp_buf_free(&text);
}
END_TEST

/* ---- what an error says ---- */

static const struct {
	const char *body;
	int status;
	const char *code, *type, *reason, *message;
	int64_t resets_in_ms, resets_at_s, retry_delay_ms;
	bool per_day;
} errors[] = {
	{"{\"error\":{\"message\":\"m\",\"type\":\"requests\",\"code\":\"rate_limit_exceeded\"}}", 0,
	 "rate_limit_exceeded", "requests", "", "m", -1, -1, -1, false},
	{"{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"m\",\"details\":{"
	 "\"error_code\":\"ramp_limit_"
	 "exceeded\"}},\"request_id\":\"r\"}",
	 0, "", "rate_limit_error", "ramp_limit_exceeded", "m", -1, -1, -1, false},
	{"{\"error\":{\"code\":503,\"message\":\"m\",\"status\":\"UNAVAILABLE\"}}", 503, "503", "UNAVAILABLE",
	 "", "m", -1, -1, -1, false},
	{"{\"error\":{\"code\":400,\"message\":\"m\",\"status\":\"INVALID_ARGUMENT\",\"details\":[{\"@type\":"
	 "\"x\",\"reason\":\"API_"
	 "KEY_INVALID\"}]}}",
	 400, "400", "INVALID_ARGUMENT", "API_KEY_INVALID", "m", -1, -1, -1, false},
	{"{\"error\":{\"code\":429,\"details\":[{\"violations\":[{\"quotaId\":\"RequestsPerDayPerProject\"}]}"
	 ",{\"retryDelay\":\"34."
	 "0740001s\"}]}}",
	 429, "429", "", "", "", -1, -1, 34075, true},
	{"{\"error\":{\"details\":[{\"retryDelay\":\"x3s\"},{\"retryDelay\":\"-3s\"},{\"retryDelay\":\"3\"},{"
	 "\"retryDelay\":\"2s\"}]}}",
	 0, "", "", "", "", -1, -1, 2000, false},
	{"{\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":1790013872,\"resets_in_seconds\":13872}"
	 "}",
	 0, "", "usage_limit_reached", "", "", 13872000, 1790013872, -1, false},
	{"{\"error\":{\"resets_in_seconds\":-4,\"resets_at\":1e300}}", 0, "", "", "", "", -1, -1, -1, false},
	{"{\"code\":\"Throttling.RateQuota\",\"message\":\"m\",\"request_id\":\"r\"}", 0,
	 "Throttling.RateQuota", "", "", "m", -1, -1, -1, false},
	{"{\"error\":{\"code\":\"1305\",\"message\":\"m\"}}", 0, "1305", "", "", "m", -1, -1, -1, false},
	{"{\"error\":{\"code\":\"429\",\"message\":\"m\"}}", 429, "429", "", "", "m", -1, -1, -1, false},
	{"{\"object\":\"error\",\"message\":\"m\",\"type\":\"t\",\"code\":\"3505\",\"raw_status_code\":503}",
	 503, "3505", "t", "", "m", -1, -1, -1, false},
	{"{\"object\":\"error\",\"message\":{\"detail\":[{\"msg\":\"Extra inputs\"}]},\"code\":null}", 0, "",
	 "", "", "Extra inputs", -1, -1, -1, false},
	{"{\"code\":\"Some resource\",\"error\":\"Too many\"}", 0, "Some resource", "", "", "Too many", -1,
	 -1, -1, false},
	{"{\"detail\":\"Unauthorized\"}", 0, "", "", "", "Unauthorized", -1, -1, -1, false},
	{"{\"error\":{\"code\":\"content_filter\",\"innererror\":{\"code\":\"Policy\"}}}", 0,
	 "content_filter", "", "Policy", "", -1, -1, -1, false},
	{"{\"error\":{\"code\":502,\"metadata\":{\"error_type\":\"provider_unavailable\",\"headers\":{\"X-"
	 "RateLimit-Reset\":"
	 "\"1790000045000\"}}}}",
	 502, "502", "", "provider_unavailable", "", -1, 1790000045, -1, false},
	{"{\"type\":\"error\",\"error\":{\"type\":\"x\"},\"status_code\":429}", 429, "", "x", "", "", -1, -1,
	 -1, false},
	{"{\"error\":{\"code\":500,\"message\":\"{\\\"error\\\":{\\\"code\\\":429,\\\"message\\\":"
	 "\\\"inner\\\",\\\"status\\\":\\\"S\\\"}}\"}}",
	 500, "500", "S", "", "inner", -1, -1, -1, false},
	{"{\"error\":{\"message\":\"a\\u0000b\\u001b[31m\\nc\"}}", 0, "", "", "", "a b [31m c", -1, -1, -1,
	 false},
	{"{\"error\":{\"message\":\"\xb7\xfe\",\"code\":1e400}}", 0, "", "", "", "", -1, -1, -1, false},
	{"{\"error\":{\"message\":\"\xb7\xfe!\",\"code\":99999999999999999999}}", 0, "", "", "", "\?\?!", -1,
	 -1, -1, false},
	{"[{\"error\":{\"code\":429,\"message\":\"m\"}}]", 429, "429", "", "", "m", -1, -1, -1, false},
};

START_TEST(error_fields)
{
	struct tp_answer_error e;
	bool readable = tp_answer_error_body(tp_str_from(errors[_i].body), &e);
	ck_assert_int_eq(readable,
			 strstr(errors[_i].body, "1e400") == NULL); /* beyond a double: no JSON to jansson */
	ck_assert_int_eq(e.status, errors[_i].status);
	ck_assert_str_eq(e.code, errors[_i].code);
	ck_assert_str_eq(e.type, errors[_i].type);
	ck_assert_str_eq(e.reason, errors[_i].reason);
	ck_assert_str_eq(e.message, errors[_i].message);
	ck_assert_int_eq(e.resets_in_ms, errors[_i].resets_in_ms);
	ck_assert_int_eq(e.resets_at_s, errors[_i].resets_at_s);
	ck_assert_int_eq(e.retry_delay_ms, errors[_i].retry_delay_ms);
	ck_assert_int_eq(e.per_day, errors[_i].per_day);
}
END_TEST

START_TEST(no_error_to_read)
{
	static const char *const texts[] = {
		"", "<html>", "error code: 1015", "{\"error\":{\"message\":\"The", "null", "[]"};
	for (int i = 0; i < LENGTH(texts); i++) {
		struct tp_answer_error e;
		ck_assert(!tp_answer_error_body(tp_str_from(texts[i]), &e));
		ck_assert_str_eq(e.message, "");
	}
}
END_TEST

/* A message is cut between characters, never inside one. */
START_TEST(long_message)
{
	for (int pad = 0; pad < 4; pad++) {
		struct tp_buf body = {0};
		tp_buf_printf(&body, "{\"error\":{\"message\":\"%.*s", pad, "xxxx");
		for (int i = 0; i < 400; i++)
			tp_buf_add_str(&body, TP_STR("\xe4\xb8\xad"));
		tp_buf_add_str(&body, TP_STR("\"}}"));
		struct tp_answer_error e;
		ck_assert(tp_answer_error_body(tp_buf_str(&body), &e));
		size_t n = strlen(e.message);
		ck_assert_uint_ge(n, sizeof e.message - 4);
		ck_assert_uint_eq((n - (size_t)pad) % 3, 0);
		tp_buf_free(&body);
	}
}
END_TEST

/* ---- fixtures ---- */

static json_t *load(const char *file)
{
	char path[300];
	(void)snprintf(path, sizeof path, FIXTURES "%s", file);
	json_t *fixture = json_load_file(path, 0, NULL);
	ck_assert_msg(fixture != NULL, "%s", path);
	return fixture;
}

static const char *text_of(const json_t *fixture, const char *member)
{
	const char *text = json_string_value(json_object_get(fixture, member));
	return text != NULL ? text : "";
}

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The family whose path the fixture answers. */
static enum tp_family family_of(const json_t *fixture)
{
	const char *name = text_of(fixture, "name");
	bool responses = strstr(name, "responses") != NULL || starts(name, "sse-eof-without-terminal");
	bool messages = starts(name, "anthropic") || starts(name, "sse-error-crlf") ||
			starts(name, "sse-error-multiline");
	bool plain = starts(name, "gemini") || starts(name, "ollama-nd") || starts(name, "body-ok-models") ||
		     starts(name, "lmstudio-200");
	return responses  ? TP_FAMILY_RESPONSES
	       : messages ? TP_FAMILY_MESSAGES
	       : plain    ? TP_FAMILY_PLAIN
			  : TP_FAMILY_CHAT;
}

static void check_body(const json_t *fixture)
{
	const char *body = text_of(fixture, "body"), *kind = text_of(fixture, "kind");
	if (json_is_true(json_object_get(fixture, "body_base64")) || /* compressed */
	    json_object_get(json_object_get(fixture, "headers"), "x-codex-status") != NULL)
		return; /* said by the header alone */
	enum tp_answer_verdict want = TP_ANSWER_OK;
	if (strcmp(kind, "pseudo200") == 0)
		want = body[0] == '\0' || body[0] == '<' ? TP_ANSWER_INVALID : TP_ANSWER_ERROR;
	if (starts(text_of(fixture, "name"), "ollama-nd"))
		want = TP_ANSWER_OK; /* lines of JSON: plain, and no matter of this module */
	struct tp_answer_error e;
	ck_assert_msg(tp_answer_body(family_of(fixture), tp_str_from(body), &e) == want, "%s",
		      text_of(fixture, "name"));
	if (want == TP_ANSWER_ERROR)
		ck_assert_msg(e.message[0] != '\0', "%s", text_of(fixture, "name"));
}

/* The kinds of a stream's events in a row, one letter each; written anew by every way of cutting. */
static void run_stream(enum tp_family family, struct tp_str bytes, size_t piece, struct tp_buf *out,
		       bool *ret_foreign)
{
	struct tp_sse s = {.keep_max = TP_SSE_KEEP_PRELUDE};
	bool more = true, committed = false;
	for (size_t at = 0; more;) {
		size_t n = bytes.n - at < piece ? bytes.n - at : piece, used = 0;
		enum tp_sse_result r =
			at < bytes.n ? tp_sse_feed(&s, bytes.p + at, n, &used) : tp_sse_finish(&s);
		more = at < bytes.n || r == TP_SSE_EVENT;
		at += used;
		if (r == TP_SSE_MORE)
			continue;
		struct tp_sse_event event = tp_sse_event(&s);
		struct tp_answer_error e;
		enum tp_answer_event kind = committed ? tp_answer_event_committed(family, &event, &e)
						      : tp_answer_event(family, &event, &e);
		committed |= kind != TP_EVENT_NEUTRAL;
		if (kind == TP_EVENT_ERROR)
			ck_assert(e.message[0] != '\0');
		tp_buf_add(out, &"NOFTE"[kind], 1);
	}
	*ret_foreign = s.foreign;
	tp_sse_free(&s);
}

static void check_stream(const json_t *fixture)
{
	struct tp_buf bytes = {0}, whole = {0};
	const json_t *writes = json_object_get(fixture, "sse");
	for (size_t i = 0; i < json_array_size(writes); i++)
		tp_buf_add_str(&bytes, tp_str_from(json_string_value(json_array_get(writes, i))));
	const char *name = text_of(fixture, "name");
	enum tp_family family = family_of(fixture);
	bool foreign;
	run_stream(family, tp_buf_str(&bytes), bytes.len, &whole, &foreign);
	const char *kinds = tp_buf_cstr(&whole), *first = kinds + strspn(kinds, "N");
	for (size_t piece = 1; piece < bytes.len; piece += piece < 8 ? 1 : piece / 3) {
		struct tp_buf out = {0};
		run_stream(family, tp_buf_str(&bytes), piece, &out, &foreign);
		/* Pieces change nothing but the split of events that were never ended by an empty line. */
		ck_assert_msg(strcmp(tp_buf_cstr(&out), kinds) == 0, "%s: %s, not %s", name,
			      tp_buf_cstr(&out), kinds);
		tp_buf_free(&out);
	}
	bool ok = strcmp(text_of(fixture, "kind"), "ok") == 0;
	bool committed = json_is_true(json_object_get(fixture, "committed"));
	if (ok)
		ck_assert_msg(strpbrk(first, "E") == NULL && strchr(first, 'T') != NULL, "%s: %s", name,
			      kinds);
	else if (committed)
		ck_assert_msg((first[0] == 'O' || first[0] == 'F') && strpbrk(first, "ET") != first, "%s: %s",
			      name, kinds);
	else if (!starts(name, "sse-only-comments"))
		ck_assert_msg(first[0] == 'E', "%s: %s", name, kinds);
	else
		ck_assert_msg(first[0] == '\0', "%s: %s", name, kinds);
	ck_assert(!foreign);
	tp_buf_free(&bytes);
	tp_buf_free(&whole);
}

/* Errors under their own status: something can be read from each JSON body. */
static void check_error_body(const json_t *fixture)
{
	const char *body = text_of(fixture, "body");
	if (json_is_true(json_object_get(fixture, "body_base64")) ||
	    strstr(text_of(fixture, "name"), "truncated") != NULL)
		return;
	bool json = body[0] == '{' || body[0] == '[' || body[0] == '\xef';
	struct tp_answer_error e;
	ck_assert_msg(tp_answer_error_body(tp_str_from(body), &e) == json, "%s", text_of(fixture, "name"));
	if (json)
		ck_assert_msg(e.message[0] != '\0', "%s", text_of(fixture, "name"));
}

START_TEST(fixtures)
{
	DIR *folder = opendir(FIXTURES);
	ck_assert_msg(folder != NULL, "run from the root of the tree");
	int streams = 0, answers = 0, refused = 0;
	struct dirent *entry;
	while ((entry = readdir(folder)) != NULL) {
		if (strstr(entry->d_name, ".json") == NULL)
			continue;
		json_t *fixture = load(entry->d_name);
		bool good = json_integer_value(json_object_get(fixture, "status")) == 200;
		if (json_object_get(fixture, "sse") != NULL) {
			check_stream(fixture);
			streams++;
		} else if (good) {
			check_body(fixture);
			answers++;
		} else {
			check_error_body(fixture);
			refused++;
		}
		json_decref(fixture);
	}
	closedir(folder);
	ck_assert_int_gt(streams, 20);
	ck_assert_int_gt(answers, 20);
	ck_assert_int_gt(refused, 100);
}
END_TEST

TP_TESTS(answer)
{
	tcase_add_loop_test(t, verdict_of_a_body, 0, LENGTH(bodies));
	tcase_add_test(t, deeper_than_the_scanner_goes);
	tcase_add_loop_test(t, error_fields, 0, LENGTH(errors));
	tcase_add_test(t, no_error_to_read);
	tcase_add_test(t, long_message);
	tcase_add_test(t, fixtures);
}
