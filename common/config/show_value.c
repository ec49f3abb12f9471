#include "common/config/show_value.h"

#include "common/config/convert.h"
#include "common/config/units.h"

bool tp_show_is_nested(const struct tp_option *o)
{
	return o->type == TP_OPT_SECTION || o->type == TP_OPT_LIST || o->type == TP_OPT_MAP;
}

/* Whether YAML reads the text back as it is, in a flow list too. */
static bool is_plain(struct tp_str s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	if (s.n == 0 || tp_str_ieq(s, TP_STR("null")) || s.p[s.n - 1] == ':')
		return false;
	if (s.p[0] != '/' && memchr(letters, s.p[0], sizeof letters - 1) == NULL)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (memchr(letters, s.p[i], sizeof letters - 1) == NULL &&
		    memchr("/._-:@", s.p[i], 6) == NULL)
			return false;
	return true;
}

static void add_string(struct tp_str s, struct tp_buf *out)
{
	if (is_plain(s)) {
		tp_buf_add_str(out, s);
		return;
	}
	tp_buf_add(out, "\"", 1);
	for (size_t i = 0; i < s.n;) {
		/* ${ in a value came from $${ in the file. */
		size_t n = 1;
		while (i + n < s.n && !(s.p[i + n] == '$' && i + n + 1 < s.n && s.p[i + n + 1] == '{'))
			n++;
		if (s.p[i] == '$' && i + 1 < s.n && s.p[i + 1] == '{')
			tp_buf_add(out, "$", 1);
		tp_buf_add_json(out, (struct tp_str){s.p + i, n});
		i += n;
	}
	tp_buf_add(out, "\"", 1);
}

static void add_scalar_string(const struct tp_option *o, const void *object, struct tp_buf *out)
{
	const char *const *field = tp_option_field_const(o, object);
	struct tp_buf masked = {0};
	if (*field == NULL) {
		tp_buf_add(out, "\"\"", 2);
	} else if (o->mask != NULL) {
		o->mask(object, &masked);
		add_string(tp_buf_str(&masked), out);
		tp_buf_free(&masked);
	} else {
		add_string(o->secret ? TP_STR(TP_SHOW_MASK) : tp_str_from(*field), out);
	}
}

static void add_list_item(const struct tp_option *o, const char *value, struct tp_buf *out)
{
	struct tp_buf masked = {0};
	if (o->mask_each != NULL)
		o->mask_each(value, &masked);
	else
		tp_buf_printf(&masked, "%s", o->secret ? TP_SHOW_MASK : value);
	add_string(tp_buf_str(&masked), out);
	out->failed = out->failed || masked.failed;
	tp_buf_free(&masked);
}

static void add_strings(const struct tp_option *o, const void *object, struct tp_buf *out)
{
	char *const *const *field = tp_option_field_const(o, object);
	size_t n = (size_t)tp_convert_load((const char *)object + o->count_offset, sizeof n);
	tp_buf_add(out, "[", 1);
	for (size_t i = 0; i < n; i++) {
		tp_buf_add(out, i > 0 ? ", " : " ", i > 0 ? 2 : 1);
		add_list_item(o, (*field)[i], out);
	}
	tp_buf_add(out, n > 0 ? " ]" : "]", n > 0 ? 2 : 1);
}

static void add_statuses(const struct tp_status_set *set, struct tp_buf *out)
{
	const char *before = "[ ", *end = "[]";
	for (int status = 400; status < 600; status++)
		if (tp_status_in(set, status)) {
			tp_buf_printf(out, "%s%d", before, status);
			before = ", ";
			end = " ]";
		}
	tp_buf_printf(out, "%s", end);
}

void tp_show_value(const struct tp_config *c, const struct tp_option *o, const void *object,
		   struct tp_buf *out)
{
	const void *field = tp_option_field_const(o, object);
	uint64_t number = o->width == 0 || o->width > sizeof number ? 0 : tp_convert_load(field, o->width);
	switch (o->type) {
	case TP_OPT_BOOL: tp_buf_printf(out, "%s", number != 0 ? "true" : "false"); break;
	case TP_OPT_WORKERS:
	case TP_OPT_COUNT: tp_buf_add_uint(out, number); break;
	case TP_OPT_LIMIT:
		if (number == TP_LIMIT_OFF || number == TP_LIMIT_AUTO)
			tp_buf_printf(out, "%s", number == TP_LIMIT_OFF ? "off" : "auto");
		else
			tp_buf_add_uint(out, number);
		break;
	case TP_OPT_DURATION: tp_format_duration(out, number); break;
	case TP_OPT_SIZE: tp_format_size(out, number); break;
	case TP_OPT_CHOICE: tp_buf_printf(out, "%s", o->choices[number]); break;
	case TP_OPT_STRING: add_scalar_string(o, object, out); break;
	case TP_OPT_STRINGS: add_strings(o, object, out); break;
	case TP_OPT_STATUSES: add_statuses(field, out); break;
	case TP_OPT_PROVIDER: add_string(tp_str_from(c->providers[number].name), out); break;
	case TP_OPT_SECTION:
	case TP_OPT_LIST:
	case TP_OPT_MAP: break;
	}
}

void tp_show_default(const struct tp_option *o, struct tp_buf *out)
{
	if (o->fallback != NULL)
		tp_buf_printf(out, "%s", o->fallback);
	else if (o->required && o->example != NULL)
		tp_buf_printf(out, "%s", o->example);
	else
		tp_buf_printf(out, "\"\"");
}

void tp_show_help(const struct tp_option *o, struct tp_buf *out)
{
	tp_buf_printf(out, "%s", o->help);
	for (size_t i = 0; o->choices != NULL && o->choices[i] != NULL; i++)
		tp_buf_printf(out, "%s%s%s", i == 0 ? " One of " : ", ", o->choices[i],
			      o->choices[i + 1] == NULL ? "." : "");
	if (o->restart)
		tp_buf_printf(out, " A change needs a restart.");
}

static const char *const type_names[] = {
	[TP_OPT_BOOL] = "boolean",
	[TP_OPT_COUNT] = "number",
	[TP_OPT_WORKERS] = "number or `auto`",
	[TP_OPT_DURATION] = "duration",
	[TP_OPT_SIZE] = "size",
	[TP_OPT_STRING] = "text",
	[TP_OPT_CHOICE] = "word",
	[TP_OPT_STRINGS] = "list",
	[TP_OPT_STATUSES] = "list of statuses",
	[TP_OPT_PROVIDER] = "name",
	[TP_OPT_SECTION] = "mapping",
	[TP_OPT_LIST] = "list of mappings",
	[TP_OPT_MAP] = "named mappings",
	[TP_OPT_LIMIT] = "`off`, `auto` or number",
};

void tp_show_range(const struct tp_option *o, struct tp_buf *out)
{
	void (*format)(struct tp_buf *, uint64_t) = o->type == TP_OPT_DURATION ? tp_format_duration
						    : o->type == TP_OPT_SIZE   ? tp_format_size
									       : tp_buf_add_uint;
	bool number = o->type == TP_OPT_DURATION || o->type == TP_OPT_SIZE || o->type == TP_OPT_COUNT ||
		      o->type == TP_OPT_WORKERS || o->type == TP_OPT_LIMIT;
	tp_buf_printf(out, "%s", type_names[o->type]);
	if (!number)
		return;
	tp_buf_printf(out, ", ");
	format(out, o->low);
	tp_buf_printf(out, " to ");
	format(out, o->high);
}
