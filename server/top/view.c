#include "server/top/view.h"

#include <string.h>

#include "server/show.h"

struct view {
	const json_t *now, *before;
	double seconds;
	struct tp_buf *out;
};

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void add_rate(const struct view *v, double now, double before)
{
	if (v->before == NULL || v->seconds <= 0)
		tp_buf_add_str(v->out, TP_STR("-"));
	else
		tp_buf_printf(v->out, "%.1f/s", now > before ? (now - before) / v->seconds : 0.0);
}

static void heading(const struct view *v, const char *text)
{
	tp_buf_printf(v->out, "\n%c%s\n", TP_TOP_HEADING, text);
}

/* ---- the instance */

static void add_instance(const struct view *v, const char *name)
{
	size_t workers = json_array_size(json_object_get(v->now, "workers"));
	unsigned long long seconds = (unsigned long long)number(v->now, "uptime");
	tp_buf_printf(v->out, "%cturnpike %s: up %llu:%02llu:%02llu, ", TP_TOP_HEADING, name, seconds / 3600,
		      seconds / 60 % 60, seconds % 60);
	tp_buf_printf(v->out, "%zu worker%s (%.0f restarted), configuration %.0f\n\n", workers,
		      workers == 1 ? "" : "s", number(v->now, "worker_restarts"),
		      number(v->now, "config_generation"));
}

static double sends(const json_t *report)
{
	const char *key;
	json_t *value, *counters = json_object_get(report, "counters");
	double sum = 0;
	json_object_foreach(counters, key, value)
	{
		if (strncmp(key, "sends_", 6) == 0)
			sum += json_number_value(value);
	}
	return sum;
}

static double of_all_providers(const json_t *report, const char *what)
{
	const char *key;
	json_t *provider;
	double sum = 0;
	json_object_foreach(json_object_get(report, "providers"), key, provider) sum +=
		number(provider, what);
	return sum;
}

static void add_traffic(const struct view *v)
{
	const json_t *counters = json_object_get(v->now, "counters"),
		     *gauges = json_object_get(v->now, "gauges");
	tp_buf_add_str(v->out, TP_STR("requests   "));
	add_rate(v, number(counters, "turns"), number(json_object_get(v->before, "counters"), "turns"));
	tp_buf_printf(v->out, "   in flight %.0f   waiting %.0f   queued %.0f   clients %.0f\n",
		      number(gauges, "turns"), number(gauges, "waiting"), of_all_providers(v->now, "queued"),
		      number(gauges, "clients"));
	tp_buf_add_str(v->out, TP_STR("sends      "));
	add_rate(v, sends(v->now), sends(v->before));
	tp_buf_printf(v->out, "   possibly billed %.0f   given back %.0f\n",
		      number(counters, "possibly_billed"), number(counters, "given_back"));
}

static void add_seconds(const struct view *v, const char *title, const char *histogram)
{
	const json_t *h = json_object_get(json_object_get(v->now, "histograms"), histogram);
	tp_buf_printf(v->out, "%s p50 %.2f s, p95 %.2f s", title, number(h, "p50"), number(h, "p95"));
}

static void add_times(const struct view *v)
{
	add_seconds(v, "first byte", "turnpike_first_byte_seconds");
	add_seconds(v, "   whole request", "turnpike_turn_seconds");
	add_seconds(v, "   waits", "turnpike_wait_seconds");
	tp_buf_add_str(v->out, TP_STR("\n"));
}

/* ---- tables */

static double all_members(const json_t *object)
{
	const char *key;
	json_t *value;
	double sum = 0;
	json_object_foreach((json_t *)(uintptr_t)object, key, value) sum += json_number_value(value);
	return sum;
}

/* As wide as the names in it, within bounds. */
static int width_of(const json_t *object)
{
	enum { LEAST = 12, MOST = 40 };
	const char *key;
	json_t *value;
	size_t width = LEAST;
	json_object_foreach((json_t *)(uintptr_t)object, key, value) width =
		strlen(key) > width ? strlen(key) : width;
	return (int)(width < MOST ? width : MOST);
}

static void add_cell(const struct view *v, double now, double before)
{
	struct tp_buf cell = {0};
	struct view one = *v;
	one.out = &cell;
	add_rate(&one, now, before);
	const char *text = tp_buf_cstr(&cell);
	tp_buf_printf(v->out, "%10s", text != NULL ? text : "");
	tp_buf_free(&cell);
}

