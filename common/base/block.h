/*
 * Memory that is needed and given back with each request, kept for the next one: malloc() is quick for small
 * sizes only, and a turn, a head and the buffers of one request are above them.  One thread per process.
 *
 * What is kept is bounded (TP_BLOCK_KEPT bytes); everything else goes to malloc() and free().  In builds with
 * the address sanitizer nothing is kept, so that it sees each use behind the end.
 */
#ifndef TP_BASE_BLOCK_H
#define TP_BASE_BLOCK_H

#include <stddef.h>

enum {
	TP_BLOCK_MAX = 4096,       /* larger ones are not kept */
	TP_BLOCK_KEPT = 256 * 1024 /* bytes, of all sizes together */
};

/* `size` bytes, not zeroed; NULL when out of memory. */
void *tp_block_new(size_t size);
/* The same, zeroed. */
void *tp_block_zeroed(size_t size);
/* Takes back what tp_block_new(size) returned; NULL is ignored. */
void tp_block_free(void *block, size_t size);

#endif
