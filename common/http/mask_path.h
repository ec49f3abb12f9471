/* Inside of common/http/mask: absolute paths of files.  Not for other modules. */
#ifndef TP_HTTP_MASK_PATH_H
#define TP_HTTP_MASK_PATH_H

#include <stddef.h>

/* text[at] is a slash: the end of the path that begins there, or 0 when it is none that tells about a machine
 * (API paths, the rest of a URL). */
size_t tp_mask_unix_path(const char *text, size_t n, size_t at);
/* text[at] is a letter that may name a drive: the end of the path, or 0. */
size_t tp_mask_windows_path(const char *text, size_t n, size_t at);

#endif
