/*
 * What the status page shows beside the numbers of /stats: the last hour, the last failures, and what is
 * configured, as JSON (design 11).
 */
#ifndef TP_SERVER_ADMIN_RECENT_H
#define TP_SERVER_ADMIN_RECENT_H

#include <jansson.h>

#include "common/config/config.h"
#include "common/shm/region.h"

/* New references for the caller; NULL: out of memory. */
/* {every, values: [name, ...], samples: [[number, ...], ...]}: oldest first, the last one is of now. The
 * first value is how many minutes ago, the second the age in seconds; sums are since the table was made. */
json_t *tp_recent_history(const struct tp_region *r);
/* [{at, id, provider, family, outcome, status, code, reason, sends, waited}], newest first. at: seconds since
 * 1970; status 0: none was told; code null: the provider's answer */
json_t *tp_recent_failures(const struct tp_region *r);
/* {version, generation, providers: [{name, url}], combos: [{name, targets: [provider/model]}]}: nothing
 * secret in it */
json_t *tp_recent_setup(const struct tp_config *c);

#endif
