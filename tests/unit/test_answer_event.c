/* What the events of a stream say, before its first output and after it. */
#include "common/http/answer.h"
#include "tests/unit/suite.h"

#define LENGTH(table) ((int)(sizeof(table) / sizeof(table)[0]))

#define N                 TP_EVENT_NEUTRAL
#define O                 TP_EVENT_OUTPUT
#define F                 TP_EVENT_FINISH
#define T                 TP_EVENT_TERMINAL
#define E                 TP_EVENT_ERROR
#define CHAT(delta, rest) "{\"choices\":[{\"index\":0,\"delta\":" delta rest "}]}"

static const struct {
	enum tp_family family;
	const char *name, *data;
	enum tp_answer_event before, after; /* commit */
} events[] = {
	{TP_FAMILY_CHAT, "", NULL, N, N},
	{TP_FAMILY_CHAT, "", "", N, N},
	{TP_FAMILY_CHAT, "error", NULL, N, N},
	{TP_FAMILY_CHAT, "", "[DONE]", T, T},
	{TP_FAMILY_CHAT, "", " [DONE] ", T, T},
	{TP_FAMILY_CHAT, "", "\"[DONE]\"", O, O},
	{TP_FAMILY_CHAT, "", CHAT("{\"role\":\"assistant\",\"content\":\"\"}", ""), N, O},
	{TP_FAMILY_CHAT, "", CHAT("{}", ",\"finish_reason\":null"), N, O},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":null,\"tool_calls\":[],\"refusal\":null}", ""), N, O},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\"a\"}", ""), O, O},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\" \"}", ""), O, O},
	{TP_FAMILY_CHAT, "", CHAT("{\"reasoning_content\":\"a\"}", ""), O, O},
	{TP_FAMILY_CHAT, "", CHAT("{\"tool_calls\":[{\"index\":0}]}", ""), O, O},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\"\\\"error\\\": {\\\"code\\\":1}\"}", ""), O, O},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\"\\\"finish_reason\\\": \\\"stop\\\"\"}", ""), O, O},
	{TP_FAMILY_CHAT, "", CHAT("{}", ",\"finish_reason\": \"stop\""), F, F},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\"a\"}", ",\"finish_reason\":\"length\""), F, F},
	{TP_FAMILY_CHAT, "", "{\"choices\":[{\"text\":\"a\"}]}", O, O},
	{TP_FAMILY_CHAT, "", "{\"choices\":[],\"usage\":{\"total_tokens\":1}}", N, O},
	{TP_FAMILY_CHAT, "", "{\"usage\":{\"total_tokens\":1}}", N, O},
	{TP_FAMILY_CHAT, "", "{\"choices\":[],\"prompt_filter_results\":[{}]}", N, O},
	{TP_FAMILY_CHAT, "", "{\"error\":null,\"choices\":[]}", N, O},
	{TP_FAMILY_CHAT, "", "{\"error\":{\"code\":502},\"choices\":[]}", E, E},
	{TP_FAMILY_CHAT, "", "{\"error\":\"busy\"}", E, E},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\"\"}", ",\"error\":{\"code\":502}"), E, E},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\"\"}", ",\"finish_reason\":\"error\""), E, E},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\"\"}", ",\"native_finish_reason\":\"network_error\""), E, E},
	{TP_FAMILY_CHAT, "", CHAT("{\"content\":\"network_error\"}", ",\"native_finish_reason\":null"), O, O},
	{TP_FAMILY_CHAT, "error", "busy", E, E},
	{TP_FAMILY_CHAT, "error", "{\"code\":\"Throttling\",\"message\":\"m\"}", E, E},
	{TP_FAMILY_CHAT, "", "{\"object\":\"error\",\"message\":\"m\"}", E, E},
	{TP_FAMILY_CHAT, "", "garbage", O, O},
	{TP_FAMILY_RESPONSES, "response.created",
	 "{\"type\":\"response.created\",\"response\":{\"error\":null}}", N, N},
	{TP_FAMILY_RESPONSES, "", "{\"sequence_number\":1,\"type\":\"response.in_progress\"}", N, N},
	{TP_FAMILY_RESPONSES, "", "{\"type\":\"response.queued\"}", N, N},
	{TP_FAMILY_RESPONSES, "codex.rate_limits", "{\"type\":\"codex.rate_limits\"}", N, N},
	{TP_FAMILY_RESPONSES, "",
	 "{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"content\":[]}}", N, O},
	{TP_FAMILY_RESPONSES, "",
	 "{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"reasoning\",\"summary\":[]}}", N, O},
	{TP_FAMILY_RESPONSES, "",
	 "{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"function_call\"}}", O, O},
	{TP_FAMILY_RESPONSES, "",
	 "{\"type\":\"response.content_part.added\",\"part\":{\"type\":\"output_text\",\"text\":\"\"}}", N,
	 O},
	{TP_FAMILY_RESPONSES, "", "{\"type\":\"response.output_text.delta\",\"delta\":\"\"}", N, O},
	{TP_FAMILY_RESPONSES, "", "{\"type\":\"response.output_text.delta\",\"delta\":\"a\"}", O, O},
	{TP_FAMILY_RESPONSES, "", "{\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"a\"}", O,
	 O},
	{TP_FAMILY_RESPONSES, "", "{\"type\":\"response.web_search_call.searching\"}", O, O},
	{TP_FAMILY_RESPONSES, "response.completed",
	 "{\"type\":\"response.completed\",\"response\":{\"error\":null}}", T, T},
	{TP_FAMILY_RESPONSES, "", "{\"type\":\"response.completed\"}", T, T},
	{TP_FAMILY_RESPONSES, "message", "{\"type\":\"response.completed\"}", T, T},
	{TP_FAMILY_RESPONSES, "response.incomplete", "{\"type\":\"response.incomplete\"}", T, T},
	{TP_FAMILY_RESPONSES, "response.failed",
	 "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"x\"}}}", E, E},
	{TP_FAMILY_RESPONSES, "error", "{\"type\":\"error\",\"code\":\"x\",\"message\":\"m\"}", E, E},
	{TP_FAMILY_RESPONSES, "", "{\"error\":{\"code\":\"x\"}}", E, E},
	{TP_FAMILY_MESSAGES, "ping", "{\"type\": \"ping\"}", N, N},
	{TP_FAMILY_MESSAGES, "message_start", "{\"type\":\"message_start\",\"message\":{\"content\":[]}}", N,
	 N},
	{TP_FAMILY_MESSAGES, "",
	 "{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}", N, O},
	{TP_FAMILY_MESSAGES, "",
	 "{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\","
	 "\"signature\":\"\"}}",
	 N, O},
	{TP_FAMILY_MESSAGES, "",
	 "{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"input\":{"
	 "}}}",
	 O, O},
	{TP_FAMILY_MESSAGES, "",
	 "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\"}}", N, O},
	{TP_FAMILY_MESSAGES, "",
	 "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}", O, O},
	{TP_FAMILY_MESSAGES, "",
	 "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{"
	 "\\\"error\\\"\"}}",
	 O, O},
	{TP_FAMILY_MESSAGES, "content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}", N, N},
	{TP_FAMILY_MESSAGES, "message_delta",
	 "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":null},\"usage\":{}}", N, O},
	{TP_FAMILY_MESSAGES, "message_delta",
	 "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}", O, O},
	{TP_FAMILY_MESSAGES, "message_stop", "{\"type\":\"message_stop\"}", T, T},
	{TP_FAMILY_MESSAGES, "error", "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}", E, E},
	{TP_FAMILY_PLAIN, "", "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}", O, O},
	{TP_FAMILY_PLAIN, "",
	 "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}]}}],\"usageMetadata\":{}}", N, O},
	{TP_FAMILY_PLAIN, "", "{\"candidates\":[{\"finishReason\":\"STOP\"}]}", F, O},
	{TP_FAMILY_PLAIN, "", "{\"promptFeedback\":{\"blockReason\":\"X\"},\"usageMetadata\":{}}", O, O},
	{TP_FAMILY_PLAIN, "", "{\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}", E, E},
};

