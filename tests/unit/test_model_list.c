/* Lists of models: own names added to both shapes, all other bytes kept, everything else left alone. */
#include "common/http/model_list.h"

#include <check.h>
#include <stdlib.h>

#include "suite.h"

#define OPENAI(name) "{\"id\":\"" name "\",\"object\":\"model\",\"created\":0,\"owned_by\":\"turnpike\"}"
#define ANTHROPIC(name)                                                                                      \
	"{\"type\":\"model\",\"id\":\"" name "\",\"display_name\":\"" name                                   \
	"\",\"created_at\":\"1970-01-01T00:00:00Z\"}"

static const struct tp_str names[] = {TP_STR("fast"), TP_STR("own/large")};

START_TEST(entries)
{
	struct tp_buf b = {0};
	tp_model_entry(false, names[0], &b);
	tp_model_entry(true, names[0], &b);
	ck_assert_str_eq(tp_buf_cstr(&b), OPENAI("fast") ANTHROPIC("fast"));
	tp_buf_free(&b);
}
END_TEST

START_TEST(added_behind_the_last_one)
{
	static const struct {
		const char *list, *want;
	} rows[] = {
		{"{\"object\":\"list\",\"data\":[]}",
		 "{\"object\":\"list\",\"data\":[" OPENAI("fast") "," OPENAI("own/large") "]}"},
		{"{\"object\":\"list\",\"data\":[{\"id\":\"m\"}]}",
		 "{\"object\":\"list\",\"data\":[{\"id\":\"m\"}," OPENAI("fast") "," OPENAI(
			 "own/large") "]}"},
		/* white space, order and numbers stay as they are */
		{" { \"data\" : [ {\"id\" : \"m\", \"x\":1.50} ] , \"object\" : \"list\" }\n",
		 " { \"data\" : [ {\"id\" : \"m\", \"x\":1.50} ," OPENAI("fast") "," OPENAI(
			 "own/large") "] , \"object\" : \"list\" }\n"},
		{"{\"data\":[{\"type\":\"model\",\"id\":\"c\"}],\"has_more\":false,\"last_id\":\"c\"}",
		 "{\"data\":[{\"type\":\"model\",\"id\":\"c\"}," ANTHROPIC("fast") "," ANTHROPIC(
			 "own/large") "],\"has_more\":false,\"last_id\":\"c\"}"},
		{"{\"data\":[],\"has_more\":false}",
		 "{\"data\":[" ANTHROPIC("fast") "," ANTHROPIC("own/large") "],\"has_more\":false}"},
		/* one that is there already is left out; ids that are no strings are none */
		{"{\"object\":\"list\",\"data\":[{\"id\":\"fast\"},{\"id\":7},{},3]}",
		 "{\"object\":\"list\",\"data\":[{\"id\":\"fast\"},{\"id\":7},{},3," OPENAI(
			 "own/large") "]}"},
		/* of several arrays the last one is what parsers take */
		{"{\"object\":\"list\",\"data\":[1],\"data\":[2]}",
		 "{\"object\":\"list\",\"data\":[1],\"data\":[2," OPENAI("fast") "," OPENAI(
			 "own/large") "]}"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tp_buf b = {0};
		tp_buf_add_str(&b, TP_STR("before "));
		ck_assert_msg(tp_model_list_add(tp_str_from(rows[i].list), names, 2, &b), "%s", rows[i].list);
		ck_assert_str_eq(tp_buf_cstr(&b) + strlen("before "), rows[i].want);
		tp_buf_free(&b);
	}
}
END_TEST

START_TEST(others_are_left_alone)
{
	static const char *const rows[] = {
		"",
		"no JSON",
		"[]",
		"{}",
		"{\"object\":\"list\"}",
		"{\"object\":\"list\",\"data\":{}}",
		"{\"object\":\"model\",\"data\":[]}",
		"{\"object\":7,\"data\":[]}",
		"{\"data\":[]}",
		"{\"data\":[],\"has_more\":true}",
		"{\"object\":\"list\",\"data\":[],\"has_more\":true}",
		"{\"object\":\"list\",\"data\":[]",
		"{\"object\":\"list\",\"data\":[]}}",
		"{\"object\":\"list\",\"data\":[1],\"data\":null}",
		"{\"object\":\"list\",\"data\":[{\"id\":\"fast\"},{\"id\":\"own/large\"}]}",
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tp_buf b = {0};
		tp_buf_add_str(&b, TP_STR("before"));
		ck_assert_msg(!tp_model_list_add(tp_str_from(rows[i]), names, 2, &b), "%s", rows[i]);
		ck_assert_str_eq(tp_buf_cstr(&b), "before");
		tp_buf_free(&b);
	}
	struct tp_buf b = {0};
	ck_assert(!tp_model_list_add(TP_STR("{\"object\":\"list\",\"data\":[]}"), NULL, 0, &b));
	ck_assert_uint_eq(b.len, 0);
	tp_buf_free(&b);
}
END_TEST

TP_TESTS(model_list)
{
	tcase_add_test(t, entries);
	tcase_add_test(t, added_behind_the_last_one);
	tcase_add_test(t, others_are_left_alone);
}
