#include "common/config/node.h"

#include <stdlib.h>
#include <yaml.h>

#include "common/config/expand.h"

struct reader {
	yaml_parser_t parser;
	struct tp_str input;
	struct tp_config_errors *errors;
	bool broken; /* a syntax error ended the event stream; it has been told */
	unsigned depth;
};

static unsigned line_of(yaml_mark_t mark)
{
	return (unsigned)mark.line + 1;
}

static unsigned column_of(yaml_mark_t mark)
{
	return (unsigned)mark.column + 1;
}

/* libyaml gives a byte offset only when the bytes cannot be decoded. */
static void tell_encoding_error(struct reader *r)
{
	unsigned line = 1, column = 1;
	for (size_t i = 0; i < r->input.n && i < r->parser.problem_offset; i++) {
		unsigned char c = (unsigned char)r->input.p[i];
		if (c == '\n') {
			line++;
			column = 1;
		} else if ((c & 0xc0) != 0x80) {
			column++;
		}
	}
	tp_config_errors_add(r->errors, line, column, "the file is not valid UTF-8 text: %s",
			     r->parser.problem);
}

static void tell_syntax_error(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	r->broken = true;
	if (p->error == YAML_MEMORY_ERROR)
		r->errors->no_memory = true;
	else if (p->error == YAML_READER_ERROR)
		tell_encoding_error(r);
	else if (p->context != NULL && p->context_mark.line != p->problem_mark.line)
		tp_config_errors_add(r->errors, line_of(p->problem_mark), column_of(p->problem_mark),
				     "YAML: %s, %s that began on line %u", p->problem, p->context,
				     line_of(p->context_mark));
	else
		tp_config_errors_add(r->errors, line_of(p->problem_mark), column_of(p->problem_mark),
				     "YAML: %s%s%s", p->problem, p->context != NULL ? ", " : "",
				     p->context != NULL ? p->context : "");
}

/* False once the stream is broken; else *event is to be deleted by the caller. */
static bool next_event(struct reader *r, yaml_event_t *event)
{
	if (r->broken)
		return false;
	if (yaml_parser_parse(&r->parser, event))
		return true;
	tell_syntax_error(r);
	return false;
}

static struct tp_node *new_node(struct reader *r, const yaml_event_t *event)
{
	struct tp_node *node = calloc(1, sizeof *node);
	if (node == NULL) {
		r->errors->no_memory = true;
		return NULL;
	}
	node->kind = TP_NODE_BAD;
	node->line = line_of(event->start_mark);
	node->column = column_of(event->start_mark);
	return node;
}

/* Anchors and tags may stand on every kind of node. */
static bool refuse_decoration(struct reader *r, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default: break;
	}
	if (anchor == NULL && tag == NULL)
		return false;
	tp_config_errors_add(r->errors, line_of(event->start_mark), column_of(event->start_mark),
			     anchor != NULL ? "anchors (&name) are not supported: write the value out"
					    : "tags (!type) are not supported");
	return true;
}

static bool is_null(const yaml_event_t *event, struct tp_str text)
{
	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	return text.n == 0 || tp_str_eq(text, TP_STR("~")) || tp_str_eq(text, TP_STR("null")) ||
	       tp_str_eq(text, TP_STR("Null")) || tp_str_eq(text, TP_STR("NULL"));
}

static bool has_control(struct tp_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return true;
	return false;
}

/* ${} replaced; node->text is set on success, else the reason has been told. */
static void expand_scalar(struct reader *r, struct tp_node *node, struct tp_str raw)
{
	struct tp_buf text = {0}, reason = {0};
	if (!tp_expand(raw, &text, &reason)) {
		const char *why = tp_buf_cstr(&reason);
		tp_config_errors_add(r->errors, node->line, node->column, "%s",
				     why != NULL ? why : "out of memory");
	} else if (has_control(tp_buf_str(&text))) {
		/* A line break inside a key or a path would end up in a header or a log line. */
		tp_config_errors_add(r->errors, node->line, node->column,
				     "the value holds a line break or another control character");
	} else if (tp_buf_cstr(&text) == NULL) {
		r->errors->no_memory = true;
	} else {
		node->text = strndup(text.data, text.len);
		if (node->text == NULL)
			r->errors->no_memory = true;
	}
	if (text.data != NULL)
		explicit_bzero(text.data, text.size);
	tp_buf_free(&text);
	tp_buf_free(&reason);
}