START_TEST(kind_of_an_event)
{
	struct tp_answer_error e;
	struct tp_sse_event event = {.name = tp_str_from(events[_i].name),
				     .data = tp_str_from(events[_i].data)};
	enum tp_family family = events[_i].family;
	ck_assert_msg(tp_answer_event(family, &event, &e) == events[_i].before, "%s", events[_i].data);
	ck_assert_msg(tp_answer_event_committed(family, &event, &e) == events[_i].after, "%s",
		      events[_i].data);
	ck_assert_int_eq(tp_answer_event(family, &event, NULL), events[_i].before);
	ck_assert_int_eq(tp_answer_event_committed(family, &event, NULL), events[_i].after);
}
END_TEST

/* Of a long event only the front is there. */
static const struct {
	const char *name, *data;
	enum tp_answer_event kind;
} cut_events[] = {
	{"", "{\"type\":\"response.created\",\"response\":{\"instructions\":\"a lo", N},
	{"response.created", "{\"sequence_number\":0,\"response\":{\"instructions\":\"a lo", N},
	{"", "{\"type\":\"response.completed\",\"response\":{\"output\":[{\"te", T},
	{"response.completed", "{\"response\":{\"output\":[{\"te", T},
	{"", "{\"type\":\"response.failed\",\"response\":{\"instr", E},
	{"", "{\"type\":\"response.output_text.delta\",\"delta\":\"\",\"x\":\"", O},
	{"", "{\"choices\":[", O},
};

