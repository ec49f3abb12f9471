/*
 * Who may use Turnpike (design section 10): checked from the head, before a body byte is read.
 */
#ifndef TP_WORKERS_ACCESS_H
#define TP_WORKERS_ACCESS_H

#include "common/config/config.h"
#include "workers/request.h"

/* Where a client may carry a credential, in the order they are looked at. */
enum { TP_CREDENTIAL_FIELDS = 4 };
extern const enum tp_field_id tp_credential_fields[TP_CREDENTIAL_FIELDS];

struct tp_access {
	int status;                       /* 0 = may pass; else 401 or 403 */
	const char *detail;               /* static, with a status */
	const struct tp_client_conf *who; /* NULL = anonymous */
};

/*
 * With `clients` configured: one of their keys in a credential field (Authorization: Bearer). Without:
 * anybody who reaches the listener, but a browser page that was lured here is kept out: Host must be a
 * loopback name or one of `hosts` (TCP, unless allow_anonymous), and an Origin one of `origins`.
 */
struct tp_access tp_access_check(const struct tp_config *c, const struct tp_listener_conf *l,
				 const struct tp_request *r);

#endif
