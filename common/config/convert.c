#include "common/config/convert.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/config/fill.h"
#include "common/config/suggest.h"
#include "common/config/units.h"

/* ---- fields */

static void store(void *field, size_t width, uint64_t value)
{
	switch (width) {
	case 1: *(uint8_t *)field = (uint8_t)value; break;
	case 2: *(uint16_t *)field = (uint16_t)value; break;
	case 4: *(uint32_t *)field = (uint32_t)value; break;
	default: *(uint64_t *)field = value; break;
	}
}

uint64_t tp_convert_load(const void *field, size_t width)
{
	switch (width) {
	case 1: return *(const uint8_t *)field;
	case 2: return *(const uint16_t *)field;
	case 4: return *(const uint32_t *)field;
	default: return *(const uint64_t *)field;
	}
}

void tp_convert_set_string(void *field, char *value)
{
	char **string = field;
	if (*string != NULL)
		explicit_bzero(*string, strlen(*string));
	free(*string);
	*string = value;
}

static size_t *count_of(const struct tp_option *o, void *object)
{
	return (size_t *)(void *)((char *)object + o->count_offset);
}

void tp_convert_clear_strings(const struct tp_option *o, void *object)
{
	char ***field = tp_option_field(o, object);
	size_t *count = count_of(o, object);
	for (size_t i = 0; *field != NULL && i < *count; i++)
		tp_convert_set_string(&(*field)[i], NULL);
	free(*field);
	*field = NULL;
	*count = 0;
}

/* ---- messages */

/* A value as it may be shown: as written (before ${}), short, and never a secret. */
static void complain_about_value(struct tp_load *l, const struct tp_option *o, struct tp_node *node,
				 const char *reason)
{
	size_t n = strlen(node->raw);
	if (o->secret)
		tp_node_complain(node, l->errors, "the value %s", reason);
	else
		tp_node_complain(node, l->errors, "`%.*s%s` %s", n > 60 ? 60 : (int)n, node->raw,
				 n > 60 ? "..." : "", reason);
}

/* Lists and mappings where one value should stand. */
static bool is_scalar(struct tp_load *l, struct tp_node *node)
{
	if (node->kind == TP_NODE_SCALAR)
		return true;
	if (node->kind == TP_NODE_NULL)
		tp_node_complain(node, l->errors, "has no value");
	else if (node->kind != TP_NODE_BAD)
		tp_node_complain(node, l->errors, "must be a single value, not a %s",
				 node->kind == TP_NODE_LIST ? "list" : "mapping");
	return false;
}

static bool is_list(struct tp_load *l, struct tp_node *node)
{
	if (node->kind == TP_NODE_LIST)
		return true;
	if (node->kind == TP_NODE_NULL)
		tp_node_complain(node, l->errors, "has no value: write [] for an empty list");
	else if (node->kind != TP_NODE_BAD)
		tp_node_complain(node, l->errors, "must be a list, like [ a, b ]");
	return false;
}

static void complain_about_range(struct tp_load *l, const struct tp_option *o, struct tp_node *node)
{
	void (*format)(struct tp_buf *, uint64_t) = o->type == TP_OPT_DURATION ? tp_format_duration
						    : o->type == TP_OPT_SIZE   ? tp_format_size
									       : tp_buf_add_uint;
	struct tp_buf reason = {0};
	tp_buf_printf(&reason, "is out of range: from ");
	format(&reason, o->low);
	tp_buf_printf(&reason, " to ");
	format(&reason, o->high);
	const char *text = tp_buf_cstr(&reason);
	complain_about_value(l, o, node, text != NULL ? text : "is out of range");
	tp_buf_free(&reason);
}

/* ---- single values */

typedef bool converter(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node);

static bool convert_number(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	if (!is_scalar(l, node))
		return false;
	uint64_t value = 0;
	struct tp_str text = tp_str_from(node->text);
	const char *reason = o->type == TP_OPT_DURATION ? tp_parse_duration(text, &value)
			     : o->type == TP_OPT_SIZE   ? tp_parse_size(text, &value)
							: tp_parse_count(text, &value);
	if (reason != NULL) {
		complain_about_value(l, o, node, reason);
		return false;
	}
	if (value < o->low || value > o->high) {
		complain_about_range(l, o, node);
		return false;
	}
	store(tp_option_field(o, object), o->width, value);
	return true;
}

/* CPUs this process may run on: in a container or under taskset fewer than the machine has. */
static uint64_t count_cpus(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (uint64_t)CPU_COUNT(&set);
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (uint64_t)n : 1;
}

