/*
 * Messages to the service manager (sd_notify(3)), without libsystemd.
 */
#ifndef TP_SERVER_NOTIFY_H
#define TP_SERVER_NOTIFY_H

/* Sends lines like "READY=1\nSTATUS=..." to $NOTIFY_SOCKET; does nothing when that is not set. Never blocks;
 * returns 0 or -errno. */
int tp_notify(const char *lines);

#endif
