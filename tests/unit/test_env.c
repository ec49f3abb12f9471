/* Variables instead of YAML: what a line means, what the variables amount to, and what is told. */
#include "common/config/env.h"

#include "tests/unit/suite.h"

/* ---- lines */

static const struct line_row {
	const char *text, *value; /* NULL: refused */
	const char *error;        /* NULL: none */
} lines[] = {
	{"A=b", "b", NULL},
	{"  A = b  ", "b", NULL},
	{"export A=b", "b", NULL},
	{"export\tA=b\r", "b", NULL},
	{"A=b\r\n", "b", NULL},
	{"\xef\xbb\xbf"
	 "A=b",
	 "b", NULL},
	{"# A=c\n\n   # more\nA=b", "b", NULL},
	{"A=b # what it is", "b", NULL},
	{"A=b#c", "b#c", NULL},
	{"A=#c", "", NULL},
	{"A=", "", NULL},
	{"A=\"b c\" # d", "b c", NULL},
	{"A='b \\n \"c\" # d'", "b \\n \"c\" # d", NULL},
	{"A=\"b\\n\\t\\\"\\\\\\$c\\x\"", "b\n\t\"\\$c\\x", NULL},
	{"A=${B}", "${B}", NULL},
	{"A=a=b", "a=b", NULL},
	{"A", NULL, "f:1: is not of the form NAME=VALUE\n"},
	{"=b", NULL, "f:1: is not of the form NAME=VALUE\n"},
	{"1A=b", NULL, "f:1: is not of the form NAME=VALUE\n"},
	{"A B=c", NULL, "f:1: is not of the form NAME=VALUE\n"},
	{"\nA=\"b", NULL, "f:2: the quote is not closed on this line\n"},
	{"A='b' c", NULL, "f:1: something stands behind the closing quote\n"},
	{"A=1\nB=2\nA=3", NULL, "f:3: A was set on line 1 already\n"},
	{"x\ny\n", NULL, "f:1: is not of the form NAME=VALUE\nf:2: is not of the form NAME=VALUE\n"},
};

START_TEST(a_line)
{
	const struct line_row *r = &lines[_i];
	struct tp_env env;
	struct tp_buf errors = {0};
	bool good = tp_env_parse("f", tp_str_from(r->text), &env, &errors);
	ck_assert_msg(good == (r->value != NULL), "%s: %s", r->text, tp_buf_cstr(&errors));
	ck_assert_str_eq(tp_buf_cstr(&errors), r->error != NULL ? r->error : "");
	if (good) {
		ck_assert_uint_eq(env.n, 1);
		ck_assert_str_eq(env.list[0].name, "A");
		ck_assert_str_eq(env.list[0].value, r->value);
		ck_assert_ptr_eq(tp_env_find(&env, "A"), r->value[0] != '\0' ? &env.list[0] : NULL);
	}
	tp_env_free(&env);
	tp_buf_free(&errors);
}
END_TEST

START_TEST(a_byte_0_is_refused)
{
	struct tp_env env;
	struct tp_buf errors = {0};
	ck_assert(!tp_env_parse("f", (struct tp_str){"A=b\0c", 5}, &env, &errors));
	ck_assert_str_eq(tp_buf_cstr(&errors), "f:1: there is a byte 0 in it\n");
	tp_env_free(&env);
	tp_buf_free(&errors);
}
END_TEST

/* ---- what they amount to */

static struct tp_config *load(const char *text, struct tp_buf *errors)
{
	*errors = (struct tp_buf){0};
	return tp_env_load_text("/etc/f.env", tp_str_from(text), errors);
}

