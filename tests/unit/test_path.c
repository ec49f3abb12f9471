/* Request targets: families, dot segments, prefixes. */
#include <stdlib.h>

#include "common/http/path.h"
#include "tests/unit/suite.h"

static const struct {
	const char *target;
	enum tp_family family;
	const char *path;
} targets[] = {
	{"/v1/chat/completions", TP_FAMILY_CHAT, "/v1/chat/completions"},
	{"/chat/completions?a=/responses", TP_FAMILY_CHAT, "/chat/completions"},
	{"/openai/deployments/x/chat/completions?api-version=1", TP_FAMILY_CHAT,
	 "/openai/deployments/x/chat/completions"},
	{"/v1/responses", TP_FAMILY_RESPONSES, "/v1/responses"},
	{"/v1/messages?beta=true", TP_FAMILY_MESSAGES, "/v1/messages"},
	{"/v1/messages/count_tokens", TP_FAMILY_PLAIN, "/v1/messages/count_tokens"},
	{"/v1/responses/resp_1", TP_FAMILY_PLAIN, "/v1/responses/resp_1"},
	{"/v1/completions", TP_FAMILY_PLAIN, "/v1/completions"},
	{"/v1/xmessages", TP_FAMILY_PLAIN, "/v1/xmessages"},
	{"/v1/Messages", TP_FAMILY_PLAIN, "/v1/Messages"},
	{"/v1/messages/", TP_FAMILY_PLAIN, "/v1/messages/"},
	{"/?/messages", TP_FAMILY_PLAIN, "/"},
	{"*", TP_FAMILY_PLAIN, "*"},
	{"", TP_FAMILY_PLAIN, ""},
};

START_TEST(family_and_path)
{
	struct tp_str target = tp_str_from(targets[_i].target);
	ck_assert_msg(tp_family_of(target) == targets[_i].family, "%s", targets[_i].target);
	ck_assert_msg(tp_str_eq(tp_path_only(target), tp_str_from(targets[_i].path)), "%s",
		      targets[_i].target);
}
END_TEST

START_TEST(family_names)
{
	static const char *const names[TP_FAMILY_COUNT] = {"plain", "chat", "responses", "messages"};
	for (int f = 0; f < TP_FAMILY_COUNT; f++)
		ck_assert_str_eq(tp_family_name((enum tp_family)f), names[f]);
}
END_TEST

static const struct {
	const char *target;
	bool dots;
} dots[] = {
	{"/", false},           {"", false},
	{"*", false},           {"/v1/models", false},
	{"/v1/gpt-4.1", false}, {"/v1/.well-known/x", false},
	{"/v1/..x", false},     {"/v1/x..", false},
	{"/v1/...", false},     {"/v1/%2e%2e%2e", false},
	{"/v1/%2ex", false},    {"/v1/x?../..", false},
	{"/v1?/./", false},     {"/%", false},
	{"/%2", false},         {"/a%20b.c/%2g", false},
	{"/.", true},           {"/..", true},
	{"/./x", true},         {"/v1/../x", true},
	{"/v1/x/..", true},     {"/v1/x/.?q", true},
	{"/v1/%2e/x", true},    {"/v1/%2E%2e/x", true},
	{"/v1/.%2E", true},     {"/v1/%2e.", true},
	{"/v1%2f..%2Fx", true}, {"/v1/x%2F%2E", true},
	{"/v1/..%5cx", true},   {"/v1\\..\\x", true},
	{"/v1/..;a=b/x", true}, {"/v1/..%3Ba/x", true},
	{"/v1/a;../x", false},  {"/v1/a;b/..", true},
	{"..", true},
};

START_TEST(dot_segments)
{
	/* exactly as long as the text, so that a sanitizer sees a read beyond it */
	size_t n = strlen(dots[_i].target);
	char *target = malloc(n != 0 ? n : 1);
	ck_assert_ptr_nonnull(target);
	memcpy(target, dots[_i].target, n);
	ck_assert_msg(tp_path_has_dots((struct tp_str){target, n}) == dots[_i].dots, "%s", dots[_i].target);
	free(target);
}
END_TEST

static const struct {
	const char *path, *prefix;
	bool under;
} prefixes[] = {
	{"/v1", "/v1", true},     {"/v1/x", "/v1", true}, {"/v1/", "/v1", true},   {"/v1?q", "/v1", true},
	{"/v10", "/v1", false},   {"/v", "/v1", false},   {"/x/v1", "/v1", false}, {"/V1/x", "/v1", false},
	{"/anything", "/", true}, {"/", "/", true},       {"*", "/", false},       {"/v1/x", "/v1/", true},
	{"/v1", "/v1/", false},   {"/a", "", true},
};

START_TEST(path_under_prefix)
{
	ck_assert_msg(tp_path_under(tp_str_from(prefixes[_i].path), tp_str_from(prefixes[_i].prefix)) ==
			      prefixes[_i].under,
		      "%s under %s", prefixes[_i].path, prefixes[_i].prefix);
}
END_TEST

TP_TESTS(path)
{
	tcase_add_loop_test(t, family_and_path, 0, sizeof targets / sizeof *targets);
	tcase_add_test(t, family_names);
	tcase_add_loop_test(t, dot_segments, 0, sizeof dots / sizeof *dots);
	tcase_add_loop_test(t, path_under_prefix, 0, sizeof prefixes / sizeof *prefixes);
}
