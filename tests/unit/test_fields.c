/* The table of known field names, and which fields end at this hop. */
#include <stdlib.h>

#include "common/base/str.h"
#include "common/http/fields.h"
#include "tests/unit/suite.h"

static const char *const names[TP_FIELD_COUNT] = {
	[TP_FIELD_HOST] = "Host",
	[TP_FIELD_CONNECTION] = "Connection",
	[TP_FIELD_KEEP_ALIVE] = "Keep-Alive",
	[TP_FIELD_PROXY_CONNECTION] = "Proxy-Connection",
	[TP_FIELD_PROXY_AUTHORIZATION] = "Proxy-Authorization",
	[TP_FIELD_PROXY_AUTHENTICATE] = "Proxy-Authenticate",
	[TP_FIELD_TE] = "Te",
	[TP_FIELD_TRAILER] = "Trailer",
	[TP_FIELD_TRANSFER_ENCODING] = "Transfer-Encoding",
	[TP_FIELD_UPGRADE] = "Upgrade",
	[TP_FIELD_CONTENT_LENGTH] = "Content-Length",
	[TP_FIELD_CONTENT_TYPE] = "Content-Type",
	[TP_FIELD_CONTENT_ENCODING] = "Content-Encoding",
	[TP_FIELD_ACCEPT_ENCODING] = "Accept-Encoding",
	[TP_FIELD_EXPECT] = "Expect",
	[TP_FIELD_DATE] = "Date",
	[TP_FIELD_SERVER] = "Server",
	[TP_FIELD_ORIGIN] = "Origin",
	[TP_FIELD_AUTHORIZATION] = "Authorization",
	[TP_FIELD_X_API_KEY] = "X-Api-Key",
	[TP_FIELD_API_KEY] = "Api-Key",
	[TP_FIELD_X_GOOG_API_KEY] = "X-Goog-Api-Key",
	[TP_FIELD_COOKIE] = "Cookie",
	[TP_FIELD_RETRY_AFTER] = "Retry-After",
	[TP_FIELD_RETRY_AFTER_MS] = "Retry-After-Ms",
	[TP_FIELD_X_SHOULD_RETRY] = "X-Should-Retry",
	[TP_FIELD_IDEMPOTENCY_KEY] = "Idempotency-Key",
	[TP_FIELD_X_CODEX_REQUEST_ID] = "X-Codex-Request-Id",
	[TP_FIELD_X_CODEX_TURN_METADATA] = "X-Codex-Turn-Metadata",
	[TP_FIELD_X_CODEX_STATUS] = "X-Codex-Status",
	[TP_FIELD_X_CODEX_SYSTEM_LOAD] = "X-Codex-System-Load",
	[TP_FIELD_X_CODEX_MODEL_CAPACITY] = "X-Codex-Model-Capacity",
	[TP_FIELD_X_STAINLESS_RETRY_COUNT] = "X-Stainless-Retry-Count",
	[TP_FIELD_X_TURNPIKE_LOGICAL_ID] = "X-Turnpike-Logical-Id",
	[TP_FIELD_X_TURNPIKE_MAX_SENDS] = "X-Turnpike-Max-Sends",
	[TP_FIELD_X_TURNPIKE_DEADLINE] = "X-Turnpike-Deadline",
};

static enum tp_field_id look(const char *name)
{
	/* exactly as long as the name, so that a sanitizer sees a read beyond it */
	size_t n = strlen(name);
	char *copy = malloc(n != 0 ? n : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, name, n);
	enum tp_field_id id = tp_field_lookup(copy, n);
	free(copy);
	return id;
}

