#include "common/config/show.h"
#include "common/config/show_value.h"

/* A table cell: | ends it. */
static void write_cell(struct tp_str text, struct tp_buf *out)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '|')
			tp_buf_add(out, "\\", 1);
		tp_buf_add(out, text.p + i, 1);
	}
}

static void write_row(const struct tp_option *o, struct tp_str path, struct tp_buf *out)
{
	struct tp_buf help = {0};
	tp_show_help(o, &help);
	if (o->example != NULL)
		tp_buf_printf(&help, " Example: `%s`", o->example);
	tp_buf_printf(out, "| `%.*s` | ", (int)path.n, path.p);
	if (o->required) {
		tp_buf_printf(out, "required");
	} else if (o->type == TP_OPT_SECTION) {
		tp_buf_printf(out, "as global");
	} else {
		tp_buf_printf(out, "`");
		tp_show_default(o, out);
		tp_buf_printf(out, "`");
	}
	tp_buf_printf(out, " | ");
	tp_show_range(o, out);
	tp_buf_printf(out, " | ");
	write_cell(tp_buf_str(&help), out);
	tp_buf_printf(out, " |\n");
	tp_buf_free(&help);
}

/* Rows of a section, inner sections with dotted keys, entries of lists behind brackets. `path` is restored.
 */
static void write_rows(const struct tp_section *s, struct tp_buf *path, struct tp_buf *out)
{
	size_t start = path->len;
	for (size_t i = 0; i < s->n_options; i++) {
		const struct tp_option *o = &s->options[i];
		tp_buf_printf(path, "%s", o->key);
		if (o->type == TP_OPT_SECTION && !o->inherits) {
			tp_buf_add(path, ".", 1);
			write_rows(o->inner, path, out);
		} else {
			write_row(o, tp_buf_str(path), out);
			if (o->type == TP_OPT_LIST) {
				tp_buf_printf(path, "[].");
				write_rows(o->inner, path, out);
			}
		}
		path->len = start;
	}
}

static void begin_table(struct tp_buf *out)
{
	tp_buf_printf(out, "| key | default | values | meaning |\n|---|---|---|---|\n");
}

static void write_heading(const struct tp_option *o, struct tp_buf *out)
{
	tp_buf_printf(out, "\n## `%s%s`\n\n%s", o->key, o->type == TP_OPT_MAP ? ".NAME" : "", o->help);
	if (o->type == TP_OPT_LIST)
		tp_buf_printf(out, " A list, by default `%s`; keys of each entry:", o->fallback);
	tp_buf_printf(out, "\n\n");
	begin_table(out);
}

void tp_config_show_markdown(struct tp_buf *out)
{
	const struct tp_section *root = &tp_config_root;
	struct tp_buf path = {0};
	tp_buf_printf(
		out,
		"# Configuration\n\n"
		"<!-- Written by `turnpike config --markdown` from the option table: do not edit. -->\n\n"
		"One YAML file (UTF-8), by default `%s`. `turnpike check -c FILE` tells every mistake with "
		"line and "
		"column; `turnpike config --effective -c FILE` shows what a file amounts to, secrets masked. "
		"A whole "
		"sample with all defaults is `etc/turnpike.yaml`; the least that is needed is\n\n"
		"```yaml\nproviders:\n  main:\n    url: https://api.openai.com/v1\n```\n\n"
		"* Durations have a unit: `150ms`, `1.5s`, `5m`, `1h`; only 0 needs none. Sizes are bytes, "
		"or have "
		"`KiB`, `MiB`, `GiB`.\n"
		"* In any value `${NAME}` stands for an environment variable (unset is an error) and "
		"`${file:/path}` for "
		"the content of a file, one newline cut off its end. `$${` is a plain `${`.\n"
		"* Zero is zero. Negative, fractional and too large numbers are errors, as are unknown keys, "
		"keys given "
		"twice, anchors, aliases, tags and a second document.\n\n## General\n\n",
		TP_CONFIG_DEFAULT_FILE);
	begin_table(out);
	for (size_t i = 0; i < root->n_options; i++)
		if (!tp_show_is_nested(&root->options[i]))
			write_row(&root->options[i], tp_str_from(root->options[i].key), out);
	for (size_t i = 0; i < root->n_options; i++)
		if (tp_show_is_nested(&root->options[i])) {
			write_heading(&root->options[i], out);
			write_rows(root->options[i].inner, &path, out);
		}
	tp_buf_free(&path);
}
