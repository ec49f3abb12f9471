/* How a configuration is shown: as a file, as its defaults, in the documentation, as a schema. */
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/config/config.h"
#include "common/config/option.h"
#include "common/config/show.h"
#include "tests/unit/parse.h"
#include "tests/unit/suite.h"

static const char rich[] =
	"workers: 3\n"
	"listen: [\"127.0.0.1:0\", {address: \"unix:/tmp/x\", client_half_close: serve}]\n"
	"clients: [{name: a, key: hunter2}]\n"
	"hosts: [\"[::1]\", x]\n"
	"origins: [\"http://a:1\"]\n"
	"providers:\n"
	"  p: {url: \"http://user:hunter2@h:81/v1/\", keys: [hunter2], key_header: api-key,\n"
	"      via: [direct, \"http://user:hunter2@H:3128\"],\n"
	"      upgrade: tunnel, compression: pass, replay_safe: [], retry: {deadline: 7s}}\n"
	"  q: {url: \"https://h\", tls: {server_name: other, verify: false}, timeouts: {idle: 1500ms}}\n"
	"routes: [{path: /q, provider: q}, {path: /v1, provider: p}]\n"
	"retry: {transient: {statuses: []}, deadline: 3ms}\n"
	"limits: {header: 1025, body: 3GiB}\n"
	"log: {level: debug, format: json, output: \"/tmp/a \\\"$${b}: #\"}\n"
	"pid_file: /run/x\n";

START_TEST(effective_is_a_file_that_means_the_same)
{
	struct tp_buf once = {0}, twice = {0};
	struct tp_config *c = parse(rich);
	tp_config_show_effective(c, &once);
	tp_config_unref(c);
	const char *text = tp_buf_cstr(&once);
	c = parse(text);
	tp_config_show_effective(c, &twice);
	ck_assert_str_eq(text, tp_buf_cstr(&twice));
	ck_assert_uint_eq(c->retry.deadline_ms, 3);
	ck_assert_uint_eq(c->providers[0].retry.deadline_ms, 7000);
	ck_assert_uint_eq(c->providers[1].idle_ms, 1500);
	ck_assert_str_eq(c->log.output, "/tmp/a \"${b}: #");
	ck_assert_uint_eq(c->limits.body, UINT64_C(3) << 30);
	ck_assert_str_eq(c->providers[c->routes[0].provider].name, "p");
	tp_config_unref(c);
	tp_buf_free(&once);
	tp_buf_free(&twice);
}
END_TEST

START_TEST(effective_masks_secrets)
{
	struct tp_buf out = {0};
	struct tp_config *c = parse(rich);
	tp_config_show_effective(c, &out);
	const char *text = tp_buf_cstr(&out);
	ck_assert_ptr_null(strstr(text, "hunter2"));
	ck_assert_ptr_null(strstr(text, "user"));
	ck_assert_ptr_nonnull(strstr(text, "url: \"http://********@h:81/v1\"\n"));
	ck_assert_ptr_nonnull(strstr(text, "via: [ direct, \"http://********@h:3128\" ]\n"));
	ck_assert_ptr_nonnull(strstr(text, "keys: [ \"********\" ]\n"));
	ck_assert_ptr_nonnull(strstr(text, "url: https://h\n"));
	tp_config_unref(c);
	tp_buf_free(&out);
}
END_TEST

START_TEST(defaults_are_a_file_with_the_defaults)
{
	struct tp_buf defaults = {0}, of_defaults = {0}, of_least = {0};
	tp_config_show_defaults(&defaults);
	struct tp_config *c = parse(tp_buf_cstr(&defaults));
	tp_config_show_effective(c, &of_defaults);
	tp_config_unref(c);
	c = parse("providers: {codex: {url: \"https://your-codex-server.com/v1\"}}");
	tp_config_show_effective(c, &of_least);
	tp_config_unref(c);
	ck_assert_str_eq(tp_buf_cstr(&of_defaults), tp_buf_cstr(&of_least));
	tp_buf_free(&defaults);
	tp_buf_free(&of_defaults);
	tp_buf_free(&of_least);
}
END_TEST

static void check_file(const char *path, struct tp_buf *expected, const char *command)
{
	struct tp_buf found = {0};
	FILE *f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s is missing (tests run in the root of the source)", path);
	size_t n = 1;
	while (n > 0 && tp_buf_reserve(&found, 4096)) {
		n = fread(found.data + found.len, 1, 4096, f);
		found.len += n;
	}
	(void)fclose(f);
	ck_assert_msg(tp_str_eq(tp_buf_str(&found), tp_buf_str(expected)), "%s lags behind: %s > %s", path,
		      command, path);
	tp_buf_free(&found);
	tp_buf_free(expected);
}

START_TEST(sample_and_reference_do_not_lag)
{
	struct tp_buf text = {0};
	tp_config_show_defaults(&text);
	check_file("etc/turnpike.yaml", &text, "turnpike config --defaults");
	tp_config_show_markdown(&text);
	check_file("docs/configuration.md", &text, "turnpike config --markdown");
	tp_config_show_man(&text);
	check_file("packaging/man/turnpike.yaml.5", &text, "turnpike config --man");
	struct tp_config *c = tp_config_load("etc/minimal.yaml", &text);
	ck_assert_msg(c != NULL, "%s", tp_buf_cstr(&text));
	tp_config_unref(c);
}
END_TEST

/* Walks table and schema side by side: each key is there, described, with its default. */
static void check_schema(const struct tp_section *s, json_t *schema)
{
	json_t *properties = json_object_get(schema, "properties");
	ck_assert_uint_eq(json_object_size(properties), s->n_options);
	ck_assert(json_is_false(json_object_get(schema, "additionalProperties")));
	for (size_t i = 0; i < s->n_options; i++) {
		const struct tp_option *o = &s->options[i];
		json_t *property = json_object_get(properties, o->key);
		ck_assert_msg(json_is_object(property), "no %s", o->key);
		ck_assert_msg(json_string_length(json_object_get(property, "description")) > 0, "%s", o->key);
		ck_assert_msg((o->fallback != NULL) == (json_object_get(property, "default") != NULL), "%s",
			      o->key);
		if (o->type == TP_OPT_SECTION)
			check_schema(o->inner, property);
		else if (o->type == TP_OPT_MAP)
			check_schema(o->inner, json_object_get(property, "additionalProperties"));
	}
}

START_TEST(schema_holds_every_key)
{
	struct tp_buf text = {0};
	json_error_t error;
	ck_assert(tp_config_show_schema(&text));
	json_t *schema = json_loads(tp_buf_cstr(&text), JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(schema != NULL, "%s", error.text);
	check_schema(&tp_config_root, schema);
	ck_assert_str_eq(json_string_value(json_object_get(schema, "$schema")),
			 "https://json-schema.org/draft/2020-12/schema");
	json_decref(schema);
	tp_buf_free(&text);
}
END_TEST

TP_TESTS(config_show)
{
	tcase_add_test(t, effective_is_a_file_that_means_the_same);
	tcase_add_test(t, effective_masks_secrets);
	tcase_add_test(t, defaults_are_a_file_with_the_defaults);
	tcase_add_test(t, sample_and_reference_do_not_lag);
	tcase_add_test(t, schema_holds_every_key);
}
