/*
 * Which logical request a turn belongs to (design section 3.1): an id, an id with the fingerprint, or the
 * fingerprint alone; always scoped by the client's credential.
 */
#ifndef TP_WORKERS_IDENTITY_H
#define TP_WORKERS_IDENTITY_H

#include "workers/turn.h"

/* Does this request need a fingerprint at all? Decided from the head. */
bool tp_identity_wants_fingerprint(const struct tp_turn *t);
/* A new fingerprint of the turn's method, path and turn id; NULL when out of memory. */
struct tp_fingerprint *tp_identity_fingerprint(const struct tp_turn *t);
/* The identity; `fingerprint` NULL when there is none (streaming through, or not wanted). */
struct tp_identity tp_identity_of(const struct tp_turn *t, const struct tp_hash128 *fingerprint);

#endif