START_TEST(the_endpoint_alone)
{
	struct tp_buf errors;
	struct tp_config *c = load("CODEX_ENDPOINT=http://h:81/v1", &errors);
	ck_assert_msg(c != NULL, "%s", tp_buf_cstr(&errors));
	ck_assert_str_eq(tp_buf_cstr(&errors), "");
	ck_assert_str_eq(c->providers[0].base, "http://h:81/v1");
	ck_assert_uint_eq(c->providers[0].n_keys, 0);
	ck_assert(c->ask_at_start);
	ck_assert_int_eq(c->retry.profile, TP_PROFILE_PATIENT);
	const struct tp_retry_conf *r = &c->providers[0].retry;
	ck_assert_uint_eq(r->overload_sends, 4);
	ck_assert_uint_eq(r->overload_429_sends, 4);
	ck_assert_uint_eq(r->transient_sends, 4);
	ck_assert_uint_eq(r->reset_sends, 4);
	ck_assert_uint_eq(r->budget_sends, 4);
	ck_assert_uint_eq(r->budget_reserve, 0);
	ck_assert_uint_eq(r->ceiling_ms, 300000);
	ck_assert_uint_eq(r->deadline_ms, 120000);
	ck_assert_str_eq(c->log.output, "stderr");
	ck_assert_int_eq(c->log.level, TP_LOG_INFO);
	ck_assert_ptr_null(c->snapshots.directory);
	ck_assert_uint_eq(c->admin.n_listeners, 0);
	ck_assert_str_eq(c->state.name, "/turnpike");
	tp_config_unref(c);
	tp_buf_free(&errors);
}
END_TEST

START_TEST(all_of_them)
{
	struct tp_buf errors;
	struct tp_config *c = load("export CODEX_ENDPOINT=\"http://h/v1\"\r\n"
				   "CODEX_API_KEY='k${NOT}$${x}12345678'\r\n"
				   "MAX_RETRIES=0\n"
				   "TOTAL_TIMEOUT=1.5\n"
				   "ENABLE_LOGGING=True\n"
				   "LOG_LEVEL=WARNING\n"
				   "LOG_FILE=/tmp/turnpike.log\n"
				   "REFRESH_TOKEN=r12345678\n"
				   "SNAPSHOT_FAILED_REQUESTS=/tmp/snapshots\n"
				   "SSL_CERT_FILE=/nowhere/but/http\n"
				   "METRICS_PORT=9101\n"
				   "STATE_NAME=two\n"
				   "PATH=/bin\n",
				   &errors);
	ck_assert_msg(c != NULL, "%s", tp_buf_cstr(&errors));
	const struct tp_provider_conf *p = &c->providers[0];
	ck_assert_str_eq(p->keys[0], "k${NOT}$${x}12345678");
	ck_assert_uint_eq(p->retry.overload_429_sends, 1);
	ck_assert_uint_eq(p->retry.budget_sends, 1);
	ck_assert_uint_eq(p->retry.deadline_ms, 1500);
	ck_assert_int_eq(c->log.level, TP_LOG_WARN);
	ck_assert_str_eq(c->log.output, "/tmp/turnpike.log");
	ck_assert_str_eq(p->refresh.url, "http://h/auth/refresh");
	ck_assert_str_eq(p->refresh.refresh_token, "r12345678");
	ck_assert_str_eq(p->refresh.state_file, "/etc/f.env.refresh");
	ck_assert_str_eq(c->snapshots.directory, "/tmp/snapshots");
	ck_assert_str_eq(c->admin.listeners[0].address, "127.0.0.1:9101");
	ck_assert_str_eq(c->state.name, "/two");
	tp_config_unref(c);
	tp_buf_free(&errors);
}
END_TEST

START_TEST(logging_off_still_tells_errors)
{
	struct tp_buf errors;
	struct tp_config *c = load(
		"CODEX_ENDPOINT=http://h\nENABLE_LOGGING=no\nLOG_LEVEL=debug\nSNAPSHOT_FAILED_REQUESTS=off",
		&errors);
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(c->log.level, TP_LOG_ERROR);
	ck_assert_ptr_null(c->snapshots.directory);
	tp_config_unref(c);
	tp_buf_free(&errors);
}
END_TEST

/* ---- what is told */

