/* One value of a configuration as YAML text on one line; shared by the writers of show.h. */
#ifndef TP_CONFIG_SHOW_VALUE_H
#define TP_CONFIG_SHOW_VALUE_H

#include "common/config/option.h"

/* What secrets are replaced by. */
#define TP_SHOW_MASK "********"

/* True for SECTION, LIST and MAP, which do not fit one line. */
bool tp_show_is_nested(const struct tp_option *o);
/* The value that `o` has in `object`, secrets masked. `c` names the providers. Not for nested types. */
void tp_show_value(const struct tp_config *c, const struct tp_option *o, const void *object,
		   struct tp_buf *out);
/* The default; the example where there is none, as with required keys. Never fails. */
void tp_show_default(const struct tp_option *o, struct tp_buf *out);
/* Help in one paragraph: what the row says, the words to choose from, whether a restart is needed. */
void tp_show_help(const struct tp_option *o, struct tp_buf *out);
/* What values it takes: "duration, 0 to 1h". */
void tp_show_range(const struct tp_option *o, struct tp_buf *out);

#endif
