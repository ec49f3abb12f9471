/*
 * What deaths of workers tell: how long to wait before the next fork, and whether all of them die together,
 * which says that it is the table that kills them.  Pure bookkeeping, no system calls.
 */
#ifndef TP_SERVER_DEATHS_H
#define TP_SERVER_DEATHS_H

#include <stdbool.h>
#include <stdint.h>

/* Of one slot; zeroed = none died yet. */
struct tp_slot_deaths {
	unsigned in_row;   /* since a worker last lived for 30 s */
	uint64_t last_ms;  /* 0 = never */
	bool cannot_start; /* the last one said so itself; set before tp_deaths_note() */
};

enum { TP_ROUNDS_LIMIT = 3 };

/* Rounds: each slot's worker died, all of them within half a second, or the last living one did. */
struct tp_rounds {
	unsigned in_row;
	uint64_t last_ms;
};

/*
 * Notes a death.  Returns how long to wait before the slot's next fork, in ms.  The first death costs no
 * wait; then the least time from fork to fork doubles from 100 ms to 2 s: a worker that crashes at once
 * cannot keep a CPU busy, one that ran for a while is replaced at once.
 */
uint64_t tp_deaths_note(struct tp_slot_deaths *d, uint64_t forked_ms, uint64_t now_ms);

/*
 * After each death: is a round complete with it? Returns how many rounds there were in a row, not more than
 * 10 s apart, this one included; 0 = no round. One worker killed now and then never makes a round while
 * others live.
 */
unsigned tp_rounds_note(struct tp_rounds *r, const struct tp_slot_deaths *const *slots, unsigned n,
			bool none_lives, uint64_t now_ms);

#endif
