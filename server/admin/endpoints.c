#include "server/admin/endpoints.h"

#include <jansson.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/shm/breaker.h"
#include "common/shm/history.h"
#include "common/shm/slots.h"
#include "server/admin/metrics.h"
#include "server/admin/listing.h"
#include "server/admin/page.h"
#include "server/admin/recent.h"
#include "server/admin/report.h"

static const char type_json[] = "application/json";
static const char type_text[] = "text/plain; charset=utf-8";

enum { URL_LIMIT = 2048 };

void tp_admin_error(int status, const char *message, struct tp_admin_answer *ret_answer)
{
	*ret_answer = (struct tp_admin_answer){.status = status, .type = type_json};
	tp_buf_add_str(&ret_answer->body, TP_STR("{\"error\":\""));
	tp_buf_add_json(&ret_answer->body, tp_str_from(message));
	tp_buf_add_str(&ret_answer->body, TP_STR("\"}\n"));
}

static void say(struct tp_admin_answer *a, int status, struct tp_str text)
{
	a->status = status;
	a->type = type_text;
	tp_buf_add_str(&a->body, text);
}

/* ---- reading */

/* Whoever gets this at all has a living master: this process leaves with it. */
static void healthz(const struct tp_admin_view *v, const struct tp_admin_question *q,
		    struct tp_admin_answer *a)
{
	(void)q;
	say(a, 200, TP_STR("ok\n"));
	if (v->reload_error != NULL)
		tp_buf_printf(&a->body, "the last reload was refused:\n%s\n", v->reload_error);
}

static void readyz(const struct tp_admin_view *v, const struct tp_admin_question *q,
		   struct tp_admin_answer *a)
{
	(void)q;
	bool ready = false;
	for (unsigned i = 0; i < v->n_slots; i++)
		ready = ready || tp_slot_ready(v->region, v->slots[i]);
	if (v->draining)
		say(a, 503, TP_STR("draining\n"));
	else if (!ready)
		say(a, 503, TP_STR("no worker is ready\n"));
	else
		say(a, 200, TP_STR("ready\n"));
}

static void metrics(const struct tp_admin_view *v, const struct tp_admin_question *q,
		    struct tp_admin_answer *a)
{
	(void)q;
	a->status = 200;
	a->type = TP_METRICS_TYPE;
	(void)tp_metrics_write(v->region, v->config, &a->body);
}

/* Shown or not: whether its buttons would be obeyed. */
static const char *clearing(const struct tp_admin_view *v, const struct tp_admin_question *q)
{
	if (q->local)
		return "yes";
	return v->config->admin.token != NULL ? "token" : "no";
}

/* What the page wants besides. False: out of memory. */
static bool add_recent(const struct tp_admin_view *v, const struct tp_admin_question *q, json_t *tree)
{
	tp_history_tick(v->region, tp_clock_boot_ms()); /* so that the present minute has its beginning */
	return (json_object_set_new(tree, "history", tp_recent_history(v->region)) |
		json_object_set_new(tree, "failures", tp_recent_failures(v->region)) |
		json_object_set_new(tree, "setup", tp_recent_setup(v->config)) |
		json_object_set_new(tree, "draining", json_boolean(v->draining)) |
		json_object_set_new(tree, "clearing", json_string(clearing(v, q)))) == 0;
}

static void stats(const struct tp_admin_view *v, const struct tp_admin_question *q, struct tp_admin_answer *a)
{
	a->status = 200;
	const struct tp_breaker_policy policy = tp_listing_policy(v->config);
	json_t *tree = tp_report_make(v->region, &policy);
	json_t *error = v->reload_error != NULL ? tp_listing_text(tp_str_from(v->reload_error)) : json_null();
	bool recent = tp_str_eq(q->query, TP_STR("history=1"));
	if (json_object_set_new(tree, "reload_error", error) != 0 || (recent && !add_recent(v, q, tree))) {
		json_decref(tree);
		tree = NULL;
	}
	(void)tp_report_text(tree, &a->body);
}

