/*
 * Egress (design section 9): which of the ways of `via` a send takes.  One that fails is skipped for 30s by
 * all workers (a cooldown, so `turnpike cooldown list` shows it and `clear` ends it); when all are skipped,
 * or the others have failed, it is tried all the same.  Connections that are kept stay usable meanwhile.  A
 * provider with one way skips nothing.
 *
 * Ways are told by their index in conf->egress; `tried` is a set of them, bit per index.
 */
#ifndef TP_WORKERS_EGRESS_H
#define TP_WORKERS_EGRESS_H

#include "common/base/buf.h"
#include "workers/core.h"

/* Writes the ways to try, best first: those that are not skipped, then those that are; none of `tried`.
 * Returns how many. */
unsigned tp_egress_plan(const struct tp_provider_rt *p, unsigned tried, uint8_t ret_order[TP_EGRESS_MAX]);
/* The way that a new connection would try first: a kept one of a worse way is left alone. */
unsigned tp_egress_first(const struct tp_provider_rt *p);
/* Is there a way that is not in `tried`? */
bool tp_egress_left(const struct tp_provider_rt *p, unsigned tried);
/* Skips a way from now on; the first to see it says so in the log. */
void tp_egress_failed(const struct tp_provider_rt *p, unsigned way, const char *why);
/* It works: not skipped any more. */
void tp_egress_worked(const struct tp_provider_rt *p, unsigned way);

/* The proxy that requests on a connection of this way are addressed to (absolute form), or NULL: none, or
 * only a tunnel through it. */
const struct tp_egress_conf *tp_egress_addressed(const struct tp_provider_conf *p, unsigned way);
/* For requests to such a proxy (NULL: adds nothing): what stands before the path, and the field that carries
 * its credential. */
void tp_egress_target(struct tp_buf *out, const struct tp_egress_conf *proxy,
		      const struct tp_provider_conf *p);
void tp_egress_credential(struct tp_buf *out, const struct tp_egress_conf *proxy);

#endif
