/*
 * What is out of service, for people and programs: the blacklist and the cooldowns of a shared table as JSON.
 */
#ifndef TP_SERVER_ADMIN_LISTING_H
#define TP_SERVER_ADMIN_LISTING_H

#include <jansson.h>

#include "common/base/str.h"
#include "common/config/config.h"
#include "common/shm/breaker.h"
#include "common/shm/region.h"

/* By which the time of the next probe is told. NULL, where only a table is known: that of the defaults. */
struct tp_breaker_policy tp_listing_policy(const struct tp_config *c);

/* Arrays of objects; a new reference for the caller, NULL: out of memory. Seconds are from now. */
/* {provider, url, whole_base, why: connection|status, probing, failed_probes, listed_for, next_probe_in} */
json_t *tp_listing_blacklist(const struct tp_region *r, const struct tp_breaker_policy *p);
/* Runs of failures that have not listed anything yet: {provider, url, whole_base, failures} */
json_t *tp_listing_failing(const struct tp_region *r, const struct tp_breaker_policy *p);
/* {kind: cooldown, name, told, cause, probing, cooling_for, left}, then shared waits: {kind: wait, name,
 * told, probing, left}, left 0 while those that were held are let go */
json_t *tp_listing_cooldowns(const struct tp_region *r);
/* Ends all of these. Their number. */
uint32_t tp_listing_clear_cooldowns(struct tp_region *r);

/* Text for JSON: bytes that are no UTF-8 (a name cut inside a character) become question marks. */
json_t *tp_listing_text(struct tp_str s);

#endif
