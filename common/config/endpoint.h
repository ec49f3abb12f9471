/* Addresses to listen on and URLs of providers, taken apart. */
#ifndef TP_CONFIG_ENDPOINT_H
#define TP_CONFIG_ENDPOINT_H

#include "common/config/config.h"

/* Both fill the derived fields of their struct from `address` / `url`. NULL on success; else a static reason
 * that never holds a part of the value ("out of memory" included), and nothing is set. */
const char *tp_endpoint_listen(struct tp_listener_conf *l);
const char *tp_endpoint_url(struct tp_provider_conf *p);
/* The same for an entry of `via`; what is set is freed by tp_endpoint_egress_free(), which wipes it. */
const char *tp_endpoint_egress(const char *text, struct tp_egress_conf *ret_egress);
void tp_endpoint_egress_free(struct tp_egress_conf *e);
/* Unix sockets, 127.0.0.0/8, ::1: only this machine can connect. */
bool tp_endpoint_is_local(const struct tp_listener_conf *l);
/* A host without port: letters, digits, dots, hyphens, underscores, or an IPv6 address, in brackets or not.
 */
bool tp_endpoint_is_host(struct tp_str host);

#endif
