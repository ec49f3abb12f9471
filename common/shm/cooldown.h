/*
 * Cooldowns (design 3.3, 8 and 9): a target {provider, model}, a provider's key or a way to a provider that
 * is not to be used before its time, exact over all workers.  One 64-bit word per entry, changed by
 * compare-and-swap only.
 *
 * Fail direction: what has no room, or cannot be read, is "not cooling".
 */
#ifndef TP_SHM_COOLDOWN_H
#define TP_SHM_COOLDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/siphash.h"
#include "common/base/str.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

enum {
	TP_COOLDOWN_NAME = 128,     /* bytes kept of a name, with its end */
	TP_COOLDOWN_MAX_CAUSE = 255 /* largest cause */
};
/* Longest cooldown: the longest quotas of providers are of a month. A longer one is cut; what stands in the
 * table and ends later is damage, and none. */
#define TP_COOLDOWN_MAX_MS (UINT64_C(31) * 24 * 3600 * 1000)

/* What cools. Borrows its text, which is shown by `turnpike cooldown list`: "codex/gpt-5", "codex key 2";
 * never a key itself. */
struct tp_cooldown_name {
	struct tp_hash128 key;
	struct tp_str text;
};
struct tp_cooldown_name tp_cooldown_target(const struct tp_region *r, struct tp_str provider,
					   struct tp_str model, struct tp_str text);
/* The secret is only hashed. */
struct tp_cooldown_name tp_cooldown_key(const struct tp_region *r, struct tp_str provider,
					struct tp_str secret, struct tp_str text);
/* A way to a provider (`via`), by its address as it is shown; text: "codex via 127.0.0.1:3128". */
struct tp_cooldown_name tp_cooldown_egress(const struct tp_region *r, struct tp_str provider,
					   struct tp_str address, struct tp_str text);

struct tp_cooldown {
	uint64_t until_ms; /* CLOCK_BOOTTIME */
	bool told;         /* by the provider: true to it. Else our own guess (combos.cooldown) */
	uint8_t cause;     /* the caller's number for why, e.g. a status class */
};

/*
 * Cools `name`. A told time replaces a guess; a guess never touches a told time that still runs; of two of
 * one kind the later stands. True when it was not cooling before: of two refusals of one key at once exactly
 * one gets true, so that only one of them logs and counts it.
 */
bool tp_cooldown_set(struct tp_region *r, struct tp_stamp owner, const struct tp_cooldown_name *name,
		     struct tp_cooldown c, uint64_t now_ms);
/* True while it cools. ret_c may be NULL. */
bool tp_cooldown_get(const struct tp_region *r, struct tp_hash128 key, uint64_t now_ms,
		     struct tp_cooldown *ret_c);
/* A success, or the operator: the cooldown ends. True when there was one. */
bool tp_cooldown_clear(struct tp_region *r, struct tp_hash128 key, uint64_t now_ms);
uint32_t tp_cooldown_clear_all(struct tp_region *r, uint64_t now_ms);

/* The one probe of a cooling entry. Zeroed: none. */
struct tp_cooldown_probe {
	struct tp_region *region;
	uint64_t word;
	uint32_t entry;
};
/*
 * Takes the probe over all workers: one at a time; with `gap_ms` above 0 also not before that long after it
 * was cooled and after the last probe that gave evidence (5m for a single told target; 0 for the untold
 * targets of a combo). False: not cooling, or taken, or too early; then ret_wait_ms (may be NULL) says for
 * how long, at most until the cooldown ends.
 */
bool tp_cooldown_take_probe(struct tp_region *r, struct tp_stamp owner, struct tp_hash128 key,
			    uint32_t gap_ms, uint64_t now_ms, struct tp_cooldown_probe *ret_probe,
			    uint64_t *ret_wait_ms);
/* Exactly once; forgets it. Without evidence (neutral, abandoned) the probe is free again at once. What the
 * answer said is told by tp_cooldown_clear() or tp_cooldown_set() before. */
void tp_cooldown_end_probe(struct tp_cooldown_probe *p, bool evidence);

struct tp_cooldown_row {
	char text[TP_COOLDOWN_NAME];
	struct tp_hash128 key;
	struct tp_cooldown cooldown;
	uint64_t since_ms;
	bool probing;
};
/* Goes through what cools now: start with *cursor = 0; false at the end. */
bool tp_cooldown_next(const struct tp_region *r, uint64_t now_ms, uint32_t *cursor,
		      struct tp_cooldown_row *ret_row);

#endif
