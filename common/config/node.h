/*
 * A YAML document as a tree that remembers where each thing stood.  Only what a configuration needs:
 * one document of mappings, lists and scalars.  Anchors, aliases and tags are refused (a reader should not
 * have to follow them, and they can blow up), a key given twice is an error, ${} is replaced.
 */
#ifndef TP_CONFIG_NODE_H
#define TP_CONFIG_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/config/errors.h"

enum tp_node_kind {
	TP_NODE_SCALAR,
	TP_NODE_NULL, /* nothing written, ~ or null */
	TP_NODE_MAPPING,
	TP_NODE_LIST,
	TP_NODE_BAD /* already complained about */
};

struct tp_node {
	enum tp_node_kind kind;
	unsigned line, column; /* from 1 */
	bool bad;              /* an error was told about this value: later checks keep quiet about it */
	char *raw, *text;      /* scalars: as written, and with ${} replaced; owned, may be one pointer */
	struct tp_node *parent, *next, *first, *last;
	size_t n_children;
	char *key; /* children of a mapping; owned */
	unsigned key_line, key_column;
};

/* Entries of one mapping or list; more is a mistake, and finding duplicates stays cheap. */
enum { TP_NODE_MAX_CHILDREN = 4096, TP_NODE_MAX_DEPTH = 32 };

/* The tree, or NULL with at least one error added. An empty file is TP_NODE_NULL. Freed with
 * tp_node_free(). */
struct tp_node *tp_node_read(struct tp_str yaml, struct tp_config_errors *errors);
/* Frees the tree and wipes its texts, as they may be secrets; NULL is ignored. */
void tp_node_free(struct tp_node *node);

/* The child of a mapping by name, or NULL (also when node is NULL or no mapping). */
struct tp_node *tp_node_get(const struct tp_node *node, const char *key);
/* Appends "providers.codex.keys[0]"; nothing for the root. */
void tp_node_path(const struct tp_node *node, struct tp_buf *out);
/* Adds an error at the node's value (at its key when nothing is written there), begun with its path, and
 * marks the node and those above it bad. */
void tp_node_complain(struct tp_node *node, struct tp_config_errors *errors, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
