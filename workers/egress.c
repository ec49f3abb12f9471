#include "workers/egress.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/cooldown.h"

enum { SKIP_MS = 30000 };

/* ---- skipping */

static struct tp_cooldown_name name_of(const struct tp_provider_rt *p, unsigned way, struct tp_str text)
{
	return tp_cooldown_egress(p->worker->region, tp_str_from(p->conf->name),
				  tp_str_from(p->conf->egress[way].address), text);
}

static bool is_skipped(const struct tp_provider_rt *p, unsigned way)
{
	struct tp_cooldown_name name = name_of(p, way, (struct tp_str){NULL, 0});
	return tp_cooldown_get(p->worker->region, name.key, tp_clock_boot_ms(), NULL);
}

void tp_egress_failed(const struct tp_provider_rt *p, unsigned way, const char *why)
{
	char text[TP_COOLDOWN_NAME];
	const struct tp_provider_conf *conf = p->conf;
	uint64_t now = tp_clock_boot_ms();
	if (conf->n_via < 2) /* there is nothing to use instead */
		return;
	(void)snprintf(text, sizeof text, "%s via %s", conf->name, conf->egress[way].address);
	struct tp_cooldown_name name = name_of(p, way, tp_str_from(text));
	struct tp_cooldown c = {.until_ms = now + SKIP_MS};
	if (tp_cooldown_set(p->worker->region, p->worker->stamp, &name, c, now))
		tp_warn("provider %s: no way out via %s: %s; it is skipped for %d s", conf->name,
			conf->egress[way].address, why, SKIP_MS / 1000);
}

void tp_egress_worked(const struct tp_provider_rt *p, unsigned way)
{
	if (p->conf->n_via < 2)
		return;
	struct tp_cooldown_name name = name_of(p, way, (struct tp_str){NULL, 0});
	if (tp_cooldown_clear(p->worker->region, name.key, tp_clock_boot_ms()))
		tp_info("provider %s: via %s works again", p->conf->name, p->conf->egress[way].address);
}

/* ---- choosing */

static bool has(unsigned set, unsigned way)
{
	return (set >> way & 1) != 0;
}

unsigned tp_egress_plan(const struct tp_provider_rt *p, unsigned tried, uint8_t ret_order[TP_EGRESS_MAX])
{
	unsigned n_via = (unsigned)p->conf->n_via, skipped = 0, n = 0;
	for (unsigned way = 0; n_via > 1 && way < n_via; way++)
		if (is_skipped(p, way))
			skipped |= 1U << way;
	for (int last = 0; last < 2; last++)
		for (unsigned way = 0; way < n_via; way++)
			if (!has(tried, way) && has(skipped, way) == (last != 0))
				ret_order[n++] = (uint8_t)way;
	return n;
}

unsigned tp_egress_first(const struct tp_provider_rt *p)
{
	uint8_t order[TP_EGRESS_MAX] = {0};
	if (p->conf->n_via > 1)
		(void)tp_egress_plan(p, 0, order);
	return order[0];
}

bool tp_egress_left(const struct tp_provider_rt *p, unsigned tried)
{
	for (unsigned way = 0; way < p->conf->n_via; way++)
		if (!has(tried, way))
			return true;
	return false;
}

/* ---- requests to a proxy */

const struct tp_egress_conf *tp_egress_addressed(const struct tp_provider_conf *p, unsigned way)
{
	return p->https || p->egress[way].host == NULL ? NULL : &p->egress[way];
}

void tp_egress_target(struct tp_buf *out, const struct tp_egress_conf *proxy,
		      const struct tp_provider_conf *p)
{
	if (proxy == NULL)
		return;
	tp_buf_add_str(out, TP_STR("http://"));
	tp_buf_add_str(out, tp_str_from(p->authority));
}

void tp_egress_credential(struct tp_buf *out, const struct tp_egress_conf *proxy)
{
	if (proxy != NULL && proxy->authorization != NULL)
		tp_buf_printf(out, "proxy-authorization: %s\r\n", proxy->authorization);
}
