#include "common/base/clock.h"

#include <time.h>

uint64_t tp_clock_boot_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

uint64_t tp_clock_mono_us(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

int64_t tp_clock_wall_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
