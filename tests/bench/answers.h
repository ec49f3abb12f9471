/* What the fake provider of the bench says, prepared at its start. */
#ifndef TP_BENCH_ANSWERS_H
#define TP_BENCH_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_text {
	const char *bytes;
	size_t n;
};

enum { BENCH_EVENT_BYTES = 150 }; /* one event, without its chunk framing */

struct bench_answers {
	struct bench_text completion;      /* a 200 with a small chat completion */
	struct bench_text refusal;         /* a 503 in the shape of the same API */
	struct bench_text stream_head;     /* of a chunked stream of events */
	struct bench_text stream_end;      /* the [DONE] and the last chunk */
	char event[BENCH_EVENT_BYTES + 8]; /* chunk line, event, CRLF */
	size_t event_n, stamp_at;
};

/* The texts live as long as the process. */
void bench_answers_make(struct bench_answers *a);
/* Puts the time into the event. */
void bench_answers_stamp(struct bench_answers *a, uint64_t now_ns);

/* Which answers are refusals: of each hundred in a row the same number, at places that no period explains.
 * (Mere chance would make, once in many runs, as many in a row as a blacklist takes for an outage.) */
struct bench_refusals {
	unsigned percent;
	unsigned left, refused_left; /* of the present hundred */
	uint64_t random;             /* not 0 */
};

/* Counts one answer; true: it is to be a refusal. */
bool bench_refusals_next(struct bench_refusals *r);

#endif
