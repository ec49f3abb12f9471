/*
 * Who renews the access tokens of one provider (design section 9), in one generation of one worker.  The
 * token and the right to renew it are shared by all workers (common/shm/token.h); the worker that holds the
 * right asks the endpoint, keeps a new refresh token and publishes the access token.
 */
#ifndef TP_WORKERS_REFRESHER_H
#define TP_WORKERS_REFRESHER_H

#include "common/base/buf.h"
#include "common/shm/token.h"
#include "workers/core.h"

/* A token in this process. */
struct tp_token_copy {
	unsigned refs;
	uint64_t generation, expires_ms, renew_ms;
	struct tp_str text; /* behind it */
};

/* NULL is ignored; the last one wipes it. */
void tp_token_copy_unref(struct tp_token_copy *copy);

/* For a provider with `refresh`, whose `rt` is open. NULL on failure, with a line in `why` if it is not out
 * of memory. */
struct tp_refresher *tp_refresher_new(struct tp_provider_rt *rt, struct tp_buf *why);
/* Nothing is under way, as that holds the generation; NULL is ignored. */
void tp_refresher_free(struct tp_refresher *f);
/* The worker leaves and awaits no answer any more. It should have: one may hold a new refresh token. */
void tp_refresher_cancel_all(struct tp_worker *w);

/* The present token of this configuration, or NULL; it may have expired. Borrowed until the next call. */
struct tp_token_copy *tp_refresher_now(struct tp_refresher *f);
/* Of the token that tp_refresher_now() found in the table, whosever it is; 0 = none. */
uint64_t tp_refresher_generation(const struct tp_refresher *f);
/* Begins to get a newer one than that, if nobody does and nothing speaks against it: never TP_TOKEN_TAKEN.
 * `rejected`: since the provider rejected that very one. */
enum tp_token_taking tp_refresher_want(struct tp_refresher *f, bool rejected);
/* The provider accepted this generation. */
void tp_refresher_proved(struct tp_refresher *f, uint64_t generation);

#endif
