/* Inside of common/http/mask: what names of fields, headers and parameters say of their values.  Not for
 * other modules. */
#ifndef TP_HTTP_MASK_NAMES_H
#define TP_HTTP_MASK_NAMES_H

#include <stdbool.h>

#include "common/base/str.h"

enum tp_mask_kind {
	TP_MASK_KIND_NONE,
	TP_MASK_KIND_SECRET, /* whatever it is */
	TP_MASK_KIND_AUTH,   /* a scheme and a credential */
	TP_MASK_KIND_COOKIE, /* pairs */
	TP_MASK_KIND_TOKEN,  /* also a word of models and parsers: short and numeric values stay */
	TP_MASK_KIND_WEAK,   /* only what looks like a key */
	TP_MASK_KIND_ID      /* names an account or project */
};

/* Case, `-`, `_` and `.` in names do not matter. */
enum tp_mask_kind tp_mask_kind_of(struct tp_str name);
/* The same for a parameter in a URL's query, where a plain `key=` is a key. */
enum tp_mask_kind tp_mask_kind_of_parameter(struct tp_str name);
/* Is `value` a credential, given the kind of its name?  Words such as "required" and "null" are none. */
bool tp_mask_value_is_secret(enum tp_mask_kind kind, struct tp_str value);
/* Holds a digit, a capital or an asterisk, or is longer than words are. */
bool tp_mask_looks_made_up(struct tp_str s);
/* bearer, basic, ...: a credential follows. */
bool tp_mask_is_scheme(struct tp_str word);
/* team, organization, ...: an id may follow. */
bool tp_mask_is_owner(struct tp_str word);
/* Everyday words where a credential could stand: "the bearer token is missing". */
bool tp_mask_is_plain_word(struct tp_str word);

#endif
