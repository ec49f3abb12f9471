/* Is it an event stream, whatever its content type says? By its first bytes. */
#ifndef TP_HTTP_SSE_FRONT_H
#define TP_HTTP_SSE_FRONT_H

#include "common/base/str.h"

enum tp_sse_front {
	TP_SSE_FRONT_UNSURE, /* too little of it yet */
	TP_SSE_FRONT_EVENTS, /* begins with a field of events, or a comment: no JSON does */
	TP_SSE_FRONT_OTHER
};

/* `s`: from the first byte on. A byte order mark and empty lines before the first field do not count. */
enum tp_sse_front tp_sse_front(struct tp_str s);

#endif
