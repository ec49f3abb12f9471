#include "common/config/keep.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/sink.h"
#include "common/config/convert.h"
#include "common/config/option.h"

struct keep {
	struct tp_buf path, *told;
	bool failed;
};

static void tell(struct keep *k, const char *key)
{
	tp_buf_printf(k->told, "%s%.*s%s", k->told->len > 0 ? ", " : "", (int)k->path.len,
		      k->path.data != NULL ? k->path.data : "", key);
}

static void keep_string(struct keep *k, const struct tp_option *o, void *next, const void *now)
{
	const char *old = NULL, *new = NULL;
	memcpy(&old, now, sizeof old);
	memcpy(&new, next, sizeof new);
	if (old == new || (old != NULL && new != NULL &&strcmp(old, new) == 0))
		return;
	char *copy = old != NULL ? strdup(old) : NULL;
	if (old != NULL && copy == NULL) {
		k->failed = true;
		return;
	}
	tp_convert_set_string(next, copy);
	tell(k, o->key);
}

static void keep_section(struct keep *k, const struct tp_section *s, void *next, const void *now);

static void keep_option(struct keep *k, const struct tp_option *o, void *next, const void *now)
{
	void *to = tp_option_field(o, next);
	const void *from = tp_option_field_const(o, now);
	size_t before = k->path.len;
	if (o->type == TP_OPT_SECTION) {
		tp_buf_printf(&k->path, "%s.", o->key);
		keep_section(k, o->inner, to, from);
		k->path.len = before;
	} else if (o->restart && o->type == TP_OPT_STRING) {
		keep_string(k, o, to, from);
	} else if (o->restart && memcmp(to, from, o->width) != 0) { /* a number: lists take reloads */
		memcpy(to, from, o->width);
		tell(k, o->key);
	}
}

static void keep_section(struct keep *k, const struct tp_section *s, void *next, const void *now)
{
	for (size_t i = 0; i < s->n_options; i++)
		keep_option(k, &s->options[i], next, now);
}

bool tp_config_keep(struct tp_config *next, const struct tp_config *now, struct tp_buf *told)
{
	struct keep k = {.told = told};
	keep_section(&k, &tp_config_root, next, now);
	bool good = !k.failed && !k.path.failed && !told->failed;
	tp_buf_free(&k.path);
	return good;
}

bool tp_config_same_log(const struct tp_config *a, const struct tp_config *b)
{
	return a->log.level == b->log.level && a->log.format == b->log.format &&
	       strcmp(a->log.output, b->log.output) == 0;
}

void tp_config_follow_log(const struct tp_config *now, const struct tp_config *before)
{
	if (tp_config_same_log(now, before))
		return;
	int error = tp_log_open(now->log.level, now->log.format, now->log.output);
	if (error != 0)
		tp_error("cannot open the log %s: %s; the earlier one goes on", now->log.output,
			 tp_sink_error(-error));
}

bool tp_config_same_access_log(const struct tp_config *a, const struct tp_config *b)
{
	return a->access_log.format == b->access_log.format &&
	       strcmp(a->access_log.output, b->access_log.output) == 0;
}
