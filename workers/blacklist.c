#include "workers/blacklist.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/retry/url_fault.h"
#include "workers/alerts.h"
#include "workers/obstacle.h"
#include "workers/turn.h"

/* ---- asking */

/* Behind the provider's base, as upstream_head.c makes it, without the query. */
static struct tp_str path_of(const struct tp_turn *t)
{
	struct tp_str path = t->request->path;
	size_t cut = path.n < t->route_cut ? 0 : t->route_cut;
	return (struct tp_str){path.p + cut, path.n - cut};
}

static struct tp_breaker_policy policy_of(const struct tp_turn *t)
{
	return (struct tp_breaker_policy){
		.failures = t->config->blacklist.failures,
		.window_ms = t->config->blacklist.window_ms,
		.duration_ms = t->config->blacklist.duration_ms,
		.only_provider = !t->other_targets,
	};
}

static bool holds_probe(const struct tp_turn *t)
{
	return t->blacklist.pass.base_probe != 0 || t->blacklist.pass.url_probe != 0;
}

static struct tp_breaker_url url_of(const struct tp_turn *t, struct tp_str path)
{
	const struct tp_provider_conf *p = t->provider->conf;
	struct tp_url_memo *memo = &t->provider->last_url;
	if (path.n > 0 && tp_str_eq(path, (struct tp_str){memo->path, memo->path_n}))
		return (struct tp_breaker_url){.url = memo->url,
					       .base = memo->base,
					       .provider = tp_str_from(p->name),
					       .base_text = tp_str_from(p->base),
					       .path = path};
	struct tp_breaker_url url =
		tp_breaker_url(t->worker->region, tp_str_from(p->name), tp_str_from(p->base), path);
	if (path.n > 0 && path.n <= sizeof memo->path) {
		memo->base = url.base;
		memo->url = url.url;
		memo->path_n = path.n;
		memcpy(memo->path, path.p, path.n);
	}
	return url;
}

bool tp_blacklist_may_send(struct tp_turn *t, struct tp_obstacle *ret)
{
	struct tp_blacklist_turn *b = &t->blacklist;
	struct tp_region *region = t->worker->region;
	struct tp_breaker_policy policy = policy_of(t);
	struct tp_breaker_pass pass;
	uint64_t wait_ms;
	if (holds_probe(t)) /* the next send is a part of it */
		return true;
	if (t->attempt.serial == 0) /* of this turn's own sends none counts as an earlier one's */
		b->again = t->ledger.used > 0;
	struct tp_str path = path_of(t);
	struct tp_breaker_url url = url_of(t, path);
	enum tp_breaker_answer answer =
		tp_breaker_ask(region, t->worker->stamp, &url, &policy, tp_clock_boot_ms(), &pass, &wait_ms);
	if (answer == TP_BREAKER_LISTED) {
		tp_debug("turn %s: the URL is blacklisted", t->id);
		*ret = (struct tp_obstacle){.kind = TP_OBSTACLE_ENDS,
					    .code = TP_CODE_BLACKLISTED,
					    .left_ms = wait_ms,
					    .elsewhere = "is blacklisted"};
		return false;
	}
	b->pass = pass;
	b->pass.url.path.n = path.n < sizeof b->path ? path.n : sizeof b->path;
	memcpy(b->path, path.p, b->pass.url.path.n);
	b->pass.url.path.p = b->path;
	if (answer == TP_BREAKER_PASS_AS_PROBE)
		tp_debug("turn %s: probes a blacklisted URL", t->id);
	return true;
}

/* ---- telling */

void tp_blacklist_note(struct tp_turn *t, enum tp_cause cause, int status)
{
	enum tp_url_fault fault = tp_url_fault_of(cause, t->attempt.stage, status);
	if (fault == TP_URL_FAULT_NONE) /* a failure before it stays one */
		return;
	t->blacklist.failure =
		fault == TP_URL_FAULT_CONNECTION ? TP_BREAKER_FAILURE_CONNECTION : TP_BREAKER_FAILURE_STATUS;
	t->blacklist.failed = true;
}

static void log_news(const struct tp_turn *t, const struct tp_breaker_url *url, enum tp_breaker_news news,
		     bool connection)
{
	static const char *const words[] = {
		[TP_BREAKER_NO_NEWS] = "",
		[TP_BREAKER_NEWLY_LISTED] = "is blacklisted: too many failures in a row",
		[TP_BREAKER_LISTED_AGAIN] = "stays blacklisted: its probe failed",
		[TP_BREAKER_UNLISTED] = "is not blacklisted any more: its probe was answered",
	};
	if (news == TP_BREAKER_NO_NEWS)
		return;
	tp_info("provider %s: %s%.*s %s (%s)", t->provider->conf->name, t->provider->conf->base,
		connection ? 0 : (int)url->path.n, url->path.p, words[news],
		connection ? "no usable connection" : "answers");
}

static void report(struct tp_turn *t, enum tp_breaker_outcome outcome)
{
	struct tp_breaker_pass *pass = &t->blacklist.pass;
	if (pass->region == NULL)
		return;
	struct tp_breaker_url url = pass->url;
	bool connection = outcome == TP_BREAKER_FAILURE_CONNECTION;
	enum tp_breaker_news news = tp_breaker_report(pass, outcome, tp_clock_boot_ms());
	log_news(t, &url, news, connection);
	if (news == TP_BREAKER_NEWLY_LISTED)
		tp_alert_url_listed(t, url.path, connection);
}

void tp_blacklist_committed(struct tp_turn *t)
{
	if (holds_probe(t))
		report(t, TP_BREAKER_SUCCESS);
}

void tp_blacklist_over(struct tp_turn *t, bool good)
{
	struct tp_blacklist_turn *b = &t->blacklist;
	bool counts = b->failed && (!b->again || holds_probe(t));
	report(t, good ? TP_BREAKER_SUCCESS : counts ? b->failure : TP_BREAKER_NEUTRAL);
	b->failed = false;
}

void tp_blacklist_neutral(struct tp_turn *t)
{
	tp_blacklist_over(t, false);
}
