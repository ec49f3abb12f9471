#include "workers/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/failures.h"
#include "workers/access_log.h"
#include "workers/snapshot.h"
#include "workers/turn.h"

void tp_record_begin(struct tp_turn *t)
{
	tp_access_log_begin(t);
	tp_snapshot_begin(t);
}

/* The status of a head that begins here; 0 = none does. */
static int status_of(const struct iovec *v)
{
	const char *p = v->iov_base;
	if (v->iov_len < 12 || memcmp(p, "HTTP/1.", 7) != 0)
		return 0;
	return (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
}

void tp_record_out(struct tp_turn *t, const struct iovec *v, int n)
{
	struct tp_turn_record *r = &t->record;
	int i = 0;
	if (r->status == 0 && n > 0) {
		int status = status_of(v);
		if (status / 100 == 1 && status != 101)
			return; /* the real one is still to come */
		r->status = status;
		r->first_byte_ms = tp_clock_boot_ms() - t->begun_ms;
		i = 1;
	}
	for (; i < n; i++)
		r->bytes_out += v[i].iov_len;
}

void tp_record_reason(struct tp_turn *t, const char *why, const char *more)
{
	char text[TP_FAILURE_REASON];
	(void)snprintf(text, sizeof text, "%s%s%s", why, more != NULL ? ": " : "", more != NULL ? more : "");
	free(t->record.why);
	t->record.why = strdup(text);
}

const char *tp_record_why(const struct tp_turn *t)
{
	return t->record.why != NULL ? t->record.why : "";
}

/* "initial+transient*2" */
static const char *classes(const struct tp_turn_record *r, char *out, size_t size)
{
	size_t at = 0;
	out[0] = '\0';
	for (unsigned c = 0; c < TP_CLASS_COUNT && at < size; c++) {
		if (r->sends[c] == 0)
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s%s", at > 0 ? "+" : "",
				       tp_class_name((enum tp_class)c));
		if (r->sends[c] > 1 && at < size)
			at += (size_t)snprintf(out + at, size - at, "*%" PRIu32, r->sends[c]);
	}
	return out;
}

static const char *const outcome_names[] = {
	[TP_TURN_OK] = "ok",   [TP_TURN_ERROR] = "error", [TP_TURN_REFUSED] = "refused",
	[TP_TURN_CUT] = "cut", [TP_TURN_GONE] = "gone",   [TP_TURN_BAD] = "bad",
};

const char *tp_record_outcome(unsigned outcome)
{
	return outcome_names[outcome];
}

void tp_record_logical(const struct tp_turn *t, char out[TP_LOGICAL_SIZE])
{
	out[0] = '\0';
	if (t->identity.kind != TP_IDENTITY_NONE)
		(void)snprintf(out, TP_LOGICAL_SIZE, "%016" PRIx64, t->identity.key.lo);
}

static void log_line(const struct tp_turn *t, unsigned outcome)
{
	const struct tp_turn_record *r = &t->record;
	struct tp_answer_about about = tp_turn_about(t);
	char logical[TP_LOGICAL_SIZE], sent[128];
	tp_record_logical(t, logical);
	const struct tp_log_field fields[] = {
		{"id", t->id, 0},
		{"logical", logical, 0},
		{"client", t->who != NULL ? t->who->name : "", 0},
		{"family", tp_family_name(t->family), 0},
		{"route", t->route != NULL ? t->route->path : "", 0},
		{"target", about.target != NULL ? about.target : "", 0},
		{"sends", NULL, about.sends},
		{"classes", classes(r, sent, sizeof sent), 0},
		{"waited_ms", NULL, r->waited_ms},
		{"status", NULL, (uint64_t)r->status},
		{"outcome", tp_record_outcome(outcome), 0},
		{"bytes_in", NULL, t->request->received},
		{"bytes_out", NULL, r->bytes_out},
		{"first_byte_ms", NULL, r->first_byte_ms},
		{"total_ms", NULL, tp_clock_boot_ms() - t->begun_ms},
		{"code", r->code, 0},
		{"reason", outcome == TP_TURN_OK ? "" : tp_record_why(t), 0},
	};
	tp_log_event(TP_LOG_INFO, "turn", fields, sizeof fields / sizeof fields[0]);
}

#define PUT(field, text) ((void)snprintf((field), sizeof(field), "%s", (text)))

/* For those who look at the status page. That a client leaves is no failure. */
static void note_failure(const struct tp_turn *t, unsigned outcome)
{
	const struct tp_turn_record *r = &t->record;
	struct tp_failure f = {.wall_ms = (uint64_t)tp_clock_wall_ms(),
			       .status = (uint32_t)r->status,
			       .sends = (uint32_t)tp_turn_about(t).sends,
			       .waited_ms = r->waited_ms};
	if (outcome == TP_TURN_OK || outcome == TP_TURN_GONE)
		return;
	PUT(f.id, t->id);
	PUT(f.provider, t->provider != NULL ? t->provider->conf->name : "");
	PUT(f.family, tp_family_name(t->family));
	PUT(f.outcome, outcome_names[outcome]);
	PUT(f.code, r->code);
	if (outcome != TP_TURN_BAD) /* which may name what the client wrote */
		PUT(f.reason, tp_record_why(t));
	tp_failure_note(t->worker->region, &f);
}

void tp_record_end(struct tp_turn *t, unsigned outcome)
{
	if (tp_log_wants(TP_LOG_INFO))
		log_line(t, outcome);
	note_failure(t, outcome);
	tp_access_log_end(t);
	tp_snapshot_end(t, outcome);
	free(t->record.why);
	t->record.why = NULL;
}
