/*
 * What the fake provider and the load generator of `make bench` share.  Both must cost much less than the
 * proxies between them, so they parse only what they themselves and honest proxies write.
 */
#ifndef TP_BENCH_COMMON_H
#define TP_BENCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_SCRATCH = 256 * 1024 }; /* one read */

/* The stamp of an event: BENCH_STAMP_KEY and BENCH_STAMP_DIGITS digits, nanoseconds of CLOCK_MONOTONIC. */
#define BENCH_STAMP_KEY "\"t\":\""
enum { BENCH_STAMP_DIGITS = 20 };

/* Prints "PROGRAM: what: strerror(errno)" and exits with 1. */
_Noreturn void bench_die(const char *what);

uint64_t bench_now_ns(void);

/* Sockets by the thousand: the soft limit of descriptors becomes the hard one. */
void bench_raise_fd_limit(void);

/* The whole of `text` as a number up to `most`; exits with 2 and a message that names `option` otherwise. */
uint64_t bench_number(const char *option, const char *text, uint64_t most);

/*
 * The HTTP head at the front of bytes[0..n): its length with the empty line, or 0 when it is not complete.
 * *ret_length is the value of Content-Length, 0 without one; *ret_chunked says whether the coding is chunked.
 */
size_t bench_head(const char *bytes, size_t n, uint64_t *ret_length, bool *ret_chunked);

/* Decimal, right aligned, filled with zeroes. */
void bench_put_digits(char *to, size_t width, uint64_t value);

/* Stays until standard input has a line or ends, so that the driver can still read our CPU time from /proc.
 */
void bench_wait_for_word(void);

/* Times of single requests or events, for their percentiles.  All zero is empty. */
struct bench_samples {
	uint32_t *ns; /* lives as long as the process */
	size_t n;     /* those above a few million are left out */
};

void bench_samples_add(struct bench_samples *s, uint64_t ns);
void bench_samples_sort(struct bench_samples *s);
/* Of sorted samples; 0 when there is none. */
uint32_t bench_samples_percentile(const struct bench_samples *s, unsigned percent);

#endif
