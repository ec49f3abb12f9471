/* From the tree of a file to struct tp_config, row by row of the option table. */
#ifndef TP_CONFIG_FILL_H
#define TP_CONFIG_FILL_H

#include "common/config/option.h"

/* Fills `object` from a mapping; NULL or an empty node means all defaults. Mistakes go to l->errors, and the
 * field then has its default, so that the other checks can go on. */
void tp_fill_section(struct tp_load *l, const struct tp_section *s, void *object, struct tp_node *node,
		     bool with_defaults);
/* Frees and wipes all that tp_fill_section() put into object, also half-filled; the object itself stays. */
void tp_fill_release(const struct tp_section *s, void *object);

#endif
