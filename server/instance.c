#include "server/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/log.h"

enum { ORPHAN_MS = 2000, ORPHAN_STEP_MS = 5 };

/* The pid that the holder wrote; 0 when there is none (it is just starting). */
static long read_pid(int fd)
{
	char text[24];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	char *end;
	long pid = strtol(text, &end, 10);
	return end != text && pid > 0 ? pid : 0;
}

/* For the message to whoever comes second. Not needed for the lock, so a failure is no failure. */
void tp_instance_sign(int fd)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
		tp_debug("the instance lock does not say who holds it: %s", strerror(errno));
}

static int refuse_second(const char *name, int fd, struct tp_buf *why)
{
	long pid = read_pid(fd);
	if (pid != 0)
		tp_buf_printf(why,
			      "another turnpike (pid %ld) is running with the state name %s; stop it first, "
			      "or give this one another state.name (without a file: STATE_NAME)",
			      pid, name);
	else
		tp_buf_printf(why,
			      "another turnpike is running with the state name %s; stop it first, or give "
			      "this one another state.name (without a file: STATE_NAME)",
			      name);
	return -EBUSY;
}

/* The holder was killed this moment: a child that it had just forked lets go of its copy first of all, as
 * soon as it gets the CPU. */
static bool is_orphan(int fd)
{
	long pid = read_pid(fd);
	return pid != 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static bool lock(int fd)
{
	const struct timespec pause = {.tv_nsec = ORPHAN_STEP_MS * 1000000L};
	for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; waited += ORPHAN_STEP_MS) {
		if (errno != EWOULDBLOCK)
			return false;
		if (waited >= ORPHAN_MS || !is_orphan(fd)) {
			errno = EWOULDBLOCK;
			return false;
		}
		(void)nanosleep(&pause, NULL);
	}
	return true;
}

static int take(const char *name, int fd, struct tp_buf *why)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		tp_buf_printf(why, "the instance lock /dev/shm%s.lock belongs to another user", name);
		return -EPERM;
	}
	/* flock and not fcntl(F_SETLK): it belongs to the open file, so that it can be handed to a
	 * successor, and no close() of another descriptor of the same file drops it. */
	if (!lock(fd)) {
		if (errno == EWOULDBLOCK)
			return refuse_second(name, fd, why);
		int error = -errno;
		tp_buf_printf(why, "cannot lock /dev/shm%s.lock: %s", name, strerror(-error));
		return error;
	}
	tp_instance_sign(fd);
	return 0;
}

bool tp_instance_inherited(const char *name, int fd)
{
	char path[NAME_MAX];
	struct stat here, there;
	if ((size_t)snprintf(path, sizeof path, "%s.lock", name) >= sizeof path)
		return false;
	int other = shm_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (other < 0)
		return false;
	bool same = fstat(other, &there) == 0 && fstat(fd, &here) == 0 && here.st_dev == there.st_dev &&
		    here.st_ino == there.st_ino;
	(void)close(other);
	/* The lock is the open file's: taken once more through it, it is simply held. */
	return same && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

int tp_instance_lock(const char *name, struct tp_buf *why, int *ret_fd)
{
	/* The file is never unlinked: two masters could hold "the" lock on two files of one name. */
	char path[NAME_MAX];
	if ((size_t)snprintf(path, sizeof path, "%s.lock", name) >= sizeof path) {
		tp_buf_printf(why, "state.name is too long: %s", name);
		return -ENAMETOOLONG;
	}
	int fd = shm_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		int error = -errno;
		tp_buf_printf(why, "cannot open the instance lock /dev/shm%s: %s", path, strerror(-error));
		return error;
	}
	int error = take(name, fd, why);
	if (error != 0) {
		(void)close(fd);
		return error;
	}
	*ret_fd = fd;
	return 0;
}

pid_t tp_instance_pid(const char *name)
{
	char path[NAME_MAX];
	if ((size_t)snprintf(path, sizeof path, "%s.lock", name) >= sizeof path)
		return 0;
	int fd = shm_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return 0;
	bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	long pid = held ? read_pid(fd) : 0;
	(void)close(fd);
	return (pid_t)pid;
}
