#include "common/retry/alert.h"

enum { LONG_WAIT_MS = 55000, LONG_WAITS_DEAD = 3 };

uint32_t tp_long_waits_next(uint32_t long_waits, int64_t wait_ms)
{
	if (wait_ms < 0)
		return 0;
	if (tp_model_is_dead(long_waits))
		return long_waits;
	return wait_ms >= LONG_WAIT_MS ? long_waits + 1 : 0;
}

bool tp_model_is_dead(uint32_t long_waits)
{
	return long_waits >= LONG_WAITS_DEAD;
}

const char *tp_alert_name(enum tp_alert alert)
{
	static const char *const names[] = {
		[TP_ALERT_NONE] = "none",
		[TP_ALERT_SYSTEM_LOAD] = "system_load",
		[TP_ALERT_MODEL_DEAD] = "model_dead",
	};

	return (unsigned)alert < sizeof(names) / sizeof(names[0]) ? names[(unsigned)alert] : "?";
}
