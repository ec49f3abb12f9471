/*
 * The instance: one master (or, while one hands over to the next, several) per shared table.  It is a lock on
 * the shared memory object NAME.lock, held by masters only (design section 3).
 */
#ifndef TP_SERVER_INSTANCE_H
#define TP_SERVER_INSTANCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/base/buf.h"

/*
 * Takes the lock for the table `name` (as in state.name).  On success *ret_fd is a descriptor that holds it
 * (close-on-exec); closing it, or dying, frees it.  The lock belongs to the open file, which fork() shares:
 * a worker must close its copy at once, and must never unlock it.
 * Returns 0 or -errno; -EBUSY: another instance holds it. `why` then has one line of plain words.
 */
int tp_instance_lock(const char *name, struct tp_buf *why, int *ret_fd);

/* For a successor: is `fd` the lock of that name, as its predecessor holds it? The two share it. */
bool tp_instance_inherited(const char *name, int fd);
/* This process is the holder from now on: for messages and tp_instance_pid(). */
void tp_instance_sign(int fd);

/* The master that holds the lock; 0 = none, or it cannot be told. */
pid_t tp_instance_pid(const char *name);

#endif
