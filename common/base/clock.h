/*
 * Time. All times in the shared table and in workers are milliseconds of
 * CLOCK_BOOTTIME: the same for every process of a boot, running through
 * suspend, never set back (design section 3).
 */
#ifndef TP_BASE_CLOCK_H
#define TP_BASE_CLOCK_H

#include <stdint.h>

/*
 * For the process of an event loop: from now on boot and wall time are read once per turn of it, at the first
 * question, and stand still until this is called again.  A request asks some twenty times what time it is,
 * and reading a clock costs as much as looking up a field.  Call it between two turns, behind all work.
 */
void tp_clock_next_turn(void);
/* Both are read anew at the next question: before a wait is reckoned from now. */
void tp_clock_refresh(void);

/* Milliseconds since boot. */
uint64_t tp_clock_boot_ms(void);
/* Microseconds of a clock of this process, never set back: for differences only. */
uint64_t tp_clock_mono_us(void);
/* Milliseconds since 1970 (wall clock), for dates in headers and logs only. */
int64_t tp_clock_wall_ms(void);

#endif
