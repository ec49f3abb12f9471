/*
 * Decimal amounts of time as providers write them ("7", "59.56" of some unit): exact, never through
 * floating point, always rounded up (a told wait is a lower bound), saturating.
 */
#ifndef TP_RETRY_AMOUNT_H
#define TP_RETRY_AMOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"

/* No wait is longer than what fits a Retry-After of 32 bits: 136 years, in milliseconds. */
#define TP_TOLD_MAX_MS ((int64_t)UINT32_MAX * 1000)

#define TP_AMOUNT_MAX ((uint64_t)1000000000000000) /* room for milliseconds since 1970 */

struct tp_amount {
	uint64_t whole; /* saturated at TP_AMOUNT_MAX */
	uint32_t nano;  /* billionths; further digits round up */
};

/* digits[.digits] at the start of `s`: how many bytes it takes, 0 = there is none (".5" is none, "5." is
 * the amount 5 and one byte). */
size_t tp_amount_scan(struct tp_str s, struct tp_amount *ret_amount);
/* The whole of `s` is one amount; no sign, no exponent, no blanks. */
bool tp_amount_parse(struct tp_str s, struct tp_amount *ret_amount);
/* In nanoseconds, where one of it is `unit_ms` milliseconds (at least 1, at most a week). */
uint64_t tp_amount_ns(struct tp_amount a, uint64_t unit_ms);
/* Sum without overflow. */
uint64_t tp_amount_add_ns(uint64_t a, uint64_t b);
/* Rounded up to whole milliseconds, at most TP_TOLD_MAX_MS. */
int64_t tp_amount_ms(uint64_t ns);
/* From `from_s` (seconds since 1970) until a time; the past is 0, at most TP_TOLD_MAX_MS. */
int64_t tp_until_ms(int64_t at_ms, int64_t from_s);
/* The same for a time since 1970 as providers write it: seconds, from 10^11 on milliseconds. */
int64_t tp_amount_until_ms(struct tp_amount a, int64_t from_s);

#endif
