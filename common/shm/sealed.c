#include "common/shm/sealed.h"

#include <string.h>

#include "common/base/siphash.h"
#include "common/shm/layout.h"

static uint64_t checksum(const struct tp_region *r, uint64_t number, const uint64_t *words, unsigned n)
{
	uint64_t all[TP_SEALED_WORDS_MAX + 1] = {number};
	memcpy(all + 1, words, n * sizeof *words);
	return tp_siphash128(tp_region_seed(r), all, (n + 1) * sizeof *all).lo;
}

/* Relaxed throughout: no order is relied on, the checksum tells whether all words are of one record. */

void tp_sealed_write(const struct tp_region *r, _Atomic uint64_t *cell, uint64_t number,
		     const uint64_t *words, unsigned n)
{
	TP_INJECT("sealed: before the number");
	atomic_store_explicit(&cell[0], number, memory_order_relaxed);
	TP_INJECT("sealed: number");
	atomic_store_explicit(&cell[1], checksum(r, number, words, n), memory_order_relaxed);
	for (unsigned i = 0; i < n; i++) {
		TP_INJECT(i == 0 ? "sealed: checksum" : "sealed: between two words");
		atomic_store_explicit(&cell[TP_SEALED_HEAD + i], words[i], memory_order_relaxed);
	}
	TP_INJECT("sealed: done");
}

bool tp_sealed_read(const struct tp_region *r, const _Atomic uint64_t *cell, uint64_t number, uint64_t *words,
		    unsigned n)
{
	if (atomic_load_explicit(&cell[0], memory_order_relaxed) != number)
		return false;
	uint64_t sum = atomic_load_explicit(&cell[1], memory_order_relaxed);
	for (unsigned i = 0; i < n; i++)
		words[i] = atomic_load_explicit(&cell[TP_SEALED_HEAD + i], memory_order_relaxed);
	return checksum(r, number, words, n) == sum;
}
