#include "server/admin/recent.h"

#include "common/base/clock.h"
#include "common/shm/failures.h"
#include "common/shm/history.h"
#include "server/admin/listing.h"

/* Takes over `value`. False: out of memory, and the array is given up. */
static bool append(json_t **array, json_t *value)
{
	if (json_array_append_new(*array, value) == 0)
		return true;
	json_decref(*array);
	*array = NULL;
	return false;
}

/* ---- the last hour */

static json_t *names_row(void)
{
	json_t *row = json_array();
	(void)append(&row, json_string("minute"));
	(void)append(&row, json_string("age"));
	for (unsigned v = TP_HISTORY_AT_MS + 1; row != NULL && v < TP_HISTORY_VALUES; v++)
		(void)append(&row, json_string(tp_history_name(v)));
	return row;
}

static json_t *sample_row(const struct tp_history_sample *s, unsigned ago, uint64_t now)
{
	json_t *row = json_array();
	uint64_t at = s->values[TP_HISTORY_AT_MS];
	(void)append(&row, json_integer(ago));
	(void)append(&row, json_real(now > at ? (double)(now - at) / 1000 : 0));
	for (unsigned v = TP_HISTORY_AT_MS + 1; row != NULL && v < TP_HISTORY_VALUES; v++)
		(void)append(&row, json_integer((json_int_t)s->values[v]));
	return row;
}

json_t *tp_recent_history(const struct tp_region *r)
{
	uint64_t now = tp_clock_boot_ms();
	struct tp_history_sample sample;
	json_t *samples = json_array();
	for (unsigned ago = TP_HISTORY_MINUTES + 1; samples != NULL && ago-- > 0;)
		if (tp_history_read(r, now, ago, &sample))
			(void)append(&samples, sample_row(&sample, ago, now));
	tp_history_take(r, now, &sample);
	if (samples != NULL)
		(void)append(&samples, sample_row(&sample, 0, now));
	return json_pack("{s:i, s:o, s:o}", "every", TP_HISTORY_EVERY_S, "values", names_row(), "samples",
			 samples);
}

/* ---- the last failures */

static json_t *failure_row(const struct tp_failure *f)
{
	return json_pack("{s:f, s:o, s:o, s:s, s:s, s:i, s:o, s:o, s:i, s:f}", "at",
			 (double)f->wall_ms / 1000, "id", tp_listing_text(tp_str_from(f->id)), "provider",
			 tp_listing_text(tp_str_from(f->provider)), "family", f->family, "outcome",
			 f->outcome, "status", (int)f->status, "code",
			 f->code[0] != '\0' ? tp_listing_text(tp_str_from(f->code)) : json_null(), "reason",
			 tp_listing_text(tp_str_from(f->reason)), "sends", (int)f->sends, "waited",
			 (double)f->waited_ms / 1000);
}

json_t *tp_recent_failures(const struct tp_region *r)
{
	struct tp_failure list[TP_FAILURES_SHOWN];
	unsigned n = tp_failures_read(r, list);
	json_t *array = json_array();
	for (unsigned i = 0; array != NULL && i < n; i++)
		(void)append(&array, failure_row(&list[i]));
	return array;
}

/* ---- what is configured */

static json_t *providers_of(const struct tp_config *c)
{
	json_t *array = json_array();
	for (size_t i = 0; array != NULL && i < c->n_providers; i++)
		(void)append(&array, json_pack("{s:o, s:o}", "name",
					       tp_listing_text(tp_str_from(c->providers[i].name)), "url",
					       tp_listing_text(tp_str_from(c->providers[i].base))));
	return array;
}

static json_t *targets_of(const struct tp_config *c, const struct tp_combo_conf *combo)
{
	json_t *array = json_array();
	for (size_t i = 0; array != NULL && i < combo->n_targets; i++)
		(void)append(&array, json_sprintf("%s/%s", c->providers[combo->targets[i].provider].name,
						  combo->targets[i].model));
	return array;
}

static json_t *combos_of(const struct tp_config *c)
{
	json_t *array = json_array();
	for (size_t i = 0; array != NULL && i < c->n_combos; i++)
		(void)append(&array,
			     json_pack("{s:o, s:o}", "name", tp_listing_text(tp_str_from(c->combos[i].name)),
				       "targets", targets_of(c, &c->combos[i])));
	return array;
}

json_t *tp_recent_setup(const struct tp_config *c)
{
	return json_pack("{s:s, s:I, s:o, s:o}", "version", TP_VERSION, "generation",
			 (json_int_t)c->generation, "providers", providers_of(c), "combos", combos_of(c));
}
