/* Answers that Turnpike makes itself: values, shapes, and what must never be in them. */
#include "common/retry/refusal.h"
#include "tests/unit/suite.h"

#include <string.h>
#include <jansson.h>
#include <stdlib.h>

static bool is_refusal(enum tp_code c)
{
	return c >= TP_CODE_RESET_REPLAY_REFUSED && c <= TP_CODE_BUDGET_EXHAUSTED;
}

START_TEST(values)
{
	static const struct {
		enum tp_code code;
		int status;
		bool stop;
		uint32_t retry_after_s; /* of one asked for with 7 */
	} rows[] = {
		{TP_CODE_RESET_REPLAY_REFUSED, 429, true, 0}, {TP_CODE_CLOSED_BEFORE_RESPONSE, 429, true, 0},
		{TP_CODE_NO_RESPONSE, 429, true, 0},          {TP_CODE_RESPONSE_TRUNCATED, 429, true, 0},
		{TP_CODE_RESPONSE_INVALID, 429, true, 0},     {TP_CODE_BUDGET_EXHAUSTED, 429, true, 0},
		{TP_CODE_UNREACHABLE, 502, false, 7},         {TP_CODE_CREDENTIAL_REJECTED, 502, true, 0},
		{TP_CODE_IN_FLIGHT, 409, false, 7},           {TP_CODE_MODEL_NOT_FOUND, 404, false, 7},
		{TP_CODE_RATE_LIMIT_SHARED, 429, false, 7},   {TP_CODE_BLACKLISTED, 503, false, 7},
		{TP_CODE_COMBO_UNAVAILABLE, 503, false, 7},   {TP_CODE_KEYS_COOLING, 429, false, 7},
		{TP_CODE_CAPACITY_QUEUE_FULL, 503, false, 7}, {TP_CODE_CAPACITY_WAIT_EXPIRED, 503, false, 7},
		{TP_CODE_TOKEN_WAIT_EXPIRED, 503, false, 7},  {TP_CODE_NONE, 500, false, 7},
	};

	ck_assert_uint_eq(sizeof(rows) / sizeof(rows[0]), TP_CODE_COUNT);
	for (size_t i = 0; i < TP_CODE_COUNT; i++) {
		struct tp_refusal r = tp_refusal_for(rows[i].code, 7);

		ck_assert_int_eq(r.status, rows[i].status);
		ck_assert_int_eq(r.stop, rows[i].stop);
		ck_assert_uint_eq(r.retry_after_s, rows[i].retry_after_s);
		if (rows[i].code != TP_CODE_NONE)
			ck_assert_str_eq(r.code, tp_code_name(rows[i].code));
	}
	ck_assert_uint_eq(tp_refusal_for(TP_CODE_IN_FLIGHT, 0).retry_after_s, 1);
	ck_assert_uint_eq(tp_refusal_for(TP_CODE_BLACKLISTED, 0).retry_after_s, 1);
	ck_assert_uint_eq(tp_refusal_for(TP_CODE_UNREACHABLE, 0).retry_after_s, 0);
	ck_assert_int_eq(tp_refusal_for((enum tp_code)99, 0).status, 500);
}
END_TEST

/* What clients read out of texts, or take for a reason to send again. */
START_TEST(texts)
{
	static const char *const never[] = {"try again in",       "try again after", "retry after",
					    "retry-after",        "retry in",        "resets in",
					    "insufficient_quota", "overloaded"};

	for (int c = 0; c < TP_CODE_COUNT; c++) {
		struct tp_refusal r = tp_refusal_for((enum tp_code)c, 1);

		for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
			ck_assert_ptr_null(strcasestr(r.message, never[i]));
			ck_assert_ptr_null(strcasestr(r.type, never[i]));
		}
		if (!is_refusal((enum tp_code)c))
			continue;
		ck_assert_ptr_nonnull(strstr(r.message, "billed"));
		ck_assert_ptr_nonnull(strstr(r.message, "did not send it"));
		ck_assert_ptr_nonnull(strstr(r.message, "Check"));
	}
}
END_TEST

