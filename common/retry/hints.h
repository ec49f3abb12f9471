/*
 * Wait hints in the bodies of error answers (design section 5): they count only where no header told a
 * wait.  Pure functions over strings that somebody else took out of the JSON; milliseconds, -1 = none.
 */
#ifndef TP_RETRY_HINTS_H
#define TP_RETRY_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"

/*
 * Prose: "try again in 1h30m", "retry after 5", "resets in 1 day and 2 hours".  The parts of one hint are
 * added up; of several the largest counts; a sum of zero, an unknown unit or a dangling number is no
 * hint at all (guessing a wait is worse than not knowing one).  Only "retry after N" may
 * leave the unit out: seconds, as in the header.  Exact: tp_told_header_seconds() rounds it.
 */
int64_t tp_hint_message(struct tp_str message);

/* What an error object holds, as common/http/answer.h reads it; -1 = absent. */
struct tp_body_hints {
	int64_t resets_in_ms;   /* resets_in_seconds */
	int64_t resets_at_s;    /* resets_at, seconds since 1970 */
	int64_t retry_delay_ms; /* google.rpc.RetryInfo */
	bool per_day;           /* a daily quota of Google: its delay, and its words, mislead */
	struct tp_str message;
};

/*
 * The largest of the structured hints; without one, the prose; -1 = none.  date_header_s: the answer's own
 * Date, which resets_at is relative to where it is known (>= 0), else now_s.
 */
int64_t tp_hint_body(const struct tp_body_hints *hints, int64_t now_s, int64_t date_header_s);

#endif
