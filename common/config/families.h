/*
 * Which requests a provider understands (design section 8), as far as its configuration proves it.
 *
 *   family: auto       everything
 *   family: openai     chat and responses
 *   family: anthropic  messages, and chat: Anthropic and those like it answer /chat/completions too
 *
 * Requests of no family (embeddings, lists) are not judged.
 */
#ifndef TP_CONFIG_FAMILIES_H
#define TP_CONFIG_FAMILIES_H

#include <stdbool.h>

#include "common/config/config.h"
#include "common/http/path.h"

/* Bit n: target n of the combo may be sent requests of this family. 0 = the combo cannot serve such a
 * request. */
uint32_t tp_combo_speaks(const struct tp_config *c, const struct tp_combo_conf *combo, enum tp_family family);
/* Appends the families that the combo can serve: "chat, responses and messages". Never nothing: every
 * provider speaks one. */
void tp_combo_families(const struct tp_config *c, const struct tp_combo_conf *combo, struct tp_buf *out);

#endif
