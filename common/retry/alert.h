/*
 * What an operator should be told of, and the row of long waits that tells a dead model from a busy one
 * (design section 5).  Pure; the caller keeps the numbers.
 */
#ifndef TP_RETRY_ALERT_H
#define TP_RETRY_ALERT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* What somebody should be told of, beside what is done with this turn (design section 5). */
enum tp_alert {
	TP_ALERT_NONE,
	TP_ALERT_SYSTEM_LOAD, /* X-Codex-System-Load at or above 90%: the gateway is drowning */
	TP_ALERT_MODEL_DEAD,  /* three waits of 55s or more in a row: the model is dead, not busy */
	TP_ALERT_WORKER_DIED, /* a worker process ended that was not told to */
	TP_ALERT_URL_LISTED,  /* the blacklist took a URL in (design 3.2) */
	TP_ALERT_COUNT
};

/*
 * Long waits in a row, per provider over all turns (design section 5); the caller keeps the number, 0 at
 * first. Called with each wait of class overload that is begun, and with -1 for a success, which ends the row
 * and brings a dead model back.  Three make it dead: no wait changes that.
 */
uint32_t tp_long_waits_next(uint32_t long_waits, int64_t wait_ms);
bool tp_model_is_dead(uint32_t long_waits);
/* "none", "system_load", "model_dead", "worker_died", "url_listed"; static. */
const char *tp_alert_name(enum tp_alert alert);

/*
 * Appends the alert as one line of JSON, as `alerts.command` reads it: kind, provider (NULL = concerns none,
 * left out), time (RFC 3339, UTC; wall_ms since 1970), a sentence for people, details.  `details` are members
 * as JSON without the braces around them, already free of secrets; empty is fine.
 */
void tp_alert_write(struct tp_buf *out, enum tp_alert alert, const char *provider, int64_t wall_ms,
		    struct tp_str details);

#endif
