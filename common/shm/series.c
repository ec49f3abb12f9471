#include "common/shm/series.h"

#include <stdio.h>

#include "common/shm/layout.h"

static const struct tp_metric_info infos[TP_METRIC_COUNT] = {
	[TP_METRIC_TURNS] =
		{"turnpike_turns_total", "Turns that ended.", false, 3, {"route", "family", "outcome"}},
	[TP_METRIC_SENDS] = {"turnpike_sends_total",
			     "Sends charged and not given back.",
			     false,
			     2,
			     {"provider", "class"}},
	[TP_METRIC_RETRY_ATTEMPTS] = {"turnpike_retry_attempts_total",
				      "Sends again, by what they answered.",
				      false,
				      1,
				      {"reason"}},
	[TP_METRIC_RETRIED_TURNS] = {"turnpike_retried_turns_total",
				     "Turns with more than one send, by how they ended.",
				     false,
				     1,
				     {"result"}},
	[TP_METRIC_REFUSALS] =
		{"turnpike_refusals_total", "Answers that Turnpike made itself.", false, 1, {"code"}},
	[TP_METRIC_POSSIBLY_BILLED] = {"turnpike_possibly_billed_total",
				       "Sends without a usable answer that may have run.",
				       false,
				       1,
				       {"provider"}},
	[TP_METRIC_HOPS] =
		{"turnpike_hops_total", "Turns that went on to the next target.", false, 1, {"combo"}},
	[TP_METRIC_ALERTS] = {"turnpike_alerts_total", "Alerts raised.", false, 1, {"kind"}},
	[TP_METRIC_KEY_SENDS] = {"turnpike_key_sends_total",
				 "Sends with one of the keys of a provider, by its place in `keys`.",
				 false,
				 2,
				 {"provider", "key"}},
	[TP_METRIC_REFRESHES] = {"turnpike_token_refreshes_total",
				 "Questions for a new access token, by how they ended.",
				 false,
				 2,
				 {"provider", "outcome"}},
	[TP_METRIC_INFLIGHT] = {"turnpike_inflight", "Sends in progress.", true, 1, {"provider"}},
	[TP_METRIC_TARGET_INFLIGHT] = {"turnpike_target_inflight",
				       "Sends in progress to a target of combos.",
				       true,
				       2,
				       {"provider", "model"}},
	[TP_METRIC_QUEUED] = {"turnpike_queued", "Turns that wait for capacity.", true, 1, {"provider"}},
};

const struct tp_metric_info *tp_metric_info(enum tp_metric m)
{
	return (unsigned)m < TP_METRIC_COUNT ? &infos[m] : NULL;
}

_Static_assert((int)TP_SERIES < (int)TP_SERIES_NONE, "ids fit");

static struct tp_hash128 key_of(const struct tp_region *r, enum tp_metric m, const struct tp_str *values)
{
	const uint8_t *seed = tp_region_seed(r);
	struct tp_hash128 parts[1 + TP_METRIC_MAX_LABELS] = {{(uint64_t)m, 0}};
	for (unsigned i = 0; i < infos[m].n_labels; i++)
		parts[1 + i] = tp_siphash128(seed, values[i].p, values[i].n);
	return tp_siphash128(seed, parts, sizeof parts);
}

/* ---- meaning: meta = 1 + metric, so that zeroed memory means nothing */

struct meaning {
	enum tp_metric metric;
	const struct tp_str *values;
};

/* One value into its share of the text; a long one keeps its beginning, and a hash keeps it apart. */
static void put_value(const struct tp_region *r, struct tp_str value, char *ret, size_t size)
{
	enum { MARK = 9 }; /* "~" and eight digits */
	tp_text_copy(ret, size, value);
	if (value.n < size)
		return;
	uint32_t hash = (uint32_t)tp_siphash128(tp_region_seed(r), value.p, value.n).lo;
	size_t at = size - 1 - MARK;
	while (at > 0 && ((unsigned char)value.p[at] & 0xc0) == 0x80) /* not inside of a UTF-8 character */
		at--;
	memset(ret + at, 0, size - at);
	(void)snprintf(ret + at, MARK + 1, "~%08x", (unsigned)hash);
}

static void fill(const struct tp_dir_use *use, struct tp_dir_ref ref)
{
	const struct meaning *w = use->what;
	char text[TP_SERIES_TEXT] = {0};
	size_t share = TP_SERIES_TEXT / infos[w->metric].n_labels;
	for (unsigned i = 0, at = 0; i < infos[w->metric].n_labels; i++) {
		put_value(use->region, w->values[i], text + at, share);
		at += (unsigned)strlen(text + at) + 1;
	}
	struct tp_series_cell *cell = &use->region->series[ref.entry];
	tp_words_put(cell->text, sizeof text / 8, text, sizeof text);
	/* Release: as with keys, see directory.c. */
	atomic_store_explicit(&cell->meta, 1 + (uint64_t)w->metric, memory_order_release);
}

