/* What must not be repeated to anybody in an answer of this turn: the configuration's secrets and the
 * client's own credentials (design section 7). */
#ifndef TP_WORKERS_SECRETS_H
#define TP_WORKERS_SECRETS_H

#include "common/base/buf.h"
#include "common/config/secrets.h"
#include "common/http/mask.h"
#include "workers/turn.h"

enum { TP_CLIENT_SECRETS_MAX = 64 }; /* more are not a credential any more */

struct tp_turn_secrets {
	struct tp_mask_secrets list; /* of the client; the configuration's behind it */
	struct tp_secrets of_config;
	struct tp_str items[TP_CLIENT_SECRETS_MAX];
	struct tp_buf decoded; /* owned; what some of the items point to */
	bool failed;           /* out of memory */
};

/* Collects them from the request's head, which must still be held. Free with tp_turn_secrets_free(); the
 * struct must not be moved. */
void tp_turn_secrets_take(const struct tp_turn *t, struct tp_turn_secrets *ret_secrets);
void tp_turn_secrets_free(struct tp_turn_secrets *s);

#endif
