/* The process for snapshots itself: takes texts from a socket and keeps the newest of them as files. */
#ifndef TP_SERVER_SNAPSHOT_WRITER_H
#define TP_SERVER_SNAPSHOT_WRITER_H

#include <stdbool.h>

#include "common/config/config.h"
#include "common/shm/region.h"

/* Until all others have closed the other end. Files that cannot be written are counted in the table, and told
 * in the log once a minute. `on_trial`: it dies with its master (PR_SET_PDEATHSIG) until that cannot be taken
 * back any more; then it is to outlive it, as workers that drain do. */
void tp_snapshot_writer_main(const struct tp_config *config, struct tp_region *region, int fd, bool on_trial);

#endif
