/*
 * Which logical request a turn belongs to (design section 3.1): an id, an id with the fingerprint, or the
 * fingerprint alone; always scoped by the client's credential.
 */
#ifndef TP_WORKERS_IDENTITY_H
#define TP_WORKERS_IDENTITY_H

#include "workers/turn.h"

/* Does this request need a fingerprint at all? Decided from the head. */
bool tp_identity_wants_fingerprint(const struct tp_turn *t);
/*
 * The body goes into turn->fingerprint as it arrives: decoded when it is compressed, so that the same prompt
 * is the same whatever the compressor made of it; byte for byte when it cannot be decoded (design
 * section 3.1).  Out of memory leaves the turn without a fingerprint.
 */
void tp_identity_begin(struct tp_turn *t);
/* A piece of the body, which turn->request holds already. False: its model has to be known, and it decodes to
 * more than is allowed. */
bool tp_identity_feed(struct tp_turn *t, const char *data, size_t n);
/* The body is complete: what it says.  False (nothing is written) when the turn has no fingerprint. */
bool tp_identity_finish(struct tp_turn *t, struct tp_hash128 *ret_hash, struct tp_request_facts *ret_facts);
/* No fingerprint is wanted any more; one is kept for the worker's next turn. */
void tp_identity_drop(struct tp_turn *t);
/* The identity; `fingerprint` NULL when there is none (streaming through, or not wanted). */
struct tp_identity tp_identity_of(const struct tp_turn *t, const struct tp_hash128 *fingerprint);

#endif
