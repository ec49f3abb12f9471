/*
 * What stands in the way of a send, as those say who are asked before it: refresh.h, keys.h, waits.h, gate.h,
 * blacklist.h, the ledger.  They look and say; dispatch.c acts, in one place: it alone knows what comes
 * before what when a turn is held, goes to another target, or ends without the send.
 */
#ifndef TP_WORKERS_OBSTACLE_H
#define TP_WORKERS_OBSTACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/retry/decide.h"
#include "common/retry/refusal.h"
#include "common/shm/open_turns.h"

enum tp_obstacle_kind {
	TP_OBSTACLE_HOLDS,  /* the turn waits, and asks again */
	TP_OBSTACLE_ENDS,   /* this send is not to be had */
	TP_OBSTACLE_DECIDES /* as if an attempt had come to `outcome` */
};

struct tp_obstacle {
	enum tp_obstacle_kind kind;

	/* HOLDS: for what, until when at the latest (CLOCK_BOOTTIME), and when it asks again. */
	enum tp_open_wait wait;
	uint64_t until_ms;
	uint64_t again_ms;

	/* HOLDS and ENDS: another target of a combo may be asked instead, since this one ... (for the log:
	 * "is blacklisted"); NULL: none. */
	const char *elsewhere;

	/* ENDS */
	enum tp_code code;       /* words of our own, with the time that is left; NONE: `words` */
	struct tp_refusal words; /* texts borrowed */
	uint64_t left_ms;        /* until it is worth coming back */
	int only;  /* the one status of a provider's answer in hand that may stand for words of our
		    * own, and then tells the time that is left; 0 = any, as it is */
	bool stop; /* nobody is to send it again: neither after that answer nor after `code` */

	/* DECIDES */
	struct tp_outcome outcome;
	const char *why;
};

#endif
