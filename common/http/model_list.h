/*
 * Lists of models as providers give them, with names of our own added (design section 8).  Two shapes:
 *
 *   OpenAI     {"object":"list","data":[{"id":...,"object":"model",...}]}
 *   Anthropic  {"data":[{"type":"model","id":...}],"has_more":false,...}, in pages
 */
#ifndef TP_HTTP_MODEL_LIST_H
#define TP_HTTP_MODEL_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "common/base/str.h"

enum { TP_MODEL_LIST_MAX = 1024 * 1024 }; /* bytes of a list that are looked into */

/* Appends the entry of one model. `name`: needs no escapes in JSON. */
void tp_model_entry(bool anthropic, struct tp_str name, struct tp_buf *out);
/*
 * Appends the list with an entry for each of the names behind its own, which stay byte for byte; a name that
 * the list has already is left out.  False, and nothing is appended: not one of the shapes, a page with more
 * to come (the last one gets them), nothing to add, or out of memory.
 */
bool tp_model_list_add(struct tp_str list, const struct tp_str *names, size_t n, struct tp_buf *out);

#endif
