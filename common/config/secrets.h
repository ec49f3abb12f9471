/*
 * All secrets of a configuration, for masking (common/http/mask.h): the values of its secret options, the
 * user information of URLs, and the Basic credentials made of it.  Which options are secret is said by the
 * option table, so a new one is found by itself.
 */
#ifndef TP_CONFIG_SECRETS_H
#define TP_CONFIG_SECRETS_H

#include <stdbool.h>

#include "common/config/config.h"
#include "common/http/mask.h"

struct tp_secrets {
	struct tp_mask_secrets list; /* valid as long as this struct and the configuration */
	struct tp_str *items;        /* owned; the texts belong to the configuration */
	size_t size;
	bool failed; /* out of memory: the list is not whole, nothing may be shown on its word */
};

/* Collects them; free with tp_secrets_free(), which accepts a zeroed struct. */
void tp_secrets_of_config(const struct tp_config *c, struct tp_secrets *ret_secrets);
void tp_secrets_free(struct tp_secrets *s);

/*
 * A secret that came up while the server runs (an access token, a new refresh token): a copy joins all lists,
 * those collected already too, and the log, in this process.  The last TP_SECRETS_LEARNED are known.
 */
enum { TP_SECRETS_LEARNED = 64 };
void tp_secrets_learn(struct tp_str text);

/*
 * From now on every line that this process logs is masked with the secrets of `c` too, of which a reference
 * is kept; those of earlier generations stay masked while anybody else holds one of theirs.  A process forked
 * later does the same.  To be called once per generation, before it serves; NULL lets go of all, and lines go
 * out as they are. False: out of memory, nothing has changed.
 */
bool tp_secrets_guard_log(struct tp_config *c);
/* Lets go of earlier generations that nobody else holds any more. */
void tp_secrets_guard_tidy(void);

#endif
