/*
 * What the simulator answers, before any fault is applied: the body as pieces (one event of a
 * stream each, or one JSON text), in the dialect of the API that was called.
 */
#ifndef TP_SIMULATE_ANSWER_H
#define TP_SIMULATE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "server/simulate/turn.h"

struct tp_sim_answer {
	struct tp_buf body;
	size_t *ends; /* owned: where each piece ends in body */
	size_t n_pieces, size;
	size_t first_output; /* pieces up to and with the first output; 0 = no output */
	size_t last_output;  /* pieces up to and with the last output */
	bool failed;         /* out of memory */
};

struct tp_sim_error {
	int status;
	struct tp_str type, code, message; /* code.p NULL = null */
};

struct tp_sim_dialect {
	/* one piece: a whole good answer of so many tokens */
	void (*json)(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a);
	/* the events of a good stream; NULL: this API does not stream */
	void (*stream)(const struct tp_sim_turn *t, uint32_t tokens, struct tp_sim_answer *a);
	/* one piece: the event that tells an error inside a stream; NULL like stream */
	void (*stream_error)(const struct tp_sim_turn *t, const struct tp_sim_error *e,
			     struct tp_sim_answer *a);
};

extern const struct tp_sim_dialect tp_sim_chat, tp_sim_responses, tp_sim_messages;
extern const struct tp_sim_dialect tp_sim_count_tokens, tp_sim_models, tp_sim_health;

/* NULL for TP_SIM_API_NONE. */
const struct tp_sim_dialect *tp_sim_dialect_of(enum tp_sim_api api);

/* Marks the end of a piece at the present end of the body. */
void tp_sim_answer_end_piece(struct tp_sim_answer *a);
/* The same, and it carried output. */
void tp_sim_answer_end_output(struct tp_sim_answer *a);
/* Drops all pieces from the `keep`th on. */
void tp_sim_answer_cut(struct tp_sim_answer *a, size_t keep);
void tp_sim_answer_free(struct tp_sim_answer *a);

/* The words a simulated model says: never NULL, needs no escaping. */
const char *tp_sim_word(uint32_t index);
/* All of them, one after the other. */
void tp_sim_add_words(struct tp_buf *b, uint32_t tokens);

/* What providers say with a status, in the dialect of the turn; `ret` borrows static text. */
void tp_sim_error_default(const struct tp_sim_turn *t, int status, struct tp_sim_error *ret);
/* The error as a JSON body of this dialect. */
void tp_sim_error_json(const struct tp_sim_turn *t, const struct tp_sim_error *e, struct tp_buf *b);
/* "Service Unavailable"; "Unknown" for a status without a name. Static. */
const char *tp_sim_reason(int status);

#endif
