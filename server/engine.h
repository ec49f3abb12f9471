/*
 * One worker without a server: a child process with a table of its own that nobody else sees.  For commands
 * that send one request or ask one question through the same engine.
 */
#ifndef TP_SERVER_ENGINE_H
#define TP_SERVER_ENGINE_H

#include <sys/types.h>

#include "common/config/config.h"
#include "workers/worker.h"

struct tp_engine {
	pid_t pid;
	int control_fd; /* its end of file tells the child that nobody is there any more */
	int notices_fd; /* tp_engine_notice() */
};

/*
 * Forks it.  client_fd: a connected socket that it serves as a client, or -1; the caller closes its own copy.
 * keep_fd: a descriptor that the child must not have (the other end of that connection), or -1.
 * `config` has to be for one worker; its listeners are not opened.  `level`: of the log, which goes to
 * standard error.  Returns 0 or -errno.
 */
int tp_engine_start(struct tp_config *config, int client_fd, int keep_fd, enum tp_log_level level,
		    struct tp_engine *ret_engine);
/* The next notice. 1: there is one; 0: none for now; -1: the child has ended. */
int tp_engine_notice(struct tp_engine *e, struct tp_notice *ret_notice);
/* Ends it, with all connections, and waits for it: at once. */
void tp_engine_stop(struct tp_engine *e);

#endif
