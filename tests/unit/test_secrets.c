/* Which parts of a configuration are secret, and that the log does not tell them. */
#include "common/config/secrets.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"

static struct tp_config *load(void)
{
	static const char yaml[] = "clients:\n"
				   "  - { name: team-a, key: open-sesame-1 }\n"
				   "  - { name: team-b, key: open-sesame-2 }\n"
				   "providers:\n"
				   "  one: { url: \"https://usr7:pa55w0rd@example.com/v1\", keys: [ "
				   "zebra-key-9 ], key_header: x-api-key }\n"
				   "  two: { url: \"https://example.org/a@b\", via: [ direct, "
				   "\"http://usr8:pr0xyw0rd@p:1\" ] }\n"
				   "routes: [ { path: /v1, provider: one } ]\n";
	struct tp_buf errors = {0};
	struct tp_config *c = tp_config_parse("test", TP_STR(yaml), &errors);
	ck_assert_msg(c != NULL, "%s", tp_buf_cstr(&errors));
	tp_buf_free(&errors);
	return c;
}

START_TEST(of_config)
{
	static const char *const want[] = {"open-sesame-1",  "open-sesame-2", "usr7:pa55w0rd",
					   "pa55w0rd",       "zebra-key-9",   "dXNyNzpwYTU1dzByZA==",
					   "usr8:pr0xyw0rd", "pr0xyw0rd",     "dXNyODpwcjB4eXcwcmQ="};
	struct tp_config *c = load();
	struct tp_secrets s;
	tp_secrets_of_config(c, &s);
	ck_assert(!s.failed);
	ck_assert_uint_eq(s.list.n, sizeof want / sizeof *want);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		bool found = false;
		for (size_t j = 0; j < s.list.n; j++)
			found = found || tp_str_eq(s.list.list[j], tp_str_from(want[i]));
		ck_assert_msg(found, "%s", want[i]);
	}
	tp_secrets_free(&s);
	tp_secrets_free(&s);
	tp_config_unref(c);
}
END_TEST

/* What the log holds once `line` was written to it, without time and process. */
static void logged(enum tp_log_format format, const char *line, char *out, size_t size)
{
	char path[] = "/tmp/turnpike-test-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, format, path), 0);
	tp_info("%s", line);
	ck_assert_int_eq(tp_log_open(TP_LOG_INFO, TP_LOG_TEXT, "stderr"), 0);
	ssize_t n = read(fd, out, size - 1);
	ck_assert_int_gt(n, 0);
	out[n] = '\0';
	(void)close(fd);
	(void)unlink(path);
}

START_TEST(log_lines)
{
	static const char line[] =
		"to http://usr7:pa55w0rd@example.com with zebra-key-9, Bearer abc123def, /etc/x.yaml";
	static const char masked[] = "to http://***@example.com with ***, Bearer ***, /etc/x.yaml";
	char text[1000];
	struct tp_config *c = load();
	logged(TP_LOG_TEXT, line, text, sizeof text);
	ck_assert(strstr(text, line) != NULL);
	tp_secrets_guard_log(c);
	tp_config_unref(c); /* the guard keeps its own */
	for (int format = TP_LOG_TEXT; format <= TP_LOG_JSON; format++) {
		logged((enum tp_log_format)format, line, text, sizeof text);
		ck_assert_msg(strstr(text, masked) != NULL, "%s", text);
		logged((enum tp_log_format)format, "turn 1: send 1, class initial, to one", text,
		       sizeof text);
		ck_assert(strstr(text, "turn 1: send 1, class initial, to one") != NULL);
	}
	c = load();
	tp_secrets_guard_log(c); /* the next generation */
	tp_config_unref(c);
	logged(TP_LOG_TEXT, line, text, sizeof text);
	ck_assert(strstr(text, masked) != NULL);
	tp_secrets_guard_log(NULL);
	logged(TP_LOG_TEXT, line, text, sizeof text);
	ck_assert(strstr(text, line) != NULL);
}
END_TEST

/* What came up at run time joins lists that were collected before, and the log. */
START_TEST(learned)
{
	char text[1000], secret[32];
	struct tp_config *c = load();
	struct tp_secrets s;
	struct tp_buf out = {0};
	tp_secrets_of_config(c, &s);
	tp_secrets_guard_log(c);
	tp_secrets_learn(TP_STR("abc")); /* an everyday word */
	for (unsigned i = 0; i < TP_SECRETS_LEARNED + 10; i++) {
		(void)snprintf(secret, sizeof secret, "fresh-token-%03u", i);
		tp_secrets_learn(tp_str_from(secret));
		tp_secrets_learn(tp_str_from(secret));
	}
	logged(TP_LOG_TEXT, "abc fresh-token-073 fresh-token-010 zebra-key-9", text, sizeof text);
	ck_assert_msg(strstr(text, "abc *** *** ***") != NULL, "%s", text);
	ck_assert(tp_mask(TP_STR("x fresh-token-073 y"), &s.list, &out));
	ck_assert_str_eq(tp_buf_cstr(&out), "x *** y");
	logged(TP_LOG_TEXT, "fresh-token-009", text, sizeof text); /* the oldest are forgotten */
	ck_assert_msg(strstr(text, "fresh-token-009") != NULL, "%s", text);
	tp_buf_free(&out);
	tp_secrets_free(&s);
	tp_secrets_guard_log(NULL);
	tp_config_unref(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("secrets");
	TCase *c = tcase_create("secrets");
	tcase_add_test(c, of_config);
	tcase_add_test(c, log_lines);
	tcase_add_test(c, learned);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
