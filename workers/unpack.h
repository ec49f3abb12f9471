/*
 * Compressed answers, undone on their way from the attempt to relay.c, so that they can be judged like any
 * other and are shown plain (design section 7).  Part of the turn: works on turn->relay.
 *
 *   attempt -> tp_relay_piece() -> tp_unpack_piece() -> tp_relay_take(), a bounded piece at a time
 */
#ifndef TP_WORKERS_UNPACK_H
#define TP_WORKERS_UNPACK_H

#include "common/http/decode.h"
#include "workers/turn.h"

/* The answer that begins has this coding (neither NONE nor OTHER): it is decoded from here on, and its length
 * is no longer known.  False when out of memory. */
bool tp_unpack_begin(struct tp_turn *t, enum tp_coding coding);
/* A piece as it came.  May end the turn or start its next attempt. */
void tp_unpack_piece(struct tp_turn *t, const struct tp_answer_piece *p);
/* The client, who was slow, takes more: goes on with what is left of the last piece.  Nothing happens where
 * nothing is left.  Same. */
void tp_unpack_rest(struct tp_turn *t);
/*
 * A collected error's body, whole, is decoded in its place; or stays, without its label where that lies, or
 * with it where the coding is not known.  One that is broken, or larger than `max`, counts as cut.
 */
void tp_unpack_saved(struct tp_saved_answer *s, size_t max);

#endif