static void add_providers(const struct view *v)
{
	const char *name;
	json_t *provider, *providers = json_object_get(v->now, "providers");
	const json_t *before = json_object_get(v->before, "providers");
	int width = width_of(providers);
	if (json_object_size(providers) == 0)
		return;
	tp_buf_printf(v->out, "\n%c%-*s%10s%10s%11s%9s%17s\n", TP_TOP_HEADING, width, "provider", "sends",
		      "in all", "in flight", "queued", "possibly billed");
	json_object_foreach(providers, name, provider)
	{
		double all = all_members(json_object_get(provider, "sends"));
		tp_buf_printf(v->out, "%-*s", width, name);
		add_cell(v, all, all_members(json_object_get(json_object_get(before, name), "sends")));
		tp_buf_printf(v->out, "%10.0f%11.0f%9.0f%17.0f\n", all, number(provider, "inflight"),
			      number(provider, "queued"), number(provider, "possibly_billed"));
	}
}

/* What happened for a reason: per second and in all. */
static void add_reasons(const struct view *v, const char *title, const char *key)
{
	const char *reason;
	json_t *value, *reasons = json_object_get(v->now, key);
	const json_t *before = json_object_get(v->before, key);
	int width = width_of(reasons);
	if (all_members(reasons) <= 0)
		return;
	tp_buf_printf(v->out, "\n%c%-*s%10s%10s\n", TP_TOP_HEADING, width, title, "rate", "in all");
	json_object_foreach(reasons, reason, value)
	{
		if (json_number_value(value) <= 0)
			continue;
		tp_buf_printf(v->out, "%-*s", width, reason);
		add_cell(v, json_number_value(value), number(before, reason));
		tp_buf_printf(v->out, "%10.0f\n", json_number_value(value));
	}
}

static void add_rows(const struct view *v, const char *key, void (*show)(const json_t *, struct tp_buf *))
{
	size_t i;
	const json_t *row;
	json_array_foreach(json_object_get(v->now, key), i, row)
	{
		show(row, v->out);
		tp_buf_add_str(v->out, TP_STR("\n"));
	}
}

static void add_out_of_service(const struct view *v)
{
	size_t n = json_array_size(json_object_get(v->now, "blacklist")) +
		   json_array_size(json_object_get(v->now, "cooldowns"));
	heading(v, n > 0 ? "out of service" : "nothing is out of service");
	add_rows(v, "blacklist", tp_show_listed);
	add_rows(v, "cooldowns", tp_show_cooling);
}

/* ---- open turns */

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));
	return text != NULL ? text : "";
}

/* "waiting for capacity, 12 s", "joining, 3 s", "sending" */
static void say_state(const json_t *row, struct tp_buf *out)
{
	const char *wait = text_of(row, "waits_for");
	tp_buf_printf(out, "%s%s%s", text_of(row, "state"), wait[0] != '\0' ? " for " : "",
		      strcmp(wait, "rate_limit") == 0 ? "a rate limit" : wait);
	if (json_is_number(json_object_get(row, "left")))
		tp_buf_printf(out, ", %.0f s", number(row, "left"));
}

static void add_open_turn(const json_t *row, struct tp_buf *out)
{
	struct tp_buf state = {0}, target = {0};
	say_state(row, &state);
	const char *model = text_of(row, "model");
	tp_buf_printf(&target, "%s%s%s", text_of(row, "provider"), model[0] != '\0' ? "/" : "", model);
	const char *s = tp_buf_cstr(&state), *t = tp_buf_cstr(&target);
	tp_buf_printf(out, "%6.0f s  %5.0f  %-28s %-30s %-10s %-16s %s", number(row, "age"),
		      number(row, "sends"), s != NULL ? s : "", t != NULL ? t : "", text_of(row, "family"),
		      text_of(row, "logical"), text_of(row, "id"));
	tp_buf_free(&state);
	tp_buf_free(&target);
}

static void add_open_turns(const struct view *v)
{
	if (json_array_size(json_object_get(v->now, "open_turns")) == 0)
		return;
	tp_buf_printf(v->out, "\n%c%8s  %5s  %-28s %-30s %-10s %-16s %s\n", TP_TOP_HEADING, "open for",
		      "sends", "state", "target", "family", "logical request", "request");
	add_rows(v, "open_turns", add_open_turn);
}

void tp_top_view(const char *name, const json_t *now, const json_t *before, double seconds,
		 struct tp_buf *out)
{
	const struct view v = {.now = now, .before = before, .seconds = seconds, .out = out};
	add_instance(&v, name);
	add_traffic(&v);
	add_times(&v);
	add_providers(&v);
	add_reasons(&v, "sent again", "retries");
	add_reasons(&v, "refused", "refusals");
	add_out_of_service(&v);
	add_open_turns(&v);
}