static bool convert_workers(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	if (node->kind != TP_NODE_SCALAR || strcmp(node->text, "auto") != 0)
		return convert_number(l, o, object, node);
	uint64_t n = count_cpus();
	store(tp_option_field(o, object), o->width, n < o->low ? o->low : n > o->high ? o->high : n);
	return true;
}

static bool convert_limit(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	bool scalar = node->kind == TP_NODE_SCALAR, off = scalar && strcmp(node->text, "off") == 0;
	if (!off && (!scalar || strcmp(node->text, "auto") != 0))
		return convert_number(l, o, object, node);
	store(tp_option_field(o, object), o->width, off ? TP_LIMIT_OFF : TP_LIMIT_AUTO);
	return true;
}

static bool convert_bool(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	bool value = false;
	if (!is_scalar(l, node))
		return false;
	const char *reason = tp_parse_bool(tp_str_from(node->text), &value);
	if (reason != NULL) {
		complain_about_value(l, o, node, reason);
		return false;
	}
	store(tp_option_field(o, object), o->width, value);
	return true;
}

static bool convert_choice(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	if (!is_scalar(l, node))
		return false;
	struct tp_suggestion near = tp_suggest_begin(node->text);
	struct tp_buf reason = {0};
	tp_buf_printf(&reason, "is not one of");
	for (size_t i = 0; o->choices[i] != NULL; i++) {
		if (strcmp(o->choices[i], node->text) == 0) {
			store(tp_option_field(o, object), o->width, i);
			tp_buf_free(&reason);
			return true;
		}
		tp_suggest_candidate(&near, o->choices[i]);
		tp_buf_printf(&reason, "%s %s", i > 0 ? "," : "", o->choices[i]);
	}
	if (near.best != NULL)
		tp_buf_printf(&reason, " (did you mean `%s`?)", near.best);
	const char *text = tp_buf_cstr(&reason);
	complain_about_value(l, o, node, text != NULL ? text : "is not known");
	tp_buf_free(&reason);
	return false;
}

/* A checked copy of a scalar, or NULL after telling why. */
static char *copy_text(struct tp_load *l, const struct tp_option *o, struct tp_node *node)
{
	char *copy = strdup(node->text);
	if (copy == NULL) {
		l->errors->no_memory = true;
		return NULL;
	}
	const char *reason = copy[0] == '\0' ? "is empty" : o->refuse != NULL ? o->refuse(copy) : NULL;
	if (reason == NULL)
		return copy;
	complain_about_value(l, o, node, reason);
	tp_convert_set_string(&copy, NULL);
	return NULL;
}

static bool convert_string(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	bool optional = !o->required && o->fallback == NULL;
	bool empty = node->kind == TP_NODE_NULL || (node->kind == TP_NODE_SCALAR && node->raw[0] == '\0');
	if (optional && empty)
		return true;
	if (!is_scalar(l, node))
		return false;
	char *copy = copy_text(l, o, node);
	if (copy == NULL)
		return false;
	tp_convert_set_string(tp_option_field(o, object), copy);
	return true;
}

static bool convert_provider(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	if (!is_scalar(l, node))
		return false;
	const struct tp_config *c = l->config;
	struct tp_suggestion near = tp_suggest_begin(node->text);
	for (size_t i = 0; i < c->n_providers; i++) {
		if (c->providers[i].name == NULL)
			continue;
		if (strcmp(c->providers[i].name, node->text) == 0) {
			store(tp_option_field(o, object), o->width, i);
			return true;
		}
		tp_suggest_candidate(&near, c->providers[i].name);
	}
	/* A section `providers` that could not be read has been told: each name in it would be told again. */
	if (c->n_providers > 0 && near.best != NULL)
		tp_node_complain(node, l->errors, "no provider is named `%s` (did you mean `%s`?)", node->raw,
				 near.best);
	else if (c->n_providers > 0 || l->errors->n == 0)
		tp_node_complain(node, l->errors, "no provider is named `%s`", node->raw);
	return false;
}

/* ---- lists */

static bool convert_statuses(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	if (!is_list(l, node))
		return false;
	struct tp_status_set set = {0};
	for (struct tp_node *item = node->first; item != NULL; item = item->next) {
		uint64_t status = 0;
		if (!is_scalar(l, item))
			continue;
		const char *reason = tp_parse_count(tp_str_from(item->text), &status);
		if (reason == NULL && (status < 400 || status > 599))
			reason = "is not a failure status: from 400 to 599";
		else if (reason == NULL && tp_status_in(&set, (int)status))
			reason = "is given twice";
		if (reason != NULL)
			complain_about_value(l, o, item, reason);
		else
			set.bits[status / 64] |= UINT64_C(1) << status % 64;
	}
	if (node->bad)
		return false;
	*(struct tp_status_set *)tp_option_field(o, object) = set;
	return true;
}

