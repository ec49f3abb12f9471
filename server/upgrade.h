/* A running master is replaced by another binary (design section 11): what main() has to do for it. */
#ifndef TP_SERVER_UPGRADE_H
#define TP_SERVER_UPGRADE_H

#include <stdbool.h>

/* What this process was started with, to be started again. Borrowed strings, for the life of the process;
 * before anything rearranges them. False: out of memory. */
bool tp_upgrade_remember(int argc, char **argv);

#endif
