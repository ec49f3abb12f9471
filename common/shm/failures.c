#include "common/shm/failures.h"

#include <string.h>

#include "common/shm/layout.h"
#include "common/shm/sealed.h"

enum { WORDS = TP_FAILURE_WORDS - TP_SEALED_HEAD };
_Static_assert(sizeof(struct tp_failure) == WORDS * sizeof(uint64_t), "a failure fills its cell");
_Static_assert((int)WORDS <= (int)TP_SEALED_WORDS_MAX, "a failure can be sealed");

void tp_failure_note(struct tp_region *r, const struct tp_failure *f)
{
	uint64_t words[WORDS];
	memcpy(words, f, sizeof words);
	/* Relaxed: each number goes to one failure. One that is killed before it writes leaves an old record
	 * under another number, which nobody takes for this one. */
	uint64_t number = atomic_fetch_add_explicit(&r->failures->noted, 1, memory_order_relaxed) + 1;
	tp_sealed_write(r, r->failures->cells[number % TP_FAILURES].words, number, words, WORDS);
}

unsigned tp_failures_read(const struct tp_region *r, struct tp_failure *list)
{
	uint64_t noted = atomic_load_explicit(&r->failures->noted, memory_order_relaxed);
	unsigned n = 0;
	for (uint64_t number = noted; number > 0 && noted - number < TP_FAILURES && n < TP_FAILURES_SHOWN;
	     number--) {
		uint64_t words[WORDS];
		if (!tp_sealed_read(r, r->failures->cells[number % TP_FAILURES].words, number, words, WORDS))
			continue;
		memcpy(&list[n++], words, sizeof words);
	}
	return n;
}
