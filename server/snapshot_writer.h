/* The process for snapshots itself: takes texts from a socket and keeps the newest of them as files. */
#ifndef TP_SERVER_SNAPSHOT_WRITER_H
#define TP_SERVER_SNAPSHOT_WRITER_H

#include "common/config/config.h"
#include "common/shm/region.h"

/* Until all others have closed the other end. Files that cannot be written are counted in the table, and told
 * in the log once a minute. */
void tp_snapshot_writer_main(const struct tp_config *config, struct tp_region *region, int fd);

#endif
