#include "workers/models.h"

#include "common/http/model_list.h"
#include "workers/turn.h"

enum { COMBOS_MAX = 256 }; /* the option table's bound of `combos` */

/* The path behind the route's; behind the route "/" it still has the API's own prefix. */
static struct tp_str rest_of_path(const struct tp_turn *t)
{
	struct tp_str path = t->request->path;
	bool root = tp_str_eq(tp_str_from(t->route->path), TP_STR("/"));
	size_t cut = !root ? strlen(t->route->path) : tp_str_starts(path, TP_STR("/v1/")) ? 3 : 0;
	return (struct tp_str){path.p + cut, path.n - cut};
}

/* `combo/NAME` asks for the same, whichever way the slash is written. */
static struct tp_str without_prefix(struct tp_str name)
{
	static const struct tp_str prefixes[] = {TP_NAME("combo/"), TP_NAME("combo%2F"), TP_NAME("combo%2f")};
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (tp_str_starts(name, prefixes[i]))
			return (struct tp_str){name.p + prefixes[i].n, name.n - prefixes[i].n};
	return name;
}

/* Anthropic's clients all send this header. */
static bool speaks_anthropic(const struct tp_turn *t)
{
	return tp_head_find_name(t->request->head, t->request->bytes, TP_STR("anthropic-version")) != NULL;
}

static bool answer_one(struct tp_turn *t, struct tp_str name)
{
	struct tp_buf body = {0};
	const struct tp_combo_conf *combo = tp_config_combo(t->config, without_prefix(name));
	if (combo == NULL)
		return false;
	tp_model_entry(speaks_anthropic(t), tp_str_from(combo->name), &body);
	if (body.failed)
		tp_turn_reject(t, 503, "out of memory");
	else
		tp_turn_answer_json(t, tp_buf_str(&body));
	tp_buf_free(&body);
	return true;
}

bool tp_models_begin(struct tp_turn *t)
{
	static const struct tp_str models = TP_NAME("/models");
	if (t->config->n_combos == 0 || t->request->head->framing != TP_FRAMING_NONE || t->tunnel ||
	    (!t->head_request &&
	     !tp_str_eq(tp_request_str(t->request, t->request->head->method), TP_STR("GET"))))
		return false;
	struct tp_str rest = rest_of_path(t);
	if (!tp_str_starts(rest, models))
		return false;
	if (rest.n > models.n && rest.p[models.n] == '/')
		return answer_one(t, (struct tp_str){rest.p + models.n + 1, rest.n - models.n - 1});
	t->lists_models = rest.n == models.n && !t->head_request;
	return false;
}

bool tp_models_add(const struct tp_turn *t, struct tp_str list, struct tp_buf *out)
{
	struct tp_str names[COMBOS_MAX];
	size_t n = 0;
	for (; n < t->config->n_combos && n < COMBOS_MAX; n++)
		names[n] = tp_str_from(t->config->combos[n].name);
	return tp_model_list_add(list, names, n, out);
}
