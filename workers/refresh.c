#include "workers/refresh.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/config/refresh.h"
#include "common/config/secrets.h"
#include "common/config/token_file.h"
#include "common/http/token_answer.h"
#include "common/shm/token.h"
#include "workers/refresh_call.h"
#include "workers/runtime.h"
#include "workers/tls.h"
#include "workers/turn.h"

enum {
	EARLY_MS = 60 * 1000, /* before its end a token is renewed, or ... */
	EARLY_PART = 5        /* ... a fifth of its life, if that is less */
};

struct tp_token_copy {
	unsigned refs;
	uint64_t generation, expires_ms, renew_ms;
	struct tp_str text; /* behind it */
};

struct tp_refresher {
	struct tp_provider_rt *rt;        /* of the provider */
	struct tp_provider_conf endpoint; /* of the endpoint, derived */
	struct tp_provider_rt at;         /* the same, open */
	tp_token_id id;
	uint64_t origin;             /* hash of the configuration */
	uint64_t seen;               /* generation in the table when it was last looked at */
	struct tp_token_copy *now;   /* NULL = none */
	struct tp_token_lease lease; /* held while a question is under way */
	struct tp_refresh_call call;
	LIST_ENTRY(tp_refresher) link; /* of the worker's, while a question is under way */
	int file;                      /* the new state_file meanwhile; -1 = none */
};

/* ---- tokens in this process */

static void unref(struct tp_token_copy *copy)
{
	if (copy == NULL || --copy->refs > 0)
		return;
	explicit_bzero(copy + 1, copy->text.n);
	free(copy);
}

static struct tp_token_copy *copy_of(const struct tp_token *token)
{
	struct tp_token_copy *copy = malloc(sizeof *copy + token->n);
	if (copy == NULL)
		return NULL;
	memcpy(copy + 1, token->text, token->n);
	*copy = (struct tp_token_copy){.refs = 1,
				       .generation = token->generation,
				       .expires_ms = token->expires_ms,
				       .renew_ms = token->renew_ms,
				       .text = {(const char *)(copy + 1), token->n}};
	return copy;
}

/* What another worker has published meanwhile. */
static void look(struct tp_refresher *f)
{
	struct tp_region *r = f->rt->worker->region;
	struct tp_token token;
	if (tp_token_generation(r, f->id) == f->seen)
		return;
	unref(f->now);
	f->now = NULL;
	f->seen = 0;
	if (!tp_token_get(r, f->id, &token))
		return;
	f->seen = token.generation;
	/* Of another configuration: as if there were none. */
	if (token.origin == f->origin) {
		f->now = copy_of(&token);
		tp_secrets_learn((struct tp_str){token.text, token.n});
	}
	explicit_bzero(token.text, token.n);
}

static bool usable(const struct tp_refresher *f, uint64_t now_ms)
{
	return f->now != NULL && (f->now->expires_ms == 0 || now_ms < f->now->expires_ms);
}

struct tp_str tp_refresh_current(struct tp_refresher *f)
{
	look(f);
	return usable(f, tp_clock_boot_ms()) ? f->now->text : (struct tp_str){NULL, 0};
}

/* ---- the question, in the worker that holds the lease */

static const char *name_of(const struct tp_refresher *f)
{
	return f->rt->conf->name;
}

/* A question holds the generation that it belongs to. */
static void start(struct tp_refresher *f)
{
	LIST_INSERT_HEAD(&f->rt->worker->renewing, f, link);
	(void)tp_runtime_ref(f->rt->runtime);
}

static void over(struct tp_refresher *f)
{
	LIST_REMOVE(f, link);
	tp_runtime_unref(f->rt->runtime);
	tp_token_file_abandon(f->rt->conf->refresh.state_file, f->file);
	f->file = -1;
	tp_worker_check_drained(f->rt->worker);
}

static void failed(struct tp_refresher *f, const char *why, int64_t told_ms)
{
	tp_warn("provider %s: its access token could not be renewed at %s: %s", name_of(f), f->endpoint.base,
		why);
	tp_token_failed(&f->lease, told_ms, tp_clock_boot_ms());
	over(f);
}

/* The new refresh token is on disk before the access token is used: should we die, the next one goes on with
 * it. */
static bool keep(struct tp_refresher *f, const struct tp_token_answer *a)
{
	const struct tp_provider_conf *p = f->rt->conf;
	if (a->refresh == NULL)
		return true;
	tp_secrets_learn(tp_str_from(a->refresh));
	int error =
		tp_token_file_commit(p->refresh.state_file, f->file, p->refresh.refresh_token, a->refresh);
	f->file = -1;
	if (error == 0)
		return true;
	tp_error("provider %s: the new refresh token cannot be kept in %s: %s", p->name,
		 p->refresh.state_file, strerror(-error));
	return false;
}

