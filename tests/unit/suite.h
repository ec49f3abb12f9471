/*
 * The main() of a unit test: TP_TESTS(name) { tcase_add_test(t, ...); } is one suite with one case `t`.
 */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include <check.h>
#include <stdlib.h>

/* CK_FORK, CK_VERBOSITY and the like count. The exit status of the program. */
static inline int run_suite(Suite *s)
{
	SRunner *runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Rounds of what is done at random: a fifth of them where TP_SLOW is set (memcheck: a fork alone takes 50
 * ms). */
static inline unsigned rounds_of(unsigned n)
{
	return getenv("TP_SLOW") != NULL ? n / 5 : n;
}

#define TP_TESTS(name)                                                                                       \
	static void add_tests(TCase *t);                                                                     \
	int main(void)                                                                                       \
	{                                                                                                    \
		Suite *s = suite_create(#name);                                                              \
		TCase *t = tcase_create(#name);                                                              \
		add_tests(t);                                                                                \
		suite_add_tcase(s, t);                                                                       \
		return run_suite(s);                                                                         \
	}                                                                                                    \
	static void add_tests(TCase *t)

#endif
