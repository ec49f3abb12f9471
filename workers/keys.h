/*
 * The keys of one provider as a turn goes through them (design section 8, `keys`): which one a send carries,
 * and that one which was refused is left alone by all workers.  Part of the turn.
 *
 *   tp_keys_may_send() -> (send) -> tp_keys_told() | tp_keys_good()
 *
 * Whether another key is asked is not decided here but in common/retry. A provider with one key, or none, has
 * nothing to choose from: these calls say so, and that key cools only as a target of combos.
 */
#ifndef TP_WORKERS_KEYS_H
#define TP_WORKERS_KEYS_H

#include "common/config/config.h"
#include "common/retry/decide.h"
#include "common/shm/cooldown.h"

struct tp_turn;
struct tp_obstacle;

/* All zero: none in hand. */
struct tp_turn_keys {
	const struct tp_provider_conf *provider; /* whose key is in hand */
	unsigned target;                         /* of a combo, and at which target of it */
	unsigned at;                             /* index of the key in hand */
	uint64_t used;                           /* bit n: a send with key n has ended at this target */
	struct tp_cooldown_probe probe;          /* the key in hand cools, and this send is its probe */
};

/* Index of the key that the turn's next send to `p` carries (0 where nothing was chosen). t may be NULL. */
unsigned tp_keys_index(const struct tp_turn *t, const struct tp_provider_conf *p);
/* What the key in hand is called among cooldowns: "codex key 2". The text is written to `text` and has to
 * live as long as the name. `p` has keys. */
enum { TP_KEY_TEXT = 128 };
struct tp_cooldown_name tp_keys_name(const struct tp_turn *t, const struct tp_provider_conf *p,
				     char text[TP_KEY_TEXT]);
/* True when all keys of `p` cool: then the one of them that ends first. False too when it has none. */
bool tp_keys_all_cool(const struct tp_turn *t, const struct tp_provider_conf *p, uint64_t now_ms,
		      struct tp_cooldown *ret, struct tp_hash128 *ret_key);
/*
 * Before a send of this class: takes the key that it carries. False: all cool and there is no other target.
 */
bool tp_keys_may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret);
/* How many keys may still be asked in this turn beside the one in hand. */
uint32_t tp_keys_left(const struct tp_turn *t);
/* The refusal speaks about the key alone: it is the key that cools, and nothing else. */
bool tp_keys_refused(const struct tp_turn *t, const struct tp_outcome *o);
/* A send ended without a good answer, before it is decided how to go on: its key may cool. */
void tp_keys_told(struct tp_turn *t, const struct tp_outcome *o);
/* The present send's answer is good: a guess about its key ends. */
void tp_keys_good(struct tp_turn *t);
/* The turn is over: a probe without evidence is free again. */
void tp_keys_end(struct tp_turn *t);

#endif
