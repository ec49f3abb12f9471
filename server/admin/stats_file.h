/*
 * stats_file: all numbers in a JSON file (design 10).
 */
#ifndef TP_SERVER_ADMIN_STATS_FILE_H
#define TP_SERVER_ADMIN_STATS_FILE_H

#include "common/config/config.h"
#include "common/shm/region.h"

/* Replaces the stats_file of `c` as a whole: a reader finds the earlier one or this one, complete. Mode 0644.
 * Logs when it cannot, at most every ten minutes. */
void tp_stats_file_write(const struct tp_config *c, struct tp_region *r);

#endif