static void fill_scalar(struct reader *r, struct tp_node *node, const yaml_event_t *event)
{
	struct tp_str raw = {(const char *)event->data.scalar.value, event->data.scalar.length};
	if (is_null(event, raw)) {
		node->kind = TP_NODE_NULL;
		return;
	}
	expand_scalar(r, node, raw);
	node->raw = strndup(raw.p, raw.n);
	if (node->raw == NULL)
		r->errors->no_memory = true;
	if (node->text != NULL && node->raw != NULL)
		node->kind = TP_NODE_SCALAR;
}

static struct tp_node *read_node(struct reader *r, const yaml_event_t *event);

static void append_child(struct tp_node *node, struct tp_node *child)
{
	child->parent = node;
	if (node->last != NULL)
		node->last->next = child;
	else
		node->first = child;
	node->last = child;
	node->n_children++;
}

/* Reads the value that follows; NULL when the stream broke. */
static struct tp_node *read_next(struct reader *r)
{
	yaml_event_t event;
	if (!next_event(r, &event))
		return NULL;
	struct tp_node *node = read_node(r, &event);
	yaml_event_delete(&event);
	return node;
}

/* True when `key` may get this child; else the reason has been told. */
static bool accept_key(struct reader *r, const struct tp_node *node, const yaml_event_t *key)
{
	unsigned line = line_of(key->start_mark), column = column_of(key->start_mark);
	if (key->type != YAML_SCALAR_EVENT) {
		tp_config_errors_add(r->errors, line, column, "a key must be a plain word");
		return false;
	}
	if (refuse_decoration(r, key))
		return false;
	struct tp_str text = {(const char *)key->data.scalar.value, key->data.scalar.length};
	if (has_control(text)) {
		tp_config_errors_add(r->errors, line, column, "the key holds a control character");
		return false;
	}
	const struct tp_node *earlier = tp_node_get(node, text.p);
	if (earlier != NULL) {
		tp_config_errors_add(r->errors, line, column,
				     "key `%s` is given twice: line %u has it already", text.p,
				     earlier->key_line);
		return false;
	}
	return true;
}

/* One key and its value. False when the stream broke. */
static bool read_pair(struct reader *r, struct tp_node *node, const yaml_event_t *key)
{
	bool accepted = accept_key(r, node, key);
	if (key->type != YAML_SCALAR_EVENT)
		tp_node_free(read_node(r, key)); /* eats the events inside it */
	struct tp_node *value = read_next(r);
	if (value == NULL)
		return false;
	if (accepted) {
		value->key = strdup((const char *)key->data.scalar.value);
		value->key_line = line_of(key->start_mark);
		value->key_column = column_of(key->start_mark);
	}
	if (value->key == NULL) {
		r->errors->no_memory |= accepted;
		tp_node_free(value);
		return true;
	}
	append_child(node, value);
	return true;
}

/* Everything up to the end of a mapping or list. False when the stream broke. */
static bool read_children(struct reader *r, struct tp_node *node, yaml_event_type_t end)
{
	for (;;) {
		yaml_event_t event;
		if (!next_event(r, &event))
			return false;
		bool done = event.type == end;
		bool ok = true;
		if (!done && node->n_children >= TP_NODE_MAX_CHILDREN) {
			tp_config_errors_add(r->errors, line_of(event.start_mark),
					     column_of(event.start_mark), "more than %d entries",
					     TP_NODE_MAX_CHILDREN);
			r->broken = true;
			ok = false;
		} else if (!done && node->kind == TP_NODE_MAPPING) {
			ok = read_pair(r, node, &event);
		} else if (!done) {
			struct tp_node *child = read_node(r, &event);
			ok = child != NULL;
			if (ok)
				append_child(node, child);
		}
		yaml_event_delete(&event);
		if (done || !ok)
			return ok;
	}
}

