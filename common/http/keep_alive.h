/* The Keep-Alive field of answers (RFC 2068, 19.7.1.1): how long the other side keeps an idle connection. */
#ifndef TP_HTTP_KEEP_ALIVE_H
#define TP_HTTP_KEEP_ALIVE_H

#include <stdint.h>

#include "common/base/str.h"

/*
 * Milliseconds for which a connection may idle and be used again: `ms`, or what the field's first `timeout`
 * tells less a second, where that is shorter (design section 7).  0 when it cannot be read.
 */
uint64_t tp_keep_alive_ms(struct tp_str value, uint64_t ms);

#endif
