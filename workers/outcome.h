/*
 * What an attempt's end amounts to for the decision: head, body and circumstances of the turn gathered into
 * one struct tp_outcome.
 */
#ifndef TP_WORKERS_OUTCOME_H
#define TP_WORKERS_OUTCOME_H

#include "workers/turn.h"

/* For TP_CAUSE_ANSWER the answer is turn->saved, which is completed from its body: facts.told_ms, and of a
 * 200 that carries an error the status that it stands for. Else only reads. */
struct tp_outcome tp_outcome_of(struct tp_turn *t, enum tp_cause cause);
/* What the turn may still do. */
struct tp_allowance tp_allowance_of(const struct tp_turn *t);
/* The code a provider's error carries, as a small number for the ledger. */
uint16_t tp_outcome_code_index(const struct tp_saved_answer *s);

#endif
