/*
 * The master process: everything between a checked configuration and the exit status (design section 3).
 */
#ifndef TP_SERVER_MASTER_H
#define TP_SERVER_MASTER_H

#include <stdbool.h>

#include "common/config/config.h"
#include "server/load.h"

/* Runs until told to stop, in the foreground. Takes over the reference of config; borrows `load`: what it was
 * made of, to make the next one. `fresh_state`: start with an empty table. Returns the exit status: 0 after a
 * stop that was asked for, 1 when it could not start or gave up; logged.
 */
int tp_master_run(struct tp_config *config, const struct tp_load_options *load, bool fresh_state);

#endif
