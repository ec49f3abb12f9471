/* turnpike.yaml(5) out of the option table: man(7) source. */
#include "common/config/show.h"
#include "common/config/show_value.h"

/* Help text as roff: `words` in bold, nothing of it taken for markup. */
static void write_text(struct tp_str text, struct tp_buf *out)
{
	bool bold = false, line_start = true;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		/* A line that begins with one of these would be a request. */
		if (line_start && (c == '.' || c == '\''))
			tp_buf_printf(out, "\\&");
		line_start = c == '\n';
		if (c == '`') {
			tp_buf_printf(out, bold ? "\\fR" : "\\fB");
			bold = !bold;
		} else if (c == '\\') {
			tp_buf_printf(out, "\\e");
		} else if (c == '-') {
			tp_buf_printf(out, "\\-");
		} else if (c == '\'') {
			tp_buf_printf(out, "\\(aq");
		} else if (c == '"') {
			tp_buf_printf(out, "\\(dq");
		} else if (c == '~') {
			tp_buf_printf(out, "\\(ti");
		} else if (c == '^') {
			tp_buf_printf(out, "\\(ha");
		} else {
			tp_buf_add(out, &c, 1);
		}
	}
}

static void write_facts(const struct tp_option *o, struct tp_buf *out)
{
	struct tp_buf text = {0};
	tp_show_range(o, &text);
	if (o->required) {
		tp_buf_printf(&text, "; required.");
	} else if (o->type == TP_OPT_SECTION) {
		tp_buf_printf(&text, "; by default as the global one.");
	} else {
		tp_buf_printf(&text, "; default `");
		tp_show_default(o, &text);
		tp_buf_printf(&text, "`.");
	}
	if (o->example != NULL)
		tp_buf_printf(&text, " Example: `%s`", o->example);
	tp_buf_printf(out, ".br\n");
	write_text(tp_buf_str(&text), out);
	tp_buf_printf(out, "\n");
	tp_buf_free(&text);
}

static void write_option(const struct tp_option *o, struct tp_str path, struct tp_buf *out)
{
	struct tp_buf help = {0};
	tp_show_help(o, &help);
	tp_buf_printf(out, ".TP\n.B ");
	write_text(path, out);
	tp_buf_printf(out, "\n");
	write_text(tp_buf_str(&help), out);
	tp_buf_printf(out, "\n");
	write_facts(o, out);
	tp_buf_free(&help);
}

/* Options of a section, inner sections with dotted keys. `path` is restored. */
static void write_options(const struct tp_section *s, struct tp_buf *path, struct tp_buf *out)
{
	size_t start = path->len;
	for (size_t i = 0; i < s->n_options; i++) {
		const struct tp_option *o = &s->options[i];
		tp_buf_printf(path, "%s", o->key);
		if (o->type == TP_OPT_SECTION && !o->inherits) {
			tp_buf_printf(path, ".");
			write_options(o->inner, path, out);
		} else {
			write_option(o, tp_buf_str(path), out);
		}
		path->len = start;
	}
}

static void write_section(const struct tp_option *o, struct tp_buf *out)
{
	struct tp_buf path = {0};
	tp_buf_printf(out, ".SS ");
	write_text(tp_str_from(o->key), out);
	tp_buf_printf(out, "%s\n", o->type == TP_OPT_MAP ? ".NAME" : "");
	write_text(tp_str_from(o->help), out);
	if (o->type == TP_OPT_LIST)
		tp_buf_printf(out, " A list; keys of each entry:");
	tp_buf_printf(out, "\n");
	write_options(o->inner, &path, out);
	tp_buf_free(&path);
}

void tp_config_show_man(struct tp_buf *out)
{
	const struct tp_section *root = &tp_config_root;
	tp_buf_printf(
		out,
		".\\\" Written by `turnpike config --man` from the option table: do not edit.\n"
		".TH TURNPIKE.YAML 5 \"\" \"Turnpike\" \"Configuration\"\n"
		".SH NAME\nturnpike.yaml \\- configuration of the reverse proxy turnpike\n"
		".SH SYNOPSIS\n.B %s\n"
		".SH DESCRIPTION\n"
		"One YAML file (UTF\\-8). Only\n.B providers\nis needed, and in it the\n.B url\nof one:\n"
		".PP\n.nf\n.RS\nproviders:\n  main:\n    url: https://api.openai.com/v1\n.RE\n.fi\n.PP\n"
		".B turnpike check\ntells every mistake with line and column;\n"
		".B turnpike config \\-\\-effective\nshows what a file amounts to, secrets masked;\n"
		".B turnpike config \\-\\-defaults\nprints every key with its default.\n"
		".PP\nDurations have a unit: 150ms, 1.5s, 5m, 1h; only 0 needs none. Sizes are bytes, or "
		"have\n"
		"KiB, MiB, GiB. In any value ${NAME} stands for an environment variable (unset is an error)\n"
		"and ${file:/path} for the content of a file, one newline cut off its end; $${ is a plain "
		"${.\n"
		"Zero is zero. Negative, fractional and too large numbers are errors, as are unknown keys, "
		"keys\n"
		"given twice, anchors, aliases, tags and a second document.\n"
		".SH OPTIONS\n.SS General\n",
		TP_CONFIG_DEFAULT_FILE);
	for (size_t i = 0; i < root->n_options; i++)
		if (!tp_show_is_nested(&root->options[i]))
			write_option(&root->options[i], tp_str_from(root->options[i].key), out);
	for (size_t i = 0; i < root->n_options; i++)
		if (tp_show_is_nested(&root->options[i]))
			write_section(&root->options[i], out);
	tp_buf_printf(out, ".SH SEE ALSO\n.BR turnpike (8)\n");
}
