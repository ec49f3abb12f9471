/* Alerts: what a command reads, and that each kind is due once a minute. The decision: test_decide_policy.c
 */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/retry/alert.h"
#include "common/shm/marks.h"

#include "tests/unit/suite.h"

static json_t *written(enum tp_alert alert, const char *provider, int64_t wall_ms, const char *details)
{
	struct tp_buf out = {0};
	tp_alert_write(&out, alert, provider, wall_ms, tp_str_from(details));
	ck_assert(!out.failed);
	ck_assert_msg(out.len > 0 && out.data[out.len - 1] == '\n', "a line of its own");
	ck_assert_ptr_eq(memchr(out.data, '\n', out.len), out.data + out.len - 1);
	json_t *root = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_ptr_nonnull(root);
	tp_buf_free(&out);
	return root;
}

static const char *text(const json_t *root, const char *key)
{
	return json_string_value(json_object_get(root, key));
}

START_TEST(is_one_line_of_json)
{
	json_t *root = written(TP_ALERT_SYSTEM_LOAD, "a\"b\n", INT64_C(1700000000123), "\"status\":429");
	ck_assert_str_eq(text(root, "kind"), "system_load");
	ck_assert_str_eq(text(root, "provider"), "a\"b\n");
	ck_assert_str_eq(text(root, "time"), "2023-11-14T22:13:20Z");
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(root, "details"), "status")),
			 429);
	json_decref(root);
}
END_TEST

START_TEST(each_kind_has_a_name_and_words)
{
	for (int i = TP_ALERT_NONE + 1; i < TP_ALERT_COUNT; i++) {
		json_t *root = written((enum tp_alert)i, NULL, 0, "");
		ck_assert_ptr_null(json_object_get(root, "provider"));
		ck_assert_str_ne(text(root, "text"), "");
		ck_assert_str_eq(text(root, "time"), "1970-01-01T00:00:00Z");
		for (int k = TP_ALERT_NONE; k < i; k++)
			ck_assert_str_ne(text(root, "kind"), tp_alert_name((enum tp_alert)k));
		json_decref(root);
	}
}
END_TEST

START_TEST(each_kind_is_due_once_a_minute)
{
	enum { NOW = 5000 };
	struct tp_region *r;
	ck_assert_int_eq(tp_region_open_anonymous((struct tp_region_sizes){.logical_requests = 128}, &r), 0);
	for (int i = TP_ALERT_NONE + 1; i < TP_ALERT_COUNT; i++) {
		enum tp_alert alert = (enum tp_alert)i;
		ck_assert_msg(tp_alert_due(r, alert, NOW), "kind %d has another's mark", i);
		ck_assert(!tp_alert_due(r, alert, NOW));
		ck_assert(!tp_alert_due(r, alert, NOW + 59999));
	}
	for (int i = TP_ALERT_NONE + 1; i < TP_ALERT_COUNT; i++)
		ck_assert(tp_alert_due(r, (enum tp_alert)i, NOW + 60000));
	ck_assert(!tp_alert_due(r, TP_ALERT_NONE, NOW));
	ck_assert(!tp_alert_due(r, TP_ALERT_COUNT, NOW));
	tp_region_close(r);
}
END_TEST

TP_TESTS(alert)
{
	tcase_add_test(t, is_one_line_of_json);
	tcase_add_test(t, each_kind_has_a_name_and_words);
	tcase_add_test(t, each_kind_is_due_once_a_minute);
}
