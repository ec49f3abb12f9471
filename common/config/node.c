#include "common/config/node.h"

#include <stdlib.h>

struct tp_node *tp_node_get(const struct tp_node *node, const char *key)
{
	if (node == NULL || node->kind != TP_NODE_MAPPING)
		return NULL;
	for (struct tp_node *child = node->first; child != NULL; child = child->next)
		if (strcmp(child->key, key) == 0)
			return child;
	return NULL;
}

static size_t index_of(const struct tp_node *node)
{
	size_t i = 0;
	for (const struct tp_node *n = node->parent->first; n != NULL && n != node; n = n->next)
		i++;
	return i;
}

void tp_node_path(const struct tp_node *node, struct tp_buf *out)
{
	if (node == NULL || node->parent == NULL)
		return;
	tp_node_path(node->parent, out);
	if (node->key == NULL)
		tp_buf_printf(out, "[%zu]", index_of(node));
	else
		tp_buf_printf(out, "%s%s", node->parent->parent != NULL ? "." : "", node->key);
}

void tp_node_complain(struct tp_node *node, struct tp_config_errors *errors, const char *format, ...)
{
	struct tp_buf text = {0};
	va_list ap;
	va_start(ap, format);
	tp_node_path(node, &text);
	if (text.len > 0)
		tp_buf_add(&text, ": ", 2);
	tp_buf_vprintf(&text, format, ap);
	va_end(ap);
	bool at_key = node->kind == TP_NODE_NULL && node->key != NULL;
	const char *terminated = tp_buf_cstr(&text);
	if (terminated != NULL)
		tp_config_errors_add(errors, at_key ? node->key_line : node->line,
				     at_key ? node->key_column : node->column, "%s", terminated);
	else
		errors->no_memory = true;
	tp_buf_free(&text);
	for (struct tp_node *n = node; n != NULL; n = n->parent)
		n->bad = true;
}

static void wipe(char *text)
{
	if (text == NULL)
		return;
	explicit_bzero(text, strlen(text));
	free(text);
}

void tp_node_free(struct tp_node *node)
{
	if (node == NULL)
		return;
	while (node->first != NULL) {
		struct tp_node *child = node->first;
		node->first = child->next;
		tp_node_free(child);
	}
	if (node->text != node->raw)
		wipe(node->text);
	wipe(node->raw);
	free(node->key);
	free(node);
}
