/*
 * ${NAME} and ${file:/path} in values of a configuration (design section 10).
 */
#ifndef TP_CONFIG_EXPAND_H
#define TP_CONFIG_EXPAND_H

#include <stdbool.h>

#include "common/base/buf.h"
#include "common/base/str.h"

/* Largest file that ${file:} takes in: credentials are small, a wrong path is not. */
enum { TP_EXPAND_FILE_MAX = 64 * 1024 };

/*
 * Appends `raw` to out with every ${NAME} replaced from the environment and every ${file:/path} by that
 * file's content, one newline cut off its end.  $${ stands for ${.  What was put in is not looked at again.
 * False: `reason` holds why (names and paths only, never content); out is then not to be used.
 */
bool tp_expand(struct tp_str raw, struct tp_buf *out, struct tp_buf *reason);

#endif
