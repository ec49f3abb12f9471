#include "workers/refresher.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/siphash.h"
#include "common/config/refresh.h"
#include "common/config/secrets.h"
#include "common/config/token_file.h"
#include "common/http/token_answer.h"
#include "common/shm/token.h"
#include "workers/numbers.h"
#include "workers/refresh_call.h"
#include "workers/runtime.h"
#include "workers/tls.h"

enum {
	EARLY_MS = 60 * 1000, /* before its end a token is renewed, or ... */
	EARLY_PART = 5        /* ... a fifth of its life, if that is less */
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

void tp_token_copy_unref(struct tp_token_copy *copy)
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
	tp_token_copy_unref(f->now);
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

struct tp_token_copy *tp_refresher_now(struct tp_refresher *f)
{
	look(f);
	return f->now;
}

uint64_t tp_refresher_generation(const struct tp_refresher *f)
{
	return f->seen;
}

void tp_refresher_proved(struct tp_refresher *f, uint64_t generation)
{
	tp_token_proved(f->rt->worker->region, f->id, generation);
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
	tp_numbers_refresh(f->rt, false);
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
	tp_numbers_refresh(f->rt, true);
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

enum tp_token_taking tp_refresher_want(struct tp_refresher *f, bool rejected)
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
	if (f->endpoint.https &&
	    (f->at.tls = tp_tls_provider(&f->endpoint, rt->runtime->config->files, why)) == NULL) {
		tp_refresher_free(f);
		return NULL;
	}
	f->origin = origin_of(f);
	f->id = tp_token_open(rt->worker->region, tp_str_from(rt->conf->name));
	if (f->id == TP_TOKEN_NONE)
		tp_error("provider %s: the shared table has no room for its access token "
			 "(%d providers at most, since it was made)",
			 rt->conf->name, TP_TOKENS);
	return f;
}

void tp_refresher_free(struct tp_refresher *f)
{
	if (f == NULL)
		return;
	tp_token_copy_unref(f->now);
	tp_provider_rt_close(&f->at);
	tp_refresh_endpoint_free(&f->endpoint);
	free(f);
}

void tp_refresher_cancel_all(struct tp_worker *w)
{
	struct tp_refresher *f;
	while ((f = LIST_FIRST(&w->renewing)) != NULL) {
		tp_refresh_call_cancel(&f->call);
		tp_token_release(&f->lease);
		over(f);
	}
}
