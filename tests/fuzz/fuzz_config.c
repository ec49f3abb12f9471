/* Any bytes as a configuration: either a configuration that can be shown, or at least one message. */
#include <stdlib.h>

#include "common/config/config.h"
#include "common/config/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tp_buf text = {0};
	struct tp_config *c = tp_config_parse("fuzz", (struct tp_str){(const char *)data, size}, &text);
	if ((c == NULL) != (text.len > 0))
		abort();
	if (c != NULL) {
		if (c->n_providers == 0 || c->n_routes == 0 || c->n_listeners == 0 ||
		    c->budget.reserve > c->budget.sends)
			abort();
		for (size_t i = 0; i < c->n_routes; i++)
			if (c->routes[i].provider >= c->n_providers)
				abort();
		for (size_t i = 0; i < c->n_providers; i++)
			if (c->providers[i].retry.budget_reserve > c->providers[i].retry.budget_sends)
				abort();
		tp_config_show_effective(c, &text);
	}
	tp_buf_free(&text);
	tp_config_unref(c);
	return 0;
}
