#include "server/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"

enum { NAME_WIDTH = 44 };

void tp_show_json(json_t *value)
{
	(void)json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
	(void)printf("\n");
}

static void print_value(json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING: (void)printf("%s", json_string_value(value)); break;
	case JSON_INTEGER: (void)printf("%" JSON_INTEGER_FORMAT, json_integer_value(value)); break;
	case JSON_REAL: (void)printf("%.6g", json_real_value(value)); break;
	case JSON_TRUE: (void)printf("yes"); break;
	case JSON_FALSE: (void)printf("no"); break;
	case JSON_NULL:
	case JSON_ARRAY:
	case JSON_OBJECT: (void)printf("-"); break;
	}
}

static void print_list(const char *name, json_t *list)
{
	size_t i;
	const char *key;
	json_t *entry, *value;
	(void)printf("%-*s %zu\n", NAME_WIDTH, name, json_array_size(list));
	json_array_foreach(list, i, entry)
	{
		(void)printf(" ");
		json_object_foreach(entry, key, value)
		{
			(void)printf(" %s ", key);
			print_value(value);
		}
		(void)printf("\n");
	}
}

static void print_members(const char *name, json_t *object)
{
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value)
	{
		struct tp_buf path = {0};
		tp_buf_printf(&path, "%s%s%s", name, name[0] != '\0' ? "." : "", key);
		const char *text = tp_buf_cstr(&path);
		tp_show_lines(text != NULL ? text : key, value);
		tp_buf_free(&path);
	}
}

void tp_show_lines(const char *name, json_t *value)
{
	if (json_is_array(value)) {
		print_list(name, value);
	} else if (json_is_object(value)) {
		print_members(name, value);
	} else {
		(void)printf("%-*s ", NAME_WIDTH, name);
		print_value(value);
		(void)printf("\n");
	}
}

static const char *text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static double number_of(const json_t *row, const char *key)
{
	return json_number_value(json_object_get(row, key));
}

void tp_show_listed(const json_t *row, struct tp_buf *line)
{
	tp_buf_printf(line, "%s%s (%s): listed for %.0f s after %s, ", text_of(row, "url"),
		      json_is_true(json_object_get(row, "whole_base")) ? " and all below" : "",
		      text_of(row, "provider"), number_of(row, "listed_for"),
		      strcmp(text_of(row, "why"), "connection") == 0 ? "connection failures"
								     : "error answers");
	if (json_is_true(json_object_get(row, "probing")))
		tp_buf_add_str(line, TP_STR("a probe is under way"));
	else
		tp_buf_printf(line, "next probe in %.0f s", number_of(row, "next_probe_in"));
}

void tp_show_cooling(const json_t *row, struct tp_buf *line)
{
	tp_buf_printf(line, "%s: %.0f s left", text_of(row, "name"), number_of(row, "left"));
	if (strcmp(text_of(row, "kind"), "wait") == 0) {
		tp_buf_printf(line, ", a wait that its requests share%s",
			      number_of(row, "left") > 0 ? "" : "; they are being let go");
		return;
	}
	tp_buf_printf(line, "%s%s",
		      json_is_true(json_object_get(row, "told")) ? ", as the provider told" : "",
		      json_is_true(json_object_get(row, "probing")) ? ", a probe is under way" : "");
}
