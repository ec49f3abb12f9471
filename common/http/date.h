/* HTTP dates (RFC 9110 section 5.6.7): the three forms, and the one that is written. */
#ifndef TP_HTTP_DATE_H
#define TP_HTTP_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"

enum { TP_DATE_SIZE = 30 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" and a terminator */

/*
 * Seconds since 1970.  IMF-fixdate, RFC 850, asctime; exact forms only, impossible days
 * are refused, second 60 counts as 59 + 1, a weekday that does not fit the date is ignored.
 * `now` (seconds) places two-digit years: more than 50 years ahead means the past.
 */
bool tp_date_parse(struct tp_str text, int64_t now, int64_t *ret_seconds);
/* As IMF-fixdate, terminated. What four digits of a year cannot say becomes the first or last second that
 * they can. */
void tp_date_format(int64_t seconds, char out[TP_DATE_SIZE]);

#endif
