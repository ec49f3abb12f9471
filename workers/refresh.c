#include "workers/refresh.h"

#include "common/base/clock.h"
#include "workers/obstacle.h"
#include "workers/refresher.h"
#include "workers/turn.h"

enum { TOKEN_LATER_MS = 1000 };

static bool usable(const struct tp_token_copy *copy, uint64_t now_ms)
{
	return copy != NULL && (copy->expires_ms == 0 || now_ms < copy->expires_ms);
}

struct tp_str tp_refresh_current(struct tp_refresher *f)
{
	const struct tp_token_copy *present = tp_refresher_now(f);
	return usable(present, tp_clock_boot_ms()) ? present->text : (struct tp_str){NULL, 0};
}

static void carry(struct tp_turn_token *x, struct tp_token_copy *copy)
{
	if (copy != NULL)
		copy->refs++;
	tp_token_copy_unref(x->carried);
	x->carried = copy;
}

/* A turn that comes to another target begins anew there, save that it waits once. */
static struct tp_turn_token *token_of(struct tp_turn *t)
{
	struct tp_turn_token *x = &t->token;
	if (x->of != t->provider) {
		carry(x, NULL);
		*x = (struct tp_turn_token){.of = t->provider, .tried = x->tried};
	}
	return x;
}

static struct tp_obstacle hold(const struct tp_turn *t, uint64_t now_ms)
{
	uint64_t left = t->deadline_ms - now_ms;
	return (struct tp_obstacle){.kind = TP_OBSTACLE_HOLDS,
				    .wait = TP_OPEN_WAIT_TOKEN,
				    .until_ms = t->deadline_ms,
				    .again_ms = left < TP_REFRESH_LOOK_MS ? left : TP_REFRESH_LOOK_MS};
}

/* Nobody has said that the credential is wrong: it is the time that ran out. */
static struct tp_obstacle too_late(struct tp_turn *t)
{
	tp_record_reason(t, "no access token before its deadline", NULL);
	return (struct tp_obstacle){
		.kind = TP_OBSTACLE_ENDS, .code = TP_CODE_TOKEN_WAIT_EXPIRED, .left_ms = TOKEN_LATER_MS};
}

/* No token for this turn: decided upon as what it is, the provider's refusal or one that is foreseen. */
static struct tp_obstacle give_up(struct tp_turn *t, enum tp_class klass, const char *why)
{
	struct tp_turn_token *x = &t->token;
	struct tp_outcome o = x->rejection;
	x->foreseen = !x->renewing;
	x->wanted = klass;
	if (x->foreseen)
		o = (struct tp_outcome){.stage = TP_STAGE_HEAD,
					.cause = TP_CAUSE_ANSWER,
					.status = 401,
					.told_ms = -1,
					.should_retry = -1,
					.replaced = t->replaced,
					.own_credential = true};
	carry(x, NULL);
	x->given_up = true;
	x->renewing = false;
	return (struct tp_obstacle){.kind = TP_OBSTACLE_DECIDES, .outcome = o, .why = why};
}

bool tp_refresh_may_send(struct tp_turn *t, enum tp_class klass, struct tp_obstacle *ret)
{
	struct tp_refresher *f = t->provider->refresher;
	if (f == NULL && t->token.of == NULL)
		return true; /* nor was the turn at a provider that has one */
	struct tp_turn_token *x = token_of(t);
	uint64_t now = tp_clock_boot_ms();
	if (f == NULL || x->given_up)
		return true;
	struct tp_token_copy *present = tp_refresher_now(f);
	if (usable(present, now) && present->generation > x->rejected) {
		carry(x, present);
		x->renewing = false;
		if (present->renew_ms != 0 && now >= present->renew_ms)
			(void)tp_refresher_want(f, false);
		return true;
	}
	carry(x, NULL);
	if (present == NULL && !x->renewing && t->provider->conf->n_keys > 0)
		return true; /* nobody has needed a token so far */
	x->tried = true;
	if (now >= t->deadline_ms)
		*ret = too_late(t);
	else if (tp_refresher_want(f, x->rejected != 0 && x->rejected == tp_refresher_generation(f)) ==
		 TP_TOKEN_LATER)
		*ret = give_up(t, klass, "no access token: it could not be renewed");
	else
		*ret = hold(t, now);
	return false;
}

struct tp_str tp_refresh_token(const struct tp_turn *t, const struct tp_provider_conf *p)
{
	const struct tp_turn_token *x = &t->token;
	bool any = x->carried != NULL && x->of != NULL && x->of->conf == p;
	return any ? x->carried->text : (struct tp_str){NULL, 0};
}

bool tp_refresh_left(const struct tp_turn *t)
{
	return t->provider->refresher != NULL && !t->token.tried;
}

void tp_refresh_rejected(struct tp_turn *t, const struct tp_outcome *o)
{
	struct tp_turn_token *x = token_of(t);
	x->rejected = x->carried != NULL ? x->carried->generation : 0;
	x->rejection = *o;
	x->renewing = x->tried = true;
}

void tp_refresh_note(struct tp_turn *t, const struct tp_outcome *o)
{
	struct tp_refresher *f = t->provider->refresher;
	if (f == NULL || o->cause != TP_CAUSE_ANSWER || o->status != 401 || !tp_refresh_left(t))
		return;
	const struct tp_token_copy *present = tp_refresher_now(f), *carried = t->token.carried;
	if (carried != NULL ? carried->generation == tp_refresher_generation(f) : present == NULL)
		(void)tp_refresher_want(f, carried != NULL);
}

enum tp_class tp_refresh_give_up(struct tp_turn *t)
{
	struct tp_turn_token *x = token_of(t);
	enum tp_class klass = x->foreseen ? x->wanted : TP_CLASS_ROTATE;
	carry(x, NULL);
	x->given_up = true;
	x->foreseen = false;
	return klass;
}

void tp_refresh_good(struct tp_turn *t)
{
	if (t->token.carried != NULL)
		tp_refresher_proved(t->provider->refresher, t->token.carried->generation);
}

void tp_refresh_end(struct tp_turn *t)
{
	carry(&t->token, NULL);
}
