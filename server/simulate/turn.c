#include "server/simulate/turn.h"

#include <inttypes.h>
#include <jansson.h>

#include "common/base/siphash.h"
#include "common/http/path.h"

static const struct api_path {
	const char *end;
	enum tp_sim_api api;
	const char *method;
} paths[] = {
	{"/chat/completions", TP_SIM_API_CHAT, "POST"},
	{"/responses", TP_SIM_API_RESPONSES, "POST"},
	{"/messages", TP_SIM_API_MESSAGES, "POST"},
	{"/messages/count_tokens", TP_SIM_API_COUNT_TOKENS, "POST"},
	{"/models", TP_SIM_API_MODELS, "GET"},
	{"/health", TP_SIM_API_HEALTH, "GET"},
};

static const char *find_api(struct tp_str path, enum tp_sim_api *ret)
{
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (tp_str_ends(path, tp_str_from(paths[i].end))) {
			*ret = paths[i].api;
			return paths[i].method;
		}
	}
	*ret = path.n <= 1 ? TP_SIM_API_HEALTH : TP_SIM_API_NONE;
	return "GET";
}

static struct tp_str header(const char *bytes, const struct tp_head *h, const char *name)
{
	const struct tp_field *f = tp_head_find_name(h, bytes, tp_str_from(name));

	return f != NULL ? tp_span_str(bytes, f->value) : (struct tp_str){NULL, 0};
}

/* A header wins over the model name, so that a test can use a client's own model name. */
static void find_script(struct tp_sim_turn *t, struct tp_str asked)
{
	struct tp_str model = tp_buf_str(&t->model);

	if (asked.p == NULL && tp_str_starts(model, TP_STR("sim:")))
		asked = model;
	if (tp_str_starts(asked, TP_STR("sim:")))
		asked = (struct tp_str){asked.p + 4, asked.n - 4};
	else if (asked.p == NULL)
		asked = TP_STR("200");
	tp_buf_add_str(&t->script, asked);
}

/*
 * The identity of a logical request that brings none: path, script and body, without the
 * members that clients change between their re-sends (Codex shuffles client_metadata, Claude
 * Code drops stream), members sorted.
 */
static void make_id(struct tp_sim_turn *t, json_t *json, struct tp_str body)
{
	static const uint8_t key[16] = "turnpike-sim-id";
	struct tp_buf all = {0};
	struct tp_hash128 hash;
	char *text = NULL;

	tp_buf_printf(&all, "%.*s\n", (int)t->path.n, t->path.p);
	tp_buf_add_str(&all, tp_buf_str(&t->script));
	tp_buf_add(&all, "\n", 1);
	if (json != NULL) {
		(void)json_object_del(json, "client_metadata");
		(void)json_object_del(json, "stream");
		(void)json_object_del(json, "stream_options");
		text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	}
	tp_buf_add_str(&all, text != NULL ? tp_str_from(text) : body);
	free(text);
	hash = tp_siphash128(key, all.data, all.len);
	tp_buf_free(&all);
	(void)snprintf(t->id, sizeof(t->id), "%016" PRIx64 "%016" PRIx64, hash.hi, hash.lo);
}

static bool take_id(struct tp_sim_turn *t, struct tp_str id)
{
	if (id.n == 0 || id.n > TP_SIM_ID_MAX)
		return false;
	memcpy(t->id, id.p, id.n);
	t->id[id.n] = '\0';
	return true;
}

static void read_members(struct tp_sim_turn *t, json_t *json)
{
	const char *model = json_string_value(json_object_get(json, "model"));

	if (model != NULL)
		tp_buf_add_str(&t->model, tp_str_from(model));
	t->stream = json_is_true(json_object_get(json, "stream"));
	t->include_usage =
		json_is_true(json_object_get(json_object_get(json, "stream_options"), "include_usage"));
}

/* Why a real provider would not take this request; NULL when it would. */
static const char *find_fault(const struct tp_sim_turn *t, bool bad_id, const char *wanted,
			      struct tp_str method, bool upgrade, const json_t *json, int *ret_status)
{
	bool is_get = *wanted == 'G';

	if (bad_id) {
		*ret_status = 400;
		return "x-simulate-id has 1 to 128 bytes";
	}
	if (upgrade) {
		*ret_status = 426;
		return "the simulator speaks plain HTTP only";
	}
	if (t->api == TP_SIM_API_NONE) /* 404 comes later: a script can ask for anything on any path */
		return NULL;
	if (!tp_str_eq(method, tp_str_from(wanted)) && !(is_get && tp_str_eq(method, TP_STR("HEAD")))) {
		*ret_status = 405;
		return "this path has another method";
	}
	if (!is_get && !json_is_object(json)) {
		*ret_status = 400;
		return "the body is not a JSON object";
	}
	return NULL;
}

int tp_sim_turn_read(struct tp_sim_turn *t, const char *bytes, const struct tp_head *h, struct tp_str body,
		     const char **ret_reason)
{
	struct tp_str id = header(bytes, h, "x-simulate-id");
	const char *wanted, *reason;
	json_t *json = NULL;
	int status = 0;

	t->path = tp_path_only(tp_span_str(bytes, h->target));
	wanted = find_api(t->path, &t->api);
	t->anthropic = t->api == TP_SIM_API_MESSAGES || t->api == TP_SIM_API_COUNT_TOKENS ||
		       header(bytes, h, "anthropic-version").p != NULL;
	t->input_tokens = (uint32_t)(body.n / 4 + 1);
	if (body.n > 0)
		json = json_loadb(body.p, body.n, 0, NULL);
	if (json_is_object(json))
		read_members(t, json);
	tp_buf_add_json(&t->escaped, tp_buf_str(&t->model));
	find_script(t, header(bytes, h, "x-simulate"));
	reason = find_fault(t, id.p != NULL && !take_id(t, id), wanted, tp_span_str(bytes, h->method),
			    h->upgrade, json, &status);
	if (reason != NULL)
		*ret_reason = reason;
	else if (id.p == NULL)
		make_id(t, json_is_object(json) ? json : NULL, body);
	json_decref(json);
	return status;
}

void tp_sim_turn_free(struct tp_sim_turn *t)
{
	tp_buf_free(&t->model);
	tp_buf_free(&t->escaped);
	tp_buf_free(&t->script);
}
