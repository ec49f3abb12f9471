/* Inside of common/http/mask: a text as it reads once its escapes are undone, with the way back.  Not for
 * other modules. */
#ifndef TP_HTTP_MASK_VIEW_H
#define TP_HTTP_MASK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes text[0..n) and where each of them stands in the original. */
struct tp_mask_view {
	const char *text;
	size_t n;
	size_t base;        /* where the view begins in the original */
	const uint32_t *at; /* n + 1 offsets into the original; NULL: text is the original from `base` on */
	void *memory;       /* owned; NULL for a view of the original */
};

/* Where a piece [from, to) of the view lies in the original: whole escapes only. */
size_t tp_mask_view_start(const struct tp_mask_view *v, size_t from);
size_t tp_mask_view_end(const struct tp_mask_view *v, size_t to);

enum tp_mask_undo {
	TP_MASK_UNDO_BACKSLASH = 1, /* JSON: \n \" \/ \u0041 */
	TP_MASK_UNDO_PERCENT = 2    /* %41 */
};

/* One layer of escapes undone.  False when there is none, or no memory (*ret_failed is set then). */
bool tp_mask_view_undo(const struct tp_mask_view *from, unsigned undo, struct tp_mask_view *ret_view,
		       bool *ret_failed);
void tp_mask_view_free(struct tp_mask_view *v);

#endif
