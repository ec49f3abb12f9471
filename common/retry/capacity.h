/*
 * How `capacity.limit: auto` learns how many requests a provider takes at once (design 3.3): a pure function
 * of what is known, what happened and the time.
 *
 *   - a refusal lowers the limit to what the provider named, or to how many others were in progress;
 *   - after a time without one, while somebody waits, it grows by one.  A growth that is refused makes the
 *     next wait twice as long, one that goes well makes it short again.
 */
#ifndef TP_RETRY_CAPACITY_H
#define TP_RETRY_CAPACITY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"

enum {
	TP_CAPACITY_GROW_MS = 10000, /* before the first growth */
	TP_CAPACITY_MAX_STEP = 6,    /* 10s << 6: about ten minutes */
	TP_CAPACITY_TOLD_STEP = 2    /* a limit that the provider itself named is doubted later */
};

struct tp_capacity {
	uint32_t limit;    /* 0 = nothing learned: no limit */
	uint8_t step;      /* waits TP_CAPACITY_GROW_MS << step before it grows */
	bool grown;        /* since the last refusal */
	uint64_t since_ms; /* last refusal or growth */
};

/* `others`: requests in progress beside the refused one. `told`: 0 = nothing. `most`: largest limit. */
struct tp_capacity tp_capacity_refused(struct tp_capacity c, uint32_t others, uint32_t told, uint32_t most,
				       uint64_t now_ms);
/* Somebody waits. */
struct tp_capacity tp_capacity_waiting(struct tp_capacity c, uint32_t most, uint64_t now_ms);
/* X-Codex-Model-Capacity "4/4": the second number, rounded down; 0 = unreadable, or none is full. */
uint32_t tp_capacity_told(struct tp_str model_capacity);

#endif
