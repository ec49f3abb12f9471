#include <jansson.h>
#include <stdlib.h>

#include "common/config/show.h"
#include "common/config/show_value.h"
#include "common/config/units.h"

/* Every scalar may be written as text with ${} in it, which no schema can look behind. */
#define EXPANDED "\\$\\{"

/* jansson takes NULL for a failed part and then fails itself, so that one check at the end is enough. */
static json_t *of_option(const struct tp_option *o);

static json_t *of_section(const struct tp_section *s)
{
	json_t *properties = json_object(), *required = json_array();
	for (size_t i = 0; i < s->n_options; i++) {
		json_object_set_new(properties, s->options[i].key, of_option(&s->options[i]));
		if (s->options[i].required)
			json_array_append_new(required, json_string(s->options[i].key));
	}
	return json_pack("{s:s, s:b, s:o, s:o}", "type", "object", "additionalProperties", 0, "properties",
			 properties, "required", required);
}

/* A pattern, or text with ${} in it. */
static json_t *text_like(const char *pattern)
{
	return json_pack("{s:s, s:[{s:s}, {s:s}]}", "type", "string", "anyOf", "pattern", pattern, "pattern",
			 EXPANDED);
}

static json_t *number_between(uint64_t low, uint64_t high)
{
	return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)low, "maximum",
			 (json_int_t)high);
}

static json_t *either(json_t *a, json_t *b)
{
	return json_pack("{s:[o, o]}", "anyOf", a, b);
}

static json_t *of_words(const char *const *words)
{
	json_t *list = json_array();
	for (size_t i = 0; words[i] != NULL; i++)
		json_array_append_new(list, json_string(words[i]));
	return json_pack("{s:o}", "enum", list);
}

/* What is written without quotes is text to us, and to an editor perhaps a number or a truth. */
static json_t *any_text(bool optional)
{
	json_t *types = json_pack("[s, s, s]", "string", "number", "boolean");
	if (optional)
		json_array_append_new(types, json_string("null"));
	json_t *text = json_pack("{s:o}", "type", types);
	if (!optional)
		json_object_set_new(text, "minLength", json_integer(1));
	return text;
}

static json_t *of_list(const struct tp_option *o)
{
	json_t *item = of_section(o->inner);
	if (o->inner->shorthand != NULL)
		item = either(json_pack("{s:s}", "type", "string"), item);
	json_t *list = json_pack("{s:s, s:O, s:I, s:I}", "type", "array", "items", item, "minItems",
				 (json_int_t)o->low, "maxItems", (json_int_t)o->high);
	if (o->one_or_list)
		return either(list, item);
	json_decref(item);
	return list;
}

static json_t *of_map(const struct tp_option *o)
{
	json_t *map =
		json_pack("{s:s, s:I, s:{s:s}, s:o}", "type", "object", "minProperties", (json_int_t)o->low,
			  "propertyNames", "pattern", "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
			  "additionalProperties", of_section(o->inner));
	if (!o->required)
		json_object_set_new(map, "type", json_pack("[s, s]", "object", "null"));
	return map;
}

static json_t *of_type(const struct tp_option *o)
{
	switch (o->type) {
	case TP_OPT_BOOL:
		return either(
			json_pack("{s:s}", "type", "boolean"),
			text_like("^([Tt]rue|TRUE|[Ff]alse|FALSE|[Yy]es|YES|[Nn]o|NO|[Oo]n|ON|[Oo]ff|OFF)$"));
	case TP_OPT_COUNT: return either(number_between(o->low, o->high), text_like("^[0-9]+$"));
	case TP_OPT_WORKERS: return either(number_between(o->low, o->high), text_like("^(auto|[0-9]+)$"));
	case TP_OPT_LIMIT: return either(number_between(o->low, o->high), text_like("^(off|auto|[0-9]+)$"));
	case TP_OPT_DURATION:
		return either(json_pack("{s:i}", "const", 0),
			      text_like("^(0|[0-9]+(\\.[0-9]+)?(ms|s|m|h))$"));
	case TP_OPT_SIZE: return either(number_between(o->low, o->high), text_like("^[0-9]+(KiB|MiB|GiB)?$"));
	case TP_OPT_CHOICE: return either(of_words(o->choices), text_like(EXPANDED));
	case TP_OPT_STRING: return any_text(!o->required && o->fallback == NULL);
	case TP_OPT_PROVIDER: return any_text(false);
	case TP_OPT_STRINGS:
		return json_pack("{s:s, s:o, s:b, s:I}", "type", "array", "items", any_text(false),
				 "uniqueItems", !o->may_repeat, "maxItems", (json_int_t)o->high);
	case TP_OPT_STATUSES:
		return json_pack("{s:s, s:o, s:b}", "type", "array", "items",
				 either(number_between(400, 599), text_like("^[45][0-9][0-9]$")),
				 "uniqueItems", 1);
	case TP_OPT_LIST: return of_list(o);
	case TP_OPT_MAP: return of_map(o);
	case TP_OPT_SECTION: {
		json_t *section = of_section(o->inner);
		json_object_set_new(section, "type", json_pack("[s, s]", "object", "null"));
		return section;
	}
	}
	return NULL;
}

/* A default as JSON: numbers and booleans by type, all else as text. */
static json_t *of_default(const struct tp_option *o, const struct tp_node *node)
{
	uint64_t number = 0;
	bool truth = false;
	if (node->kind == TP_NODE_MAPPING) /* the only default of that kind is the empty one */
		return json_object();
	if (node->kind == TP_NODE_LIST) {
		json_t *list = json_array();
		for (const struct tp_node *item = node->first; item != NULL; item = item->next)
			json_array_append_new(list, of_default(o, item));
		return list;
	}
	if (o->type == TP_OPT_BOOL && tp_parse_bool(tp_str_from(node->text), &truth) == NULL)
		return json_boolean(truth);
	bool counted = o->type == TP_OPT_COUNT || o->type == TP_OPT_STATUSES;
	if (counted && tp_parse_count(tp_str_from(node->text), &number) == NULL)
		return json_integer((json_int_t)number);
	return json_string(node->text);
}

static json_t *of_option(const struct tp_option *o)
{
	json_t *schema = of_type(o);
	struct tp_buf help = {0};
	tp_show_help(o, &help);
	const char *text = tp_buf_cstr(&help);
	json_object_set_new(schema, "description", json_string(text != NULL ? text : o->help));
	tp_buf_free(&help);
	if (o->fallback == NULL)
		return schema;
	struct tp_config_errors errors = {0};
	struct tp_node *node = tp_node_read(tp_str_from(o->fallback), &errors);
	if (node != NULL)
		json_object_set_new(schema, "default", of_default(o, node));
	tp_node_free(node);
	tp_config_errors_free(&errors);
	return schema;
}

bool tp_config_show_schema(struct tp_buf *out)
{
	json_t *schema = of_section(&tp_config_root);
	json_object_set_new(schema, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(schema, "title", json_string("Turnpike configuration"));
	char *text = json_dumps(schema, JSON_INDENT(2) | JSON_SORT_KEYS);
	json_decref(schema);
	if (text == NULL)
		return false;
	tp_buf_printf(out, "%s\n", text);
	free(text);
	return !out->failed;
}
