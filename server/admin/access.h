/*
 * Who may do what at the admin endpoints (design 10).
 */
#ifndef TP_SERVER_ADMIN_ACCESS_H
#define TP_SERVER_ADMIN_ACCESS_H

#include <stdbool.h>

#include "common/config/config.h"
#include "common/http/head.h"

struct tp_admin_access {
	int status;      /* 0 = go on, 401, 403 */
	const char *why; /* static */
};

/*
 * `bytes` hold the head.  Unix sockets: file permissions have decided.  TCP: reads are free on loopback, all
 * else needs the token, save the status page itself, which tells nothing and asks for it.  A web page must
 * not get through somebody's browser: Host has to be a numeric address, a loopback name or one of `hosts` (a
 * page may point its own name to this machine), unless the token, which no page knows, is there; and an
 * Origin that is neither this host's nor one of `origins` changes nothing.  The same holds for a browser that
 * comes through a unix socket (somebody forwards a port to it): one that tells Origin or Sec-Fetch-Site.
 */
struct tp_admin_access tp_admin_access_check(const struct tp_config *config, const struct tp_listener_conf *l,
					     const char *bytes, const struct tp_head *head);

#endif
