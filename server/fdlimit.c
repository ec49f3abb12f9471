#include "server/fdlimit.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/log.h"

/* Below this a busy worker runs out of descriptors before it runs out of anything else. */
enum { COMFORTABLE = 4096 };

void tp_fdlimit_raise(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		tp_warn("the limit on open files is unknown: %s", strerror(errno));
		return;
	}
	rlim_t before = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max;
	if (before != limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) != 0) {
		tp_warn("the limit on open files stays at %llu: %s", (unsigned long long)before,
			strerror(errno));
		limit.rlim_cur = before;
	}
	if (limit.rlim_cur == RLIM_INFINITY)
		return;
	unsigned long long files = limit.rlim_cur;
	if (files < COMFORTABLE)
		tp_warn("each worker may open only %llu files, about %llu requests at once; raise the hard "
			"limit (ulimit -Hn, LimitNOFILE= in a unit)",
			files, files / 2);
	else
		tp_info("each worker may open %llu files, about %llu requests at once", files, files / 2);
}
