/*
 * GET /: the status page (design 11), one document out of server/admin/page/, which is linked into the
 * program.  It asks nothing of any other host and runs nothing but itself: its policy names the hashes of its
 * own style and script.
 */
#ifndef TP_SERVER_ADMIN_PAGE_H
#define TP_SERVER_ADMIN_PAGE_H

#include "common/base/str.h"

#define TP_PAGE_TYPE "text/html; charset=utf-8"

struct tp_page {
	struct tp_str html;
	struct tp_str etag; /* with its quotes */
	const char *fields; /* header lines that go with it, also with a 304 */
};

/* Put together at the first call, there for the life of the process. NULL: out of memory. */
const struct tp_page *tp_page_get(void);

#endif
