#include "common/shm/histogram.h"

#include "common/shm/layout.h"

#define MS(n) (UINT64_C(1000) * (n))
#define S(n)  (UINT64_C(1000000) * (n))

/* Upper bounds in microseconds; the last bucket has none. */
static const struct {
	const char *name, *help;
	uint64_t bounds[TP_HISTOGRAM_BUCKETS - 1];
} kinds[TP_HISTOGRAM_COUNT] = {
	[TP_HISTOGRAM_WAIT] = {"turnpike_wait_seconds",
			       "Waits between two sends of a turn.",
			       {MS(50), MS(100), MS(250), MS(500), S(1), MS(1500), MS(2500), S(5), S(10),
				S(20), S(30), S(45), S(60), S(120), S(300)}},
	[TP_HISTOGRAM_FIRST_BYTE] = {"turnpike_first_byte_seconds",
				     "From a request's last byte to the first one of its answer.",
				     {MS(5), MS(10), MS(25), MS(50), MS(100), MS(250), MS(500), S(1),
				      MS(2500), S(5), S(10), S(30), S(60), S(120), S(300)}},
	[TP_HISTOGRAM_TURN] = {"turnpike_turn_seconds",
			       "From a turn's beginning to its end.",
			       {MS(10), MS(50), MS(100), MS(250), MS(500), S(1), MS(2500), S(5), S(10), S(30),
				S(60), S(120), S(300), S(600), S(1800)}},
	[TP_HISTOGRAM_OVERHEAD] = {"turnpike_overhead_seconds",
				   "Time of a turn that was neither a wait nor the provider's.",
				   {10, 25, 50, 100, 250, 500, MS(1), MS(2) + 500, MS(5), MS(10), MS(25),
				    MS(50), MS(100), MS(250), S(1)}},
};

const char *tp_histogram_name(enum tp_histogram h)
{
	return (unsigned)h < TP_HISTOGRAM_COUNT ? kinds[h].name : NULL;
}

const char *tp_histogram_help(enum tp_histogram h)
{
	return (unsigned)h < TP_HISTOGRAM_COUNT ? kinds[h].help : NULL;
}

uint64_t tp_histogram_bound_us(enum tp_histogram h, unsigned bucket)
{
	return (unsigned)h < TP_HISTOGRAM_COUNT && bucket < TP_HISTOGRAM_BUCKETS - 1 ? kinds[h].bounds[bucket]
										     : UINT64_MAX;
}

/* Relaxed, and no locked instruction: one writer for each slot. */
static void add_to(_Atomic uint64_t *word, uint64_t n)
{
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

void tp_histogram_add(struct tp_region *r, unsigned slot, enum tp_histogram h, uint64_t us)
{
	if (slot >= TP_SHM_SLOTS || (unsigned)h >= TP_HISTOGRAM_COUNT)
		return;
	unsigned bucket = 0;
	while (bucket < TP_HISTOGRAM_BUCKETS - 1 && us > kinds[h].bounds[bucket])
		bucket++;
	struct tp_histogram_block *b = &r->histograms[slot];
	add_to(&b->sum_us[h], us);
	add_to(&b->counts[h][bucket], 1);
}

void tp_histogram_read(const struct tp_region *r, enum tp_histogram h, struct tp_histogram_sum *ret_sum)
{
	struct tp_histogram_sum sum = {0};
	for (unsigned slot = 0; slot < TP_SHM_SLOTS && (unsigned)h < TP_HISTOGRAM_COUNT; slot++) {
		const struct tp_histogram_block *b = &r->histograms[slot];
		for (unsigned i = 0; i < TP_HISTOGRAM_BUCKETS; i++)
			sum.counts[i] += atomic_load_explicit(&b->counts[h][i], memory_order_relaxed);
		sum.sum_us += atomic_load_explicit(&b->sum_us[h], memory_order_relaxed);
	}
	/* Counted from what was read: a scrape in the middle of an addition still adds up. */
	for (unsigned i = 0; i < TP_HISTOGRAM_BUCKETS; i++)
		sum.count += sum.counts[i];
	*ret_sum = sum;
}
