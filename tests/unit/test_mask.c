/* Masking: what goes and what stays. */
#include "common/http/mask.h"

#include <dirent.h>
#include <jansson.h>
#include <string.h>

#include "tests/unit/suite.h"
#include "tests/unit/tsv.h"

/* The masked text, to be freed with tp_buf_free(). */
static struct tp_buf masked_with(struct tp_str in, const struct tp_mask_secrets *own)
{
	struct tp_buf out = {0};
	if (!tp_mask(in, own, &out))
		tp_buf_add_str(&out, in);
	ck_assert(!out.failed);
	return out;
}

static struct tp_buf masked(const char *in)
{
	return masked_with(tp_str_from(in), NULL);
}

/* ---- what goes: `in` becomes `want` */

static const struct {
	const char *in, *want;
} rows[] = {
	/* keys by their form */
	{"key sk-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN beside max_tokens: 100, model: x, tokens: 7",
	 "key *** beside max_tokens: 100, model: x, tokens: 7"},
	{"sk-ant-api03-EXAMPLE.", "***."},
	{"Incorrect API key provided: sk-proj-****************AbCd. See "
	 "https://platform.openai.com/account/api-keys.",
	 "Incorrect API key provided: ***. See https://platform.openai.com/account/api-keys."},
	{"Authentication Fails, Your api key: ****0000 is invalid",
	 "Authentication Fails, Your api key: *** is invalid"},
	{"Incorrect API key provided: xa***yz", "Incorrect API key provided: ***"},
	{"Incorrect API key provided: 0123456789abcdef01234567.", "Incorrect API key provided: ***."},
	{"(ghp_0123456789abcdef)", "(***)"},
	{"github_pat_11AAAAAAA0aaaa_bbbb", "***"},
	{"AKIAIOSFODNN7EXAMPLE", "***"},
	{"AIzaEXAMPLE0123456789abcdefghijklmnopq", "***"},
	{"xai-0123456789abcdef, gsk_0123456789abcdef, hf_AbCdEfGhIjKl", "***, ***, ***"},
	{"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl here", "jwt *** here"},
	/* bearer, basic */
	{"Authorization: Bearer abc123def", "Authorization: Bearer ***"},
	{"got `bearer   zyxwvuts` from you", "got `bearer   ***` from you"},
	{"Proxy-Authorization: Basic dXNlcjpwYXNz\r\nHost: x", "Proxy-Authorization: Basic ***\r\nHost: x"},
	{"authorization: Custom abc123def", "authorization: ***"},
	{"Authorization=Bearer%20abc123def", "Authorization=***"},
	{"Bearer+abc123def", "Bearer+***"},
	/* names */
	{"x-api-key: hunter22", "x-api-key: ***"},
	{"OPENAI_API_KEY=hunter22 next", "OPENAI_API_KEY=*** next"},
	{"password='correct horse battery' next", "password='***' next"},
	{"{'x-auth-token': 'hunter22', 'model': 'x'}", "{'x-auth-token': '***', 'model': 'x'}"},
	{"[(b'x-api-key', b'hunter22'), (b'accept', b'json')]",
	 "[(b'x-api-key', b'***'), (b'accept', b'json')]"},
	{"cookie: session=abc123; theme=dark; alice@example.com", "cookie: ***; alice@example.com"},
	{"headers[authorization]=hunter22", "headers[authorization]=***"},
	{"client_secret => hunter22", "client_secret => ***"},
	{"token: 0123456789abc", "token: ***"},
	/* encoded */
	{"api_key%3Dhunter22%26model%3Dx", "api_key%3D***%26model%3Dx"},
	{"api_key%253Dhunter22%2526model%253Dx", "api_key%253D***%2526model%253Dx"},
	{"body was {\\\"api_key\\\": \\\"hunter22\\\", \\\"model\\\": \\\"x\\\"}",
	 "body was {\\\"api_key\\\": \\\"***\\\", \\\"model\\\": \\\"x\\\"}"},
	{"body was {\\u0022api_key\\u0022:\\u0022hunter22\\u0022,\\u0022model\\u0022:1}",
	 "body was {\\u0022api_key\\u0022:\\u0022***\\u0022,\\u0022model\\u0022:1}"},
	{"api_\\u006bey=hunter22", "api_\\u006bey=***"},
	{"\\u0073k-abcdef0123456789", "***"},
	{"%73k-abcdef0123456789", "***"},
	/* URLs */
	{"cannot reach http://user:pass@127.0.0.1:1/v1", "cannot reach http://***@127.0.0.1:1/v1"},
	{"GET https://example.com/v1/models?key=abc&alt=sse",
	 "GET https://example.com/v1/models?key=***&alt=sse"},
	{"https://x/?a=1&access_token=abc123#top", "https://x/?a=1&access_token=***"},
	{"redis://:hunter22@cache/0", "redis://***@cache/0"},
	/* paths */
	{"File \"/srv/app/main.py\", line 10, in run", "File \"***\", line 10, in run"},
	{"at /Users/alice/projects/gw/app.py:10", "at ***:10"},
	{"in C:\\Users\\alice\\gw\\app.py line 1", "in *** line 1"},
	{"in C:/Users/alice/gw/app.py line 1", "in *** line 1"},
	{"in 'D:\\My Data\\x.py' line 1", "in '***' line 1"},
	{"open /app/main.py and /usr/lib/python3/dist-packages/x.py.", "open *** and ***"},
	{"file:///home/alice/x and path=/var/log/x.log", "file://*** and path=***"},
	{"\\/home\\/alice\\/x", "***"},
	/* ids */
	{"Rate limit reached for gpt-5.1 in organization org-EXAMPLE0000000000000000 on requests per min",
	 "Rate limit reached for gpt-5.1 in organization *** on requests per min"},
	{"in organization `org_01example` service tier `on_demand`",
	 "in organization `***` service tier `on_demand`"},
	{"Your account org-00000000000000000000000000000000<ak-example00000000> request reached",
	 "Your account ***<***> request reached"},
	{"requests for team 00000000-0000-4000-8000-00000000beef and model grok-4",
	 "requests for team *** and model grok-4"},
	{"resource '//aiplatform.googleapis.com/projects/example-project/locations/us-central1'",
	 "resource '//aiplatform.googleapis.com/projects/***/locations/us-central1'"},
	{"API has not been used in project 123456789012 before; consumer project_number:123456789012.",
	 "API has not been used in project *** before; consumer project_number:***"},
	{"https://console.example.com/apis?project=123456789012",
	 "https://console.example.com/apis?project=***"},
	/* JSON */
	{"{\"api_key\":\"hunter22\",\"model\":\"x\"}", "{\"api_key\":\"***\",\"model\":\"x\"}"},
	{"{\"\\u0061pi_key\":\"hunter\\u0032\\n\"}", "{\"\\u0061pi_key\":\"***\"}"},
	{"{\"headers\":{\"authorization\":[\"Custom a b c\"],\"accept\":\"*/*\"}}",
	 "{\"headers\":{\"authorization\":[\"***\"],\"accept\":\"*/*\"}}"},
	{"{\"headers\":[[\"x-api-key\",\"hunter22\"],[\"accept\",\"json\"]]}",
	 "{\"headers\":[[\"x-api-key\",\"***\"],[\"accept\",\"json\"]]}"},
	{"{\"headers\":[{\"name\":\"x-api-key\",\"value\":\"hunter22\"},{\"name\":\"accept\",\"value\":"
	 "\"json\"}]}",
	 "{\"headers\":[{\"name\":\"x-api-key\",\"value\":\"***\"},{\"name\":\"accept\",\"value\":\"json\"}]"
	 "}"},
	{"{\"password\":12345678,\"project_number\": 123456789012,\"n\":123456789012}",
	 "{\"password\":0,\"project_number\": 0,\"n\":123456789012}"},
	{"{\"raw\":\"{\\\"api_key\\\":\\\"hunter22\\\",\\\"model\\\":\\\"x\\\"}\"}",
	 "{\"raw\":\"{\\\"api_key\\\":\\\"***\\\",\\\"model\\\":\\\"x\\\"}\"}"},
	{"{\"raw\":\"{\\\"r\\\":\\\"{\\\\\\\"password\\\\\\\":\\\\\\\"hunter22\\\\\\\",\\\\\\\"m\\\\\\\":1}"
	 "\\\"}\"}",
	 "{\"raw\":\"{\\\"r\\\":\\\"{\\\\\\\"password\\\\\\\":\\\\\\\"***\\\\\\\",\\\\\\\"m\\\\\\\":1}\\\"}"
	 "\"}"},
	{"{\"p\":\"C:\\\\Users\\\\alice\\\\\",\"q\":1}", "{\"p\":\"***\\\\\",\"q\":1}"},
	{"{\"user_id\":\"user_example\",\"user\":\"me\"}", "{\"user_id\":\"***\",\"user\":\"me\"}"},
	{"{\"a\":\"x\\nsk-abcdef0123456789\\ty\"}", "{\"a\":\"x\\n***\\ty\"}"},
	/* JSON that was cut, and JSON inside of something else */
	{"{\"api_key\":\"hunter2", "{\"api_key\":\"***"},
	{"{\"api_key\":\"hunter22\\", "{\"api_key\":\"***"},
	{"data: {\"api_key\": \"hunter22\", \"n\": 1}\n\n", "data: {\"api_key\": \"***\", \"n\": 1}\n\n"},
	{"data: {\"p\":\"C:\\\\Users\\\\alice\\\\\"}", "data: {\"p\":\"***\\\\\"}"},
};

