#include "server/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int tp_pidfile_write(const char *path)
{
	char draft[PATH_MAX];
	if ((size_t)snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid()) >= sizeof draft)
		return -ENAMETOOLONG;
	int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	int result = 0;
	char text[24];
	int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
	if (write(fd, text, (size_t)n) != n)
		result = errno != 0 ? -errno : -EIO;
	if (close(fd) != 0 && result == 0)
		result = -errno;
	if (result == 0 && rename(draft, path) != 0)
		result = -errno;
	if (result != 0)
		(void)unlink(draft);
	return result;
}

void tp_pidfile_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	char text[24] = "";
	ssize_t n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n > 0 && strtol(text, NULL, 10) == (long)getpid())
		(void)unlink(path);
}
