/*
 * Access tokens of providers with `refresh` (design section 9): one for all workers, renewed by one of them
 * at a time.
 *
 * A provider has a cell, found by its name.  A token is written into the one of two texts that nobody reads,
 * then made the present one by raising the generation.  Who renews holds the lease, an owner-stamped word;
 * who dies with it is replaced once, and when that one dies too it counts as a failure of the endpoint.
 * Failures say until when nobody asks the endpoint again.
 *
 * Fail direction: what has no room has no token and renews none.
 */
#ifndef TP_SHM_TOKEN_H
#define TP_SHM_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

enum { TP_TOKENS = 32 /* providers with `refresh`, of all configurations since the table was made */ };
enum { TP_TOKEN_MAX = 8192 /* bytes */ };
enum { TP_TOKEN_NONE = UINT16_MAX };
/* Longest time for which nobody asks the endpoint. What stands in the table and ends later is damage, and
 * none. */
enum { TP_TOKEN_LATER_MAX_MS = 24 * 3600 * 1000 };
typedef uint16_t tp_token_id;

/* The cell of a provider, entered if it is new; TP_TOKEN_NONE: no room. To be kept: it never moves. */
tp_token_id tp_token_open(struct tp_region *r, struct tp_str provider);

/* Times are milliseconds of CLOCK_BOOTTIME; 0 = not known. */
struct tp_token {
	uint64_t generation; /* 1, 2, ...: set by the table */
	uint64_t origin;     /* the caller's hash of the configuration that it was got with */
	uint64_t expires_ms;
	uint64_t renew_ms; /* from then on somebody should get the next one */
	size_t n;
	char text[TP_TOKEN_MAX];
};

/* Of the present token; 0 = there is none. One load. */
uint64_t tp_token_generation(const struct tp_region *r, tp_token_id id);
/* A whole token, never parts of two. False: there is none. */
bool tp_token_get(const struct tp_region *r, tp_token_id id, struct tp_token *ret_token);
/* When the present token of a provider was got, and when it expires (0 = not known), without its text and
 * without entering the provider. False: there is none. */
bool tp_token_times(const struct tp_region *r, struct tp_str provider, uint64_t *ret_got_ms,
		    uint64_t *ret_expires_ms);
/* The provider accepted this generation. */
void tp_token_proved(struct tp_region *r, tp_token_id id, uint64_t generation);

/* Process-local. */
struct tp_token_lease {
	struct tp_region *region; /* NULL = not held */
	uint64_t word;
	tp_token_id id;
};

enum tp_token_taking {
	TP_TOKEN_TAKEN, /* the caller renews; exactly one of the three calls below ends it */
	TP_TOKEN_HELD,  /* somebody else does: look again soon */
	TP_TOKEN_NEWER, /* there is a newer one than `known` */
	TP_TOKEN_LATER  /* the endpoint failed, or its tokens are rejected: not before ret_wait_ms */
};

/*
 * May the caller renew the token, of which it knows generation `known` (0 = none)?  `rejected`: because the
 * provider rejected that generation; when that befalls tokens one after the other which never worked, the
 * next is got later and later.
 */
enum tp_token_taking tp_token_take(struct tp_region *r, tp_token_id id, struct tp_stamp owner, uint64_t known,
				   bool rejected, uint64_t now_ms, struct tp_token_lease *ret_lease,
				   uint64_t *ret_wait_ms);
/* The next token (its generation is ignored); n at most TP_TOKEN_MAX. Gives the lease back. */
void tp_token_publish(struct tp_token_lease *lease, const struct tp_token *token, uint64_t now_ms);
/* The endpoint gave none: told_ms is what it told to wait (TP_TOKEN_LATER_MAX_MS at most count), -1 =
 * nothing. Gives the lease back. */
void tp_token_failed(struct tp_token_lease *lease, int64_t told_ms, uint64_t now_ms);
/* Nothing was learned. Nothing happens when it is not held. */
void tp_token_release(struct tp_token_lease *lease);

#endif
