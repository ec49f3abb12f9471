#include "server/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int tp_notify(const char *lines)
{
	const char *path = getenv("NOTIFY_SOCKET");
	if (path == NULL || path[0] == '\0')
		return 0;
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t n = strlen(path);
	if (n >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
		return -EINVAL;
	memcpy(to.sun_path, path, n);
	if (path[0] == '@') /* an abstract name, as sd_notify(3) writes it */
		to.sun_path[0] = '\0';
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ssize_t sent = sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (const struct sockaddr *)&to,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	int result = sent < 0 ? -errno : 0;
	(void)close(fd);
	return result;
}
