/*
 * Names to addresses through c-ares (design section 9): answers cached by their TTL, one
 * query at a time per name, /etc/hosts and resolv.conf read again when they change.
 */
#ifndef TP_WORKERS_RESOLVE_H
#define TP_WORKERS_RESOLVE_H

#include <stddef.h>
#include <sys/socket.h>

#include <event2/event.h>

enum { TP_ADDRESSES_MAX = 16 };

struct tp_address {
	struct sockaddr_storage sa;
	socklen_t len;
};

struct tp_addresses {
	size_t n;                                 /* 0 = the name does not resolve */
	struct tp_address list[TP_ADDRESSES_MAX]; /* families alternate, IPv6 first (RFC 8305) */
};

struct tp_resolver;
struct tp_resolve_query;

/* `addresses` is valid inside the call only; n = 0 and `why` (static) when there are none. */
typedef void tp_resolved_fn(void *arg, const struct tp_addresses *addresses, const char *why);

/* NULL when out of memory or c-ares cannot start. */
struct tp_resolver *tp_resolver_new(struct event_base *base);
/* Queries still open are dropped without a call. NULL is ignored. */
void tp_resolver_free(struct tp_resolver *r);
/*
 * Calls fn once: at once (then NULL is returned) for an address literal or a cached name, else later from the
 * loop; the query returned can be cancelled until then.
 */
struct tp_resolve_query *tp_resolve(struct tp_resolver *r, const char *host, uint16_t port,
				    tp_resolved_fn *fn, void *arg);
/* fn will not be called. NULL is ignored. */
void tp_resolve_cancel(struct tp_resolve_query *q);

#endif
