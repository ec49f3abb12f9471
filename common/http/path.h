/* Request targets: the family of a path, dot segments, and the path sent to a provider. */
#ifndef TP_HTTP_PATH_H
#define TP_HTTP_PATH_H

#include <stdbool.h>
#include "common/base/str.h"

enum tp_family { TP_FAMILY_PLAIN, TP_FAMILY_CHAT, TP_FAMILY_RESPONSES, TP_FAMILY_MESSAGES, TP_FAMILY_COUNT };

/* "plain", "chat", "responses", "messages": static. */
const char *tp_family_name(enum tp_family f);
/* By the end of the path without query: /chat/completions, /responses, /messages; else plain. */
enum tp_family tp_family_of(struct tp_str target);
/* Path without query. */
struct tp_str tp_path_only(struct tp_str target);
/* A "." or ".." segment, plain or percent-encoded in any mix (also with encoded slashes), anywhere in the
 * path. */
bool tp_path_has_dots(struct tp_str target);
/* True if `path` equals prefix or goes on behind it at a segment border ("/v1" fits "/v1/x", not
 * "/v10"); "/" fits all. */
bool tp_path_under(struct tp_str path, struct tp_str prefix);

#endif