static bool fill_container(struct reader *r, struct tp_node *node, const yaml_event_t *event)
{
	bool mapping = event->type == YAML_MAPPING_START_EVENT;
	if (r->depth >= TP_NODE_MAX_DEPTH) {
		tp_config_errors_add(r->errors, node->line, node->column, "nested deeper than %d levels",
				     TP_NODE_MAX_DEPTH);
		r->broken = true;
		return false;
	}
	node->kind = mapping ? TP_NODE_MAPPING : TP_NODE_LIST;
	r->depth++;
	bool ok = read_children(r, node, mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
	r->depth--;
	return ok;
}

/* The node that `event` begins, with all inside it; NULL when the stream broke. */
static struct tp_node *read_node(struct reader *r, const yaml_event_t *event)
{
	struct tp_node *node = new_node(r, event);
	if (node == NULL)
		return NULL;
	bool ok = true;
	bool refused = refuse_decoration(r, event);
	if (event->type == YAML_ALIAS_EVENT)
		tp_config_errors_add(r->errors, node->line, node->column,
				     "aliases (*name) are not supported: write the value out");
	else if (event->type == YAML_SCALAR_EVENT)
		fill_scalar(r, node, event);
	else
		ok = fill_container(r, node, event);
	if (!ok) {
		tp_node_free(node);
		return NULL;
	}
	if (refused)
		node->kind = TP_NODE_BAD;
	return node;
}

/* Reads stream start, document start, the root, document end, stream end. */
static struct tp_node *read_document(struct reader *r)
{
	struct tp_node *root = NULL;
	bool more = true;
	while (more) {
		yaml_event_t event;
		if (!next_event(r, &event))
			break;
		more = event.type != YAML_STREAM_END_EVENT;
		if (event.type == YAML_DOCUMENT_START_EVENT && root != NULL) {
			tp_config_errors_add(r->errors, line_of(event.start_mark),
					     column_of(event.start_mark),
					     "a second document begins here: one file holds one");
			more = false;
		} else if (event.type == YAML_DOCUMENT_START_EVENT) {
			root = read_next(r);
			more = root != NULL;
		}
		yaml_event_delete(&event);
	}
	if (root == NULL && !r->broken && !r->errors->no_memory) {
		/* An empty stream has no document at all. */
		root = calloc(1, sizeof *root);
		if (root == NULL)
			r->errors->no_memory = true;
		else
			*root = (struct tp_node){.kind = TP_NODE_NULL, .line = 1, .column = 1};
	}
	return root;
}

struct tp_node *tp_node_read(struct tp_str yaml, struct tp_config_errors *errors)
{
	if (tp_str_starts(yaml, TP_STR("\xff\xfe")) || tp_str_starts(yaml, TP_STR("\xfe\xff"))) {
		tp_config_errors_add(errors, 1, 1, "the file is UTF-16: save it as UTF-8");
		return NULL;
	}
	/* Cut here, since libyaml would count the mark as a column. */
	struct tp_str bom = TP_STR("\xef\xbb\xbf");
	if (tp_str_starts(yaml, bom))
		yaml = (struct tp_str){yaml.p + bom.n, yaml.n - bom.n};
	struct reader r = {.input = yaml, .errors = errors};
	if (!yaml_parser_initialize(&r.parser)) {
		errors->no_memory = true;
		return NULL;
	}
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)(yaml.n > 0 ? yaml.p : ""), yaml.n);
	struct tp_node *root = read_document(&r);
	yaml_parser_delete(&r.parser);
	if (r.broken || errors->no_memory) {
		tp_node_free(root);
		return NULL;
	}
	return root;
}
