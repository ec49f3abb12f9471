/*
 * The targets of a combo, as one turn walks them (design section 8): which one is asked, with which model in
 * the body, and which are passed over because they cool.  Part of the turn.  Whether to go on to the next one
 * is not decided here but in common/retry.
 *
 * What cools is cooling.c's.
 *
 *   tp_targets_find() -> (join) -> tp_targets_start() -> { tp_targets_choose() -> tp_targets_next() }*
 *
 * Without a combo there is one provider, and these calls say so.
 */
#ifndef TP_WORKERS_TARGETS_H
#define TP_WORKERS_TARGETS_H

#include "common/config/config.h"
#include "common/http/fingerprint.h"
#include "common/retry/decide.h"
#include "common/shm/cooldown.h"
#include "common/shm/ledger.h"

struct tp_turn;

enum { TP_TARGET_NAME = 272 };

/* Of a turn that names a combo, else there is none. */
struct tp_targets {
	const struct tp_combo_conf *combo;
	uint64_t model_at, model_n;    /* of the model string in the held body, as it is now */
	uint8_t order[TP_TARGETS_MAX]; /* indices into combo->targets: who is asked before whom ... */
	unsigned n;                    /* ... of those that speak the request's family */
	bool ordered;                  /* the order is drawn: with the first send */
	unsigned chosen;               /* index into combo->targets: to be asked next */
	unsigned at;                   /* asked at present */
	uint32_t asked;                /* bit n: target n was asked in this turn */
	uint32_t sends;                /* to the present one */
	/* For a cooldown to end, with nothing sent; 0 = it has not waited. */
	uint64_t wait_until_ms;
	uint64_t passed_over_until_ms;  /* the soonest of those that were passed over (CLOCK_BOOTTIME); 0 =
					   none was */
	struct tp_cooldown_probe probe; /* the present target cools, and this turn is its probe */
	char name[TP_TARGET_NAME];      /* "provider/model" of the present one; empty: none was asked yet */
};

/* Does the request name a combo? Then turn->targets is set, and the model can be replaced (a compressed body
 * is decoded).  False: the turn was answered (unknown combo, none of its targets speaks the request's family,
 * a body in which the model cannot be replaced) and is over. */
bool tp_targets_find(struct tp_turn *t, const struct tp_request_facts *facts);
/* Makes the first send: to the first target that does not cool, or as the one probe of one that does; else
 * waits or answers 503. Also when such a wait is over. May end the turn: to be the caller's last step. */
void tp_targets_start(struct tp_turn *t);
/* Frees turn->targets with the turn; nothing happens without a combo. */
void tp_targets_drop(struct tp_turn *t);
/* A send to the present target is charged, and begins. */
void tp_targets_sent(struct tp_turn *t);
/* "provider/model" of the target asked at present, for people; NULL: none. */
const char *tp_targets_name(const struct tp_turn *t);
/* How many targets may still be asked in this turn; 0 without a combo. */
uint32_t tp_targets_left(const struct tp_turn *t);
/* The turn's limits less one send for each of them. */
struct tp_ledger_limits tp_targets_hold_back(const struct tp_turn *t, uint32_t left);
/* Chooses the next target; false: there is none. */
bool tp_targets_choose(struct tp_turn *t);
/* Sends to the chosen one, at once. May end the turn: to be the caller's last step. */
void tp_targets_next(struct tp_turn *t);
/* A turn that was held, or waited: others have had its target cool meanwhile. False too without a combo. */
bool tp_targets_cool_by_now(const struct tp_turn *t);
/* The present target must not be asked now (`why`, for the log: "is blacklisted"; until when):
 * goes to the next one, which the caller then asks. False: there is none, and nothing happened. Ends the turn
 * when out of memory. */
bool tp_targets_skip(struct tp_turn *t, const char *why, uint64_t until_ms);
/* When it is worth coming back, if that is in `left_ms` for the present target: sooner, where another one
 * that was passed over or cools may be asked before. */
uint64_t tp_targets_soonest(const struct tp_turn *t, uint64_t left_ms);
/* The turn is over: a probe without evidence is free again. */
void tp_targets_end(struct tp_turn *t);
/* The client's credential was not meant for the present target. */
bool tp_targets_foreign(const struct tp_turn *t);

#endif
