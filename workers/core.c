#include "workers/core.h"

#include <stdio.h>
#include <stdlib.h>

struct tp_parked {
	struct tp_parked *next;
};

void tp_worker_park(struct tp_worker *w, void *memory)
{
	/* The object is dead: its first bytes serve as the link. */
	struct tp_parked *p = memory;
	p->next = w->parked;
	w->parked = p;
}

void tp_worker_free_parked(struct tp_worker *w)
{
	while (w->parked != NULL) {
		struct tp_parked *p = w->parked;
		w->parked = p->next;
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

void tp_worker_request_id(struct tp_worker *w, char out[TP_REQUEST_ID_SIZE])
{
	(void)snprintf(out, TP_REQUEST_ID_SIZE, "%016llx%08llx", (unsigned long long)w->id_prefix,
		       (unsigned long long)(w->id_next++ & 0xffffffffu));
}