static void publish(struct tp_refresher *f, const struct tp_token_answer *a)
{
	uint64_t now = tp_clock_boot_ms();
	struct tp_token token = {.origin = f->origin, .n = strlen(a->access)};
	memcpy(token.text, a->access, token.n);
	if (a->lifetime_ms >= 0) {
		uint64_t life = (uint64_t)a->lifetime_ms;
		token.expires_ms = now + life;
		token.renew_ms =
			token.expires_ms - (life / EARLY_PART < EARLY_MS ? life / EARLY_PART : EARLY_MS);
	}
	tp_info("provider %s: its access token was renewed%s", name_of(f),
		a->refresh != NULL ? ", with a new refresh token" : "");
	tp_secrets_learn((struct tp_str){token.text, token.n});
	tp_token_publish(&f->lease, &token, now);
	explicit_bzero(token.text, token.n);
	over(f);
}

static void take_answer(struct tp_refresher *f, const struct tp_refresh_result *r)
{
	struct tp_token_answer a;
	char why[160];
	tp_token_answer_read(r->body, tp_clock_wall_ms(), &a);
	bool good = r->status >= 200 && r->status < 300;
	if (!good || a.access == NULL) {
		if (good)
			(void)snprintf(why, sizeof why, "its answer has no access token");
		else
			(void)snprintf(why, sizeof why, "it answered %d%s%s%s", r->status,
				       a.error[0] != '\0' ? " " : "", a.error,
				       r->status < 400 ? " (redirects are not followed)" : "");
		failed(f, why, r->told_ms);
	} else if (!keep(f, &a)) {
		failed(f, "what it answered cannot be kept", -1);
	} else {
		publish(f, &a);
	}
	tp_token_answer_free(&a);
}

static void on_result(void *arg, const struct tp_refresh_result *r)
{
	struct tp_refresher *f = arg;
	if (r->status == 0)
		failed(f, r->why, -1);
	else
		take_answer(f, r);
}

/* The refresh token to ask with: the one kept in the file, else the configured one. */
static bool find_token(struct tp_refresher *f, struct tp_buf *ret_token)
{
	const struct tp_provider_conf *p = f->rt->conf;
	int found = tp_token_file_read(p->refresh.state_file, p->refresh.refresh_token, ret_token);
	if (found == -EINVAL)
		tp_warn("provider %s: %s is no state file of Turnpike: the configured refresh token is used",
			p->name, p->refresh.state_file);
	else if (found < 0)
		tp_warn("provider %s: %s cannot be read: %s", p->name, p->refresh.state_file,
			strerror(-found));
	if (found == 0 || found == -EINVAL)
		tp_buf_add_str(ret_token, tp_str_from(p->refresh.refresh_token));
	if (found == 1)
		tp_secrets_learn(tp_buf_str(ret_token));
	return ret_token->len > 0 && !ret_token->failed;
}

static bool ask(struct tp_refresher *f, struct tp_str refresh_token)
{
	const struct tp_provider_conf *p = f->rt->conf;
	bool form = p->refresh.client_id != NULL;
	struct tp_buf body = {0};
	if (form)
		tp_token_form(&body, refresh_token, tp_str_from(p->refresh.client_id),
			      tp_str_from(p->refresh.client_secret));
	else
		tp_token_json(&body, refresh_token);
	bool begun = !body.failed &&
		     tp_refresh_call_begin(&f->call, &f->at, tp_buf_str(&body),
					   form ? "application/x-www-form-urlencoded" : "application/json",
					   on_result, f);
	if (body.data != NULL)
		explicit_bzero(body.data, body.len);
	tp_buf_free(&body);
	return begun;
}

/* The lease is held. */
static void begin(struct tp_refresher *f)
{
	const char *path = f->rt->conf->refresh.state_file;
	struct tp_buf token = {0};
	char why[160];
	start(f);
	f->file = tp_token_file_begin(path);
	if (f->file < 0) {
		(void)snprintf(why, sizeof why, "it is not asked: refresh.state_file cannot be written: %s",
			       strerror(-f->file));
		failed(f, why, -1);
	} else if (!find_token(f, &token)) {
		failed(f, "there is no refresh token to ask with", -1);
	} else if (!ask(f, tp_buf_str(&token))) {
		failed(f, "out of memory", -1);
	}
	if (token.data != NULL)
		explicit_bzero(token.data, token.len);
	tp_buf_free(&token);
}

/* Begins to get a token newer than the one at hand, if nobody does and nothing speaks against it. */
static enum tp_token_taking want(struct tp_refresher *f, bool rejected)
{
	struct tp_worker *w = f->rt->worker;
	uint64_t wait;
	if (f->call.active)
		return TP_TOKEN_HELD;
	enum tp_token_taking a = tp_token_take(w->region, f->id, w->stamp, f->seen, rejected,
					       tp_clock_boot_ms(), &f->lease, &wait);
	if (a != TP_TOKEN_TAKEN)
		return a;
	tp_debug("provider %s: its access token is being renewed", name_of(f));
	begin(f);
	return TP_TOKEN_HELD;
}

