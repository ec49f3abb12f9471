/* Inside of common/http/mask: one text that is being masked.  Not for other modules. */
#ifndef TP_HTTP_MASK_JOB_H
#define TP_HTTP_MASK_JOB_H

#include <stdbool.h>

#include "common/base/str.h"
#include "common/http/mask.h"
#include "common/http/mask_match.h"
#include "common/http/mask_view.h"

enum tp_mask_reach {
	TP_MASK_KNOWN,  /* the secrets given */
	TP_MASK_OWN,    /* and what gives itself away as a credential */
	TP_MASK_FOREIGN /* and paths and account ids */
};

struct tp_mask_job {
	struct tp_str in;
	const struct tp_mask_secrets *own;
	enum tp_mask_reach reach;
	struct tp_mask_marks marks;
};

/* Marks what is secret in `v`, as it stands and with its escapes undone, layer by layer. */
void tp_mask_layers(struct tp_mask_job *j, const struct tp_mask_view *v);
/* Is the whole of `text` one of the secrets given? */
bool tp_mask_is_own(const struct tp_mask_job *j, struct tp_str text);
/* Marks what is secret in the strings and numbers of a JSON text, or of the front of one. */
void tp_mask_json(struct tp_mask_job *j);

/* A view of the original itself, from <= to; borrowed, nothing to free. */
static inline struct tp_mask_view tp_mask_part(const struct tp_mask_job *j, size_t from, size_t to)
{
	return (struct tp_mask_view){.text = j->in.p + from, .n = to - from, .base = from};
}

#endif
