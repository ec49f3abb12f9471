/* What a reload leaves as it is: keys that only a restart takes over (rows with `restart` in the option
 * table), and logs that nobody has moved. */
#ifndef TP_CONFIG_KEEP_H
#define TP_CONFIG_KEEP_H

#include "common/config/config.h"

/* Gives `next` the values of `now` in these rows.  Appends to `told` the name of each that differed, with ",
 * " between. False: out of memory. */
bool tp_config_keep(struct tp_config *next, const struct tp_config *now, struct tp_buf *told);

/* Do both log the same way? Then there is nothing to open again. */
bool tp_config_same_log(const struct tp_config *a, const struct tp_config *b);
/* This process logs as `now` says; where that is as `before`, nothing is opened. A log that cannot be opened
 * is told in the earlier one, which goes on. */
void tp_config_follow_log(const struct tp_config *now, const struct tp_config *before);
bool tp_config_same_access_log(const struct tp_config *a, const struct tp_config *b);

#endif
