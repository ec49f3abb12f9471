/*
 * Inside of common/shm: records of several words that bear a checksum of themselves.  Any process may write
 * one at any time, without a lock: two that meet in one cell, or one that is killed half way, leave a record
 * whose checksum is wrong, and readers take it for none.
 */
#ifndef TP_SHM_SEALED_H
#define TP_SHM_SEALED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/shm/region.h"

enum { TP_SEALED_WORDS_MAX = 64, TP_SEALED_HEAD = 2 /* words in front: number, checksum */ };

/* `cell`: TP_SEALED_HEAD + n words of the table. number: which record it is, never 0; checked like the rest.
 */
void tp_sealed_write(const struct tp_region *r, _Atomic uint64_t *cell, uint64_t number,
		     const uint64_t *words, unsigned n);
/* False: another record, none, or a torn one; `words` then hold anything. */
bool tp_sealed_read(const struct tp_region *r, const _Atomic uint64_t *cell, uint64_t number, uint64_t *words,
		    unsigned n);

#endif