/* ---- begin and end */

static uint64_t origin_of(const struct tp_refresher *f)
{
	const struct tp_provider_conf *p = f->rt->conf;
	const char *const parts[] = {p->refresh.url, p->refresh.refresh_token, p->refresh.client_id};
	const uint8_t *seed = tp_region_seed(f->rt->worker->region);
	uint64_t h[4] = {0};
	for (size_t i = 0; i < 3; i++)
		if (parts[i] != NULL)
			h[i] = tp_siphash128(seed, parts[i], strlen(parts[i])).lo;
	return tp_siphash128(seed, h, sizeof h).lo;
}

struct tp_refresher *tp_refresher_new(struct tp_provider_rt *rt, struct tp_buf *why)
{
	struct tp_refresher *f = calloc(1, sizeof *f);
	if (f == NULL || tp_refresh_endpoint(rt->conf, &f->endpoint) != NULL) {
		free(f); /* it was checked with the configuration: out of memory */
		return NULL;
	}
	f->rt = rt;
	f->file = -1;
	tp_provider_rt_init(&f->at, rt->runtime, &f->endpoint);
	if (f->endpoint.https && (f->at.tls = tp_tls_provider(&f->endpoint, why)) == NULL) {
		tp_refresher_free(f);
		return NULL;
	}
	f->origin = origin_of(f);
	f->id = tp_token_open(rt->worker->region, tp_str_from(rt->conf->name));
	if (f->id == TP_TOKEN_NONE)
		tp_error("provider %s: the shared table has no room for its access token (%d providers at "
			 "most, "
			 "since it was made)",
			 rt->conf->name, TP_TOKENS);
	return f;
}

void tp_refresher_free(struct tp_refresher *f)
{
	if (f == NULL)
		return;
	unref(f->now);
	tp_provider_rt_close(&f->at);
	tp_refresh_endpoint_free(&f->endpoint);
	free(f);
}

void tp_refresh_cancel_all(struct tp_worker *w)
{
	struct tp_refresher *f;
	while ((f = LIST_FIRST(&w->renewing)) != NULL) {
		tp_refresh_call_cancel(&f->call);
		tp_token_release(&f->lease);
		over(f);
	}
}

/* ---- a turn */

static void carry(struct tp_turn_token *x, struct tp_token_copy *copy)
{
	if (copy != NULL)
		copy->refs++;
	unref(x->carried);
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

static void hold(struct tp_turn *t, enum tp_class klass, uint64_t now_ms)
{
	uint64_t left = t->deadline_ms - now_ms;
	t->klass = klass;
	tp_turn_set_state(t, TP_TURN_WAIT);
	tp_timer_set(&t->timer, left < TP_REFRESH_LOOK_MS ? left : TP_REFRESH_LOOK_MS);
}

/* No token for this turn: decided upon as what it is, the provider's refusal or one that is foreseen. */
static bool give_up(struct tp_turn *t, const char *why)
{
	struct tp_turn_token *x = &t->token;
	struct tp_outcome o = x->rejection;
	if (!x->renewing)
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
	tp_turn_decide_on(t, &o, why);
	return false;
}

bool tp_refresh_may_send(struct tp_turn *t, enum tp_class klass)
{
	struct tp_refresher *f = t->provider->refresher;
	struct tp_turn_token *x = token_of(t);
	uint64_t now = tp_clock_boot_ms();
	if (f == NULL || x->given_up)
		return true;
	look(f);
	if (usable(f, now) && f->now->generation > x->rejected) {
		carry(x, f->now);
		x->renewing = false;
		if (f->now->renew_ms != 0 && now >= f->now->renew_ms)
			(void)want(f, false);
		return true;
	}
	carry(x, NULL);
	if (f->now == NULL && !x->tried && f->rt->conf->n_keys > 0)
		return true; /* nobody has needed a token so far */
	x->tried = true;
	if (now >= t->deadline_ms)
		return give_up(t, "no access token before its deadline");
	switch (want(f, x->rejected != 0 && x->rejected == f->seen)) {
	case TP_TOKEN_LATER: return give_up(t, "no access token: it could not be renewed");
	default: hold(t, klass, now); return false;
	}
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
	look(f);
	if (t->token.carried != NULL ? t->token.carried->generation == f->seen : f->now == NULL)
		(void)want(f, t->token.carried != NULL);
}

void tp_refresh_good(struct tp_turn *t)
{
	if (t->token.carried != NULL)
		tp_token_proved(t->worker->region, t->provider->refresher->id, t->token.carried->generation);
}

void tp_refresh_end(struct tp_turn *t)
{
	carry(&t->token, NULL);
}
