#include "workers/credential.h"

#include "common/config/refresh.h"
#include "workers/keys.h"
#include "workers/turn.h"

bool tp_credential_own(const struct tp_provider_conf *p)
{
	return p->n_keys > 0 || tp_refresh_is_set(p);
}

struct tp_str tp_credential_now(const struct tp_turn *t, const struct tp_provider_conf *p)
{
	struct tp_str token = t != NULL ? tp_refresh_token(t, p) : (struct tp_str){NULL, 0};
	if (token.n > 0)
		return token;
	return p->n_keys > 0 ? tp_str_from(p->keys[tp_keys_index(t, p)]) : (struct tp_str){NULL, 0};
}

struct tp_str tp_credential_identity(const struct tp_turn *t, const struct tp_provider_conf *p)
{
	bool token = tp_refresh_is_set(p) && (p->n_keys == 0 || tp_refresh_token(t, p).n > 0);
	return token ? tp_str_from(p->refresh.refresh_token) : tp_credential_now(t, p);
}
