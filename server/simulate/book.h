/*
 * The simulator's book: how often each logical request was sent, and a log of all sends.
 * Bounded: the oldest log entries and the oldest logical requests are forgotten.
 */
#ifndef TP_SIMULATE_BOOK_H
#define TP_SIMULATE_BOOK_H

#include <stdint.h>

#include "common/base/buf.h"
#include "server/simulate/turn.h"

enum { TP_SIM_LOG_MAX = 16384, TP_SIM_LOGICAL_MAX = 65536 };

/* How an exchange ended. */
enum tp_sim_end {
	TP_SIM_OPEN,   /* not yet */
	TP_SIM_DONE,   /* answered as far as the script wanted, the connection may go on */
	TP_SIM_BROKEN, /* the script broke it */
	TP_SIM_GONE,   /* the client left first */
};

struct tp_sim_book;

/* NULL: out of memory. */
struct tp_sim_book *tp_sim_book_new(void);
void tp_sim_book_free(struct tp_sim_book *b);
/* Forgets everything; serial numbers go on. */
void tp_sim_book_reset(struct tp_sim_book *b);

/* Counts one send; sets the turn's serial. Returns the sends of this logical request so far. */
uint32_t tp_sim_book_send(struct tp_sim_book *b, struct tp_sim_turn *t);
/* The step that the send plays, for the log. Ignored when the entry is forgotten already. */
void tp_sim_book_step(struct tp_sim_book *b, uint64_t serial, struct tp_str step, int status);
void tp_sim_book_end(struct tp_sim_book *b, uint64_t serial, enum tp_sim_end end);

/* JSON: {"sends":N,"logical_requests":N,"most":N} of all, or {"id":...,"sends":N} of one. id.p NULL = all. */
void tp_sim_book_count(const struct tp_sim_book *b, struct tp_str id, struct tp_buf *out);
/* JSON: the log, oldest first, of all or of one. */
void tp_sim_book_log(const struct tp_sim_book *b, struct tp_str id, struct tp_buf *out);

#endif
