/*
 * The URL blacklist (design 3.2) in the life of a turn: asked before each send, told once what came of it.
 *
 *   tp_blacklist_may_send() -> [tp_blacklist_note()]* -> [tp_blacklist_committed()] -> tp_blacklist_over()
 *
 * A logical request counts once, however often it was sent: what was noted last is told at the end of the
 * turn, and a turn that goes on with an earlier one's logical request counts no failure again.
 */
#ifndef TP_WORKERS_BLACKLIST_H
#define TP_WORKERS_BLACKLIST_H

#include "common/retry/model.h"
#include "common/shm/breaker.h"

struct tp_turn;
struct tp_obstacle;

/* Inside a turn; zeroed: nothing was asked. */
struct tp_blacklist_turn {
	struct tp_breaker_pass pass;
	enum tp_breaker_outcome failure; /* valid with `failed` */
	bool failed;                     /* an attempt has failed in a way that counts */
	bool again;                      /* an earlier turn of the logical request has sent already */
	char path[TP_BREAKER_URL];       /* what pass.url.path borrows: the request is freed at commit */
};

/*
 * May the turn's next send go out? False: its URL is listed. To be called before the charge.
 */
bool tp_blacklist_may_send(struct tp_turn *t, struct tp_obstacle *ret);
/* An attempt ended without a good answer; status: with TP_CAUSE_ANSWER. */
void tp_blacklist_note(struct tp_turn *t, enum tp_cause cause, int status);
/* A good answer begins to go out: a probe has succeeded, others wait for no stream to end. */
void tp_blacklist_committed(struct tp_turn *t);
/* The turn is over, or leaves this URL for another: `good` = it was served. Nothing happens when nothing was
 * asked, or all was told. */
void tp_blacklist_over(struct tp_turn *t, bool good);
/* What ends the turn now is not the provider's doing: nothing noted from here on counts. */
void tp_blacklist_neutral(struct tp_turn *t);

#endif
