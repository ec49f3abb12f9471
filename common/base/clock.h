/*
 * Time. All times in the shared table and in workers are milliseconds of
 * CLOCK_BOOTTIME: the same for every process of a boot, running through
 * suspend, never set back (design section 3).
 */
#ifndef TP_BASE_CLOCK_H
#define TP_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since boot. */
uint64_t tp_clock_boot_ms(void);
/* Microseconds of a clock of this process, never set back: for differences only. */
uint64_t tp_clock_mono_us(void);
/* Milliseconds since 1970 (wall clock), for dates in headers and logs only. */
int64_t tp_clock_wall_ms(void);

#endif
