#include "common/config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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

struct tp_config *tp_config_parse(const char *name, struct tp_str yaml, struct tp_buf *errors)
{
	struct tp_config_errors found = {0};
	struct tp_config *c = new_config(name);
	struct tp_node *root = NULL;
	if (c == NULL)
		found.no_memory = true;
	else
		root = tp_node_read(yaml, &found);
	if (root != NULL) {
		struct tp_load load = {.config = c, .errors = &found};
		tp_fill_section(&load, &tp_config_root, c, root, true);
	}
	tp_node_free(root);
	if (tp_config_errors_any(&found)) {
		tp_config_errors_write(&found, name, errors);
		tp_config_unref(c);
		c = NULL;
	}
	tp_config_errors_free(&found);
	return c;
}

/* 0 or an errno. */
static int read_file(int fd, struct tp_buf *out)
{
	for (;;) {
		/* One piece, so that growing leaves no copies of secrets behind. */
		if (!tp_buf_reserve(out, out->len == 0 ? TP_CONFIG_FILE_MAX + 1 : 1))
			return ENOMEM;
		ssize_t n = read(fd, out->data + out->len, out->size - out->len);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0)
			out->len += (size_t)n;
		if (out->len > TP_CONFIG_FILE_MAX)
			return EFBIG;
	}
}

struct tp_config *tp_config_load(const char *path, struct tp_buf *errors)
{
	struct tp_config *c = NULL;
	struct tp_buf text = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 ? errno : read_file(fd, &text);
	if (fd >= 0)
		(void)close(fd);
	if (error == 0)
		c = tp_config_parse(path, tp_buf_str(&text), errors);
	else
		tp_buf_printf(errors, "%s: cannot be read: %s\n", path, strerror(error));
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
