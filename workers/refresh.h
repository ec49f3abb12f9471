/*
 * Access tokens that are renewed (design section 9): which one a turn carries, who gets the next one, who
 * waits for it.  The token and the right to renew it are shared by all workers (common/shm/token.h); the
 * worker that holds the right asks the endpoint, everybody else looks every TP_REFRESH_LOOK_MS.
 */
#ifndef TP_WORKERS_REFRESH_H
#define TP_WORKERS_REFRESH_H

#include <stdbool.h>

#include "common/base/str.h"
#include "common/retry/decide.h"
#include "workers/core.h"

enum { TP_REFRESH_LOOK_MS = 20 };

struct tp_turn;
struct tp_obstacle;
struct tp_refresher; /* of one provider, in one worker */
struct tp_token_copy;

/* Part of the turn; zeroed to begin. What it says is about the provider `of`. */
struct tp_turn_token {
	const struct tp_provider_rt *of;
	struct tp_token_copy *carried; /* by the present send; NULL = none */
	uint64_t rejected;             /* generation that the provider rejected in this turn */
	struct tp_outcome rejection;   /* with `renewing`: what is decided upon if there is no newer one */
	bool renewing;                 /* the next send replaces one that was rejected */
	bool tried;                    /* this turn has waited for a token: it does so once */
	bool given_up;                 /* no token for this provider: its keys, if it has some */
	bool foreseen;                 /* it was given up before a send ... */
	enum tp_class wanted;          /* ... of this class */
};

/* The present token, for what belongs to no turn; empty: none. Valid until the next call. */
struct tp_str tp_refresh_current(struct tp_refresher *f);

/*
 * Before each send: takes the present token for the turn, and begins to renew it when it is about to expire.
 * False: the turn has to wait for a token; or it is too late for one; or there is none, which is to be
 * decided upon.
 */
bool tp_refresh_may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret);
/* What the turn's sends to provider `p` carry; empty: no token. */
struct tp_str tp_refresh_token(const struct tp_turn *t, const struct tp_provider_conf *p);
/* The turn may still wait for a newer token. */
bool tp_refresh_left(const struct tp_turn *t);
/* TP_ACT_REFRESH: the next send is to carry a newer token than the one that came to this outcome. */
void tp_refresh_rejected(struct tp_turn *t, const struct tp_outcome *o);
/* The same for a turn that cannot be sent again: the next ones find a newer token. */
void tp_refresh_note(struct tp_turn *t, const struct tp_outcome *o);
/* The turn's sends to its provider carry a key from now on. The class of the next one: ROTATE, unless none
 * was made with a token, since there was none. */
enum tp_class tp_refresh_give_up(struct tp_turn *t);
/* The provider accepted what the turn carried. */
void tp_refresh_good(struct tp_turn *t);
void tp_refresh_end(struct tp_turn *t);

#endif