START_TEST(each_name_in_each_case)
{
	if (names[_i] == NULL) {
		ck_assert(_i == TP_FIELD_OTHER || _i == TP_FIELD_X_TURNPIKE_OTHER);
		return;
	}
	char name[32];
	size_t n = strlen(names[_i]);
	ck_assert_uint_lt(n, sizeof name);
	memcpy(name, names[_i], n + 1);
	ck_assert_msg(look(name) == (enum tp_field_id)_i, "%s", name);
	for (size_t i = 0; i < n; i++)
		name[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
	ck_assert_msg(look(name) == (enum tp_field_id)_i, "%s", name);
	for (size_t i = 0; i < n; i++)
		name[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] & ~0x20) : name[i];
	ck_assert_msg(look(name) == (enum tp_field_id)_i, "%s", name);
}
END_TEST

/* One character changed, left out or added makes another name. */
START_TEST(near_misses)
{
	if (names[_i] == NULL)
		return;
	bool own = tp_str_starts(tp_str_from(names[_i]), TP_STR("X-Turnpike-"));
	char name[40];
	size_t n = strlen(names[_i]);
	for (size_t i = own ? sizeof "X-Turnpike-" - 1 : 0; i < n; i++) {
		memcpy(name, names[_i], n + 1);
		name[i] = name[i] == '~' ? '!' : '~';
		ck_assert_int_eq(look(name), own ? TP_FIELD_X_TURNPIKE_OTHER : TP_FIELD_OTHER);
	}
	memcpy(name, names[_i], n + 1);
	name[n - 1] = 0;
	ck_assert_int_ne(look(name), _i);
	memcpy(name, names[_i], n + 1);
	memcpy(name + n, "s", 2);
	ck_assert_int_ne(look(name), _i);
}
END_TEST

START_TEST(other_names)
{
	static const struct {
		const char *name;
		enum tp_field_id id;
	} others[] = {
		{"", TP_FIELD_OTHER},
		{"x", TP_FIELD_OTHER},
		{"user-agent", TP_FIELD_OTHER},
		{"x-turnpike", TP_FIELD_OTHER},
		{"x-turnpike-", TP_FIELD_X_TURNPIKE_OTHER},
		{"X-TurnPike-Sends", TP_FIELD_X_TURNPIKE_OTHER},
		{"x-turnpike_sends", TP_FIELD_OTHER},
		{"x-stainless-retry-count-and-much-more", TP_FIELD_OTHER},
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ck_assert_msg(look(others[i].name) == others[i].id, "%s", others[i].name);
}
END_TEST

START_TEST(what_ends_here)
{
	static const enum tp_field_id ends[] = {
		TP_FIELD_HOST,
		TP_FIELD_CONNECTION,
		TP_FIELD_KEEP_ALIVE,
		TP_FIELD_PROXY_CONNECTION,
		TP_FIELD_PROXY_AUTHORIZATION,
		TP_FIELD_PROXY_AUTHENTICATE,
		TP_FIELD_TE,
		TP_FIELD_TRAILER,
		TP_FIELD_TRANSFER_ENCODING,
		TP_FIELD_UPGRADE,
		TP_FIELD_CONTENT_LENGTH,
		TP_FIELD_EXPECT,
		TP_FIELD_X_TURNPIKE_LOGICAL_ID,
		TP_FIELD_X_TURNPIKE_MAX_SENDS,
		TP_FIELD_X_TURNPIKE_DEADLINE,
		TP_FIELD_X_TURNPIKE_OTHER,
	};
	for (int id = 0; id < TP_FIELD_COUNT; id++) {
		bool want = false;
		for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
			want = want || ends[i] == (enum tp_field_id)id;
		struct tp_field f = {.id = (uint8_t)id};
		ck_assert_msg(tp_field_ends_here(&f) == want, "id %d", id);
		f.connection_named = true;
		ck_assert(tp_field_ends_here(&f));
	}
}
END_TEST

TP_TESTS(fields)
{
	tcase_add_loop_test(t, each_name_in_each_case, 0, TP_FIELD_COUNT);
	tcase_add_loop_test(t, near_misses, 0, TP_FIELD_COUNT);
	tcase_add_test(t, other_names);
	tcase_add_test(t, what_ends_here);
}
