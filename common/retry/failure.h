/*
 * One row of the failure table (design section 4), shared by the model and the decision and by nobody else.
 */
#ifndef TP_RETRY_FAILURE_H
#define TP_RETRY_FAILURE_H

#include "common/retry/model.h"

struct tp_failure_row {
	const char *name;               /* for logs and metrics; static */
	enum tp_evidence unsent;        /* not one byte was written */
	enum tp_evidence before_output; /* something was written, no output was seen */
	enum tp_evidence after_output;
	enum tp_code refusal; /* the code it is refused with; TP_CODE_NONE where nothing is refused */
	const char *why;      /* the reason of the row; static */
};

/* The row of a cause; never NULL. */
const struct tp_failure_row *tp_failure_row(enum tp_cause cause);

#endif