/* The metric of an entry in use. Acquire: its text was stored before. */
static bool metric_at(const struct tp_region *r, uint32_t entry, enum tp_metric *ret_metric)
{
	uint64_t meta = atomic_load_explicit(&r->series[entry].meta, memory_order_acquire);
	if (meta == 0 || meta > TP_METRIC_COUNT)
		return false;
	*ret_metric = (enum tp_metric)(meta - 1);
	return true;
}

tp_series_id tp_series_open(struct tp_region *r, struct tp_stamp owner, enum tp_metric m,
			    const struct tp_str *values)
{
	if (tp_metric_info(m) == NULL)
		return TP_SERIES_NONE;
	const struct meaning what = {.metric = m, .values = values};
	/* No rank: a series stays, its numbers must not become another's. */
	const struct tp_dir_use use = {
		.region = r, .dir = &r->series_dir, .fill = fill, .what = &what, .patient = true};
	struct tp_dir_ref ref;
	if (tp_dir_enter(&use, owner, key_of(r, m, values), &ref))
		return (tp_series_id)ref.entry;
	atomic_fetch_add_explicit(&r->numbers->series_lost, 1, memory_order_relaxed); /* a count */
	return TP_SERIES_NONE;
}

uint64_t tp_series_lost(const struct tp_region *r)
{
	return atomic_load_explicit(&r->numbers->series_lost, memory_order_relaxed);
}

/* ---- values. Relaxed throughout: numbers that stand for themselves. A row of a slot has one writer, so load
 * and store need not be one step; a sum of growing words grows. */

void tp_series_add(struct tp_region *r, unsigned slot, tp_series_id id, int64_t add)
{
	if (slot >= TP_SHM_SLOTS || id >= TP_SERIES)
		return;
	_Atomic uint64_t *n = &r->values[slot].values[id];
	atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + (uint64_t)add,
			      memory_order_relaxed);
}

void tp_series_add_shared(struct tp_region *r, tp_series_id id, uint64_t add)
{
	if (id < TP_SERIES)
		atomic_fetch_add_explicit(&r->values[TP_VALUE_ROWS - 1].values[id], add,
					  memory_order_relaxed);
}

void tp_series_reset_gauges(struct tp_region *r, unsigned slot)
{
	enum tp_metric m;
	for (uint32_t i = 0; i < TP_SERIES; i++)
		if (metric_at(r, i, &m) && infos[m].gauge)
			atomic_store_explicit(&r->values[slot].values[i], 0, memory_order_relaxed);
}

/* Rows of slots that never had a worker are zero, and most are such: their lines are not touched. */
static bool row_counts(const struct tp_region *r, unsigned row, bool gauge)
{
	if (row >= TP_SHM_SLOTS)
		return !gauge;
	/* Acquire: pairs with tp_slot_assign(), which zeroes the gauges before it marks the slot. */
	uint32_t owner = atomic_load_explicit(&r->slots[row].owner, memory_order_acquire);
	return gauge ? (owner & TP_SLOT_ASSIGNED) != 0 : owner != 0;
}

int64_t tp_series_sum(const struct tp_region *r, tp_series_id id)
{
	enum tp_metric m;
	uint64_t sum = 0;
	if (id >= TP_SERIES || !metric_at(r, id, &m))
		return 0;
	for (unsigned row = 0; row < TP_VALUE_ROWS; row++)
		if (row_counts(r, row, infos[m].gauge))
			sum += atomic_load_explicit(&r->values[row].values[id], memory_order_relaxed);
	return (int64_t)sum;
}

/* ---- rows */

static void split(struct tp_series_row *row)
{
	size_t at = 0;
	row->text[sizeof row->text - 1] = '\0';
	row->n_values = infos[row->metric].n_labels;
	for (unsigned i = 0; i < row->n_values; i++) {
		size_t n = at < sizeof row->text ? strlen(row->text + at) : 0;
		row->values[i] = (struct tp_str){n > 0 ? row->text + at : "", n};
		at += n + 1;
	}
}

bool tp_series_next(const struct tp_region *r, enum tp_metric m, uint32_t *cursor,
		    struct tp_series_row *ret_row)
{
	for (; *cursor < TP_SERIES; ++*cursor) {
		struct tp_dir_ref ref;
		struct tp_hash128 key;
		enum tp_metric here;
		if (!tp_dir_at(&r->series_dir, *cursor, &ref, &key) || !metric_at(r, *cursor, &here) ||
		    here != m)
			continue;
		ret_row->metric = m;
		tp_words_get(r->series[*cursor].text, TP_SERIES_TEXT / 8, ret_row->text);
		split(ret_row);
		ret_row->sum = tp_series_sum(r, (tp_series_id)*cursor);
		++*cursor;
		return true;
	}
	return false;
}

int64_t tp_metric_sum(const struct tp_region *r, enum tp_metric m, int label, struct tp_str value)
{
	struct tp_series_row row;
	int64_t sum = 0;
	for (uint32_t cursor = 0; tp_series_next(r, m, &cursor, &row);)
		if (label < 0 || ((unsigned)label < row.n_values && tp_str_eq(row.values[label], value)))
			sum += row.sum;
	return sum;
}
