/* Anthropic Messages: JSON, and named events that end with message_stop. */
#include "server/simulate/answer.h"

static void messages_json(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	tp_buf_printf(
		&a->body,
		"{\"id\":\"msg_sim%llu\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"%.*s\","
		"\"content\":[{\"type\":\"text\",\"text\":\"",
		(unsigned long long)t->serial, (int)t->escaped.len, t->escaped.data);
	tp_sim_add_words(&a->body, tokens);
	tp_buf_printf(&a->body,
		      "\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,"
		      "\"usage\":{\"input_tokens\":%u,\"output_tokens\":%u}}",
		      t->input_tokens, tokens);
	tp_sim_answer_end_piece(a);
}

/* A whole event: its type stands in its name and in its data. */
static void add_event(struct tp_buf *b, const char *type, const char *members)
{
	tp_buf_printf(b, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", type, type, members);
}

static void messages_stream(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	struct tp_buf *b = &a->body;
	char members[128];

	tp_buf_printf(
		b,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_sim%llu\","
		"\"type\":\"message\",\"role\":\"assistant\",\"model\":\"%.*s\",\"content\":[],"
		"\"stop_reason\":null,\"stop_sequence\":null,"
		"\"usage\":{\"input_tokens\":%u,\"output_tokens\":1}}}\n\n",
		(unsigned long long)t->serial, (int)t->escaped.len, t->escaped.data, t->input_tokens);
	tp_sim_answer_end_piece(a);
	add_event(b, "content_block_start",
		  ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}");
	tp_sim_answer_end_piece(a);
	add_event(b, "ping", "");
	tp_sim_answer_end_piece(a);
	for (uint32_t i = 0; i < tokens; i++) {
		(void)snprintf(members, sizeof(members),
			       ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}",
			       tp_sim_word(i));
		add_event(b, "content_block_delta", members);
		tp_sim_answer_end_output(a);
	}
	add_event(b, "content_block_stop", ",\"index\":0");
	tp_sim_answer_end_piece(a);
	(void)snprintf(members, sizeof(members),
		       ",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},"
		       "\"usage\":{\"output_tokens\":%u}",
		       tokens);
	add_event(b, "message_delta", members);
	tp_sim_answer_end_piece(a);
	add_event(b, "message_stop", "");
	tp_sim_answer_end_piece(a);
}

static void messages_stream_error(const struct tp_sim_turn *t, const struct tp_sim_error *e,
				  struct tp_sim_answer *a)
{
	tp_buf_add_str(&a->body, TP_STR("event: error\ndata: "));
	tp_sim_error_json(t, e, &a->body);
	tp_buf_add_str(&a->body, TP_STR("\n\n"));
	tp_sim_answer_end_piece(a);
}

const struct tp_sim_dialect tp_sim_messages = {messages_json, messages_stream, messages_stream_error};
