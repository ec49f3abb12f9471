/*
 * What an operator should be told of, and the row of long waits that tells a dead model from a busy one
 * (design section 5).  Pure; the caller keeps the numbers.
 */
#ifndef TP_RETRY_ALERT_H
#define TP_RETRY_ALERT_H

#include <stdbool.h>
#include <stdint.h>

/* What somebody should be told of, beside what is done with this turn (design section 5). */
enum tp_alert {
	TP_ALERT_NONE,
	TP_ALERT_SYSTEM_LOAD, /* X-Codex-System-Load at or above 90%: the gateway is drowning */
	TP_ALERT_MODEL_DEAD   /* three waits of 55s or more in a row: the model is dead, not busy */
};

/*
 * Long waits in a row, per provider over all turns (design section 5); the caller keeps the number, 0 at
 * first. Called with each wait of class overload that is begun, and with -1 for a success, which ends the row
 * and brings a dead model back.  Three make it dead: no wait changes that.
 */
uint32_t tp_long_waits_next(uint32_t long_waits, int64_t wait_ms);
bool tp_model_is_dead(uint32_t long_waits);
/* "none", "system_load", "model_dead"; static. */
const char *tp_alert_name(enum tp_alert alert);

#endif
