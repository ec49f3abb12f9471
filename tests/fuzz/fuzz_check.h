/* An expectation of a fuzz target: says what failed and stops, also in builds without assert(). */
#ifndef TP_TESTS_FUZZ_CHECK_H
#define TP_TESTS_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define FUZZ_CHECK(condition)                                                                                \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                \
			abort();                                                                             \
		}                                                                                            \
	} while (0)

#endif
