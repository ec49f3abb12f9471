#include "common/config/fill.h"

#include <stdlib.h>

#include "common/config/convert.h"
#include "common/config/suggest.h"

/* ---- unknown keys */

/* Looks for an exact key anywhere below `s`; its path is left in `path`. */
static bool find_elsewhere(const struct tp_section *s, const char *key, struct tp_buf *path)
{
	for (size_t i = 0; i < s->n_options; i++) {
		const struct tp_option *o = &s->options[i];
		size_t start = path->len;
		tp_buf_printf(path, "%s%s", start > 0 ? "." : "", o->key);
		if (strcmp(o->key, key) == 0)
			return true;
		if (o->type == TP_OPT_MAP)
			tp_buf_printf(path, ".NAME");
		if (o->inner != NULL && find_elsewhere(o->inner, key, path))
			return true;
		path->len = start;
	}
	return false;
}

static void list_keys(const struct tp_section *s, struct tp_buf *out)
{
	for (size_t i = 0; i < s->n_options; i++)
		tp_buf_printf(out, "%s%s", i > 0 ? ", " : "", s->options[i].key);
}

static void tell_unknown_key(struct tp_load *l, const struct tp_section *s, struct tp_node *node)
{
	struct tp_suggestion near = tp_suggest_begin(node->key);
	for (size_t i = 0; i < s->n_options; i++)
		tp_suggest_candidate(&near, s->options[i].key);
	struct tp_buf where = {0}, text = {0};
	tp_node_path(node->parent, &where);
	tp_buf_printf(&text, "%s%sunknown key `%s`", where.len > 0 ? tp_buf_cstr(&where) : "",
		      where.len > 0 ? ": " : "", node->key);
	tp_buf_free(&where);
	if (near.best != NULL) {
		tp_buf_printf(&text, " (did you mean `%s`?)", near.best);
	} else if (find_elsewhere(&tp_config_root, node->key, &where)) {
		tp_buf_printf(&text, " (did you mean `%s`?)", tp_buf_cstr(&where));
	} else {
		tp_buf_printf(&text, " (known here: ");
		list_keys(s, &text);
		tp_buf_printf(&text, ")");
	}
	const char *terminated = tp_buf_cstr(&text);
	tp_config_errors_add(l->errors, node->key_line, node->key_column, "%s",
			     terminated != NULL ? terminated : "unknown key");
	tp_buf_free(&where);
	tp_buf_free(&text);
}

static bool is_known(const struct tp_section *s, const char *key)
{
	for (size_t i = 0; i < s->n_options; i++)
		if (strcmp(s->options[i].key, key) == 0)
			return true;
	return false;
}

/* ---- filling */

/* The node of one key; a scalar in place of the mapping is the value of the shorthand key. */
static struct tp_node *look_up(const struct tp_section *s, struct tp_node *node, const char *key)
{
	if (node == NULL)
		return NULL;
	if (node->kind == TP_NODE_SCALAR)
		return s->shorthand != NULL && strcmp(s->shorthand, key) == 0 ? node : NULL;
	return tp_node_get(node, key);
}

static void set_default(struct tp_load *l, const struct tp_option *o, void *object)
{
	if (o->fallback == NULL)
		return;
	struct tp_node *node = tp_node_read(tp_str_from(o->fallback), l->errors);
	if (node != NULL)
		(void)tp_convert(l, o, object, node);
	tp_node_free(node);
}

static void fill_option(struct tp_load *l, const struct tp_option *o, void *object, struct tp_node *parent,
			struct tp_node *node, bool with_defaults)
{
	if (o->type == TP_OPT_SECTION) {
		tp_fill_section(l, o->inner, tp_option_field(o, object), node, with_defaults && !o->inherits);
		return;
	}
	if (node == NULL && o->required && parent != NULL)
		tp_node_complain(parent, l->errors, "`%s` is missing", o->key);
	if ((node == NULL || !tp_convert(l, o, object, node)) && with_defaults)
		set_default(l, o, object);
}

/* Says what is wrong when a node cannot hold keys; BAD was told before. */
static bool can_hold_keys(struct tp_load *l, const struct tp_section *s, struct tp_node *node)
{
	if (node == NULL || node->kind == TP_NODE_MAPPING || node->kind == TP_NODE_NULL)
		return true;
	if (node->kind == TP_NODE_SCALAR && s->shorthand != NULL)
		return true;
	if (node->kind != TP_NODE_BAD)
		tp_node_complain(node, l->errors, "must be a mapping of keys to values");
	return false;
}

void tp_fill_section(struct tp_load *l, const struct tp_section *s, void *object, struct tp_node *node,
		     bool with_defaults)
{
	/* Without a usable mapping there are defaults, and nothing to say about missing keys. */
	if (!can_hold_keys(l, s, node))
		node = NULL;
	for (size_t i = 0; i < s->n_options; i++) {
		const struct tp_option *o = &s->options[i];
		fill_option(l, o, object, node, look_up(s, node, o->key), with_defaults);
	}
	if (node != NULL && node->kind == TP_NODE_MAPPING)
		for (struct tp_node *child = node->first; child != NULL; child = child->next)
			if (!is_known(s, child->key))
				tell_unknown_key(l, s, child);
	if (s->check != NULL)
		s->check(l, object, node);
}

/* ---- freeing */

static void release_array(const struct tp_option *o, void *object)
{
	/* By memcpy: the field is a pointer to some struct, not to char. */
	char *array = NULL, *none = NULL;
	memcpy(&array, tp_option_field(o, object), sizeof array);
	size_t *count = (size_t *)(void *)((char *)object + o->count_offset);
	for (size_t i = 0; array != NULL && i < *count; i++) {
		char *element = array + i * o->inner->size;
		tp_fill_release(o->inner, element);
		if (o->type == TP_OPT_MAP)
			tp_convert_set_string(element + o->inner->name_offset, NULL);
	}
	free(array);
	memcpy(tp_option_field(o, object), &none, sizeof none);
	*count = 0;
}

void tp_fill_release(const struct tp_section *s, void *object)
{
	for (size_t i = 0; i < s->n_options; i++) {
		const struct tp_option *o = &s->options[i];
		switch (o->type) {
		case TP_OPT_STRING: tp_convert_set_string(tp_option_field(o, object), NULL); break;
		case TP_OPT_STRINGS: tp_convert_clear_strings(o, object); break;
		case TP_OPT_LIST:
		case TP_OPT_MAP: release_array(o, object); break;
		case TP_OPT_SECTION: tp_fill_release(o->inner, tp_option_field(o, object)); break;
		default: break;
		}
	}
	if (s->release != NULL)
		s->release(object);
}