#define E "CODEX_ENDPOINT=http://h\n"

static const struct mistake {
	const char *text, *error;
} mistakes[] = {
	{"", "/etc/f.env: CODEX_ENDPOINT is missing: the URL of the provider, such as "
	     "https://api.openai.com/v1\n"},
	{"CODEX_ENDPOINT=\n", "/etc/f.env: CODEX_ENDPOINT is missing: the URL of the provider, such as "
			      "https://api.openai.com/v1\n"},
	{"\nCODEX_ENDPOINT=h",
	 "/etc/f.env:2: CODEX_ENDPOINT: providers.codex.url: the url must begin with http:// or https://\n"},
	{E "MAX_RETRIES=many", "/etc/f.env:2: MAX_RETRIES: is not a number from 0 to 99\n"},
	{E "MAX_RETRIES=-1", "/etc/f.env:2: MAX_RETRIES: is not a number from 0 to 99\n"},
	{E "MAX_RETRIES=100", "/etc/f.env:2: MAX_RETRIES: is not a number from 0 to 99\n"},
	{E "ENABLE_LOGGING=perhaps", "/etc/f.env:2: ENABLE_LOGGING: is neither true nor false\n"},
	{E "METRICS_PORT=70000", "/etc/f.env:2: METRICS_PORT: is not a port\n"},
	{E "LOG_LEVEL=loud",
	 "/etc/f.env:2: LOG_LEVEL: log.level: `loud` is not one of error, warn, info, debug\n"},
	{E "STATE_NAME=a/b",
	 "/etc/f.env:2: STATE_NAME: state.name: `/a/b` must be a slash and a name, like /turnpike "
	 "(no further slash)\n"},
	{E "MAX_RETRIES=x\nMETRICS_PORT=y", "/etc/f.env:2: MAX_RETRIES: is not a number from 0 to "
					    "99\n/etc/f.env:3: METRICS_PORT: is not a port\n"},
};

START_TEST(a_mistake)
{
	struct tp_buf errors;
	ck_assert_ptr_null(load(mistakes[_i].text, &errors));
	ck_assert_str_eq(tp_buf_cstr(&errors), mistakes[_i].error);
	tp_buf_free(&errors);
}
END_TEST

START_TEST(a_name_that_is_nearly_known)
{
	struct tp_buf errors;
	struct tp_config *c = load(E "MAX_RETRY=1\nHOME=/\n", &errors);
	ck_assert_ptr_nonnull(c);
	ck_assert_str_eq(tp_buf_cstr(&errors),
			 "/etc/f.env:2: MAX_RETRY is not known and ignored; did you mean MAX_RETRIES?\n");
	tp_config_unref(c);
	tp_buf_free(&errors);
}
END_TEST

START_TEST(never_shows_a_secret)
{
	static const char *const texts[] = {
		E "CODEX_API_KEY=\"hunter2 \"\n", E "CODEX_API_KEY=hunter2\x7f\n",
		E "REFRESH_TOKEN=\"hunter2 \"\n", "CODEX_ENDPOINT=http://u:hunter2@h:x/\n",
		E "CODEX_API_KEY='hunter2\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct tp_buf errors;
		ck_assert_ptr_null(load(texts[i], &errors));
		ck_assert_msg(strstr(tp_buf_cstr(&errors), "hunter2") == NULL, "%s", errors.data);
		tp_buf_free(&errors);
	}
}
END_TEST

TP_TESTS(env)
{
	tcase_add_loop_test(t, a_line, 0, (int)(sizeof lines / sizeof lines[0]));
	tcase_add_test(t, a_byte_0_is_refused);
	tcase_add_test(t, the_endpoint_alone);
	tcase_add_test(t, all_of_them);
	tcase_add_test(t, logging_off_still_tells_errors);
	tcase_add_loop_test(t, a_mistake, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
	tcase_add_test(t, a_name_that_is_nearly_known);
	tcase_add_test(t, never_shows_a_secret);
}