static void page(const struct tp_admin_view *v, const struct tp_admin_question *q, struct tp_admin_answer *a)
{
	(void)v;
	const struct tp_page *p = tp_page_get();
	if (p == NULL) {
		a->body.failed = true;
		return;
	}
	bool known = tp_str_eq(q->known, p->etag);
	a->status = known ? 304 : 200;
	a->type = TP_PAGE_TYPE;
	a->fields = p->fields;
	if (!known)
		tp_buf_add_str(&a->body, p->html);
}

/* ---- clearing */

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = NULL;
	if (c != '\0')
		at = strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
	return at != NULL ? (int)(at - digits) : -1;
}

/* Percent-decodes the value of url= into `url`. False: no such parameter, or a bad one. */
static bool url_of_query(struct tp_str query, char url[URL_LIMIT])
{
	static const struct tp_str key = {"url=", 4};
	size_t n = 0;
	if (!tp_str_starts(query, key))
		return false;
	for (size_t i = key.n; i < query.n; i++) {
		char c = query.p[i];
		if (c == '&' || n + 1 >= URL_LIMIT)
			return false;
		if (c == '%') {
			int high = i + 2 < query.n ? hex_digit(query.p[i + 1]) : -1;
			int low = high >= 0 ? hex_digit(query.p[i + 2]) : -1;
			if (low < 0 || high * 16 + low == 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		}
		url[n++] = c;
	}
	url[n] = '\0';
	return n > 0;
}

/* The one member of the body, text below URL_LIMIT; an empty object has none. False: anything else. */
static bool member_of_body(struct tp_str body, const char *name, char url[URL_LIMIT], bool *ret_given)
{
	json_t *tree = json_loadb(body.p, body.n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *value = json_object_get(tree, name);
	const char *text = json_string_value(value);
	size_t n = text != NULL ? json_string_length(value) : 0;
	bool empty = json_is_object(tree) && json_object_size(tree) == 0;
	bool good = json_object_size(tree) == 1 && n > 0 && n < URL_LIMIT && strlen(text) == n;
	if (good)
		memcpy(url, text, n + 1);
	*ret_given = good;
	json_decref(tree);
	return good || empty;
}

static void tell_cleared(struct tp_admin_answer *a, uint32_t n)
{
	a->status = 200;
	tp_buf_printf(&a->body, "{\"cleared\":%u}\n", (unsigned)n);
}

static void clear_blacklist(const struct tp_admin_view *v, const struct tp_admin_question *q,
			    struct tp_admin_answer *a)
{
	char url[URL_LIMIT];
	bool given = false, understood = true;
	if (q->query.n > 0)
		understood = given = url_of_query(q->query, url);
	else if (tp_str_trim(q->body).n > 0)
		understood = member_of_body(q->body, "url", url, &given);
	if (!understood) {
		tp_admin_error(400, "either ?url=URL, or {\"url\": \"URL\"}, or nothing for all", a);
		return;
	}
	uint32_t n = tp_breaker_clear(v->region, given ? url : NULL);
	/* Not the URL itself: what was typed may hold a key. */
	tp_info("blacklist cleared by the operator: %s, %u listed", given ? "one URL" : "all", (unsigned)n);
	tell_cleared(a, n);
}

static void clear_cooldowns(const struct tp_admin_view *v, const struct tp_admin_question *q,
			    struct tp_admin_answer *a)
{
	(void)q;
	uint32_t n = tp_listing_clear_cooldowns(v->region);
	tp_info("cooldowns cleared by the operator: %u", (unsigned)n);
	tell_cleared(a, n);
}

/* ---- reload */

/* Whoever names a file wants that one: it would be no help to be told that another one serves. */
static bool reads_another(const char *file, const char *wanted, struct tp_admin_answer *a)
{
	char *ours = file != NULL ? realpath(file, NULL) : NULL;
	bool another = file == NULL || (ours != NULL && strcmp(ours, wanted) != 0);
	struct tp_buf text = {0};
	if (another) {
		tp_buf_printf(&text, "this server does not read %s, but %s", wanted,
			      file == NULL ? "variables or its command line" : ours);
		const char *said = tp_buf_cstr(&text);
		tp_admin_error(409, said != NULL ? said : "this server reads another file", a);
	}
	tp_buf_free(&text);
	free(ours);
	return another;
}

static void reload(const struct tp_admin_view *v, const struct tp_admin_question *q,
		   struct tp_admin_answer *a)
{
	char wanted[URL_LIMIT];
	bool given = false;
	if (tp_str_trim(q->body).n > 0 && !member_of_body(q->body, "file", wanted, &given)) {
		tp_admin_error(400, "either {\"file\": \"/path\"}, or nothing", a);
		return;
	}
	if (given && reads_another(v->file, wanted, a))
		return;
	a->awaited = v->ask_reload != NULL ? v->ask_reload(v->ask_arg) : 0;
	if (a->awaited == 0)
		tp_admin_error(503, "the master cannot be asked now", a);
}

void tp_admin_reload_answer(bool good, uint64_t generation, struct tp_str lines,
			    struct tp_admin_answer *ret_answer)
{
	*ret_answer = (struct tp_admin_answer){.status = good ? 200 : 422, .type = type_json};
	struct tp_buf *out = &ret_answer->body;
	tp_buf_printf(out, "{\"generation\":%llu,\"%s\":[", (unsigned long long)generation,
		      good ? "warnings" : "errors");
	for (bool first = true; lines.n > 0; first = false) {
		const char *end = memchr(lines.p, '\n', lines.n);
		size_t n = end != NULL ? (size_t)(end - lines.p) : lines.n;
		tp_buf_add_str(out, first ? TP_STR("\"") : TP_STR(",\""));
		tp_buf_add_json(out, (struct tp_str){lines.p, n});
		tp_buf_add_str(out, TP_STR("\""));
		n += end != NULL;
		lines = (struct tp_str){lines.p + n, lines.n - n};
	}
	tp_buf_add_str(out, TP_STR("]}\n"));
}

/* ---- the table */

static const struct endpoint {
	const char *path;
	bool changes; /* POST, else GET and HEAD */
	void (*answer)(const struct tp_admin_view *, const struct tp_admin_question *,
		       struct tp_admin_answer *);
} endpoints[] = {
	{"/", false, page},
	{"/healthz", false, healthz},
	{"/readyz", false, readyz},
	{"/metrics", false, metrics},
	{"/stats", false, stats},
	{"/blacklist/clear", true, clear_blacklist},
	{"/cooldown/clear", true, clear_cooldowns},
	{"/reload", true, reload},
};

void tp_admin_answer(const struct tp_admin_view *view, const struct tp_admin_question *q,
		     struct tp_admin_answer *ret_answer)
{
	const struct endpoint *e = NULL;
	for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0] && e == NULL; i++)
		if (tp_str_eq(q->path, tp_str_from(endpoints[i].path)))
			e = &endpoints[i];
	if (e == NULL) {
		tp_admin_error(404, "there is nothing here", ret_answer);
		return;
	}
	bool fits = e->changes ? tp_str_eq(q->method, TP_STR("POST"))
			       : tp_str_eq(q->method, TP_STR("GET")) || tp_str_eq(q->method, TP_STR("HEAD"));
	if (!fits) {
		tp_admin_error(405, "this method has no meaning here", ret_answer);
		ret_answer->allow = e->changes ? "POST" : "GET, HEAD";
		return;
	}
	*ret_answer = (struct tp_admin_answer){.type = type_json};
	e->answer(view, q, ret_answer);
}
