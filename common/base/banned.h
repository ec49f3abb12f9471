/*
 * Functions that must not be used anywhere in Turnpike: each mention fails to
 * compile.  Forced into every translation unit by the Makefile (-include).
 * The reason stands beside each group.
 */
#ifndef TP_BASE_BANNED_H
#define TP_BASE_BANNED_H

/* Headers that declare them come first, or the pragma would hit them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* clang with _FORTIFY_SOURCE has some of them as macros, which cannot be poisoned */
#undef strcpy
#undef strcat
#undef stpcpy
#undef sprintf
#undef vsprintf
#undef gets
#undef strncpy
#undef strncat
/* no bound on the destination */
#pragma GCC poison strcpy strcat stpcpy sprintf vsprintf gets
/* silent truncation, or no terminator */
#pragma GCC poison strncpy strncat
/* hidden state shared between callers */
#pragma GCC poison strtok gmtime localtime ctime asctime
/* no error report: "12x" and "99999999999999" are numbers to them */
#pragma GCC poison atoi atol atoll atof
/* not random, and shared by forked workers (macros: library headers use these words as parameter names) */
#define rand()      sorry_rand_is_banned
#define srand(seed) sorry_srand_is_banned

#endif
