/*
 * The turns that have been open for longest, for people who look (design 11).  Each worker writes those of
 * its own slot, once a second, and takes one out when it ends; the cells of a worker that died are none
 * from the moment its slot is released.
 */
#ifndef TP_SHM_OPEN_TURNS_H
#define TP_SHM_OPEN_TURNS_H

#include <stdint.h>

#include "common/shm/region.h"
#include "common/shm/slots.h"

enum {
	TP_OPEN_TURNS = 8,       /* of each slot */
	TP_OPEN_TURNS_SHOWN = 20 /* of all of them */
};

enum tp_open_state {
	TP_OPEN_RECEIVING,  /* its request still arrives */
	TP_OPEN_JOINING,    /* an earlier turn of its logical request is in flight */
	TP_OPEN_CONNECTING, /* no connection to the provider yet */
	TP_OPEN_SENDING,    /* no answer yet */
	TP_OPEN_HOLDING,    /* an answer arrives, of which nothing is shown yet */
	TP_OPEN_STREAMING,  /* the answer goes to the client */
	TP_OPEN_WAITING,    /* until its next send */
	TP_OPEN_STATES
};

enum tp_open_wait {
	TP_OPEN_WAIT_NONE,
	TP_OPEN_WAIT_RETRY,    /* of a class of sends */
	TP_OPEN_WAIT_SHARED,   /* a rate limit that others met too */
	TP_OPEN_WAIT_CAPACITY, /* in the queue of its provider */
	TP_OPEN_WAIT_COOLDOWN, /* all targets of its combo cool */
	TP_OPEN_WAIT_TOKEN,    /* an access token is being renewed */
	TP_OPEN_WAITS
};

/* Texts are terminated, and cut where they are longer. Times are of CLOCK_BOOTTIME. */
struct tp_open_turn {
	uint64_t begun_ms;
	uint64_t until_ms; /* waiting, joining: the end of it, at the latest; else 0 */
	uint32_t sends;    /* of the logical request */
	uint16_t slot;     /* filled in by tp_open_turn_put() */
	uint8_t state;     /* enum tp_open_state */
	uint8_t wait;      /* enum tp_open_wait; for a retry ... */
	uint8_t klass;     /* ... enum tp_class */
	char id[31];
	char logical[24]; /* see tp_record_logical(); "" = none */
	char family[16];
	char provider[64]; /* "" = none is chosen yet */
	char model[48];    /* "" = not known, or no plain name */
};

/* The owner of a slot: what its cell `place`, below TP_OPEN_TURNS, says from now on. */
void tp_open_turn_put(struct tp_region *r, struct tp_stamp owner, unsigned place,
		      const struct tp_open_turn *turn);
/* The same: nothing. */
void tp_open_turn_drop(struct tp_region *r, struct tp_stamp owner, unsigned place);
/* Those of all living workers, longest open first, into list[TP_OPEN_TURNS_SHOWN]; their number. Any process;
 * one that is being written this moment may be missing. */
unsigned tp_open_turns_read(const struct tp_region *r, struct tp_open_turn *list);

/* "sending", "capacity"; "" for what is none, also of a damaged table. */
const char *tp_open_state_name(unsigned state);
const char *tp_open_wait_name(unsigned wait);

#endif
