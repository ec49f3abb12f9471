#include "workers/alerts.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/http/answer.h"
#include "common/http/mask.h"
#include "common/shm/marks.h"
#include "workers/numbers.h"
#include "workers/runtime.h"
#include "workers/secrets.h"
#include "workers/turn.h"
#include "workers/worker.h"

enum { MESSAGE_MAX = 300 }; /* bytes shown of a provider's message; escaped, it may be six times as long */

/* False: it was not taken. Never waits: a master that is busy must not hold up turns. */
static bool tell_master(const struct tp_worker *w, enum tp_alert alert, const struct tp_buf *json,
			uint64_t now_ms)
{
	struct tp_report_message m = {.when_ms = now_ms, .what = TP_REPORT_ALERT, .alert = (uint8_t)alert};
	size_t n = offsetof(struct tp_report_message, json) + json->len;
	if (json->failed || json->len > sizeof m.json) {
		errno = json->failed ? ENOMEM : EMSGSIZE;
		return false;
	}
	memcpy(m.json, json->data, json->len);
	return send(w->control_fd, &m, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n;
}

static void lose(const struct tp_worker *w, enum tp_alert alert, int why)
{
	tp_warn("alert %s could not be told to the master: %s", tp_alert_name(alert), strerror(why));
	if (w->runtime->config->alerts.n_command > 0)
		(void)tp_number_add(w->region, TP_NUMBER_ALERTS_LOST, 1);
}

/* The alert is due: tp_alert_due() with the same now_ms. `details`: see tp_alert_write(); text that came from
 * outside is masked. */
static void raise_alert(const struct tp_turn *t, enum tp_alert alert, struct tp_str details, uint64_t now_ms)
{
	struct tp_worker *w = t->worker;
	const char *provider = t->provider->conf->name;
	struct tp_buf json = {0};
	tp_numbers_alert(w, alert);
	tp_warn("alert %s: provider %s", tp_alert_name(alert), provider);
	tp_alert_write(&json, alert, provider, tp_clock_wall_ms(), details);
	if (!tell_master(w, alert, &json, now_ms))
		lose(w, alert, errno);
	tp_buf_free(&json);
}

/* ---- what it says */

static struct tp_str shorten(struct tp_str text)
{
	if (text.n <= MESSAGE_MAX)
		return text;
	text.n = MESSAGE_MAX;
	while (text.n > 0 && ((unsigned char)text.p[text.n] & 0xc0) == 0x80) /* inside of a character */
		text.n--;
	return text;
}

/* What the provider said, in its own words, without secrets; nothing where that cannot be had. */
static void add_message(const struct tp_turn *t, struct tp_buf *out)
{
	const struct tp_saved_answer *s = t->saved;
	struct tp_answer_error read;
	const struct tp_answer_error *e = s->error;
	if (e == NULL && !s->cut && tp_answer_error_body(tp_buf_str(&s->body), &read))
		e = &read;
	if (e == NULL || e->message[0] == '\0')
		return;
	struct tp_str text = tp_str_from(e->message);
	struct tp_turn_secrets secrets;
	struct tp_buf masked = {0};
	tp_turn_secrets_take(t, &secrets);
	if (tp_mask(text, &secrets.list, &masked)) /* before it is cut: half a secret would not be known */
		text = tp_buf_str(&masked);
	if (!secrets.failed && !masked.failed) {
		tp_buf_add_str(out, TP_STR(",\"message\":\""));
		tp_buf_add_json(out, shorten(text));
		tp_buf_add_str(out, TP_STR("\""));
	}
	tp_buf_free(&masked);
	tp_turn_secrets_free(&secrets);
}

void tp_alert_of_turn(const struct tp_turn *t, enum tp_alert alert)
{
	uint64_t now = tp_clock_boot_ms();
	/* First of all: a drowning gateway must not cost the work below with every answer. */
	if (!tp_alert_due(t->worker->region, alert, now))
		return;
	struct tp_buf details = {0};
	tp_buf_printf(&details, "\"request_id\":\"%s\"", t->id);
	if (t->saved != NULL) {
		tp_buf_printf(&details, ",\"status\":%d", t->saved->status);
		add_message(t, &details);
	}
	struct tp_str none = {NULL, 0};
	raise_alert(t, alert, details.failed ? none : tp_buf_str(&details), now);
	tp_buf_free(&details);
}

void tp_alert_url_listed(const struct tp_turn *t, struct tp_str path, bool connection)
{
	uint64_t now = tp_clock_boot_ms();
	if (!tp_alert_due(t->worker->region, TP_ALERT_URL_LISTED, now))
		return;
	struct tp_turn_secrets secrets;
	struct tp_buf details = {0}, url = {0}, masked = {0};
	tp_buf_add_str(&url, tp_str_from(t->provider->conf->base));
	if (!connection)
		tp_buf_add_str(&url, path);
	struct tp_str shown = tp_buf_str(&url), none = {NULL, 0};
	tp_turn_secrets_take(t, &secrets);
	if (tp_mask_known(shown, &secrets.list, &masked))
		shown = tp_buf_str(&masked);
	tp_buf_printf(&details, "\"request_id\":\"%s\",\"why\":\"%s\",\"url\":\"", t->id,
		      connection ? "connection" : "status");
	tp_buf_add_json(&details, shorten(shown));
	tp_buf_add_str(&details, TP_STR("\""));
	bool failed = secrets.failed || url.failed || masked.failed || details.failed;
	raise_alert(t, TP_ALERT_URL_LISTED, failed ? none : tp_buf_str(&details), now);
	tp_turn_secrets_free(&secrets);
	tp_buf_free(&masked);
	tp_buf_free(&url);
	tp_buf_free(&details);
}
