/* Inside of common/http/mask: keys that are known by how they begin.  Not for other modules. */
#ifndef TP_HTTP_MASK_FORM_H
#define TP_HTTP_MASK_FORM_H

#include <stdbool.h>
#include <stddef.h>

/* The end of a JSON web token that begins at text[at], or 0. */
size_t tp_mask_jwt(const char *text, size_t n, size_t at);
/* The end of a key whose prefix is in the table and begins at text[at], or 0. `foreign`: account ids too. */
size_t tp_mask_form(const char *text, size_t n, size_t at, bool foreign);

#endif
