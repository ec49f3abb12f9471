/*
 * In which order a turn asks the targets of its combo (design section 8).  Pure: what the workers share (the
 * round robin's number, what is in progress) and chance come in as values.
 *
 * The order only says who is asked before whom: a target that cools or is listed is passed over by the
 * caller.
 */
#ifndef TP_RETRY_ORDER_H
#define TP_RETRY_ORDER_H

#include <stdint.h>

enum tp_strategy {
	TP_STRATEGY_FAILOVER,    /* as configured */
	TP_STRATEGY_ROUND_ROBIN, /* by weight, exact over a row of numbers */
	TP_STRATEGY_RANDOM,      /* by weight */
	TP_STRATEGY_LEAST_BUSY   /* fewest in progress first */
};

enum { TP_ORDER_MAX = 16 };

struct tp_order_target {
	uint32_t weight;       /* 1..100 */
	int64_t provider_busy; /* sends in progress at its provider, ... */
	int64_t target_busy;   /* ... and of them for its model: decides between targets of one provider */
};

/*
 * Writes the numbers of the n targets (1..TP_ORDER_MAX), each once, first to be asked first.
 *
 * `number`: round_robin: how many turns came before this one. With weights 3:1 the firsts are AABA AABA ...
 * (smooth, so that nobody gets his share in one go), and the turns that one target would have had go to the
 * others by their weights when it is passed over. random: 64 random bits. Else not read.
 */
void tp_order(enum tp_strategy strategy, const struct tp_order_target *targets, unsigned n, uint64_t number,
	      uint8_t *ret_order);

#endif