/* The error object of an answer in a family; the caller drops *ret_root. */
static json_t *render(const struct tp_refusal *r, enum tp_family family, json_t **ret_root)
{
	struct tp_buf b = {0};
	json_error_t error;

	tp_refusal_render(r, family, &b);
	ck_assert(!b.failed);
	*ret_root = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(*ret_root != NULL, "%s: %.*s", error.text, (int)b.len, b.data);
	tp_buf_free(&b);
	return json_object_get(*ret_root, "error");
}

START_TEST(shapes)
{
	for (int family = 0; family < TP_FAMILY_COUNT; family++)
		for (int c = 0; c < TP_CODE_COUNT; c++) {
			struct tp_refusal r = tp_refusal_for((enum tp_code)c, 0);
			json_t *root, *e = render(&r, (enum tp_family)family, &root);
			bool messages = family == TP_FAMILY_MESSAGES;

			ck_assert_uint_eq(json_object_size(root), messages ? 2 : 1);
			if (messages)
				ck_assert_str_eq(json_string_value(json_object_get(root, "type")), "error");
			ck_assert_uint_eq(json_object_size(e), 3);
			ck_assert_str_eq(json_string_value(json_object_get(e, "type")), r.type);
			ck_assert_str_eq(json_string_value(json_object_get(e, "message")), r.message);
			ck_assert_str_eq(json_string_value(json_object_get(e, "code")), r.code);
			json_decref(root);
		}
}
END_TEST

/* Whatever bytes a borrowed text holds, the answer is valid JSON. */
START_TEST(always_json)
{
	uint64_t x = 88172645463325252U;

	for (unsigned round = 0; round < 2000; round++) {
		char code[24] = {0}, detail[48] = {0};
		struct tp_refusal r;
		json_t *root;

		for (size_t i = 0; i + 1 < sizeof(detail); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			detail[i] = (char)x;
			code[i % (sizeof(code) - 1)] = (char)(x >> 8);
		}
		r = tp_refusal_client_error(400 + (int)(x % 32), detail);
		(void)render(&r, (enum tp_family)(round % TP_FAMILY_COUNT), &root);
		json_decref(root);
		r = tp_refusal_from_memory(404, code);
		(void)render(&r, (enum tp_family)(round % TP_FAMILY_COUNT), &root);
		json_decref(root);
	}
}
END_TEST

START_TEST(of_an_answer_without_a_body_to_show)
{
	static const struct {
		int status;
		const char *code, *type, *message;             /* as read; all "": nothing was */
		const char *want_code, *want_type, *want_text; /* NULL: words of our own */
	} rows[] = {
		{503, "", "", "", "upstream_error", "server_error", NULL},
		{499, "", "", "", "upstream_error", "invalid_request_error", NULL},
		{500, "overloaded", "", "", "overloaded", "server_error", NULL},
		{429, "", "rate_limit_error", "slow", "upstream_error", "rate_limit_error", "slow"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tp_answer_error e = {.status = 0};
		struct tp_buf text = {0};
		(void)snprintf(e.code, sizeof e.code, "%s", rows[i].code);
		(void)snprintf(e.type, sizeof e.type, "%s", rows[i].type);
		(void)snprintf(e.message, sizeof e.message, "%s", rows[i].message);
		bool read = e.code[0] != '\0' || e.type[0] != '\0' || e.message[0] != '\0';
		struct tp_refusal r = tp_refusal_of_answer(rows[i].status, read ? &e : NULL, &text);
		ck_assert_int_eq(r.status, rows[i].status);
		ck_assert(!r.stop && r.retry_after_s == 0);
		ck_assert_str_eq(r.code, rows[i].want_code);
		ck_assert_str_eq(r.type, rows[i].want_type);
		if (rows[i].want_text != NULL)
			ck_assert_str_eq(r.message, rows[i].want_text);
		else
			ck_assert_ptr_nonnull(strstr(r.message, "without a readable error message"));
		tp_buf_free(&text);
	}
	struct tp_refusal none = tp_refusal_no_stream();
	ck_assert(none.status == 502 && !none.stop && none.retry_after_s == 0);
	ck_assert_str_eq(none.code, "upstream_error");
}
END_TEST

START_TEST(client_errors)
{
	static const int statuses[] = {400, 401, 403, 404, 405, 408, 409, 411, 413,
				       414, 415, 417, 421, 426, 431, 501, 505};

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct tp_refusal r = tp_refusal_client_error(statuses[i], "bare CR in a header");

		ck_assert_int_eq(r.status, statuses[i]);
		ck_assert(!r.stop);
		ck_assert_uint_eq(r.retry_after_s, 0);
		ck_assert_str_eq(r.type, "invalid_request_error");
		ck_assert_str_eq(r.message, "bare CR in a header");
		ck_assert_uint_gt(strlen(tp_refusal_client_error(statuses[i], NULL).message), 10);
		if (statuses[i] != 400)
			ck_assert_str_ne(r.code, "bad_request");
	}
	ck_assert_str_eq(tp_refusal_client_error(413, "").code, "request_too_large");
	ck_assert_str_eq(tp_refusal_client_error(503, NULL).type, "server_error");
}
END_TEST