START_TEST(cut_event)
{
	struct tp_answer_error e;
	struct tp_sse_event event = {.name = tp_str_from(cut_events[_i].name),
				     .data = tp_str_from(cut_events[_i].data),
				     .data_cut = true};
	ck_assert_int_eq(tp_answer_event(TP_FAMILY_RESPONSES, &event, &e), cut_events[_i].kind);
	ck_assert_int_eq(tp_answer_event_committed(TP_FAMILY_RESPONSES, &event, &e), cut_events[_i].kind);
}
END_TEST

START_TEST(what_an_error_event_says)
{
	struct tp_answer_error e;
	struct tp_sse_event failed = {
		.data = TP_STR("{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{"
			       "\"code\":\"rate_limit_exceeded\",\"message\":\"m\"}}}")};
	ck_assert_int_eq(tp_answer_event(TP_FAMILY_RESPONSES, &failed, &e), E);
	ck_assert_str_eq(e.code, "rate_limit_exceeded");
	ck_assert_str_eq(e.type, "");
	ck_assert(e.ends);
	struct tp_sse_event bare = {.name = TP_STR("error"),
				    .data = TP_STR("{\"type\":\"error\",\"code\":\"x\",\"message\":\"m\"}")};
	ck_assert_int_eq(tp_answer_event(TP_FAMILY_RESPONSES, &bare, &e), E);
	ck_assert_str_eq(e.code, "x");
	ck_assert_str_eq(e.type, "");
	ck_assert(!e.ends); /* Codex goes on waiting for response.failed */
	ck_assert_int_eq(tp_answer_event(TP_FAMILY_MESSAGES, &bare, &e), E);
	ck_assert(e.ends);
	struct tp_sse_event words = {
		.name = TP_STR("error"), .data = TP_STR("busy\nnow"), .http_status = 429};
	ck_assert_int_eq(tp_answer_event(TP_FAMILY_CHAT, &words, &e), E);
	ck_assert_str_eq(e.message, "busy now");
	ck_assert_int_eq(e.status, 429);
}
END_TEST

TP_TESTS(answer_event)
{
	tcase_add_loop_test(t, kind_of_an_event, 0, LENGTH(events));
	tcase_add_loop_test(t, cut_event, 0, LENGTH(cut_events));
	tcase_add_test(t, what_an_error_event_says);
}
