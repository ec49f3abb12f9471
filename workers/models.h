/*
 * Combos where clients look for models (design section 8): GET /models behind a route gets them added to the
 * provider's list, GET /models/NAME of one is answered here.  Part of the turn; nothing of it happens without
 * combos.
 */
#ifndef TP_WORKERS_MODELS_H
#define TP_WORKERS_MODELS_H

#include <stdbool.h>

#include "common/base/buf.h"
#include "common/base/str.h"

struct tp_turn;

/* Of an admitted request: sets turn->lists_models when it asks for the list. True: it asked for a combo by
 * its name, was answered, and is over. */
bool tp_models_begin(struct tp_turn *t);
/* The list, whole and plain, with the combos in it, appended to `out`. False: it stays as it is. */
bool tp_models_add(const struct tp_turn *t, struct tp_str list, struct tp_buf *out);

#endif
