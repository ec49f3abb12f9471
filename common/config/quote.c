#include "common/config/quote.h"

void tp_config_quote(struct tp_buf *yaml, struct tp_str value)
{
	size_t from = 0;
	tp_buf_add_str(yaml, TP_STR("\""));
	for (size_t i = 0; i + 1 < value.n; i++) {
		if (value.p[i] != '$' || value.p[i + 1] != '{')
			continue;
		tp_buf_add_json(yaml, (struct tp_str){value.p + from, i - from});
		tp_buf_add_str(yaml, TP_STR("$"));
		from = i;
	}
	tp_buf_add_json(yaml, (struct tp_str){value.p + from, value.n - from});
	tp_buf_add_str(yaml, TP_STR("\""));
}
