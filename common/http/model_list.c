#include "common/http/model_list.h"

#include <stdint.h>
#include <string.h>

#include <jansson.h>

#include "common/http/json.h"

void tp_model_entry(bool anthropic, struct tp_str name, struct tp_buf *out)
{
	/* When it was made is not known; both shapes want it said. */
	if (anthropic)
		tp_buf_printf(out,
			      "{\"type\":\"model\",\"id\":\"%.*s\",\"display_name\":\"%.*s\","
			      "\"created_at\":\"1970-01-01T00:00:00Z\"}",
			      (int)name.n, name.p, (int)name.n, name.p);
	else
		tp_buf_printf(
			out, "{\"id\":\"%.*s\",\"object\":\"model\",\"created\":0,\"owned_by\":\"turnpike\"}",
			(int)name.n, name.p);
}

enum shape { SHAPE_OTHER, SHAPE_OPENAI, SHAPE_ANTHROPIC };

static enum shape shape_of(const json_t *list)
{
	const char *object = json_string_value(json_object_get(list, "object"));
	const json_t *more = json_object_get(list, "has_more");
	if (!json_is_array(json_object_get(list, "data")) || json_is_true(more))
		return SHAPE_OTHER;
	if (object != NULL && strcmp(object, "list") == 0)
		return SHAPE_OPENAI;
	return more != NULL ? SHAPE_ANTHROPIC : SHAPE_OTHER;
}

static bool has(const json_t *data, struct tp_str name)
{
	size_t i;
	json_t *model;
	json_array_foreach(data, i, model)
	{
		const char *id = json_string_value(json_object_get(model, "id"));
		if (id != NULL && tp_str_eq(tp_str_from(id), name))
			return true;
	}
	return false;
}

/* Where the bracket stands that ends `data`; 0: nowhere. Of several the last one is what parsers take. */
static size_t end_of_data(struct tp_str list)
{
	struct tp_json j = {0};
	size_t used, at = 0, end = 0;
	enum tp_json_event e;
	while ((e = tp_json_feed(&j, list.p + at, list.n - at, &used)) != TP_JSON_MORE && e != TP_JSON_BAD) {
		at += used;
		if (e == TP_JSON_END && tp_str_eq(tp_json_key(&j), TP_STR("data")))
			end = j.type == TP_JSON_ARRAY ? (size_t)j.value_end - 1 : 0;
	}
	return tp_json_finish(&j) ? end : 0;
}

bool tp_model_list_add(struct tp_str list, const struct tp_str *names, size_t n, struct tp_buf *out)
{
	json_t *parsed = json_loadb(list.p, list.n, 0, NULL);
	enum shape shape = shape_of(parsed);
	const json_t *data = json_object_get(parsed, "data");
	bool first = json_array_size(data) == 0;
	size_t end = shape != SHAPE_OTHER ? end_of_data(list) : 0;
	struct tp_buf entries = {0};
	for (size_t i = 0; i < n && end > 0; i++) {
		if (has(data, names[i]))
			continue;
		if (!first)
			tp_buf_add_str(&entries, TP_STR(","));
		first = false;
		tp_model_entry(shape == SHAPE_ANTHROPIC, names[i], &entries);
	}
	json_decref(parsed);
	bool good = entries.len > 0 && !entries.failed && tp_buf_reserve(out, list.n + entries.len);
	if (good) {
		tp_buf_add(out, list.p, end);
		tp_buf_add_str(out, tp_buf_str(&entries));
		tp_buf_add(out, list.p + end, list.n - end);
	}
	tp_buf_free(&entries);
	return good;
}