START_TEST(from_memory)
{
	struct tp_refusal r = tp_refusal_from_memory(404, "model_not_found");

	ck_assert_int_eq(r.status, 404);
	ck_assert(r.stop);
	ck_assert_uint_eq(r.retry_after_s, 0);
	ck_assert_str_eq(r.code, "model_not_found");
	ck_assert_str_eq(tp_refusal_from_memory(404, NULL).code, "not_found");
	ck_assert_str_eq(tp_refusal_from_memory(422, "").code, "bad_request");
	/* Claude Code ignores the stop signal beside this type: it must not come from the provider's code */
	ck_assert_str_ne(tp_refusal_from_memory(400, "overloaded_error").type, "overloaded_error");
}
END_TEST

START_TEST(cooling)
{
	static const struct {
		int status;
		const char *code, *told_code, *type;
	} rows[] = {
		{429, NULL, "rate_limit_exceeded", "rate_limit_error"},
		{429, "usage_limit_reached", "usage_limit_reached", "rate_limit_error"},
		{503, NULL, "server_is_overloaded", "server_error"},
		{529, NULL, "server_is_overloaded", "server_error"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tp_refusal r = tp_refusal_cooling(rows[i].status, rows[i].code, i == 1, 600);

		ck_assert_int_eq(r.status, rows[i].status);
		ck_assert_str_eq(r.code, rows[i].told_code);
		ck_assert_str_eq(r.type, rows[i].type);
		ck_assert_int_eq(r.stop, i == 1);
		ck_assert_uint_eq(r.retry_after_s, 600);
		ck_assert_ptr_null(strstr(r.message, "again in"));
	}
	ck_assert_uint_eq(tp_refusal_cooling(429, NULL, false, 0).retry_after_s, 1);
}
END_TEST

START_TEST(phrases)
{
	ck_assert_str_eq(tp_reason_phrase(200), "OK");
	ck_assert_str_eq(tp_reason_phrase(429), "Too Many Requests");
	ck_assert_str_eq(tp_reason_phrase(503), "Service Unavailable");
	ck_assert_str_eq(tp_reason_phrase(100), "Continue");
	ck_assert_str_eq(tp_reason_phrase(530), "Origin DNS Error");
	ck_assert_str_eq(tp_reason_phrase(299), "Unknown");
	ck_assert_str_eq(tp_reason_phrase(-1), "Unknown");
	ck_assert_str_eq(tp_reason_phrase(999), "Unknown");
	/* found by halving: the table has to be in order, so every status of an own answer is there */
	for (int c = 0; c < TP_CODE_COUNT; c++)
		ck_assert_str_ne(tp_reason_phrase(tp_refusal_for((enum tp_code)c, 0).status), "Unknown");
	static const int known[] = {101, 204, 304, 307, 400, 402, 418, 421, 425, 431, 451, 498, 499,
				    501, 505, 507, 508, 511, 520, 521, 522, 523, 524, 525, 526, 529};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ck_assert_str_ne(tp_reason_phrase(known[i]), "Unknown");
}
END_TEST

TP_TESTS(refusal)
{
	tcase_add_test(t, values);
	tcase_add_test(t, texts);
	tcase_add_test(t, shapes);
	tcase_add_test(t, always_json);
	tcase_add_test(t, client_errors);
	tcase_add_test(t, of_an_answer_without_a_body_to_show);
	tcase_add_test(t, from_memory);
	tcase_add_test(t, cooling);
	tcase_add_test(t, phrases);
}
