#include "common/config/errors.h"

#include <stdlib.h>

static bool make_room(struct tp_config_errors *e)
{
	if (e->n < e->size)
		return true;
	size_t size = e->size != 0 ? e->size * 2 : 16;
	struct tp_config_error *list = reallocarray(e->list, size, sizeof *list);
	if (list == NULL)
		return false;
	e->list = list;
	e->size = size;
	return true;
}

void tp_config_errors_add(struct tp_config_errors *e, unsigned line, unsigned column, const char *format, ...)
{
	struct tp_buf text = {0};
	va_list ap;
	va_start(ap, format);
	tp_buf_vprintf(&text, format, ap);
	va_end(ap);
	if (tp_buf_cstr(&text) == NULL || !make_room(e)) {
		tp_buf_free(&text);
		e->no_memory = true;
		return;
	}
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
			text.data[i] = '?';
	e->list[e->n++] = (struct tp_config_error){line, column, text.data};
}

bool tp_config_errors_any(const struct tp_config_errors *e)
{
	return e->n > 0 || e->no_memory;
}

static int by_place(const void *left, const void *right)
{
	const struct tp_config_error *a = left, *b = right;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return strcmp(a->text, b->text);
}

void tp_config_errors_write(struct tp_config_errors *e, const char *name, struct tp_buf *out)
{
	if (e->n > 0)
		qsort(e->list, e->n, sizeof *e->list, by_place);
	for (size_t i = 0; i < e->n; i++) {
		const struct tp_config_error *x = &e->list[i];
		if (x->line != 0)
			tp_buf_printf(out, "%s:%u:%u: %s\n", name, x->line, x->column, x->text);
		else
			tp_buf_printf(out, "%s: %s\n", name, x->text);
	}
	if (e->no_memory)
		tp_buf_printf(out, "%s: out of memory\n", name);
}

void tp_config_errors_free(struct tp_config_errors *e)
{
	if (e == NULL)
		return;
	for (size_t i = 0; i < e->n; i++)
		free(e->list[i].text);
	free(e->list);
	*e = (struct tp_config_errors){0};
}
