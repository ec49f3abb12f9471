/* The nearest known word to a misspelt one. */
#ifndef TP_CONFIG_SUGGEST_H
#define TP_CONFIG_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Keeps the best of the candidates it is shown. */
struct tp_suggestion {
	const char *word; /* what was written; borrowed */
	const char *best; /* NULL = none is near; borrowed from the candidates */
	size_t distance;  /* of best */
};

/* Borrows `word`; show it each candidate, then look at `best`. Words of more than 40 bytes are near to none.
 */
struct tp_suggestion tp_suggest_begin(const char *word);
void tp_suggest_candidate(struct tp_suggestion *s, const char *candidate);

#endif
