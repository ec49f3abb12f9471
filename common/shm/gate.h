/*
 * The capacity gate (design 3.3): of each provider the requests in progress over all workers, as an array of
 * owner-stamped permits, and the queue of those who wait for one, as an array of owner-stamped tickets.  Each
 * permit and each ticket is one 64-bit word, so a dead worker's are free as soon as its stamp is stale and
 * nothing is swept.
 *
 * Never more than `limit` permits: they are the first `limit` words of the array.  Never more than `queue`
 * tickets, likewise.  Order: who has the rth lowest ticket may go while more than r permits are free.
 *
 * Fail direction: a provider for which there is no room has no gate.
 */
#ifndef TP_SHM_GATE_H
#define TP_SHM_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

enum {
	TP_GATE_PERMITS = 1024, /* largest limit */
	TP_GATE_TICKETS = 4096, /* largest queue */
	TP_GATES = 64,          /* providers with a limit, of all configurations since the table was made */
	TP_GATE_NONE = UINT8_MAX,
	TP_GATE_BACKLOG_MAX_MS = 24 * 3600 * 1000 /* nobody waits longer: the largest capacity.wait */
};
typedef uint8_t tp_gate_id;

/* The gate of a provider, entered if it is new; TP_GATE_NONE: no room. To be kept: it never moves. */
tp_gate_id tp_gate_open(struct tp_region *r, struct tp_str provider);

/* A request in progress. Zeroed: none. */
struct tp_gate_permit {
	uint64_t word;
	uint16_t at;
	uint16_t in_progress; /* as it was taken, this one included */
};
/* A place in the queue. Zeroed: never asked. The number stays, so that who comes again (a retry) is not put
 * at the end. */
struct tp_gate_ticket {
	uint64_t number; /* 0 = none yet */
	uint64_t word;   /* 0 = not in the queue at present */
	uint16_t at;
};

enum tp_gate_answer {
	TP_GATE_GO,     /* the permit is taken, the ticket's place given up */
	TP_GATE_QUEUED, /* the ticket has a place */
	TP_GATE_FULL    /* neither */
};
/*
 * May one more go? `limit` 1..TP_GATE_PERMITS, `queue` 0..TP_GATE_TICKETS.  `impatient` passes over those
 * before it who leave a permit lying: for who has seen that go on for long.
 */
enum tp_gate_answer tp_gate_ask(struct tp_region *r, struct tp_stamp owner, tp_gate_id id, uint32_t limit,
				uint32_t queue, bool impatient, uint64_t now_ms,
				struct tp_gate_ticket *ticket, struct tp_gate_permit *ret_permit);
/* Gives the place up; the number is kept. Nothing happens without one. */
void tp_gate_leave(struct tp_region *r, tp_gate_id id, struct tp_gate_ticket *ticket);
/* Exactly once; forgets it. Nothing happens with none. */
void tp_gate_give_back(struct tp_region *r, tp_gate_id id, struct tp_gate_permit *permit, uint64_t now_ms);

/* Somebody waits who may go: the slot of the lowest ticket, whose worker is to be woken. To be asked after
 * whatever frees a permit or a place before others. */
bool tp_gate_next(const struct tp_region *r, tp_gate_id id, uint32_t limit, uint8_t *ret_slot);
uint32_t tp_gate_in_progress(const struct tp_region *r, tp_gate_id id);
uint32_t tp_gate_waiting(const struct tp_region *r, tp_gate_id id);
/* When those who wait now will all have been let go, at the pace of late; ms, 0 = not known. */
uint64_t tp_gate_backlog_ms(const struct tp_region *r, tp_gate_id id, uint32_t limit);

/* What `limit: auto` has learned: 1..TP_GATE_PERMITS, TP_GATE_PERMITS as long as nothing was refused. */
uint32_t tp_gate_learned(const struct tp_region *r, tp_gate_id id);
/* The provider refused for want of capacity while `others` more were in progress; `told`: the limit it named,
 * 0 = none. Returns the limit that stands. */
uint32_t tp_gate_refused(struct tp_region *r, tp_gate_id id, uint32_t others, uint32_t told, uint64_t now_ms);
/* Somebody waits: probes upwards when it is time. Returns the limit that stands. */
uint32_t tp_gate_grow(struct tp_region *r, tp_gate_id id, uint64_t now_ms);

#endif
