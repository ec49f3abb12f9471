#include "common/config/convert.h"
#include "common/config/show.h"
#include "common/config/show_value.h"

enum { COMMENT_WIDTH = 100 };

struct writer {
	struct tp_buf *out;
	const struct tp_config *config; /* NULL = the defaults, with help */
	const char *margin;             /* begins each line: "# " inside an example that is commented out */
	bool dash;                      /* the next line begins an item of a list */
};

static void begin_line(struct writer *w, unsigned indent)
{
	tp_buf_printf(w->out, "%s", w->margin);
	for (unsigned i = w->dash ? 2 : 0; i < indent; i++)
		tp_buf_add(w->out, " ", 1);
	if (w->dash)
		tp_buf_add(w->out, "- ", 2);
	w->dash = false;
}

/* Wraps at blanks. */
static void write_comment(struct writer *w, unsigned indent, struct tp_str text)
{
	while (text.n > 0) {
		size_t n = text.n, room = COMMENT_WIDTH - indent;
		if (n > room) {
			n = room;
			while (n > 0 && text.p[n] != ' ')
				n--;
			n = n == 0 ? text.n : n;
		}
		begin_line(w, indent);
		tp_buf_printf(w->out, "# %.*s\n", (int)n, text.p);
		while (n < text.n && text.p[n] == ' ')
			n++;
		text = (struct tp_str){text.p + n, text.n - n};
	}
}

/* Above the key; in front of the first key of a list item it stands above the dash. */
static void write_help(struct writer *w, unsigned indent, const struct tp_option *o)
{
	struct tp_buf help = {0};
	bool dash = w->dash;
	unsigned at = dash ? indent - 2 : indent;
	w->dash = false;
	tp_show_help(o, &help);
	write_comment(w, at, tp_buf_str(&help));
	if (o->example != NULL && !o->required && o->type != TP_OPT_MAP) {
		begin_line(w, at);
		tp_buf_printf(w->out, "# Example: %s\n", o->example);
	}
	w->dash = dash;
	tp_buf_free(&help);
}

static void write_section(struct writer *w, unsigned indent, const struct tp_section *s, const void *object);

/* Items or named entries of a checked configuration. */
static void write_entries(struct writer *w, unsigned indent, const struct tp_option *o, const void *object)
{
	const char *array = NULL;
	size_t n = (size_t)tp_convert_load((const char *)object + o->count_offset, sizeof n);
	memcpy(&array, tp_option_field_const(o, object), sizeof array);
	tp_buf_printf(w->out, n > 0 ? "\n" : o->type == TP_OPT_MAP ? " {}\n" : " []\n");
	for (size_t i = 0; i < n; i++, array += o->inner->size) {
		if (o->type == TP_OPT_MAP) {
			const char *name = NULL;
			memcpy(&name, array + o->inner->name_offset, sizeof name);
			begin_line(w, indent + 2);
			tp_buf_printf(w->out, "%s:\n", name);
		} else {
			w->dash = true;
		}
		write_section(w, indent + 4, o->inner, array);
	}
}

/* The default, and one item or entry as a comment; what is needed stands as an example that counts. */
static void write_example(struct writer *w, unsigned indent, const struct tp_option *o)
{
	const char *margin = w->margin;
	if (o->fallback != NULL) {
		tp_buf_printf(w->out, " %s\n", o->fallback);
		w->margin = margin[0] == '\0' ? "# " : "# # "; /* a block can be used without its inner one */
		begin_line(w, indent);
		tp_buf_printf(w->out, "%s:", o->key);
	}
	tp_buf_printf(w->out, "\n");
	if (o->type == TP_OPT_MAP) {
		begin_line(w, indent + 2);
		tp_buf_printf(w->out, "%s:\n", o->example);
	} else {
		w->dash = true;
	}
	write_section(w, indent + 4, o->inner, NULL);
	w->margin = margin;
}

static void write_scalar(struct writer *w, const struct tp_option *o, const void *object)
{
	tp_buf_add(w->out, " ", 1);
	if (w->config == NULL)
		tp_show_default(o, w->out);
	else
		tp_show_value(w->config, o, object, w->out);
	tp_buf_add(w->out, "\n", 1);
}

/* What nobody wrote and a profile decided: were it shown as a key, it would be one when read again, and win
 * over the profile of a provider. */
static bool is_left_to_profile(const struct writer *w, const struct tp_option *o, const void *object)
{
	if (o->profile_key == 0)
		return false;
	return w->config == NULL || (o->written(object) & o->profile_key) == 0;
}

static void write_option(struct writer *w, unsigned indent, const struct tp_option *o, const void *object)
{
	bool defaults = w->config == NULL;
	if (defaults)
		write_help(w, indent, o);
	begin_line(w, indent);
	if (is_left_to_profile(w, o, object))
		tp_buf_add(w->out, "# ", 2);
	tp_buf_printf(w->out, "%s:", o->key);
	if (o->type == TP_OPT_SECTION && defaults && o->inherits) {
		tp_buf_printf(w->out, " {}\n");
	} else if (o->type == TP_OPT_SECTION) {
		tp_buf_printf(w->out, "\n");
		write_section(w, indent + 2, o->inner, defaults ? NULL : tp_option_field_const(o, object));
	} else if (!tp_show_is_nested(o)) {
		write_scalar(w, o, object);
	} else if (defaults) {
		write_example(w, indent, o);
	} else {
		write_entries(w, indent, o, object);
	}
}

static void write_section(struct writer *w, unsigned indent, const struct tp_section *s, const void *object)
{
	for (size_t i = 0; i < s->n_options; i++) {
		if (w->config == NULL && indent == 0 && i > 0)
			tp_buf_add(w->out, "\n", 1);
		write_option(w, indent, &s->options[i], object);
	}
}

void tp_config_show_defaults(struct tp_buf *out)
{
	struct writer w = {.out = out, .margin = ""};
	tp_buf_printf(
		out,
		"# Turnpike: every key with its default. Only `providers` and the url inside it are needed.\n"
		"# Durations: 150ms 1.5s 5m 1h. Sizes: 512 64KiB 1MiB 1GiB. In any value ${NAME} stands for "
		"an\n"
		"# environment variable, ${file:/path} for the content of a file, $${ for a plain ${.\n"
		"# Keys behind a # take their value from retry.profile; one that is written wins over "
		"it.\n\n");
	write_section(&w, 0, &tp_config_root, NULL);
}

void tp_config_show_effective(const struct tp_config *c, struct tp_buf *out)
{
	struct writer w = {.out = out, .config = c, .margin = ""};
	write_section(&w, 0, &tp_config_root, c);
}
