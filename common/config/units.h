/*
 * Values of a configuration as text: numbers, durations, sizes, booleans (design section 10).
 * Strict on purpose: what is negative, fractional, too large or has no unit is refused with a reason,
 * never rounded, clamped or replaced by a default.
 *
 * Parsers return NULL on success, else a static reason that reads on behind the value
 * ("`10` has no unit: ..."); ret_ values are written only on success.
 */
#ifndef TP_CONFIG_UNITS_H
#define TP_CONFIG_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* Decimal digits only. */
const char *tp_parse_count(struct tp_str text, uint64_t *ret_count);
/* 150ms, 1.5s, 5m, 1h: in milliseconds; a bare 0 needs no unit. */
const char *tp_parse_duration(struct tp_str text, uint64_t *ret_ms);
/* 512, 64KiB, 1MiB, 2GiB: in bytes. */
const char *tp_parse_size(struct tp_str text, uint64_t *ret_bytes);
/* true false, and yes no on off as in YAML 1.1: lower, Capital or UPPER case. */
const char *tp_parse_bool(struct tp_str text, bool *ret_value);

/* The shortest form that the parsers read back as the same value. */
void tp_format_duration(struct tp_buf *out, uint64_t ms);
void tp_format_size(struct tp_buf *out, uint64_t bytes);

#endif
