#include "server/admin/open_list.h"

#include "common/base/clock.h"
#include "common/retry/model.h"
#include "common/shm/open_turns.h"
#include "server/admin/listing.h"

static json_t *text_or_null(const char *text)
{
	return text[0] != '\0' ? tp_listing_text(tp_str_from(text)) : json_null();
}

static const char *waits_for(const struct tp_open_turn *t)
{
	if (t->wait == TP_OPEN_WAIT_RETRY && t->klass < TP_CLASS_COUNT)
		return tp_class_name((enum tp_class)t->klass);
	return tp_open_wait_name(t->wait);
}

static json_t *seconds(uint64_t later_ms, uint64_t earlier_ms)
{
	return json_real(later_ms > earlier_ms ? (double)(later_ms - earlier_ms) / 1000 : 0);
}

static json_t *open_row(const struct tp_open_turn *t, uint64_t now)
{
	return json_pack("{s:s, s:o, s:s, s:o, s:o, s:s, s:o, s:o, s:I, s:o, s:i}", "id", t->id, "logical",
			 text_or_null(t->logical), "family", t->family, "provider", text_or_null(t->provider),
			 "model", text_or_null(t->model), "state", tp_open_state_name(t->state), "waits_for",
			 text_or_null(waits_for(t)), "left",
			 t->until_ms != 0 ? seconds(t->until_ms, now) : json_null(), "sends",
			 (json_int_t)t->sends, "age", seconds(now, t->begun_ms), "slot", (int)t->slot);
}

json_t *tp_open_list(const struct tp_region *r)
{
	struct tp_open_turn list[TP_OPEN_TURNS_SHOWN];
	unsigned n = tp_open_turns_read(r, list);
	uint64_t now = tp_clock_boot_ms();
	json_t *array = json_array();
	for (unsigned i = 0; array != NULL && i < n; i++) {
		if (json_array_append_new(array, open_row(&list[i], now)) != 0) {
			json_decref(array);
			array = NULL;
		}
	}
	return array;
}