static bool is_among(char *const *strings, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(strings[i], text) == 0)
			return true;
	return false;
}

static bool has_allowed_count(struct tp_load *l, const struct tp_option *o, struct tp_node *node, size_t n)
{
	if (n > o->high)
		tp_node_complain(node, l->errors, "has %zu entries: at most %ju are allowed", n,
				 (uintmax_t)o->high);
	else if (n < o->low)
		tp_node_complain(node, l->errors, "needs at least %ju entry", (uintmax_t)o->low);
	return n >= o->low && n <= o->high;
}

static bool convert_strings(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	if (!is_list(l, node) || !has_allowed_count(l, o, node, node->n_children))
		return false;
	tp_convert_clear_strings(o, object);
	if (node->n_children == 0)
		return true;
	char **strings = calloc(node->n_children + 1, sizeof *strings); /* NULL-terminated */
	if (strings == NULL) {
		l->errors->no_memory = true;
		return false;
	}
	*(char ***)tp_option_field(o, object) = strings;
	size_t *count = count_of(o, object);
	for (struct tp_node *item = node->first; item != NULL; item = item->next) {
		char *copy = is_scalar(l, item) ? copy_text(l, o, item) : NULL;
		if (copy != NULL && !o->may_repeat && is_among(strings, *count, copy)) {
			complain_about_value(l, o, item, "is given twice");
			tp_convert_set_string(&copy, NULL);
		}
		if (copy != NULL)
			strings[(*count)++] = copy;
	}
	return true;
}

static char *add_objects(struct tp_load *l, const struct tp_option *o, void *object, size_t n)
{
	char *array = calloc(n > 0 ? n : 1, o->inner->size);
	if (array == NULL) {
		l->errors->no_memory = true;
		return NULL;
	}
	/* By memcpy: the field is a pointer to some struct, not to char. */
	memcpy(tp_option_field(o, object), &array, sizeof array);
	*count_of(o, object) = n;
	return array;
}

static void fill_object(struct tp_load *l, const struct tp_section *s, void *object, struct tp_node *node)
{
	if (s->prepare != NULL)
		s->prepare(l, object);
	tp_fill_section(l, s, object, node, true);
}

static bool convert_list(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	bool single = o->one_or_list && (node->kind == TP_NODE_SCALAR || node->kind == TP_NODE_MAPPING);
	if (!single && !is_list(l, node))
		return false;
	size_t n = single ? 1 : node->n_children;
	char *array = has_allowed_count(l, o, node, n) ? add_objects(l, o, object, n) : NULL;
	if (array == NULL)
		return false;
	if (single)
		fill_object(l, o->inner, array, node);
	for (struct tp_node *item = single ? NULL : node->first; item != NULL; item = item->next) {
		fill_object(l, o->inner, array, item);
		array += o->inner->size;
	}
	return true;
}

static bool convert_map(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	if (node->kind != TP_NODE_MAPPING && node->kind != TP_NODE_NULL) {
		if (node->kind != TP_NODE_BAD)
			tp_node_complain(node, l->errors, "must be a mapping of names to their settings");
		return false;
	}
	if (o->required && node->kind == TP_NODE_NULL) {
		tp_node_complain(node, l->errors, "has no entry: write {} while there is none");
		return false;
	}
	char *array = has_allowed_count(l, o, node, node->n_children)
			      ? add_objects(l, o, object, node->n_children)
			      : NULL;
	if (array == NULL)
		return false;
	for (struct tp_node *item = node->first; item != NULL; item = item->next) {
		char *name = strdup(item->key);
		if (name == NULL)
			l->errors->no_memory = true;
		*(char **)(void *)(array + o->inner->name_offset) = name;
		fill_object(l, o->inner, array, item);
		array += o->inner->size;
	}
	return true;
}

bool tp_convert(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *node)
{
	static converter *const converters[] = {
		[TP_OPT_BOOL] = convert_bool,         [TP_OPT_COUNT] = convert_number,
		[TP_OPT_WORKERS] = convert_workers,   [TP_OPT_DURATION] = convert_number,
		[TP_OPT_SIZE] = convert_number,       [TP_OPT_STRING] = convert_string,
		[TP_OPT_CHOICE] = convert_choice,     [TP_OPT_STRINGS] = convert_strings,
		[TP_OPT_STATUSES] = convert_statuses, [TP_OPT_PROVIDER] = convert_provider,
		[TP_OPT_LIST] = convert_list,         [TP_OPT_MAP] = convert_map,
		[TP_OPT_LIMIT] = convert_limit,
	};
	return converters[o->type](l, o, object, node);
}
