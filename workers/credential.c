#include "workers/credential.h"

#include "workers/keys.h"

bool tp_credential_own(const struct tp_provider_conf *p)
{
	return p->n_keys > 0;
}

struct tp_str tp_credential_now(const struct tp_turn *t, const struct tp_provider_conf *p)
{
	return p->n_keys > 0 ? tp_str_from(p->keys[tp_keys_index(t, p)]) : (struct tp_str){NULL, 0};
}
