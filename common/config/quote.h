/* Values in configurations that a program writes. */
#ifndef TP_CONFIG_QUOTE_H
#define TP_CONFIG_QUOTE_H

#include "common/base/buf.h"

/* `value` in quotes, such that it comes out of tp_config_parse() as it is: ${...} in it means itself. */
void tp_config_quote(struct tp_buf *yaml, struct tp_str value);

#endif
