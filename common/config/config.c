#include "common/config/config.h"

#include <errno.h>
#include <stdlib.h>

#include "common/config/files.h"
#include "common/config/fill.h"

static struct tp_config *new_config(const char *name)
{
	struct tp_config *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->refs = 1;
	c->file = strdup(name);
	if (c->file != NULL)
		return c;
	free(c);
	return NULL;
}

/* What files are read through while a configuration is made; one reference. */
static struct tp_files *begin_files(struct tp_files **ret_before)
{
	*ret_before = tp_files_used();
	struct tp_files *files = *ret_before != NULL ? tp_files_ref(*ret_before) : tp_files_new();
	(void)tp_files_use(files);
	return files;
}

struct tp_config *tp_config_parse(const char *name, struct tp_str yaml, struct tp_buf *errors)
{
	struct tp_config_errors found = {0};
	struct tp_config *c = new_config(name);
	struct tp_node *root = NULL;
	struct tp_files *before, *files = begin_files(&before);
	if (c == NULL || files == NULL)
		found.no_memory = true;
	else
		root = tp_node_read(yaml, &found);
	if (c != NULL)
		c->files = files;
	else
		tp_files_unref(files);
	if (root != NULL) {
		struct tp_load load = {.config = c, .errors = &found};
		tp_fill_section(&load, &tp_config_root, c, root, true);
	}
	tp_node_free(root);
	(void)tp_files_use(before);
	if (tp_config_errors_any(&found)) {
		tp_config_errors_write(&found, name, errors);
		tp_config_unref(c);
		c = NULL;
	}
	tp_config_errors_free(&found);
	return c;
}

struct tp_config *tp_config_load(const char *path, struct tp_buf *errors)
{
	struct tp_config *c = NULL;
	struct tp_buf text = {0};
	struct tp_files *before, *files = begin_files(&before);
	int error = files != NULL ? tp_files_read(path, TP_CONFIG_FILE_MAX, true, &text) : ENOMEM;
	if (error == 0)
		c = tp_config_parse(path, tp_buf_str(&text), errors);
	else
		tp_buf_printf(errors, "%s: cannot be read: %s\n", path, strerror(error));
	(void)tp_files_use(before);
	tp_files_unref(files);
	if (text.data != NULL)
		explicit_bzero(text.data, text.len);
	tp_buf_free(&text);
	return c;
}

struct tp_config *tp_config_ref(struct tp_config *c)
{
	c->refs++;
	return c;
}

void tp_config_unref(struct tp_config *c)
{
	if (c == NULL || --c->refs > 0)
		return;
	tp_fill_release(&tp_config_root, c);
	tp_files_unref(c->files);
	free(c->file);
	free(c);
}

const struct tp_combo_conf *tp_config_combo(const struct tp_config *c, struct tp_str name)
{
	for (size_t i = 0; i < c->n_combos; i++)
		if (tp_str_eq(tp_str_from(c->combos[i].name), name))
			return &c->combos[i];
	return NULL;
}