START_TEST(goes)
{
	struct tp_buf out = masked(rows[_i].in);
	ck_assert_str_eq(tp_buf_cstr(&out), rows[_i].want);
	/* masked once is masked for good */
	struct tp_buf again = masked(tp_buf_cstr(&out));
	ck_assert_str_eq(tp_buf_cstr(&again), rows[_i].want);
	tp_buf_free(&again);
	tp_buf_free(&out);
}
END_TEST

/* ---- what stays, byte for byte */

static const char *const ordinary[] = {
	"",
	"max_tokens: 100, model: x, tokens: 7",
	"{\"max_tokens\": 100, \"model\": \"x\", \"tokens\": 7, \"prompt_tokens\": 123456789}",
	"POST /v1/chat/completions and /v1/messages/count_tokens, /openai/deployments/gpt/chat/completions",
	"Visit https://platform.openai.com/account/rate-limits to learn more.",
	"Visit https://docs.anthropic.com/en/api/errors?x=1#top, or https://host:8080/home/page",
	"Incorrect API key provided. Keys begin with sk- or sk-ant-.",
	"{\"error\":{\"code\":\"invalid_api_key\",\"param\":\"api_key\",\"message\":\"x\"}}",
	"{\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid x-api-key\"}}",
	"data: {\"param\":\"api_key\",\"code\":\"missing\"}",
	"The bearer token is missing. Authorization: required. api_key: field required",
	"Invalid token: could not be verified",
	"Unexpected token < in JSON at position 0",
	"This model's maximum context length is 8192 tokens. max_token=4096",
	"basic functionality, risk-free, task-based, ask-me-anything, disk-full, scikit-learn, sk-learn",
	"hf_transfer and hf_hub_download, gsk_ and org-wide limits, AKIA",
	"*** bold *** and **stars** in a /* comment */",
	"Request id req_0f3a5c7e9b1d2468ace013579bdf2468, ray 98a1b2c3d4e5f607-FRA",
	"00000000-0000-4000-8000-00000000beef",
	"Your organization must be verified; the team lead, user error, account limit",
	"ratio 1/2, and/or, 50% off, 100%25, a\\b, \\o/, 10:30, c:d, ./usr/lib, x/home/y",
	"{\"loc\":[\"x-api-key\"],\"msg\":\"required\"}",
	"{\"required\":[\"api_key\",\"model\"]}",
	"{\"api_key\":null,\"password\":\"\",\"token\":\"required\",\"secret\":true,\"max_token\":123456789}",
	"\xff\xfe\x80 not UTF-8 \\ud800 \\u12",
	"[1,2,3]",
	"\"text\"",
};

