/*
 * Which credential a send carries (design sections 8, 9): one of Turnpike's own for its provider, or the
 * client's.  The one place that knows; part of the turn.
 */
#ifndef TP_WORKERS_CREDENTIAL_H
#define TP_WORKERS_CREDENTIAL_H

#include <stdbool.h>

#include "common/base/str.h"
#include "common/config/config.h"

struct tp_turn;

/* The provider is asked with a credential of Turnpike's, and the client's never goes there. */
bool tp_credential_own(const struct tp_provider_conf *p);
/* What sends of this turn to provider `p` carry of Turnpike's own, without the header's name and scheme;
 * empty: nothing. Valid until the turn's next send. t NULL: of no turn (health checks). */
struct tp_str tp_credential_now(const struct tp_turn *t, const struct tp_provider_conf *p);
/* The same as far as it says whose account it is: it stays when an access token is renewed. For keys of the
 * shared table, never to be sent. */
struct tp_str tp_credential_identity(const struct tp_turn *t, const struct tp_provider_conf *p);

#endif
