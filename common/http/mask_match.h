/* Inside of common/http/mask: finds what is secret in one view of a text.  Not for other modules. */
#ifndef TP_HTTP_MASK_MATCH_H
#define TP_HTTP_MASK_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/http/mask_names.h"
#include "common/http/mask_view.h"

enum { TP_MASK_MARK_TEXT = 1, TP_MASK_MARK_NUMBER = 2 };

/* What is to be replaced in the original; nothing is allocated until something is. */
struct tp_mask_marks {
	unsigned char *bytes; /* owned; one per byte of the original: 0 or TP_MASK_MARK_* */
	size_t n;
	bool failed; /* no memory: the text must not be shown */
};

/* Marks the piece [from, to) of the view. */
void tp_mask_mark(struct tp_mask_marks *m, const struct tp_mask_view *v, size_t from, size_t to);
/* Marks all that the text itself gives away. `foreign`: paths and account ids too. */
void tp_mask_match(const struct tp_mask_view *v, bool foreign, struct tp_mask_marks *m);

#endif