START_TEST(stays)
{
	struct tp_buf out = {0};
	ck_assert_msg(!tp_mask(tp_str_from(ordinary[_i]), NULL, &out), "%s\nbecame\n%s", ordinary[_i],
		      tp_buf_cstr(&out));
	ck_assert_uint_eq(out.len, 0);
	tp_buf_free(&out);
}
END_TEST

/* ---- secrets that are known */

static const struct tp_str client_own[] = {{"correct horse battery", 21}, {"tea", 3}};
static const struct tp_str configured[] = {{"hunter2", 7}, {"pa\"ss\\w/rd\xc3\xa9=", 13}, {"987654321", 9}};
static const struct tp_mask_secrets of_config = {configured, 3, NULL};
static const struct tp_mask_secrets own = {client_own, 2, &of_config};

static const struct {
	const char *in, *want;
} known[] = {
	{"you said correct horse battery to me", "you said *** to me"},
	{"correct%20horse%20battery", "***"},
	{"cut in its middle: correct horse", "cut in its middle: ***"},
	{"{\"x\":\"cut: correct%20horse b\",\"y\":1}", "{\"x\":\"cut: ***\",\"y\":1}"},
	{"this is correct", "this is correct"},
	{"{\"x\":\"correct\\u0020horse b\\u0061ttery!\"}", "{\"x\":\"***!\"}"},
	{"hunter2 is not ahunter2b, hunter2!", "*** is not ahunter2b, ***!"},
	{"{\"x\":\"-pa\\\"ss\\\\w\\/rd\\u00e9=-\"}", "{\"x\":\"-***-\"}"},
	{"pa%22ss%5Cw%2Frd%C3%A9%3D", "***"},
	{"{\"x\":987654321,\"y\":19876543210}", "{\"x\":0,\"y\":19876543210}"},
	{"{\"x\":\"987654321\",\"hunter2\":1}", "{\"x\":\"***\",\"***\":1}"},
	{"tea is too short to be searched for", "tea is too short to be searched for"},
};

