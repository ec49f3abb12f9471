#include "server/admin/stats_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/marks.h"
#include "server/admin/listing.h"
#include "server/admin/report.h"

enum { COMPLAIN_EVERY_MS = 10 * 60 * 1000 };

static int write_all(int fd, const struct tp_buf *b)
{
	for (size_t at = 0; at < b->len;) {
		ssize_t n = write(fd, b->data + at, b->len - at);
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/*
 * Not synced: the next one comes in ten seconds, and this process must not wait for a disk.  The name of the
 * temporary file is this process's own, as an admin process of a killed master may still be at its last one.
 */
static int replace(const char *path, const struct tp_buf *b)
{
	struct tp_buf name = {0};
	tp_buf_printf(&name, "%s.%ld", path, (long)getpid());
	const char *temporary = tp_buf_cstr(&name);
	int error = temporary != NULL ? 0 : -ENOMEM;
	int fd = -1;
	if (error == 0) {
		fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
		error = fd >= 0 ? 0 : -errno;
	}
	if (fd >= 0) {
		if (fchmod(fd, 0644) != 0) /* whatever the umask made of it */
			error = -errno;
		if (error == 0)
			error = write_all(fd, b);
		if (close(fd) != 0 && error == 0)
			error = -errno;
		if (error == 0 && rename(temporary, path) != 0)
			error = -errno;
		if (error != 0)
			(void)unlink(temporary);
	}
	tp_buf_free(&name);
	return error;
}

void tp_stats_file_write(const struct tp_config *c, struct tp_region *r)
{
	const struct tp_breaker_policy policy = tp_listing_policy(c);
	const char *path = c->stats_file;
	struct tp_buf text = {0};
	int error = tp_report_write(r, &policy, &text) ? replace(path, &text) : -ENOMEM;
	tp_buf_free(&text);
	if (error != 0 && tp_mark_due(r, TP_MARK_STATS_FILE, COMPLAIN_EVERY_MS, tp_clock_boot_ms()))
		tp_warn("cannot write stats_file %s: %s", path, strerror(-error));
}
