/* Several threads at once, for the tests of what they share. */
#ifndef TESTS_UNIT_THREADS_H
#define TESTS_UNIT_THREADS_H

#include <check.h>
#include <pthread.h>
#include <stdint.h>

enum { THREADS_MAX = 8 };

/* Runs `body` in n threads (1..THREADS_MAX), each with its number, and waits for their end. */
static inline void in_threads(unsigned n, void *(*body)(void *))
{
	pthread_t threads[THREADS_MAX];
	ck_assert_uint_le(n, THREADS_MAX);
	for (uintptr_t i = 0; i < n; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, body, (void *)i), 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

#endif
