/*
 * The turns that failed last, over all workers, for people who look (design 11): what the log says of them,
 * never bodies, headers or anything of a key.  A ring: the oldest make room.
 */
#ifndef TP_SHM_FAILURES_H
#define TP_SHM_FAILURES_H

#include <stdint.h>

#include "common/shm/region.h"

enum { TP_FAILURES_SHOWN = 50, TP_FAILURE_REASON = 160 };

/* Texts are terminated, and cut where they are longer. */
struct tp_failure {
	uint64_t wall_ms; /* when it ended */
	uint32_t status;  /* as told to the client; 0 = none */
	uint32_t sends;   /* of the logical request */
	uint64_t waited_ms;
	char id[32], provider[64], family[16], outcome[16];
	char code[48];                  /* of an answer of Turnpike's own; "" = the provider's answer */
	char reason[TP_FAILURE_REASON]; /* in words of the program */
};

/* Any process, at any time. */
void tp_failure_note(struct tp_region *r, const struct tp_failure *f);
/* The latest ones, newest first, into list[TP_FAILURES_SHOWN]; their number. */
unsigned tp_failures_read(const struct tp_region *r, struct tp_failure *list);

#endif