START_TEST(known_secrets)
{
	struct tp_buf out = masked_with(tp_str_from(known[_i].in), &own);
	ck_assert_str_eq(tp_buf_cstr(&out), known[_i].want);
	tp_buf_free(&out);
}
END_TEST

/* ---- Turnpike's own log */

START_TEST(lines_of_the_log)
{
	const char *in =
		"cannot open /var/log/turnpike.log for org-EXAMPLE00000000, key sk-abcdef012345, hunter2";
	struct tp_buf out = {0};
	ck_assert(tp_mask_line(tp_str_from(in), &own, &out));
	ck_assert_str_eq(tp_buf_cstr(&out),
			 "cannot open /var/log/turnpike.log for org-EXAMPLE00000000, key ***, ***");
	tp_buf_free(&out);
	ck_assert(!tp_mask_line(TP_STR("worker 3 (pid 12) has left: /etc/turnpike/turnpike.yaml:3:1"), &own,
				&out));
}
END_TEST

START_TEST(names)
{
	static const char *const secret[] = {
		"Authorization", "x-auth-token",        "X-Goog-Api-Key",       "api-key",   "x-api-key",
		"Cookie",        "Proxy-Authorization", "X-Amz-Security-Token", "Set-Cookie"};
	static const char *const plain[] = {"content-type", "x-request-id", "x-max-tokens", "accept",
					    "key",          "x-user-id",    "retry-after"};
	for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
		ck_assert_msg(tp_mask_secret_name(tp_str_from(secret[i])), "%s", secret[i]);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		ck_assert_msg(!tp_mask_secret_name(tp_str_from(plain[i])), "%s", plain[i]);
}
END_TEST

/* ---- all fixtures */

static bool is_html(const char *text)
{
	return strncasecmp(text, "<!doctype", 9) == 0 || strncasecmp(text, "<html", 5) == 0;
}

static void check_text(const json_t *fixture, const char *text)
{
	json_t *before = json_loads(text, JSON_DECODE_ANY, NULL);
	struct tp_buf out = masked(text);
	size_t i;
	json_t *leak;
	json_array_foreach(json_object_get(fixture, "must_not_leak"), i, leak)
		ck_assert_msg(strstr(tp_buf_cstr(&out), json_string_value(leak)) == NULL, "%s leaks in %s",
			      json_string_value(leak), tp_buf_cstr(&out));
	bool ids = strstr(text, "org-EXAMPLE") != NULL || strstr(text, "user_example") != NULL ||
		   strstr(text, "beef") != NULL;
	if (!ids && json_object_get(fixture, "must_not_leak") == NULL)
		ck_assert_str_eq(tp_buf_cstr(&out), text);
	if (before != NULL) {
		json_t *after = json_loadb(out.data, out.len, JSON_DECODE_ANY, NULL);
		ck_assert_msg(after != NULL, "no JSON any more: %s", tp_buf_cstr(&out));
		json_decref(after);
	}
	json_decref(before);
	tp_buf_free(&out);
}

START_TEST(fixtures)
{
	char path[600], folder[300];
	data_path(folder, sizeof folder, "fixtures");
	DIR *d = opendir(folder);
	struct dirent *e;
	unsigned seen = 0, leaks = 0;
	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)) != NULL) {
		if (strstr(e->d_name, ".json") == NULL)
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		json_t *fixture = json_load_file(path, 0, NULL), *event;
		const char *body = json_string_value(json_object_get(fixture, "body"));
		size_t i;
		ck_assert_msg(fixture != NULL, "%s", path);
		if (body != NULL && !is_html(body))
			check_text(fixture, body);
		json_array_foreach(json_object_get(fixture, "sse"), i, event)
			check_text(fixture, json_string_value(event));
		seen++;
		leaks += json_object_get(fixture, "must_not_leak") != NULL;
		json_decref(fixture);
	}
	(void)closedir(d);
	ck_assert_uint_ge(seen, 100);
	ck_assert_uint_ge(leaks, 11);
}
END_TEST

TP_TESTS(mask)
{
	tcase_add_loop_test(t, goes, 0, sizeof rows / sizeof *rows);
	tcase_add_loop_test(t, stays, 0, sizeof ordinary / sizeof *ordinary);
	tcase_add_loop_test(t, known_secrets, 0, sizeof known / sizeof *known);
	tcase_add_test(t, lines_of_the_log);
	tcase_add_test(t, names);
	tcase_add_test(t, fixtures);
}
