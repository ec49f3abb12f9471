/*
 * A process that is killed at a named point. The includer has defined TP_SHM_INJECT and includes the sources
 * that it wants to interrupt; the linker then takes nothing of them from the library.
 */
#ifndef TESTS_UNIT_KILL_AT_H
#define TESTS_UNIT_KILL_AT_H

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/shm/layout.h"
#include "tests/unit/dies.h"

static const char *kill_at; /* the point, or NULL */

void tp_shm_inject(const char *point)
{
	if (kill_at != NULL && strcmp(point, kill_at) == 0)
		(void)kill(getpid(), SIGKILL);
}

/* Runs `live` in a child, which must die at `point`; then its slot is released, as the master does it. */
static inline void kill_in(struct tp_region *r, const char *point, struct tp_stamp owner,
			   void (*live)(struct tp_stamp owner))
{
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		kill_at = point;
		live(owner);
		_exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "\"%s\" was not reached", point);
	worker_dies(r, owner.slot);
}

#endif
