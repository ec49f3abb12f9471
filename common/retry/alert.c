#include "common/retry/alert.h"

#include <time.h>

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

static const struct {
	const char *name, *text;
} alerts[TP_ALERT_COUNT] = {
	[TP_ALERT_NONE] = {"none", ""},
	[TP_ALERT_SYSTEM_LOAD] = {"system_load", "the gateway says that it is at 90% of its load or more"},
	[TP_ALERT_MODEL_DEAD] = {"model_dead", "three waits of 55 s or more in a row: the model is dead, not "
					       "busy; no retries until it answers"},
	[TP_ALERT_WORKER_DIED] = {"worker_died", "a worker process died and is replaced"},
	[TP_ALERT_URL_LISTED] = {"url_listed", "a URL has failed too often in a row and is left alone"},
};

const char *tp_alert_name(enum tp_alert alert)
{
	return (unsigned)alert < TP_ALERT_COUNT ? alerts[alert].name : "?";
}

void tp_alert_write(struct tp_buf *out, enum tp_alert alert, const char *provider, int64_t wall_ms,
		    struct tp_str details)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm utc;
	char when[32] = "";
	if (gmtime_r(&seconds, &utc) != NULL)
		(void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
	tp_buf_printf(out, "{\"kind\":\"%s\"", tp_alert_name(alert));
	if (provider != NULL) {
		tp_buf_add_str(out, TP_STR(",\"provider\":\""));
		tp_buf_add_json(out, tp_str_from(provider));
		tp_buf_add_str(out, TP_STR("\""));
	}
	tp_buf_printf(out, ",\"time\":\"%s\",\"text\":\"%s\",\"details\":{", when,
		      (unsigned)alert < TP_ALERT_COUNT ? alerts[alert].text : "");
	tp_buf_add_str(out, details);
	tp_buf_add_str(out, TP_STR("}}\n"));
}
