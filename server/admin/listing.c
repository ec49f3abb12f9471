#include "server/admin/listing.h"

#include "common/base/clock.h"
#include "common/shm/cooldown.h"
#include "common/shm/shared_wait.h"

struct tp_breaker_policy tp_listing_policy(const struct tp_config *c)
{
	struct tp_breaker_policy p = {
		.failures = 10, .window_ms = 5 * 60 * 1000, .duration_ms = 10 * 60 * 1000};
	if (c != NULL)
		p = (struct tp_breaker_policy){.failures = c->blacklist.failures,
					       .window_ms = c->blacklist.window_ms,
					       .duration_ms = c->blacklist.duration_ms};
	return p;
}

json_t *tp_listing_text(struct tp_str s)
{
	json_t *text = json_stringn(s.n > 0 ? s.p : "", s.n);
	if (text != NULL || s.n > 1024)
		return text;
	char copy[1024];
	for (size_t i = 0; i < s.n; i++)
		copy[i] = (unsigned char)s.p[i] < 0x80 ? s.p[i] : '?';
	return json_stringn(copy, s.n);
}

static double seconds(uint64_t later_ms, uint64_t earlier_ms)
{
	return later_ms > earlier_ms ? (double)(later_ms - earlier_ms) / 1000 : 0;
}

/* Takes over row; false (and the array is given up): out of memory. */
static bool append(json_t **array, json_t *row)
{
	if (json_array_append_new(*array, row) == 0)
		return true;
	json_decref(*array);
	*array = NULL;
	return false;
}

static json_t *listed_row(const struct tp_breaker_row *row, uint64_t now)
{
	return json_pack("{s:o, s:o, s:b, s:s, s:b, s:I, s:f, s:f}", "provider",
			 tp_listing_text(tp_str_from(row->provider)), "url",
			 tp_listing_text(tp_str_from(row->url)), "whole_base", row->whole_base, "why",
			 row->connection ? "connection" : "status", "probing", row->probing, "failed_probes",
			 (json_int_t)row->level, "listed_for", seconds(now, row->since_ms), "next_probe_in",
			 seconds(row->next_probe_ms, now));
}

static json_t *failing_row(const struct tp_breaker_row *row)
{
	return json_pack("{s:o, s:o, s:b, s:I}", "provider", tp_listing_text(tp_str_from(row->provider)),
			 "url", tp_listing_text(tp_str_from(row->url)), "whole_base", row->whole_base,
			 "failures", (json_int_t)row->failures);
}

static json_t *breaker_rows(const struct tp_region *r, const struct tp_breaker_policy *p, bool listed)
{
	json_t *array = json_array();
	struct tp_breaker_row row;
	uint64_t now = tp_clock_boot_ms();
	for (uint32_t cursor = 0; array != NULL && tp_breaker_next(r, p, &cursor, &row);)
		if (row.listed == listed &&
		    !append(&array, listed ? listed_row(&row, now) : failing_row(&row)))
			break;
	return array;
}

json_t *tp_listing_blacklist(const struct tp_region *r, const struct tp_breaker_policy *p)
{
	return breaker_rows(r, p, true);
}

json_t *tp_listing_failing(const struct tp_region *r, const struct tp_breaker_policy *p)
{
	return breaker_rows(r, p, false);
}

static json_t *cooling_row(const struct tp_cooldown_row *row, uint64_t now)
{
	return json_pack("{s:s, s:o, s:b, s:i, s:b, s:f, s:f}", "kind", "cooldown", "name",
			 tp_listing_text(tp_str_from(row->text)), "told", row->cooldown.told, "cause",
			 row->cooldown.cause, "probing", row->probing, "cooling_for",
			 seconds(now, row->since_ms), "left", seconds(row->cooldown.until_ms, now));
}

static json_t *waiting_row(const struct tp_shared_wait_row *row, uint64_t now)
{
	return json_pack("{s:s, s:o, s:b, s:b, s:f}", "kind", "wait", "name",
			 tp_listing_text(tp_str_from(row->text)), "told", true, "probing", row->leading,
			 "left", seconds(row->until_ms, now));
}

json_t *tp_listing_cooldowns(const struct tp_region *r)
{
	json_t *array = json_array();
	struct tp_cooldown_row cooling;
	struct tp_shared_wait_row waiting;
	uint64_t now = tp_clock_boot_ms();
	for (uint32_t cursor = 0; array != NULL && tp_cooldown_next(r, now, &cursor, &cooling);)
		(void)append(&array, cooling_row(&cooling, now));
	for (uint32_t cursor = 0; array != NULL && tp_shared_wait_next(r, now, &cursor, &waiting);)
		(void)append(&array, waiting_row(&waiting, now));
	return array;
}

uint32_t tp_listing_clear_cooldowns(struct tp_region *r)
{
	uint64_t now = tp_clock_boot_ms();
	return tp_cooldown_clear_all(r, now) + tp_shared_wait_clear_all(r, now);
}
