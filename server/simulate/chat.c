/* Chat Completions: JSON, and chunks that end with [DONE]. */
#include "server/simulate/answer.h"

#define CREATED "1735689600"

static void add_usage(struct tp_buf *b, const struct tp_sim_turn *t, uint32_t tokens)
{
	tp_buf_printf(b, "\"usage\":{\"prompt_tokens\":%u,\"completion_tokens\":%u,\"total_tokens\":%u}",
		      t->input_tokens, tokens, t->input_tokens + tokens);
}

static void chat_json(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	tp_buf_printf(&a->body,
		      "{\"id\":\"chatcmpl-sim%llu\",\"object\":\"chat.completion\",\"created\":" CREATED
		      ",\"model\":\"%.*s\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
		      "\"content\":\"",
		      (unsigned long long)t->serial, (int)t->escaped.len, t->escaped.data);
	tp_sim_add_words(&a->body, tokens);
	tp_buf_printf(&a->body, "\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],");
	add_usage(&a->body, t, tokens);
	tp_buf_add_str(&a->body, TP_STR("}"));
	tp_sim_answer_end_piece(a);
}

static void begin_chunk(const struct tp_sim_turn *t, struct tp_buf *b)
{
	tp_buf_printf(
		b,
		"data: {\"id\":\"chatcmpl-sim%llu\",\"object\":\"chat.completion.chunk\",\"created\":" CREATED
		",\"model\":\"%.*s\",\"choices\":[",
		(unsigned long long)t->serial, (int)t->escaped.len, t->escaped.data);
}

static void add_delta(const struct tp_sim_turn *t, struct tp_buf *b, const char *delta, const char *reason)
{
	begin_chunk(t, b);
	tp_buf_printf(b, "{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}]%s}\n\n", delta,
		      reason, t->include_usage ? ",\"usage\":null" : "");
}

static void chat_stream(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	char delta[64];

	add_delta(t, &a->body, "{\"role\":\"assistant\",\"content\":\"\"}", "null");
	tp_sim_answer_end_piece(a);
	for (uint32_t i = 0; i < tokens; i++) {
		(void)snprintf(delta, sizeof(delta), "{\"content\":\"%s\"}", tp_sim_word(i));
		add_delta(t, &a->body, delta, "null");
		tp_sim_answer_end_output(a);
	}
	add_delta(t, &a->body, "{}", "\"stop\"");
	tp_sim_answer_end_piece(a);
	if (t->include_usage) {
		begin_chunk(t, &a->body);
		tp_buf_add_str(&a->body, TP_STR("],"));
		add_usage(&a->body, t, tokens);
		tp_buf_add_str(&a->body, TP_STR("}\n\n"));
		tp_sim_answer_end_piece(a);
	}
	tp_buf_add_str(&a->body, TP_STR("data: [DONE]\n\n"));
	tp_sim_answer_end_piece(a);
}

static void chat_stream_error(const struct tp_sim_turn *t, const struct tp_sim_error *e,
			      struct tp_sim_answer *a)
{
	tp_buf_add_str(&a->body, TP_STR("data: "));
	tp_sim_error_json(t, e, &a->body);
	tp_buf_add_str(&a->body, TP_STR("\n\n"));
	tp_sim_answer_end_piece(a);
}

const struct tp_sim_dialect tp_sim_chat = {chat_json, chat_stream, chat_stream_error};
