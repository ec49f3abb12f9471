#include "common/config/families.h"

/* Where its `family` is auto: any. */
static bool speaks(const struct tp_provider_conf *p, enum tp_family family)
{
	switch (p->family) {
	case TP_PROVIDER_OPENAI: return family != TP_FAMILY_MESSAGES;
	case TP_PROVIDER_ANTHROPIC: return family != TP_FAMILY_RESPONSES;
	default: return true;
	}
}

uint32_t tp_combo_speaks(const struct tp_config *c, const struct tp_combo_conf *combo, enum tp_family family)
{
	uint32_t speak = 0;
	for (size_t i = 0; i < combo->n_targets; i++)
		if (speaks(&c->providers[combo->targets[i].provider], family))
			speak |= UINT32_C(1) << i;
	return speak;
}

void tp_combo_families(const struct tp_config *c, const struct tp_combo_conf *combo, struct tp_buf *out)
{
	enum tp_family served[TP_FAMILY_COUNT];
	unsigned n = 0;
	for (enum tp_family f = TP_FAMILY_CHAT; f < TP_FAMILY_COUNT; f++)
		if (tp_combo_speaks(c, combo, f) != 0)
			served[n++] = f;
	for (unsigned i = 0; i < n; i++)
		tp_buf_printf(out, "%s%s",
			      i == 0      ? ""
			      : i + 1 < n ? ", "
					  : " and ",
			      tp_family_name(served[i]));
}
