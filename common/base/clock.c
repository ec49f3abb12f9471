#include "common/base/clock.h"

#include <stdbool.h>
#include <time.h>

/* Of the present turn of an event loop. */
static struct {
	bool on;
	uint64_t boot_ms; /* 0: not read in this turn yet */
	int64_t wall_ms;
} turn;

static uint64_t read_boot_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

static int64_t read_wall_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void tp_clock_refresh(void)
{
	turn.boot_ms = 0;
	turn.wall_ms = 0;
}

void tp_clock_next_turn(void)
{
	turn.on = true;
	tp_clock_refresh();
}

uint64_t tp_clock_boot_ms(void)
{
	if (turn.boot_ms != 0)
		return turn.boot_ms;
	uint64_t now = read_boot_ms();
	if (turn.on)
		turn.boot_ms = now;
	return now;
}

uint64_t tp_clock_mono_us(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

int64_t tp_clock_wall_ms(void)
{
	if (turn.wall_ms != 0)
		return turn.wall_ms;
	int64_t now = read_wall_ms();
	if (turn.on)
		turn.wall_ms = now;
	return now;
}
