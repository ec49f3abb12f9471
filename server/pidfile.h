/*
 * The file with the master's pid (pid_file), for init scripts.
 */
#ifndef TP_SERVER_PIDFILE_H
#define TP_SERVER_PIDFILE_H

/* Writes this process's pid: a reader sees the old file or the new one, never half of it. 0 or -errno. */
int tp_pidfile_write(const char *path);
/* Removes the file if it still names this process; a successor may have written its own. */
void tp_pidfile_remove(const char *path);

#endif
