/* Values inside fault scripts: numbers, durations, percent-coded text. Pure functions. */
#ifndef TP_SIMULATE_VALUE_H
#define TP_SIMULATE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"

/* Cuts the part before `separator` off `rest`, which becomes {NULL, 0} behind the last part; false when there
 * is none left. "a,,b" has an empty part in the middle. */
bool tp_sim_next_part(struct tp_str *rest, char separator, struct tp_str *ret_part);
/* Decimal digits, at most `max`. */
bool tp_sim_read_number(struct tp_str s, uint32_t max, uint32_t *ret);
/* "250ms", "1.5s", "2m"; at most an hour. */
bool tp_sim_read_duration(struct tp_str s, uint32_t *ret_ms);
/* Decodes %XX into out[0..size). False: bad coding, or a control character (it would split a head). */
bool tp_sim_decode(struct tp_str s, char *out, size_t size, size_t *ret_n);

#endif
