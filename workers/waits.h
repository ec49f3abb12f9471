/*
 * What holds a send back before it is charged (design 3.3), exact over all workers:
 *
 *   - the target {provider, model} cools for a time above the ceiling that its provider told: the turn is
 *     answered at once with the provider's own status, save for one probe each five minutes;
 *   - a told wait of a rate limit runs for this provider, model and credential: the turn is held.
 *
 * Only for requests whose model is known, that is for those that are held whole.  Part of the turn.
 */
#ifndef TP_WORKERS_WAITS_H
#define TP_WORKERS_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/http/fingerprint.h"
#include "common/retry/decide.h"
#include "common/shm/cooldown.h"
#include "common/shm/shared_wait.h"

struct tp_turn;
struct tp_obstacle;

/* All zero: nothing is held, nothing holds. */
struct tp_turn_waits {
	struct tp_shared_wait_pass pass; /* of the present send: reported once */
	struct tp_cooldown_probe probe;  /* of the present send */
	struct tp_hash128 probed;        /* what it probes */
	uint64_t held_since_ms;          /* 0 = it is not held */
	char *model;                     /* owned; of ... */
	uint16_t model_n;                /* ... this many bytes; 0 = not known */
};

/* Hash of the client's credential if that is what this provider gets, so that its limits are no reason to
 * refuse others; else 0. */
uint64_t tp_waits_client(const struct tp_turn *t, const struct tp_provider_conf *p);
/* What cools of {provider, model}: for everybody (client 0), or for this client's credential. The text is
 * borrowed. */
struct tp_cooldown_name tp_waits_target(const struct tp_turn *t, const struct tp_provider_conf *p,
					struct tp_str model, uint64_t client, struct tp_str text);
/* The one way a send's end begins a cooldown: for the time that was told, else for `guess_ms`, which the log
 * calls `guess`. Of two turns that meet it at once, one says so. */
void tp_waits_cool(struct tp_turn *t, const struct tp_cooldown_name *name, const struct tp_outcome *o,
		   uint64_t guess_ms, const char *guess);
/* The model that the body names (copied; empty: not known): to be told once, and again by who sends another
 * one. */
void tp_waits_model(struct tp_turn *t, struct tp_str model);
/* Before a send of this class: may it go? False: the turn is to be held, or answered. */
bool tp_waits_may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret);
/* A send ended without a good answer: what its provider told holds others from now on. */
void tp_waits_told(struct tp_turn *t, const struct tp_outcome *o);
/* The present send's answer is good: others may follow. Of several calls the first counts. */
void tp_waits_good(struct tp_turn *t);
/* What the turn was given for its next send is free for others; before that send it asks again. */
void tp_waits_put_back(struct tp_turn *t);
/* The turn is over: as above, and its model is forgotten. */
void tp_waits_end(struct tp_turn *t);
/* So is its stay at a target, and how long it was held there counts. */
void tp_waits_leave(struct tp_turn *t);

#endif
