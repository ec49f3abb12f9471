/* What an endpoint that renews access tokens is asked, and how its answers are read. */
#include "common/http/token_answer.h"
#include "tests/unit/suite.h"

#include <check.h>

#define NOW_MS INT64_C(1790000000000)

START_TEST(questions)
{
	static const struct {
		const char *token, *id, *secret, *form, *json;
	} rows[] = {
		{"abc-._~", "me", NULL, "grant_type=refresh_token&refresh_token=abc-._~&client_id=me",
		 "{\"refresh_token\":\"abc-._~\"}"},
		{"a+/=&%\"\\", "me", "s c",
		 "grant_type=refresh_token&refresh_token=a%2B%2F%3D%26%25%22%5C&client_id=me&client_secret=s%"
		 "20c",
		 "{\"refresh_token\":\"a+/=&%\\\"\\\\\"}"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct tp_buf form = {0}, json = {0};
		tp_token_form(&form, tp_str_from(rows[i].token), tp_str_from(rows[i].id),
			      tp_str_from(rows[i].secret));
		tp_token_json(&json, tp_str_from(rows[i].token));
		ck_assert_str_eq(tp_buf_cstr(&form), rows[i].form);
		ck_assert_str_eq(tp_buf_cstr(&json), rows[i].json);
		tp_buf_free(&form);
		tp_buf_free(&json);
	}
}
END_TEST

/* {"alg":"none"} . {"exp":1790000090,"n":"?>"} and its like; base64url, lengths of each remainder */
#define JWT_90S    "eyJhbGciOiJub25lIn0.eyJleHAiOjE3OTAwMDAwOTB9.c2ln"
#define JWT_PAST   "eyJhbGciOiJub25lIn0.eyJleHAiOjE2OTAwMDAwOTB9.c2ln"
#define JWT_NONE   "eyJhbGciOiJub25lIn0.e30.c2ln"
#define JWT_BROKEN "eyJhbGciOiJub25lIn0.eyJleHAi!!!.c2ln"

START_TEST(answers)
{
	static const struct {
		const char *body, *access, *refresh;
		int64_t lifetime_ms;
		const char *error;
	} rows[] = {
		{"{\"access_token\":\"a1\",\"refresh_token\":\"r1\",\"expires_in\":3600}", "a1", "r1",
		 3600000, ""},
		{"{\"accessToken\":\"a1\",\"refreshToken\":\"r1\",\"expiresIn\":1.5}", "a1", "r1", 1500, ""},
		{"{\"token\":\"a1\"}", "a1", NULL, -1, ""},
		{"{\"token\":\"t\",\"access_token\":\"a1\"}", "a1", NULL, -1, ""},
		{"{\"access_token\":\"a1\",\"refresh_token\":null,\"expires_in\":null}", "a1", NULL, -1, ""},
		{"{\"access_token\":\"a1\",\"expires_in\":\"3600\"}", "a1", NULL, 3600000, ""},
		{"{\"access_token\":\"a1\",\"expires_in\":\"soon\"}", "a1", NULL, -1, ""},
		{"{\"access_token\":\"a1\",\"expires_in\":0}", "a1", NULL, -1, ""},
		{"{\"access_token\":\"a1\",\"expires_in\":-5}", "a1", NULL, -1, ""},
		{"{\"access_token\":\"a1\",\"expires_in\":1e300}", "a1", NULL, INT64_C(315360000000), ""},
		{"{\"access_token\":\"" JWT_90S "\"}", JWT_90S, NULL, 90000, ""},
		{"{\"access_token\":\"" JWT_90S "\",\"expires_in\":5}", JWT_90S, NULL, 5000, ""},
		{"{\"access_token\":\"" JWT_PAST "\"}", JWT_PAST, NULL, -1, ""},
		{"{\"access_token\":\"" JWT_NONE "\"}", JWT_NONE, NULL, -1, ""},
		{"{\"access_token\":\"" JWT_BROKEN "\"}", JWT_BROKEN, NULL, -1, ""},
		{"{\"access_token\":\"a..b\"}", "a..b", NULL, -1, ""},
		/* none that can stand in a header */
		{"{\"access_token\":\"a b\"}", NULL, NULL, -1, ""},
		{"{\"access_token\":\"a\\r\\nx: y\"}", NULL, NULL, -1, ""},
		{"{\"access_token\":\"a\\u0000b\"}", NULL, NULL, -1, ""},
		{"{\"access_token\":\"\"}", NULL, NULL, -1, ""},
		{"{\"access_token\":7}", NULL, NULL, -1, ""},
		{"{\"error\":\"invalid_grant\",\"error_description\":\"x\"}", NULL, NULL, -1,
		 "invalid_grant"},
		{"{\"error\":{\"code\":\"expired\",\"type\":\"t\"}}", NULL, NULL, -1, "expired"},
		{"{\"error\":{\"code\":7,\"type\":\"in valid\\n\"}}", NULL, NULL, -1, "in_valid_"},
		{"[\"access_token\"]", NULL, NULL, -1, ""},
		{"<html>", NULL, NULL, -1, ""},
		{"", NULL, NULL, -1, ""},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct tp_token_answer a;
		tp_token_answer_read(tp_str_from(rows[i].body), NOW_MS, &a);
		ck_assert_msg((a.access == NULL) == (rows[i].access == NULL), "%s", rows[i].body);
		ck_assert_msg((a.refresh == NULL) == (rows[i].refresh == NULL), "%s", rows[i].body);
		if (a.access != NULL)
			ck_assert_str_eq(a.access, rows[i].access);
		if (a.refresh != NULL)
			ck_assert_str_eq(a.refresh, rows[i].refresh);
		ck_assert_msg(a.lifetime_ms == rows[i].lifetime_ms, "%s: %lld", rows[i].body,
			      (long long)a.lifetime_ms);
		ck_assert_str_eq(a.error, rows[i].error);
		tp_token_answer_free(&a);
		tp_token_answer_free(&a);
	}
}
END_TEST

START_TEST(too_long)
{
	struct tp_buf body = {0};
	struct tp_token_answer a;
	for (size_t n = 8192; n <= 8193; n++) {
		tp_buf_free(&body);
		tp_buf_printf(&body, "{\"access_token\":\"%0*d\"}", (int)n, 0);
		tp_token_answer_read(tp_buf_str(&body), NOW_MS, &a);
		ck_assert((a.access != NULL) == (n == 8192));
		tp_token_answer_free(&a);
	}
	tp_buf_free(&body);
}
END_TEST

TP_TESTS(token_answer)
{
	tcase_add_test(t, questions);
	tcase_add_test(t, answers);
	tcase_add_test(t, too_long);
}
