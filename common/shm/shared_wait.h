/*
 * Shared waits (design 3.3): a told wait of a rate limit holds all turns for the same provider, model and
 * credential; when it is over they are let go 1, 2, 4, ... per good answer.
 *
 * One word per wait: until when, how many may go now, how many good answers came.  The first that goes, and
 * any other while nobody may, is the leader: an owner-stamped word, so that a wait cannot get stuck on a turn
 * that died or learned nothing.  60s after its end a wait is over, whatever came of it.
 *
 * Fail direction: what has no room, or cannot be read, holds nobody.
 */
#ifndef TP_SHM_SHARED_WAIT_H
#define TP_SHM_SHARED_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/siphash.h"
#include "common/base/str.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

/* The key of a wait. `credential`: the caller's hash of what is sent to the provider. */
struct tp_hash128 tp_shared_wait_key(const struct tp_region *r, struct tp_str provider, struct tp_str model,
				     uint64_t credential);

enum {
	TP_SHARED_WAIT_NAME = 128, /* bytes kept of a name, with its end */
	/* Longest wait: the largest retry_after.ceiling. What stands in the table and ends later is damage,
	   and none. */
	TP_SHARED_WAIT_MAX_MS = 24 * 3600 * 1000
};

/* A provider told a wait of a rate limit. The later of two ends stands, TP_SHARED_WAIT_MAX_MS away at
 * most; it begins anew with one leader.
 * `text`: its name for `turnpike cooldown list`, "codex/gpt-5"; never a credential. */
void tp_shared_wait_begin(struct tp_region *r, struct tp_stamp owner, struct tp_hash128 key,
			  struct tp_str text, uint64_t until_ms, uint64_t now_ms);

/* Zeroed: the turn goes on nobody's count. */
struct tp_shared_wait_pass {
	struct tp_region *region;
	uint64_t leader; /* leader word held; 0 = none */
	uint32_t entry, epoch;
	uint8_t round; /* of the wait: each told time is one */
	bool counted;  /* a report is wanted */
};

/*
 * False: no wait, and no told cooldown (cooldown.h), holds anybody at present, so that nothing need be looked
 * up. One load of a word that only grows.
 */
bool tp_shared_wait_any(const struct tp_region *r, uint64_t now_ms);

/*
 * May a turn go now? True: it may, and ret_pass must be reported (also one that is not counted may be).
 * False: not yet; ret_hold_ms says when to ask again, ret_left_ms (for `Retry-After` of 429
 * rate_limit_shared) how long the told wait still is, 0 when it is over and others are let go first.
 */
bool tp_shared_wait_ask(struct tp_region *r, struct tp_stamp owner, struct tp_hash128 key, uint64_t now_ms,
			struct tp_shared_wait_pass *ret_pass, uint64_t *ret_hold_ms, uint64_t *ret_left_ms);
/* Exactly once per pass, as soon as the answer's head says what it is; forgets it. Good: a 2xx that is no
 * error in disguise. A new told wait is announced by tp_shared_wait_begin() before. */
void tp_shared_wait_report(struct tp_shared_wait_pass *pass, bool good);

/* ---- list and clear */

struct tp_shared_wait_row {
	char text[TP_SHARED_WAIT_NAME];
	uint64_t until_ms; /* the told time; when it is over, those that were held are let go bit by bit */
	bool leading;      /* one was let go, and its answer is awaited */
};
/* Goes through the waits that hold anybody: start with *cursor = 0; false at the end. */
bool tp_shared_wait_next(const struct tp_region *r, uint64_t now_ms, uint32_t *cursor,
			 struct tp_shared_wait_row *ret_row);
/* The operator: all waits end, for all turns. Number of those that ended. */
uint32_t tp_shared_wait_clear_all(struct tp_region *r, uint64_t now_ms);

#endif
