/*
 * The request head as it goes to a provider: always newly written (design section 7).
 */
#ifndef TP_WORKERS_UPSTREAM_HEAD_H
#define TP_WORKERS_UPSTREAM_HEAD_H

#include "common/base/buf.h"
#include "common/config/config.h"
#include "workers/request.h"

/* What decides the head beside the request itself. */
struct tp_upstream_head_args {
	const struct tp_provider_conf *provider;
	const struct tp_egress_conf *proxy; /* whom the head is addressed to (egress.h); NULL: the provider */
	struct tp_str key;                  /* Turnpike's own credential (credential.h); empty: none */
	unsigned key_index;                 /* which of the provider's keys that is, where it has any */
	size_t route_cut;                   /* bytes cut off the front of the target */
	bool drop_credentials;              /* the client's credential opened Turnpike only */
	bool tunnel;                        /* pass the upgrade on */
	bool inspect; /* the answer is looked into, and not relayed as it is: no conditions */
};

/* Appends the head, with its empty line (and the size line of the first chunk: tp_request_stream()). A held,
 * complete body is told by length, one still arriving as it came. */
void tp_upstream_head(const struct tp_request *r, const struct tp_upstream_head_args *a, struct tp_buf *out);
/* What a WebSocket's protocol says of who asks, behind its prefix; NULL: nothing. Pages cannot set a header
 * of a WebSocket: OpenAI takes its credentials among the protocols instead. */
struct tp_str tp_protocol_credential(struct tp_str protocol);
/* Appends the field that carries `key`, else the one of the url's user information, else nothing. */
void tp_upstream_credential(struct tp_buf *out, const struct tp_provider_conf *p, enum tp_family family,
			    struct tp_str key);

#endif
