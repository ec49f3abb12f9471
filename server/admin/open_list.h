/*
 * The turns that have been open for longest, as JSON (design 11).
 */
#ifndef TP_SERVER_ADMIN_OPEN_LIST_H
#define TP_SERVER_ADMIN_OPEN_LIST_H

#include <jansson.h>

#include "common/shm/region.h"

/*
 * Longest open first; a new reference for the caller, NULL: out of memory.
 * [{id, logical, family, provider, model, state, waits_for, left, sends, age, slot}].  waits_for: the class
 * of the next send, or rate_limit, capacity, cooldown, token; null: it does not wait.  left: seconds until
 * the wait is over at the latest, or null; age in seconds.  What is not known is null.
 */
json_t *tp_open_list(const struct tp_region *r);

#endif
