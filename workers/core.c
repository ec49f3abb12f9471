#include "workers/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/block.h"

enum { ID_PREFIX = 16 }; /* digits of a request id that are the worker's; the others count */

/* The object is dead: its first bytes serve as the link. */
struct tp_parked {
	struct tp_parked *next;
	size_t size; /* of a block (common/base/block.h); 0: from malloc() */
};

void tp_worker_park_block(struct tp_worker *w, void *block, size_t size)
{
	struct tp_parked *p = block;
	p->next = w->parked;
	p->size = size;
	w->parked = p;
}

void tp_worker_park(struct tp_worker *w, void *memory)
{
	tp_worker_park_block(w, memory, 0);
}

void tp_worker_free_parked(struct tp_worker *w)
{
	while (w->parked != NULL) {
		struct tp_parked *p = w->parked;
		w->parked = p->next;
		if (p->size > 0)
			tp_block_free(p, p->size);
		else
			free(p);
	}
}

uint64_t tp_worker_random(struct tp_worker *w)
{
	uint64_t a = w->random[0], b = w->random[1];
	w->random[0] = b;
	a ^= a << 23;
	w->random[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
	return w->random[1] + b;
}

static const char hex[] = "0123456789abcdef";

void tp_worker_begin_ids(struct tp_worker *w, uint64_t random)
{
	for (int i = 0; i < ID_PREFIX; i++)
		w->next_id[i] = hex[random >> (60 - 4 * i) & 15];
	memset(w->next_id + ID_PREFIX, '0', TP_REQUEST_ID_SIZE - 1 - ID_PREFIX);
	w->next_id[TP_REQUEST_ID_SIZE - 1] = '\0';
}

/* Counts in the text itself: mostly one digit changes. */
static void count_up(struct tp_worker *w)
{
	for (int i = TP_REQUEST_ID_SIZE - 2; i >= ID_PREFIX; i--) {
		char *digit = &w->next_id[i];
		*digit = *digit == '9' ? 'a' : *digit == 'f' ? '0' : (char)(*digit + 1);
		if (*digit != '0')
			return;
	}
}

void tp_worker_request_id(struct tp_worker *w, char out[TP_REQUEST_ID_SIZE])
{
	memcpy(out, w->next_id, TP_REQUEST_ID_SIZE);
	count_up(w);
}

void tp_worker_defer(struct tp_worker *w, struct tp_deferred *d)
{
	if (d->queued)
		return;
	d->queued = true;
	TAILQ_INSERT_TAIL(&w->deferred, d, link);
}

void tp_worker_undefer(struct tp_worker *w, struct tp_deferred *d)
{
	if (!d->queued)
		return;
	d->queued = false;
	TAILQ_REMOVE(&w->deferred, d, link);
}

void tp_worker_run_deferred(struct tp_worker *w)
{
	struct tp_deferred *d;
	while ((d = TAILQ_FIRST(&w->deferred)) != NULL) {
		tp_worker_undefer(w, d);
		d->fn(d->arg);
	}
}
