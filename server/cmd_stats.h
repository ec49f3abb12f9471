/* turnpike stats: the numbers of a running server, read from its shared table. */
#ifndef TP_SERVER_CMD_STATS_H
#define TP_SERVER_CMD_STATS_H

/* Arguments begin with the command's own name. Returns the exit status: 0, 1 (no such table), 2 (usage). */
int tp_cmd_stats(int argc, char **argv);

#endif
