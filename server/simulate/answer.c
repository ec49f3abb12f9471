#include "server/simulate/answer.h"

#include <stdlib.h>

#include "server/simulate/script.h"

const struct tp_sim_dialect *tp_sim_dialect_of(enum tp_sim_api api)
{
	switch (api) {
	case TP_SIM_API_CHAT: return &tp_sim_chat;
	case TP_SIM_API_RESPONSES: return &tp_sim_responses;
	case TP_SIM_API_MESSAGES: return &tp_sim_messages;
	case TP_SIM_API_COUNT_TOKENS: return &tp_sim_count_tokens;
	case TP_SIM_API_MODELS: return &tp_sim_models;
	case TP_SIM_API_HEALTH: return &tp_sim_health;
	case TP_SIM_API_NONE: break;
	}
	return NULL;
}

void tp_sim_answer_end_piece(struct tp_sim_answer *a)
{
	if (a->n_pieces == a->size) {
		size_t size = a->size != 0 ? 2 * a->size : 16;
		size_t *ends = reallocarray(a->ends, size, sizeof(*ends));

		if (ends == NULL) {
			a->failed = true;
			return;
		}
		a->ends = ends;
		a->size = size;
	}
	a->ends[a->n_pieces++] = a->body.len;
	a->failed |= a->body.failed;
}

void tp_sim_answer_end_output(struct tp_sim_answer *a)
{
	tp_sim_answer_end_piece(a);
	if (a->first_output == 0)
		a->first_output = a->n_pieces;
	a->last_output = a->n_pieces;
}

void tp_sim_answer_cut(struct tp_sim_answer *a, size_t keep)
{
	if (keep >= a->n_pieces)
		return;
	a->n_pieces = keep;
	a->body.len = keep > 0 ? a->ends[keep - 1] : 0;
}

void tp_sim_answer_free(struct tp_sim_answer *a)
{
	tp_buf_free(&a->body);
	free(a->ends);
	a->ends = NULL;
}

const char *tp_sim_word(uint32_t index)
{
	static const char *const words[TP_SIM_TOKENS] = {"Hello",     " from",      " the",
							 " Turnpike", " simulator", "."};

	return index < TP_SIM_TOKENS ? words[index] : " toll";
}

void tp_sim_add_words(struct tp_buf *b, uint32_t tokens)
{
	for (uint32_t i = 0; i < tokens; i++)
		tp_buf_add_str(b, tp_str_from(tp_sim_word(i)));
}

static void health_json(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	(void)t;
	(void)tokens;
	tp_buf_add_str(&a->body, TP_STR("{\"status\":\"ok\"}"));
	tp_sim_answer_end_piece(a);
}

static void models_json(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	(void)tokens;
	if (t->anthropic)
		tp_buf_printf(&a->body,
			      "{\"data\":[{\"type\":\"model\",\"id\":\"sim\",\"display_name\":\"Simulator\","
			      "\"created_at\":\"2025-01-01T00:00:00Z\"}],\"has_more\":false,"
			      "\"first_id\":\"sim\",\"last_id\":\"sim\"}");
	else
		tp_buf_printf(&a->body, "{\"object\":\"list\",\"data\":[{\"id\":\"sim\",\"object\":\"model\","
					"\"created\":1735689600,\"owned_by\":\"turnpike\"}]}");
	tp_sim_answer_end_piece(a);
}

static void count_tokens_json(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a)
{
	(void)tokens;
	tp_buf_printf(&a->body, "{\"input_tokens\":%u}", t->input_tokens);
	tp_sim_answer_end_piece(a);
}

const struct tp_sim_dialect tp_sim_health = {health_json, NULL, NULL};
const struct tp_sim_dialect tp_sim_models = {models_json, NULL, NULL};
const struct tp_sim_dialect tp_sim_count_tokens = {count_tokens_json, NULL, NULL};
