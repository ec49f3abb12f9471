/*
 * The limit on open descriptors: each stream takes two, so the usual soft limit of 1024 is far too low.
 */
#ifndef TP_SERVER_FDLIMIT_H
#define TP_SERVER_FDLIMIT_H

/* Raises the soft RLIMIT_NOFILE to the hard one, for this process and all it forks, and logs what it amounts
 * to; warns when that is little. Never fails: a server with few descriptors still serves. */
void tp_fdlimit_raise(void);

#endif
