/*
 * A whole JSON object in one piece, as bodies mostly come: its grammar is checked and its members are listed
 * in one go, with nothing kept between the tokens.  Says the same as json.h about texts that both take; what
 * is cut, wrong, or unusual is left to json.h.
 */
#ifndef TP_HTTP_JSON_MEMBERS_H
#define TP_HTTP_JSON_MEMBERS_H

#include "common/base/str.h"
#include "common/http/json.h"

enum {
	TP_JSON_MEMBERS_MAX = 40,     /* objects with more members are left to json.h, and those ... */
	TP_JSON_MEMBERS_NEST_MAX = 64 /* ... nested deeper than this */
};

/* A member of the top level, as json.h tells it between two events. Borrows from the text or the scanner. */
struct tp_json_member {
	struct tp_str key;  /* decoded, without quotes */
	struct tp_str text; /* of a scalar: decoded, up to TP_JSON_TEXT_MAX bytes; else empty */
	uint64_t key_start, key_end, value_start, value_end; /* as in struct tp_json */
	uint8_t type;                                        /* enum tp_json_type */
	bool key_cut, text_cut;
	bool raw; /* `text` is a string as it stands in the text: there may be escapes in it */
};

/* Has `text` to be decoded before it is read? Then json.h has to look. */
static inline bool tp_json_member_escaped(const struct tp_json_member *m)
{
	return m->raw && m->text.n > 0 && memchr(m->text.p, '\\', m->text.n) != NULL;
}

/*
 * Lists the members of `text`, which must be one object with nothing but white space around it. Returns how
 * many, or -1: json.h has to look.  ret_depth: deepest nesting, as tp_json.max_depth; written on success.
 */
int tp_json_members(struct tp_str text, struct tp_json_member out[TP_JSON_MEMBERS_MAX], uint16_t *ret_depth);

/* The present member of a scanner that has just told TP_JSON_END. */
static inline struct tp_json_member tp_json_member_of(const struct tp_json *j)
{
	return (struct tp_json_member){
		.key = tp_json_key(j),
		.text = tp_json_text(j),
		.key_start = j->key_start,
		.key_end = j->key_end,
		.value_start = j->value_start,
		.value_end = j->value_end,
		.type = j->type,
		.key_cut = j->key_cut,
		.text_cut = j->text_cut,
	};
}

#endif
