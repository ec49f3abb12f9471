/* One value of a file into one field, by the type of its row. */
#ifndef TP_CONFIG_CONVERT_H
#define TP_CONFIG_CONVERT_H

#include "common/config/option.h"

/* True when the field was set. False: the reason was told, unless the node was refused already; a field of
 * pointers may then hold a part, which tp_fill_release() frees. Not for SECTION. */
bool tp_convert(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node);

/* Wipes and frees what *field points to and puts `value` (owned, may be NULL) in its place. */
void tp_convert_set_string(void *field, char *value);
/* The same for a field of strings and its count: empty afterwards. */
void tp_convert_clear_strings(const struct tp_option *o, void *object);

/* Unsigned numbers, enums and bools of any width, so that rows need no setter each. */
uint64_t tp_convert_load(const void *field, size_t width);

#endif
