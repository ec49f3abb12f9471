/*
 * Takes credentials out of text that others wrote before it is shown or logged (design section 7, "Error
 * bodies of providers").  What is found is replaced by `***`; everything else stays byte for byte, and a text
 * in which nothing is secret is not copied at all.
 *
 * Found are: the secrets given by the caller, keys known by their form, bearer and basic credentials, values
 * of fields, headers and URL parameters named like a secret, user information of URLs, keys that the provider
 * shortened ("sk-****AbCd"), account and project ids, and absolute paths of a machine's files.  All of them
 * also when quoted, percent-encoded or behind \u escapes, several times over.
 *
 * JSON stays JSON: only whole characters inside its strings are replaced, and numbers by 0.  HTML is not
 * looked at in particular.  Time is linear in the text (times the number of secrets given).
 */
#ifndef TP_HTTP_MASK_H
#define TP_HTTP_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "common/base/str.h"

enum { TP_MASK_SECRET_MIN = 4 }; /* shorter secrets are everyday words: they are not searched for */

/* Texts that are secret wherever they turn up, in their plain form.  Borrowed; chained so that those of a
 * turn can stand in front of those of the configuration. */
struct tp_mask_secrets {
	const struct tp_str *list;
	size_t n;
	const struct tp_mask_secrets *next; /* or NULL */
};

/*
 * False: nothing is secret, `out` is untouched, use `in`.  True: the masked text was added to `out` (of which
 * `failed` tells that memory ran out: nothing may be shown then).  `own` may be NULL.
 */
bool tp_mask(struct tp_str in, const struct tp_mask_secrets *own, struct tp_buf *out);
/* The same for lines of Turnpike's own log: paths and account ids stay, since they are the operator's. */
bool tp_mask_line(struct tp_str in, const struct tp_mask_secrets *own, struct tp_buf *out);

/* The same for the given secrets alone, as they stand or percent-encoded: for values of header fields. */
bool tp_mask_known(struct tp_str in, const struct tp_mask_secrets *own, struct tp_buf *out);

/* Is a header or field of this name one whose value is a credential? */
bool tp_mask_secret_name(struct tp_str name);
/* The same for a parameter of a URL's query: there `key` is one, too. */
bool tp_mask_secret_parameter(struct tp_str name);

#endif
