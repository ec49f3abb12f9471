/* OpenAI Responses: JSON, and numbered events from response.created to response.completed. */
#include "server/simulate/answer.h"

/* The message that holds all the words; status "in_progress" has no content yet. */
static void add_item(struct tp_buf *b, const struct tp_sim_turn *t, const char *status, uint32_t tokens)
{
	tp_buf_printf(b,
		      "{\"id\":\"msg_sim%llu\",\"type\":\"message\",\"status\":\"%s\",\"role\":\"assistant\","
		      "\"content\":[",
		      (unsigned long long)t->serial, status);
	if (tokens > 0) {
		tp_buf_add_str(b, TP_STR("{\"type\":\"output_text\",\"annotations\":[],\"text\":\""));
		tp_sim_add_words(b, tokens);
		tp_buf_add_str(b, TP_STR("\"}"));
	}
	tp_buf_add_str(b, TP_STR("]}"));
}

/* The response object; tokens 0 = nothing said yet. `error`: JSON text of its member. */
static void add_response(struct tp_buf *b, const struct tp_sim_turn *t, const char *status, const char *error,
			 uint32_t tokens)
{
	tp_buf_printf(
		b,
		"{\"id\":\"resp_sim%llu\",\"object\":\"response\",\"created_at\":1735689600,"
		"\"status\":\"%s\",\"error\":%s,\"incomplete_details\":null,\"instructions\":null,"
		"\"metadata\":{},\"model\":\"%.*s\",\"parallel_tool_calls\":true,\"tool_choice\":\"auto\","
		"\"tools\":[],\"output\":[",
		(unsigned long long)t->serial, status, error, (int)t->escaped.len, t->escaped.data);
	if (tokens == 0) {
		tp_buf_add_str(b, TP_STR("],\"usage\":null}"));
		return;
	}
	add_item(b, t, "completed", tokens);
	tp_buf_printf(b,
		      "],\"usage\":{\"input_tokens\":%u,\"input_tokens_details\":{\"cached_tokens\":0},"
		      "\"output_tokens\":%u,\"output_tokens_details\":{\"reasoning_tokens\":0},"
		      "\"total_tokens\":%u}}",
		      t->input_tokens, tokens, t->input_tokens + tokens);
}

static void responses_json(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	add_response(&a->body, t, "completed", "null", tokens);
	tp_sim_answer_end_piece(a);
}

/* Events are numbered as they come: piece n has sequence_number n. */
static struct tp_buf *begin_event(struct tp_sim_answer *a, const char *type)
{
	tp_buf_printf(&a->body, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%zu", type, type,
		      a->n_pieces);
	return &a->body;
}

static void add_state(const struct tp_sim_turn *t, struct tp_sim_answer *a, const char *type,
		      const char *status, uint32_t tokens)
{
	struct tp_buf *b = begin_event(a, type);

	tp_buf_add_str(b, TP_STR(",\"response\":"));
	add_response(b, t, status, "null", tokens);
	tp_buf_add_str(b, TP_STR("}\n\n"));
	tp_sim_answer_end_piece(a);
}

static void add_item_event(const struct tp_sim_turn *t, struct tp_sim_answer *a, const char *type,
			   const char *status, uint32_t tokens)
{
	struct tp_buf *b = begin_event(a, type);

	tp_buf_add_str(b, TP_STR(",\"output_index\":0,\"item\":"));
	add_item(b, t, status, tokens);
	tp_buf_add_str(b, TP_STR("}\n\n"));
	tp_sim_answer_end_piece(a);
}

/* An event about the only content part; the caller adds its last member and end_event()s. */
static struct tp_buf *begin_part(const struct tp_sim_turn *t, struct tp_sim_answer *a, const char *type)
{
	struct tp_buf *b = begin_event(a, type);

	tp_buf_printf(b, ",\"item_id\":\"msg_sim%llu\",\"output_index\":0,\"content_index\":0,",
		      (unsigned long long)t->serial);
	return b;
}

static void add_part(const struct tp_sim_turn *t, struct tp_sim_answer *a, const char *type, uint32_t tokens)
{
	struct tp_buf *b = begin_part(t, a, type);

	tp_buf_add_str(b, TP_STR("\"part\":{\"type\":\"output_text\",\"annotations\":[],\"text\":\""));
	tp_sim_add_words(b, tokens);
	tp_buf_add_str(b, TP_STR("\"}}\n\n"));
	tp_sim_answer_end_piece(a);
}

static void responses_stream(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	struct tp_buf *b;

	add_state(t, a, "response.created", "in_progress", 0);
	add_state(t, a, "response.in_progress", "in_progress", 0);
	add_item_event(t, a, "response.output_item.added", "in_progress", 0);
	add_part(t, a, "response.content_part.added", 0);
	for (uint32_t i = 0; i < tokens; i++) {
		b = begin_part(t, a, "response.output_text.delta");
		tp_buf_printf(b, "\"delta\":\"%s\"}\n\n", tp_sim_word(i));
		tp_sim_answer_end_output(a);
	}
	b = begin_part(t, a, "response.output_text.done");
	tp_buf_add_str(b, TP_STR("\"text\":\""));
	tp_sim_add_words(b, tokens);
	tp_buf_add_str(b, TP_STR("\"}\n\n"));
	tp_sim_answer_end_piece(a);
	add_part(t, a, "response.content_part.done", tokens);
	add_item_event(t, a, "response.output_item.done", "completed", tokens);
	add_state(t, a, "response.completed", "completed", tokens);
}

static void responses_stream_error(const struct tp_sim_turn *t, const struct tp_sim_error *e,
				   struct tp_sim_answer *a)
{
	struct tp_buf error = {0}, *b;

	tp_buf_add_str(&error, TP_STR("{\"code\":\""));
	tp_buf_add_json(&error, e->code.p != NULL ? e->code : e->type);
	tp_buf_add_str(&error, TP_STR("\",\"message\":\""));
	tp_buf_add_json(&error, e->message);
	tp_buf_add_str(&error, TP_STR("\"}"));
	b = begin_event(a, "response.failed");
	tp_buf_add_str(b, TP_STR(",\"response\":"));
	add_response(b, t, "failed", tp_buf_cstr(&error) != NULL ? tp_buf_cstr(&error) : "null", 0);
	tp_buf_add_str(b, TP_STR("}\n\n"));
	tp_sim_answer_end_piece(a);
	tp_buf_free(&error);
}

const struct tp_sim_dialect tp_sim_responses = {responses_json, responses_stream, responses_stream_error};
