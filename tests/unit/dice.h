/* Random numbers of a seed that can be told: xorshift64; never 0. */
#ifndef TESTS_UNIT_DICE_H
#define TESTS_UNIT_DICE_H

#include <stdint.h>

static inline uint64_t roll(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
