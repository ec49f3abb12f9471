/*
 * The ledger: the send budget of each logical request (design 3.1).  Every change is one compare-and-swap on
 * one 64-bit word, so SIGKILL at any instruction can neither hang another process nor give a send back.
 *
 * Life of a handle: tp_ledger_join() -> { tp_ledger_charge() -> tp_ledger_give_back() | tp_ledger_settle() }
 * ... -> [tp_ledger_commit()] -> tp_ledger_end(), exactly once.  A handle is process-local memory of the
 * turn; nothing is allocated.
 */
#ifndef TP_SHM_LEDGER_H
#define TP_SHM_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/siphash.h"
#include "common/retry/model.h"
#include "common/shm/region.h"
#include "common/shm/slots.h"

enum tp_identity_kind {
	TP_IDENTITY_NONE, /* GET, plain family, too large to fingerprint: budget of this turn only */
	TP_IDENTITY_ID,   /* x-turnpike-logical-id, or a header of budget.identify with the fingerprint */
	TP_IDENTITY_FINGERPRINT /* the fingerprint alone: joins only what ended badly */
};

struct tp_identity {
	enum tp_identity_kind kind;
	struct tp_hash128 key; /* already scoped by the credential */
	uint64_t credential;   /* hash of the client's credential: one holds at most an eighth of the table */
	bool resend;           /* the client says so: x-stainless-retry-count above 0 */
};

struct tp_ledger_windows {
	uint32_t ttl_ms, rejoin_ms; /* budget.ttl, budget.rejoin */
};

/* Limits are each turn's own; the record holds what was used. */
struct tp_ledger_limits {
	uint32_t total, base; /* sends in all; of them for any class. base <= total <= 127 */
};

/* What a turn without a send is answered with. */
struct tp_ledger_memory {
	enum tp_code refusal; /* the refusal it ended in, or TP_CODE_NONE */
	uint16_t status;      /* the provider's 4xx it ended with, else 0 */
	uint16_t code_index;  /* with status: see tp_ledger_end() */
	uint32_t used;        /* sends of the logical request so far */
};

struct tp_ledger_handle {
	struct tp_region *region; /* NULL: not joined */
	uint32_t cell;            /* UINT32_MAX: no record (kind NONE, or no room) */
	uint32_t epoch;
	struct tp_stamp owner;
	bool no_room;             /* an identity without a record: first send only */
	uint32_t used, base_used; /* as of the last operation; for a turn without record the truth */
	enum tp_identity_kind kind;
	bool sent;      /* this turn has charged a send: without a record there is no second one */
	bool ambiguous; /* kind NONE: the allowance was taken */
};

enum tp_join {
	TP_JOIN_NEW,    /* a fresh logical request (also when the table is full: see no_room) */
	TP_JOIN_AGAIN,  /* goes on with an earlier one; sends are left */
	TP_JOIN_MEMORY, /* no send: ret_memory says what to answer. The handle needs no end */
	TP_JOIN_BUSY,   /* with an id: an earlier turn is in flight; ask again later. No end needed */
};

/*
 * Decides which logical request a turn belongs to (design 3.1).  Sends are left when one of class `initial`
 * fits; if none does, or the logical request ended in a refusal, the answer comes from memory.  One
 * compare-and-swap decides which re-send takes a failed record. A record whose owner is dead (stale stamp):
 * send open and not committed -> it ended in TP_CODE_CLOSED_BEFORE_RESPONSE; committed -> ended unknown; else
 * -> ended as a declined failure. now_ms: CLOCK_BOOTTIME.
 */
enum tp_join tp_ledger_join(struct tp_region *r, struct tp_stamp owner, const struct tp_identity *id,
			    const struct tp_ledger_windows *w, const struct tp_ledger_limits *limits,
			    uint64_t now_ms, struct tp_ledger_handle *ret_handle,
			    struct tp_ledger_memory *ret_memory);

/* The record will soon be written to: it may be on its way meanwhile, since other turns came between. */
void tp_ledger_prefetch(const struct tp_ledger_handle *h);

/* Would a send of this class fit? Asked for decisions; only tp_ledger_charge() reserves. */
bool tp_ledger_fits(const struct tp_ledger_handle *h, const struct tp_ledger_limits *limits,
		    enum tp_class klass);
/* Takes one send before its first byte is written and marks a send open. False: no budget, or the record was
 * lost. */
bool tp_ledger_charge(struct tp_ledger_handle *h, const struct tp_ledger_limits *limits, enum tp_class klass,
		      uint64_t now_ms);
/* The open send provably wrote nothing: its charge returns (same epoch only) and no send is open. */
void tp_ledger_give_back(struct tp_ledger_handle *h, enum tp_class klass);
/* The open send has ended (an answer was read, or it failed): no send is open. */
void tp_ledger_settle(struct tp_ledger_handle *h);
/* The first byte of an answer goes to the client. */
void tp_ledger_commit(struct tp_ledger_handle *h);

/* Takes the one allowance of the logical request for an ambiguous replay (retry.ambiguous_replays). False: it
 * is gone, or the record was lost. The replay itself is charged like every send. */
bool tp_ledger_take_ambiguous(struct tp_ledger_handle *h);

enum tp_end {
	TP_END_SUCCESS,  /* closes a fingerprint's record; an id keeps what is left */
	TP_END_DECLINED, /* the provider declined, or an error was relayed: status and code_index are kept */
	TP_END_UNKNOWN,  /* may have run (408, 524, cut after commit) */
	TP_END_REFUSED,  /* ended in the refusal `code` */
	TP_END_LEFT      /* the client went away */
};

struct tp_ledger_ending {
	enum tp_end end;
	enum tp_code code;   /* with TP_END_REFUSED */
	uint16_t status;     /* the provider's last status shown, else 0 */
	uint16_t code_index; /* small number naming the provider's error code (caller's table), 0 = none */
	uint32_t retry_after_ms; /* what was handed out as Retry-After: the window grows by it */
};
/* Ends the turn: exactly once for NEW and AGAIN. Forgets the handle. */
void tp_ledger_end(struct tp_ledger_handle *h, const struct tp_ledger_ending *e, uint64_t now_ms);

/* Records in use, for statistics. */
uint32_t tp_ledger_entries(const struct tp_region *r);

#endif
